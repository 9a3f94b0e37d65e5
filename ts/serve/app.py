"""HTTP server of `ts serve` with health checks (readiness), Content Security Policy and graceful shutdown.

The server runs the playground or the model server:

    asyncio.run(serve(Options(port=8000)))                       the playground
    asyncio.run(serve(Options(model="model.pt", port=8000)))     the model server

The right column describes the responses to each request:

    GET /               the page of the playground, or the inputs and outputs of the model
    POST /run           report of a program (playground only)
    POST /predict       outputs of the model (model server only)
    GET /healthz        readiness
    GET /metrics        Prometheus metrics

Every error response is `{"error": {"status", "code", "message"}}`.
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
from ts.serve.clients import Client, ClientRegistry
from ts.serve.connection_acceptor import ConnectionAcceptor
from ts.serve.fork_server_client import ForkServer, ForkServerError
from ts.serve.request_scheduler import RequestScheduler, Response
from ts.serve.server_limits import (
    HTTPError,
    RequestMemoryBudget,
    ServerLimits,
    check_host,
    check_origin,
    read_body,
)

_JSON_TYPE: Final = "application/json"
_NPZ_TYPES: Final = ("application/x-npz", "application/octet-stream", "application/zip")
_PAGE_FILES: Final = {
    "/": ("page.html", "text/html; charset=utf-8"),
    "/page.css": ("page.css", "text/css; charset=utf-8"),
    "/page.js": ("page.js", "text/javascript; charset=utf-8"),
}
_CONTENT_SECURITY_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_RESPONSE_HEADERS: Final = CIMultiDict(
    {
        "Content-Security-Policy": _CONTENT_SECURITY_POLICY,
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cache-Control": "no-store",
    }
)
# A response object stores the number of bytes that it reserves in the memory budget under this key.
_BUDGET_KEY: Final = "reserved_bytes"
_LOOPBACK_HOSTS: Final = frozenset({"localhost", "127.0.0.1", "::1"})
# Bodies of at most this size are written without a timeout, because they fit into an empty write buffer, so
# that writing does not wait.
_MAX_UNTIMED_BODY_BYTES: Final = 32 << 10
_SPARE_PROGRAM_WORKERS: Final = 3

Handler = Callable[[web.BaseRequest], Awaitable[web.Response]]


@dataclass(frozen=True)
class Options:
    """Options of `ts serve`: model or playground, address and limits."""

    model: str | None = None
    method: str = "forward"
    host: str = "127.0.0.1"
    port: int = 8000
    threads: int = 1  # threads per operator, in each worker
    imports: tuple[str, ...] = ()  # modules and files that register custom operators
    limits: ServerLimits = field(default_factory=ServerLimits)


class App:
    """HTTP application: routes requests, and owns the scheduler, the fork server and the metrics."""

    def __init__(self, options: Options) -> None:
        self._limits = options.limits
        self._budget = RequestMemoryBudget(options.limits.bodies)
        self._options = options
        self._model_description: dict[str, Any] = {}
        kind = "program" if options.model is None else "model"
        self._fork_server = ForkServer(
            {
                "kind": kind,
                "path": options.model,
                "method": options.method,
                "threads": options.threads,
                "imports": options.imports,
                "seconds": options.limits.seconds,
                "bytes": options.limits.bytes,
                "answer": options.limits.answer,
            }
        )
        self._clients = ClientRegistry(options.limits.client_header)
        spare_workers = _SPARE_PROGRAM_WORKERS if kind == "program" else 1
        self._scheduler = RequestScheduler(self._fork_server, self._limits, spare_workers=spare_workers)
        self._routes: dict[str, tuple[str, Handler]] = {
            "/healthz": ("GET", self._health),
            "/metrics": ("GET", self._metrics),
        }
        if kind == "program":
            self._routes.update(
                dict.fromkeys(_PAGE_FILES, ("GET", self._page)), **{"/run": ("POST", self._run)}
            )
        else:
            self._routes.update({"/": ("GET", self._describe_model), "/predict": ("POST", self._predict)})
        self._pages: dict[str, bytes] = {}
        self._request_count = metrics.Counter(
            "ts_serve_requests_total", "Completed requests.", ("path", "status")
        )
        self._request_seconds = metrics.Histogram(
            "ts_serve_request_seconds", "Latency of requests.", metrics.SECONDS_BUCKETS
        )
        self._open_count = 0

    async def start(self) -> None:
        """Load the model or the compiler and start the workers. Raise ForkServerError if that fails."""
        self._model_description = await self._fork_server.start()
        await self._scheduler.start()
        if self._options.model is None:
            folder = files("ts.serve") / "page"
            self._pages = {path: (folder / name).read_bytes() for path, (name, _) in _PAGE_FILES.items()}

    async def close(self) -> None:
        """Stop the workers and the fork server."""
        await self._scheduler.close()
        await self._fork_server.close()

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        """Send the response to a request. Exceptions of handlers become error responses."""
        start = time.monotonic()
        path = request.rel_url.raw_path
        self._open_count += 1
        try:
            response = await self._route(request, path)
        except HTTPError as error:
            response = _error_response(request, error)
        except asyncio.CancelledError:
            raise
        except Exception:
            logging.getLogger("ts.serve").exception("a request failed")
            failure = HTTPError(500, "internal", "internal server error")
            response = _error_response(request, failure)
        finally:
            self._open_count -= 1
        self._request_count.add(path if path in self._routes else "other", str(response.status))
        self._request_seconds.add(time.monotonic() - start)
        try:
            await self._send(request, response)
        finally:
            self._budget.release(response.get(_BUDGET_KEY, 0))
        return response

    async def _send(self, request: web.BaseRequest, response: web.Response) -> None:
        """Write a response. Abort the connection if the client does not read the response in time."""
        transport = request.transport
        is_small = isinstance(response.body, bytes) and len(response.body) < _MAX_UNTIMED_BODY_BYTES
        if is_small and transport is not None and transport.get_write_buffer_size() == 0:
            await response.prepare(request)
            await response.write_eof()
            return
        try:
            async with asyncio.timeout(self._limits.client_seconds):
                await response.prepare(request)
                await response.write_eof()
        except TimeoutError:
            if request.transport is not None:
                request.transport.abort()

    async def _route(self, request: web.BaseRequest, path: str) -> web.Response:
        check_host(request, self._limits)
        route = self._routes.get(path)
        if route is None:
            raise HTTPError(404, "not_found", "unknown path")
        method, handler = route
        if request.method != method and (method != "GET" or request.method != "HEAD"):
            raise HTTPError(405, "bad_method", f"expected {method}")
        if method == "POST":
            check_origin(request)
        return await handler(request)

    async def _page(self, request: web.BaseRequest) -> web.Response:
        path = request.rel_url.raw_path
        return _response(200, _PAGE_FILES[path][1], self._pages[path])

    async def _describe_model(self, request: web.BaseRequest) -> web.Response:
        return _json_response(200, json.dumps(self._model_description).encode())

    async def _health(self, request: web.BaseRequest) -> web.Response:
        """Respond to a health check, with status 503 if no worker process can be started."""
        if not self._scheduler.is_ready:
            raise HTTPError(503, "no_process", "cannot start a worker process", retry_seconds=5)
        return _json_response(200, b'{"status": "ok"}')

    async def _metrics(self, request: web.BaseRequest) -> web.Response:
        own: list[metrics.Metric] = [
            self._request_count,
            self._request_seconds,
            metrics.Gauge("ts_serve_open", "Open requests.", lambda: self._open_count),
            metrics.Gauge(
                "ts_serve_body_bytes", "Bytes of bodies in memory.", lambda: self._budget.reserved_bytes
            ),
            metrics.Gauge("ts_serve_peak_bytes", "Peak memory of the HTTP process.", _peak_memory_bytes),
        ]
        exposition = metrics.format_metrics([*own, *self._scheduler.metrics()])
        return _response(200, metrics.CONTENT_TYPE, exposition.encode())

    async def _run(self, request: web.BaseRequest) -> web.Response:
        if request.content_type != _JSON_TYPE:
            raise HTTPError(415, "bad_type", f"expected {_JSON_TYPE}")
        body = await read_body(request, self._limits, self._budget)
        client = self._clients.find_client(request)
        try:
            program = playground.validate_program(body)
            response = await self._scheduler.submit(program, ("json", "json"), client)
        except HTTPError as error:
            if error.code not in ("ended", "too_long"):
                raise
            response = Response(200, _JSON_TYPE, playground.killed_report())
        finally:
            self._budget.release(len(body))
        return self._reserve_response(response)

    async def _predict(self, request: web.BaseRequest) -> web.Response:
        """Run the model. The Accept header selects the format of the response (content negotiation)."""
        content_type = request.content_type if "Content-Type" in request.headers else ""
        input_kind = "json" if content_type == _JSON_TYPE else "npz" if content_type in _NPZ_TYPES else None
        if input_kind is None:
            raise HTTPError(
                415, "bad_type", f"expected {_JSON_TYPE}, or an npz as {' or '.join(_NPZ_TYPES[:2])}"
            )
        accept = request.headers.get("Accept", "")
        if _JSON_TYPE in accept:
            output_kind = "json"
        elif any(each in accept for each in _NPZ_TYPES):
            output_kind = "npz"
        else:
            output_kind = input_kind
        body = await read_body(request, self._limits, self._budget)
        client = self._clients.find_client(request)
        try:
            response = await self._scheduler.submit(body, (input_kind, output_kind), client)
        finally:
            self._budget.release(len(body))
        return self._reserve_response(response)

    def _reserve_response(self, response: Response) -> web.Response:
        """Convert a worker's response to an HTTP response.

        Its size is reserved in the memory budget until it is sent.
        """
        self._budget.reserve(len(response.body))
        http_response = _response(response.status, response.type, response.body)
        http_response[_BUDGET_KEY] = len(response.body)
        return http_response


def _response(status: int, type: str, body: bytes) -> web.Response:
    headers = _RESPONSE_HEADERS.copy()
    headers["Content-Type"] = type
    return web.Response(body=body, status=status, headers=headers)


def _json_response(status: int, body: bytes) -> web.Response:
    return _response(status, _JSON_TYPE, body)


def _error_response(request: web.BaseRequest, error: HTTPError) -> web.Response:
    fields = {"status": error.status, "code": error.code, "message": error.message}
    response = _json_response(error.status, json.dumps({"error": fields}).encode())
    if error.retry_seconds is not None:
        response.headers["Retry-After"] = str(error.retry_seconds)
    if error.status == 405:
        response.headers["Allow"] = error.message.removeprefix("expected ")
    # After an incomplete read of the body, the connection cannot be used for another request.
    if not request.content.is_eof():
        response.force_close()
    return response


def _peak_memory_bytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


class _Connection(RequestHandler):
    """HTTP connection that reports malformed requests in the JSON format of all errors."""

    client: Client | None = None

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        """Return an error response that does not quote the malformed request."""
        code, description = (
            ("bad_request", "malformed request") if status < 500 else ("internal", "internal server error")
        )
        response = _error_response(request, HTTPError(status, code, description))
        response.force_close()
        return response


class _Server(web.Server):
    """Creates connections and notifies the acceptor when a connection closes."""

    acceptor: ConnectionAcceptor

    def __init__(self, app: App, limits: ServerLimits) -> None:
        super().__init__(
            app.handle,
            handler_cancellation=True,
            keepalive_timeout=limits.client_seconds,
            lingering_time=1.0,
            auto_decompress=False,
            access_log=None,
        )

    def __call__(self) -> RequestHandler:
        """Return the protocol object of a new connection."""
        return _Connection(self, loop=self._loop, **self._kwargs)

    def connection_lost(self, handler: RequestHandler, error: BaseException | None = None) -> None:
        """Notify the acceptor of a closed connection."""
        super().connection_lost(handler, error)
        self.acceptor.on_disconnect()


async def serve(options: Options, *, started: Callable[[str], None] | None = None) -> None:
    """Serve until SIGINT or SIGTERM, then complete open requests in the grace period (graceful shutdown).

    `started` is called with the address of the server.  Raises ForkServerError if the model cannot be loaded
    or the address is unavailable.
    """
    limits = options.limits
    app = App(options)
    stop_event = asyncio.Event()
    loop = asyncio.get_running_loop()
    for signal_number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(signal_number, stop_event.set)
    try:
        loading = loop.create_task(app.start())
        stopped = loop.create_task(stop_event.wait())
        await asyncio.wait({loading, stopped}, return_when=asyncio.FIRST_COMPLETED)
        if not loading.done():
            loading.cancel()
            return
        loading.result()
        server = _Server(app, limits)
        try:
            acceptor = server.acceptor = await ConnectionAcceptor.open(
                options.host, options.port, server, limits.connections
            )
        except OSError as error:
            raise ForkServerError(
                f"cannot listen on {options.host}:{options.port}: {error.strerror}"
            ) from None
        try:
            if started is not None:
                name = f"[{options.host}]" if ":" in options.host else options.host
                started(f"http://{name}:{acceptor.port}/")
            await stop_event.wait()
        finally:
            acceptor.close()
            # During this pause, the event loop creates the tasks of the connections accepted last, so that
            # the shutdown can wait for them.
            await asyncio.sleep(0)
            server.pre_shutdown()
            await server.shutdown(limits.grace_seconds)
    finally:
        await app.close()


def is_local(host: str) -> bool:
    """Return True if a server that listens on `host` accepts only local connections."""
    return host in _LOOPBACK_HOSTS or host.startswith("127.")
