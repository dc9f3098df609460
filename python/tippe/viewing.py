"""World.view: a world in the browser while Python steps it."""

from __future__ import annotations

import secrets
import threading
import time
import webbrowser
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from . import _core
from .errors import UnsupportedError
from .showing import in_notebook

if TYPE_CHECKING:
    from .world import World

__all__ = ["View"]

LONGEST_WAIT = 5.0
"""Seconds for which the page waits for news before it asks again."""
LONGEST_ORDER = 64 * 1024


def _page_text() -> bytes:
    path = Path(__file__).parent / "pages" / "replay.html"
    if not path.exists():
        raise UnsupportedError("this installation has no page: it was built without node and npm; install them, and the package again")
    return path.read_bytes()


class View:
    """A page in the browser that follows a world; World.view() makes it.

    Every step that the world takes from now on is shown as it comes: motion, contacts, forces, plots. Python goes on stepping; the page takes no
    orders. `url` is its address, on this machine only, with a secret in it. `close()` ends it, as leaving a ``with`` block does.
    """

    def __init__(self, world: World, title: str, port: int, megabytes: float, pace: float) -> None:
        self._page = _page_text()
        self._watch = _core._WorldWatch(world, title, megabytes, pace)
        self._secret = secrets.token_hex(16)
        self._is_open = True
        try:
            self._server: Any = _server(self, port)
        except OSError:
            self._watch.close()
            raise
        self._thread = threading.Thread(target=self._server.serve_forever, name="tippe view", daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        """The address of the page."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/{self._secret}/"

    def close(self) -> None:
        """Ends the page; the world goes on."""
        if self._is_open:
            self._watch.close()
            self._is_open = False
            self._server.shutdown()
            self._server.server_close()
            self._thread.join()

    def __enter__(self) -> View:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"View({self.url!r})" if self._is_open else "View(closed)"

    def _repr_html_(self) -> str:
        return f'<iframe src="{self.url}" width="100%" height="600" style="border: 0" allowfullscreen></iframe>'

    def _answer(self, path: str, query: str) -> tuple[int, str, bytes]:
        """What the page asks for; waits for news where it asks for them."""
        if path == "":
            return 200, "text/html; charset=utf-8", self._page
        end = time.monotonic() + LONGEST_WAIT
        while True:
            is_late = time.monotonic() > end or not self._is_open
            answer = self._watch.ask(path, query, is_late)
            if answer is not None:
                return answer
            time.sleep(0.01)


def _server(view: View, port: int) -> ThreadingHTTPServer:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        timeout = 30

        def _place(self) -> tuple[str, str] | None:
            """Path and query behind the secret; None for who does not know it, or comes by another name."""
            host = self.headers.get("Host", "").rpartition(":")[0]
            path, _, query = self.path.partition("?")
            start = f"/{view._secret}/"
            return (path[len(start):], query) if host in ("127.0.0.1", "localhost") and path.startswith(start) else None

        def _send(self, status: int, kind: str, content: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(content)))
            self.send_header("Cache-Control", "no-store")
            self.send_header("X-Content-Type-Options", "nosniff")
            self.send_header("Referrer-Policy", "no-referrer")
            self.end_headers()
            self.wfile.write(content)

        def do_GET(self) -> None:
            place = self._place()
            self._send(*(view._answer(*place) if place is not None else (404, "text/plain", b"nothing here")))

        def do_POST(self) -> None:
            place, size = self._place(), self.headers.get("Content-Length", "0")
            if place is None or place[0] != "command" or not size.isdigit() or int(size) > LONGEST_ORDER:
                self.close_connection = True
                self._send(404, "text/plain", b"nothing here")
                return
            self._send(*view._watch.order(self.rfile.read(int(size))))

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    server.daemon_threads = True
    return server


def open_view(world: World, title: str, port: int, megabytes: float, pace: float, browser: bool | None) -> View:
    """See World.view."""
    view = View(world, title, port, megabytes, pace)
    if browser if browser is not None else not in_notebook():
        webbrowser.open(view.url)
    return view
