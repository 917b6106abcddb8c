"""The examples and tasks of the gallery: reads them, runs their commands and computes the hashes of their results.

A file in examples/ holds records, separated by blank lines:

    # operation: title @ task          what the example shows, and where the index lists it
    - text                             a sentence (optional)
    $ gpuimg ...                       a command of the shell; its inputs are files of testdata/ or results of earlier lines
    ! gpuimg ...                       the same, for a command that may exit with 1
    > file: text                       a result, and what it shows; "-" is what the last command prints, and "~" before the
                                       name means that the result depends on the machine and has no hash

An example without results is shown and not run. tasks.txt says how its lines look.
"""
import hashlib
import pathlib
import re
import subprocess
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
TESTDATA = HERE.parent.parent.parent / "testdata"
HASHES = HERE / "hashes.txt"
PICTURES = (".png", ".svg")


class Result:
    def __init__(self, name, text):
        self.hashed = not name.startswith("~")
        self.name, self.text = name.lstrip("~"), text

    @property
    def is_picture(self):
        return self.name.endswith(PICTURES)


class Example:
    def __init__(self, record, family):
        self.family, self.notes, self.commands, self.results = family, [], [], []
        for line in record.splitlines():
            mark, text = line[0], line[2:]
            if mark == "#":
                self.operation, self.title, self.task = re.fullmatch(r"([a-z-]+): (.*) @ (.*)", text).groups()
            elif mark == "-":
                self.notes.append(text)
            elif mark in "$!":
                self.commands.append((text, mark == "!"))
            elif mark == ">":
                self.results.append(Result(*text.split(": ", 1)))
            else:
                raise ValueError(f"{family}: {line}")

    def script(self):
        """Returns the commands as a script. What the last one prints is in the file "-"."""
        lines = ["set -e"]
        for number, (command, fails) in enumerate(self.commands, 1):
            if number == len(self.commands):
                command = f"{{ {command}\n}} >./-"
            lines.append(f"{command} || test $? = 1" if fails else command)
        return "\n".join(lines)

    def inputs(self):
        """Returns the names of the pictures of testdata/ that the commands read, in their order."""
        words = re.findall(r"[\w-]+\.png", " ".join(c for c, _ in self.commands))
        return [w for w in dict.fromkeys(words) if (TESTDATA / w).exists() and w not in (r.name for r in self.results)]


class Group:
    """The tasks of a kind of user."""
    def __init__(self, name, title, picture):
        self.name, self.title, self.picture, self.text = name, title, picture, ""
        self.setup, self.tasks, self.shown = [], [], []


def read_examples():
    examples = []
    for path in sorted((HERE / "examples").glob("*.txt")):
        for record in path.read_text(encoding="utf-8").strip().split("\n\n"):
            examples.append(Example(record.strip(), path.stem))
    counts = {}
    for example in examples:
        counts[example.operation] = counts.get(example.operation, 0) + 1
        example.name = f"{example.operation}-{counts[example.operation]}"
    return examples


def read_tasks():
    groups = []
    for line in (HERE / "tasks.txt").read_text(encoding="utf-8").splitlines()[1:]:
        if line.startswith("## "):
            groups.append(Group(*re.fullmatch(r"## ([a-z-]+): (.*) \| (.*)", line).groups()))
        elif line.startswith("+ "):
            groups[-1].setup.append(line[2:])
        elif " $ " in line:
            groups[-1].tasks.append(tuple(line.split(" $ ", 1)))
        elif line:
            groups[-1].text += line
    return groups


class Runner:
    """Runs scripts in folders of their own, in which the pictures of testdata/ and the program `gpuimg` are found."""
    def __init__(self, gpuimg, environment):
        self.folder = tempfile.TemporaryDirectory(prefix="gallery-")
        self.work = pathlib.Path(self.folder.name)
        (self.work / "bin").mkdir()
        (self.work / "bin" / "gpuimg").symlink_to(pathlib.Path(gpuimg).resolve())
        self.environment = {**environment, "LC_ALL": "C", "PATH": f"bin:{self.work}/bin:{environment['PATH']}"}

    def open(self, name):
        """Returns a new folder with the pictures of testdata/."""
        folder = self.work / name
        folder.mkdir()
        for picture in TESTDATA.glob("*.png"):
            (folder / picture.name).symlink_to(picture)
        return folder

    def run(self, folder, script):
        """Runs a script; returns what went wrong, or None."""
        done = subprocess.run(["bash", "-c", script], cwd=folder, env=self.environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        if done.returncode:
            return f"exit status {done.returncode}: {done.stderr.decode(errors='replace')[-400:]}"
        return None

    def hash(self, folder, result):
        """Returns the SHA-256 of a text, or of the samples of a picture, which no library for files can change."""
        path = folder / result.name
        if path.suffix != ".png":
            return hashlib.sha256(path.read_bytes()).hexdigest()
        done = subprocess.run([self.work / "bin" / "gpuimg", "convert", path, "npy:-", "--quiet"], env=self.environment,
                              stdout=subprocess.PIPE, check=True)
        return hashlib.sha256(done.stdout).hexdigest()


def run_example(runner, example):
    """Runs an example; returns its folder, the hashes of its results by name, and what went wrong or None."""
    folder = runner.open(example.name)
    if not example.results:
        return folder, {}, None
    error = runner.run(folder, example.script())
    missing = [r.name for r in example.results if not (folder / r.name).exists()]
    if error or missing:
        return folder, {}, error or f"no {missing[0]}"
    return folder, {f"{example.name}/{r.name}": runner.hash(folder, r) for r in example.results if r.hashed}, None


def read_hashes():
    """Returns the committed hashes by name."""
    lines = HASHES.read_text().splitlines() if HASHES.exists() else []
    return {name: digest for digest, name in (line.split("  ", 1) for line in lines)}


def write_hashes(hashes):
    HASHES.write_text("".join(f"{digest}  {name}\n" for name, digest in hashes.items()))
