"""gpuimg in Ray Data: each actor keeps one process of gpuimg, whose device stays warm.

    import ray
    from gpuimg_ray import GpuImg

    photos = ray.data.read_binary_files("photos", include_paths=True)
    blurred = photos.map_batches(GpuImg, fn_constructor_args=("gaussian --sigma 3 | sharpen",),
                                 batch_size=32, num_gpus=1, concurrency=4)

SPDX-License-Identifier: MIT
"""

import subprocess
import sys
import tarfile
import threading


class GpuImg:
    """A callable class for Dataset.map_batches(): runs a chain on a column of encoded images.

    chain    what `gpuimg run` takes: "gaussian --sigma 3 | sharpen"
    column   of the files' bytes, which become those of the results; None where an image failed
             (gpuimg says why on standard error, which is in the worker's log); what is no image
             stays as it is
    options  more of gpuimg's options: ("--format", "png")
    program  its path

    An actor with num_gpus=1 sees the GPU that Ray gives it; without a GPU it takes as many threads
    as it has CPUs (num_cpus). A process that dies is started once more for its batch.
    """

    def __init__(self, chain, column="bytes", options=(), program="gpuimg"):
        self._column = column
        self._command = [program, "run", chain, "--tar", "-", "-", *_threads(), *options]
        self._process = None

    def __call__(self, batch):
        import numpy

        images = batch[self._column]
        try:
            results = self._run(images)
        except (EOFError, tarfile.HeaderError):
            self._stop()
            results = self._run(images)
        column = numpy.empty(len(images), dtype=object)
        column[:] = results
        batch[self._column] = column
        return batch

    def __del__(self):
        self._stop()

    def _run(self, images):
        """The results of the images, in their order."""
        if self._process is None:
            self._process = subprocess.Popen(self._command, stdin=subprocess.PIPE,
                                             stdout=subprocess.PIPE)
        # Both pipes are busy at once: neither side may wait for the other.
        writer = threading.Thread(target=self._write, args=(images,))
        writer.start()
        try:
            results = [None] * len(images)
            for name, data in iter(self._read_member, (END, b"")):
                results[int(name.split(".")[0])] = data
        except BaseException:
            self._process.kill()  # so that the writer finds no reader
            raise
        finally:
            writer.join()
        return results

    def _write(self, images):
        """A member an image, then one that is no image and comes back as it is."""
        try:
            for i, data in enumerate(images):
                self._write_member(str(i), data)
            self._write_member(END, b"")
            self._process.stdin.flush()
        except OSError:  # it died: who reads finds the end
            pass

    def _write_member(self, name, data):
        info = tarfile.TarInfo(name)
        info.size = len(data)
        self._process.stdin.write(info.tobuf(tarfile.USTAR_FORMAT))
        self._process.stdin.write(data)
        self._process.stdin.write(bytes(-len(data) % tarfile.BLOCKSIZE))

    def _read_member(self):
        while True:
            info = tarfile.TarInfo.frombuf(self._read(tarfile.BLOCKSIZE), "utf-8", "surrogateescape")
            data = self._read(info.size)
            self._read(-info.size % tarfile.BLOCKSIZE)
            if info.isreg():
                return info.name, data

    def _read(self, nbytes):
        data = self._process.stdout.read(nbytes)
        if len(data) < nbytes:
            raise EOFError(f"gpuimg ended, with exit status {self._process.wait()}")
        return data

    def _stop(self):
        process = getattr(self, "_process", None)
        self._process = None
        if process is None:
            return
        process.kill()
        process.wait()
        process.stdout.close()
        try:
            process.stdin.close()
        except OSError:  # the rest was not read
            pass


END = "end"


def _threads():
    """The actor's share of the node's cores as an option; nothing where it has a GPU or no share."""
    ray = sys.modules.get("ray")
    if ray is None or not ray.is_initialized():
        return []
    share = ray.get_runtime_context().get_assigned_resources()
    cpus = int(share.get("CPU", 0))
    return ["--threads", str(cpus)] if cpus and not share.get("GPU") else []
