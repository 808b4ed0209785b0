"""A stand-in for Upstash Redis: one fakeredis for each path, behind Upstash's HTTP interface."""

import base64
import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import fakeredis

_LOCK = threading.Lock()
_DATABASES: dict[str, Any] = {}
_PIPELINES = ("/pipeline", "/multi-exec")


def answer(name: str, command: list[Any]) -> dict[str, Any]:
    """Run a command in the database of this name, and return what Upstash answers."""
    database = _DATABASES.get(name)
    if database is None:
        database = fakeredis.FakeRedis(server=fakeredis.FakeServer(), protocol=2)
        database.response_callbacks.clear()  # as the protocol has it, and not as Python would
        _DATABASES[name] = database
    try:
        return {"result": _encoded(database.execute_command(*command))}
    except Exception as error:  # noqa: BLE001 - whatever it is, Upstash tells it in its answer
        return {"error": str(error)}


def _encoded(found: Any) -> Any:
    """Return an answer with its text in base64, which this client asks for."""
    if isinstance(found, list):
        return [_encoded(one) for one in found]
    if isinstance(found, bytes):
        return "OK" if found == b"OK" else base64.b64encode(found).decode()
    return found


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1
    """Heads and bodies are sent together: a body that follows waits 40 ms for the other side."""

    def do_POST(self) -> None:
        length = int(self.headers["Content-Length"])
        asked = json.loads(self.rfile.read(length))
        ends = [end for end in _PIPELINES if self.path.endswith(end)]
        name = self.path.removesuffix(ends[0]) if ends else self.path
        with _LOCK:
            if ends:
                self._send([answer(name, one) for one in asked])
            else:
                self._send(answer(name, asked))

    def _send(self, data: Any) -> None:
        body = json.dumps(data).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


if __name__ == "__main__":
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), _Handler).serve_forever()
