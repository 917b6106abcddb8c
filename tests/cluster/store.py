"""An object store (moto's S3) on a free port of the loopback, with connections that break.

Usage: store.py FOLDER. Writes its port to FOLDER/port. The lines of FOLDER/faults are requests, such as "GET /photos/in-2.tar", whose
connection breaks: that of a GET in the middle of the response, that of a PUT or POST in the middle of the request.
"""
import os
import sys

from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import make_server

folder = sys.argv[1]
store = DomainDispatcherApplication(create_backend_app)


def breaks(environ):
    with open(os.path.join(folder, "faults")) as file:
        return f"{environ['REQUEST_METHOD']} {environ['PATH_INFO']}" in file.read().splitlines()


def hang_up(environ):
    environ["werkzeug.socket"].shutdown(2)
    raise ConnectionError("the fault that the test wants")


def application(environ, start):
    if not breaks(environ):
        return store(environ, start)
    if environ["REQUEST_METHOD"] != "GET":
        environ["wsgi.input"].read(1000)
        hang_up(environ)
    body = b"".join(store(environ, start))

    def half():
        yield body[: len(body) // 2]
        hang_up(environ)

    return half()


server = make_server("127.0.0.1", 0, application, threaded=True)
with open(os.path.join(folder, "port.new"), "w") as file:
    print(server.port, file=file)
os.rename(os.path.join(folder, "port.new"), os.path.join(folder, "port"))
server.serve_forever()
