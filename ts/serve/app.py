"""The server: routes, refusals, and how it starts and ends.

    asyncio.run(serve(Options(port=8000)))                       the playground
    asyncio.run(serve(Options(model="model.pt", port=8000)))     POST /predict

| | playground | model |
|---|---|---|
| `GET /` | the page | what the model takes and gives |
| `POST` | `/run` | `/predict` |
| `GET /healthz`, `GET /metrics` | whether it can answer; Prometheus | the same |

Every error is `{"error": {"status", "code", "message"}}`.
"""

from __future__ import annotations

import asyncio
import json
import logging
import resource
import signal
import sys
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any, Final

from aiohttp import web
from aiohttp.web_protocol import RequestHandler
from multidict import CIMultiDict

from ts.serve import metrics, playground
from ts.serve.clients import Visitor, Visitors
from ts.serve.connection_acceptor import Door
from ts.serve.fork_server_client import Nursery, NurseryError
from ts.serve.request_scheduler import Answer, Batcher
from ts.serve.server_limits import Bounds, Budget, Refusal, check_host, check_origin, read_body

_JSON: Final = "application/json"
_BINARY: Final = ("application/x-npz", "application/octet-stream", "application/zip")
_PAGE: Final = {
    "/": ("page.html", "text/html; charset=utf-8"),
    "/page.css": ("page.css", "text/css; charset=utf-8"),
    "/page.js": ("page.js", "text/javascript; charset=utf-8"),
}
_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS: Final = CIMultiDict(
    {
        "Content-Security-Policy": _POLICY,
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cache-Control": "no-store",
    }
)
_HELD: Final = "held"  # of a response: bytes of the budget that it has
_LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})
_SMALL: Final = 32 << 10  # bytes of an answer that are written without waiting for the client
_PROGRAMS: Final = 3  # processes that are there for programs before anybody asks

Handler = Callable[[web.BaseRequest], Awaitable[web.Response]]


@dataclass(frozen=True)
class Options:
    """What is served, where, and within which limits."""

    model: str | None = None
    method: str = "forward"
    host: str = "127.0.0.1"
    port: int = 8000
    threads: int = 1  # of an operator, in each process
    imports: tuple[str, ...] = ()  # modules and files that register custom operators
    bounds: Bounds = field(default_factory=Bounds)


