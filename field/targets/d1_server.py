"""A stand-in for Cloudflare D1: one SQLite database for each path, behind D1's HTTP interface."""

import json
import sqlite3
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

_LOCK = threading.Lock()
_DATABASES: dict[str, sqlite3.Connection] = {}


def answer(name: str, sql: str, params: list[Any]) -> list[dict[str, Any]]:
    """Run what was sent on the database of this name, as D1 does: whole or not at all."""
    with _LOCK:
        database = _DATABASES.get(name)
        if database is None:
            database = sqlite3.connect(":memory:", check_same_thread=False)
            database.row_factory = sqlite3.Row
            _DATABASES[name] = database
        with database:
            if params:
                return [dict(row) for row in database.execute(sql, params)]
            statements = [one for one in sql.split(";") if one.strip()]
            rows: list[Any] = []
            for statement in statements:
                rows = list(database.execute(statement))
            return [dict(row) for row in rows]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1
    """Heads and bodies are sent together: a body that follows waits 40 ms for the other side."""

    def do_POST(self) -> None:
        length = int(self.headers["Content-Length"])
        asked = json.loads(self.rfile.read(length))
        try:
            rows = answer(self.path, asked["sql"], asked.get("params") or [])
        except sqlite3.Error as error:
            errors = [{"code": 7500, "message": str(error)}]
            self._send(400, {"success": False, "errors": errors, "result": []})
        else:
            self._send(200, {"success": True, "result": [{"results": rows, "success": True}]})

    def _send(self, status: int, data: dict[str, Any]) -> None:
        body = json.dumps(data).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


if __name__ == "__main__":
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), _Handler).serve_forever()