class App:
    """Answers requests."""

    def __init__(self, options: Options) -> None:
        self._bounds = options.bounds
        self._budget = Budget(options.bounds.bodies)
        self._options = options
        self._model: dict[str, Any] = {}
        kind = "program" if options.model is None else "model"
        self._nursery = Nursery(
            {
                "kind": kind,
                "path": options.model,
                "method": options.method,
                "threads": options.threads,
                "imports": options.imports,
                "seconds": options.bounds.seconds,
                "bytes": options.bounds.bytes,
                "answer": options.bounds.answer,
            }
        )
        self._visitors = Visitors(options.bounds.client_header)
        self._work = Batcher(self._nursery, self._bounds, fresh=_PROGRAMS if kind == "program" else 1)
        self._routes: dict[str, tuple[str, Handler]] = {
            "/healthz": ("GET", self._health),
            "/metrics": ("GET", self._metrics),
        }
        if kind == "program":
            self._routes.update(dict.fromkeys(_PAGE, ("GET", self._page)), **{"/run": ("POST", self._run)})
        else:
            self._routes.update({"/": ("GET", self._about), "/predict": ("POST", self._predict)})
        self._pages: dict[str, bytes] = {}
        self._requests = metrics.Counter("ts_serve_requests_total", "Requests, answered.", ("path", "status"))
        self._seconds = metrics.Histogram("ts_serve_request_seconds", "Time to answer.", metrics.SECONDS)
        self._open = 0

    async def start(self) -> None:
        """Load everything; RuntimeError if that fails."""
        self._model = await self._nursery.start()
        await self._work.start()
        if self._options.model is None:
            folder = files("ts.serve") / "page"
            self._pages = {path: (folder / name).read_bytes() for path, (name, _) in _PAGE.items()}

    async def close(self) -> None:
        """End all processes."""
        await self._work.close()
        await self._nursery.close()

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer a request, whatever happens."""
        start = time.monotonic()
        path = request.rel_url.raw_path
        self._open += 1
        try:
            response = await self._answer(request, path)
        except Refusal as refusal:
            response = _refused(request, refusal)
        except asyncio.CancelledError:
            raise
        except Exception:
            logging.getLogger("ts.serve").exception("a request failed")
            response = _refused(request, Refusal(500, "internal", "the server failed at this request"))
        finally:
            self._open -= 1
        self._requests.add(path if path in self._routes else "other", str(response.status))
        self._seconds.add(time.monotonic() - start)
        try:
            await self._send(request, response)
        finally:
            self._budget.give(response.get(_HELD, 0))
        return response

    async def _send(self, request: web.BaseRequest, response: web.Response) -> None:
        """Write an answer; who does not take it does not get it."""
        transport = request.transport
        is_small = isinstance(response.body, bytes) and len(response.body) < _SMALL
        if is_small and transport is not None and transport.get_write_buffer_size() == 0:
            await response.prepare(request)
            await response.write_eof()
            return
        try:
            async with asyncio.timeout(self._bounds.client_seconds):
                await response.prepare(request)
                await response.write_eof()
        except TimeoutError:
            if request.transport is not None:
                request.transport.abort()

    async def _answer(self, request: web.BaseRequest, path: str) -> web.Response:
        check_host(request, self._bounds)
        route = self._routes.get(path)
        if route is None:
            raise Refusal(404, "not_found", "there is nothing here")
        method, handler = route
        if request.method != method and (method != "GET" or request.method != "HEAD"):
            raise Refusal(405, "bad_method", f"expected {method}")
        if method == "POST":
            check_origin(request)
        return await handler(request)

    # ---- what there is -------------------------------------------------------------------------------

    async def _page(self, request: web.BaseRequest) -> web.Response:
        path = request.rel_url.raw_path
        return _response(200, _PAGE[path][1], self._pages[path])

    async def _about(self, request: web.BaseRequest) -> web.Response:
        return _json(200, json.dumps(self._model).encode())

    async def _health(self, request: web.BaseRequest) -> web.Response:
        if not self._work.is_ready:
            raise Refusal(503, "no_process", "no process can be had", retry=5)
        return _json(200, b'{"status": "ok"}')

    async def _metrics(self, request: web.BaseRequest) -> web.Response:
        own: list[metrics.Metric] = [
            self._requests,
            self._seconds,
            metrics.Gauge("ts_serve_open", "Requests that are being answered.", lambda: self._open),
            metrics.Gauge("ts_serve_body_bytes", "Bytes of requests in memory.", lambda: self._budget.taken),
            metrics.Gauge("ts_serve_peak_bytes", "Memory of this process at its most.", _peak),
        ]
        text = metrics.text([*own, *self._work.metrics()])
        return _response(200, metrics.TYPE, text.encode())

    async def _run(self, request: web.BaseRequest) -> web.Response:
        if request.content_type != _JSON:
            raise Refusal(415, "bad_type", f"expected {_JSON}")
        body = await read_body(request, self._bounds, self._budget)
        visitor = self._visitors.of(request)
        try:
            answer = await self._work.submit(playground.program(body), ("json", "json"), visitor)
        except Refusal as refusal:
            if refusal.code not in ("ended", "too_long"):
                raise
            answer = Answer(200, _JSON, playground.ended())
        finally:
            self._budget.give(len(body))
        return self._given(answer)

    async def _predict(self, request: web.BaseRequest) -> web.Response:
        said = request.content_type if "Content-Type" in request.headers else ""
        given = "json" if said == _JSON else "npz" if said in _BINARY else None
        if given is None:
            raise Refusal(415, "bad_type", f"expected {_JSON}, or an npz as {' or '.join(_BINARY[:2])}")
        accepted = request.headers.get("Accept", "")
        wanted = (
            "json" if _JSON in accepted else "npz" if any(each in accepted for each in _BINARY) else given
        )
        body = await read_body(request, self._bounds, self._budget)
        try:
            answer = await self._work.submit(body, (given, wanted), self._visitors.of(request))
        finally:
            self._budget.give(len(body))
        return self._given(answer)

    def _given(self, answer: Answer) -> web.Response:
        """A response that holds its part of the budget until it is sent."""
        self._budget.take(len(answer.body))
        response = _response(answer.status, answer.type, answer.body)
        response[_HELD] = len(answer.body)
        return response


def _response(status: int, type: str, body: bytes) -> web.Response:
    headers = _HEADERS.copy()
    headers["Content-Type"] = type
    return web.Response(body=body, status=status, headers=headers)


def _json(status: int, body: bytes) -> web.Response:
    return _response(status, _JSON, body)


def _refused(request: web.BaseRequest, refusal: Refusal) -> web.Response:
    error = {"status": refusal.status, "code": refusal.code, "message": refusal.message}
    response = _json(refusal.status, json.dumps({"error": error}).encode())
    if refusal.retry is not None:
        response.headers["Retry-After"] = str(refusal.retry)
    if refusal.status == 405:
        response.headers["Allow"] = refusal.message.removeprefix("expected ")
    if not request.content.is_eof():  # the rest of the body is not read
        response.force_close()
    return response


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


# ---- connections -------------------------------------------------------------------------------------


class _Connection(RequestHandler):
    """One connection: what is no request of HTTP at all is refused in the form that all errors have."""

    visitor: Visitor | None = None

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        """Say that something is wrong, but not what was sent."""
        code, text = (
            ("bad_request", "this is no request") if status < 500 else ("internal", "the server failed")
        )
        response = _refused(request, Refusal(status, code, text))
        response.force_close()
        return response


class _Server(web.Server):
    """All connections."""

    door: Door

    def __init__(self, app: App, bounds: Bounds) -> None:
        super().__init__(
            app.handle,
            handler_cancellation=True,
            keepalive_timeout=bounds.client_seconds,
            lingering_time=1.0,
            auto_decompress=False,
            access_log=None,
        )

    def __call__(self) -> RequestHandler:
        """Of a new connection."""
        return _Connection(self, loop=self._loop, **self._kwargs)

    def connection_lost(self, handler: RequestHandler, error: BaseException | None = None) -> None:
        """It has gone."""
        super().connection_lost(handler, error)
        self.door.left()


async def serve(options: Options, *, started: Callable[[str], None] | None = None) -> None:
    """Serve until SIGINT or SIGTERM; then answer what is being answered, and end."""
    bounds = options.bounds
    app = App(options)
    ending = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, ending.set)
    try:
        loading = loop.create_task(app.start())
        stopped = loop.create_task(ending.wait())
        await asyncio.wait({loading, stopped}, return_when=asyncio.FIRST_COMPLETED)
        if not loading.done():
            loading.cancel()
            return
        loading.result()
        server = _Server(app, bounds)
        try:
            door = server.door = await Door.open(options.host, options.port, server, bounds.connections)
        except OSError as error:
            raise NurseryError(f"cannot listen on {options.host}:{options.port}: {error.strerror}") from None
        try:
            if started is not None:
                name = f"[{options.host}]" if ":" in options.host else options.host
                started(f"http://{name}:{door.port}/")
            await ending.wait()
        finally:
            door.close()
            await asyncio.sleep(0)  # who has just been let in has a task then
            server.pre_shutdown()
            await server.shutdown(bounds.grace_seconds)
    finally:
        await app.close()


def is_local(host: str) -> bool:
    """Whether only this machine can reach a server that listens there."""
    return host in _LOOPBACK or host.startswith("127.")
