"""Command `ts serve`, which serves an archive over HTTP, or the playground.

The playground is a web page for trying programs.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from typing import TYPE_CHECKING, Any

from ts.cli.errors import ProgramError, UsageError
from ts.cli.limit_options import size
from ts.cli.targets import parse_target

if TYPE_CHECKING:
    from ts.serve.app import Options


def arguments(parser: argparse.ArgumentParser, command: str) -> str:
    """Add the command's arguments to `parser` and return its help epilog."""
    parser.add_argument(
        "target", nargs="?", metavar="ARCHIVE[:METHOD]", help="model to serve; default: the playground"
    )
    group = parser.add_argument_group("where")
    group.add_argument(
        "--host",
        default="127.0.0.1",
        metavar="ADDRESS",
        help="address to listen on; default: %(default)s, this machine only",
    )
    group.add_argument(
        "--port", type=int, default=8000, metavar="N", help="port; default: %(default)s; 0: any free port"
    )
    group.add_argument(
        "--allow-host",
        action="append",
        default=[],
        metavar="NAME",
        help="additional host name accepted in requests",
    )
    group.add_argument(
        "--client-header",
        metavar="NAME",
        help="HTTP header in which a proxy sends the client's identity; default: the client's address",
    )
    limits = parser.add_argument_group("limits")
    limits.add_argument(
        "--seconds", type=float, metavar="N", help="time limit of a request; default: 10, playground: 2"
    )
    limits.add_argument(
        "--bytes", type=size, metavar="SIZE", help="memory limit of a request; default: 1G, playground: 256M"
    )
    limits.add_argument(
        "--max-body",
        type=size,
        default=16 << 20,
        metavar="SIZE",
        help="maximal size of a request; default: 16M",
    )
    limits.add_argument(
        "--max-answer",
        type=size,
        default=64 << 20,
        metavar="SIZE",
        help="maximal size of a response; default: 64M",
    )
    limits.add_argument(
        "--queue",
        type=int,
        default=256,
        metavar="N",
        help="maximal number of queued requests; default: %(default)s",
    )
    limits.add_argument(
        "--client-queue",
        type=int,
        metavar="N",
        help="queued requests of one client; default: half of --queue",
    )
    limits.add_argument(
        "--workers",
        type=int,
        default=8,
        metavar="N",
        help="maximal number of worker processes; default: %(default)s",
    )
    limits.add_argument(
        "--connections",
        type=int,
        default=1024,
        metavar="N",
        help="maximal number of connections; default: %(default)s",
    )
    limits.add_argument(
        "--client-seconds",
        type=float,
        default=20,
        metavar="N",
        help="timeout for sending a request or receiving a response; default: 20",
    )
    model = parser.add_argument_group("models")
    model.add_argument(
        "--batch", type=int, default=1, metavar="N",
        help="run up to N requests together: the first dimension of all inputs and results is the batch",
    )  # fmt: skip
    model.add_argument(
        "--threads", type=int, default=1, metavar="N", help="threads of an operator; default: %(default)s"
    )
    return """\
Needs aiohttp: pip install 'torchscript-ts[serve]'.  Ctrl-C stops the server after the running requests.

examples:
  ts serve                          # playground: http://127.0.0.1:8000/
  ts serve model.pt --batch 32      # POST /predict with JSON or npz, GET /healthz, GET /metrics
  curl -H 'Content-Type: application/json' -d '{"inputs": {"x": [[1, 2]]}}' http://127.0.0.1:8000/predict
"""


def run(options: argparse.Namespace) -> int:
    """Run the server until it is stopped."""
    try:
        import aiohttp  # noqa: F401
    except ImportError:
        raise ProgramError("ts serve needs aiohttp: pip install 'torchscript-ts[serve]'") from None
    if not hasattr(os, "fork"):
        raise ProgramError("ts serve needs an operating system with os.fork")
    from ts.serve.app import serve
    from ts.serve.fork_server_client import ForkServerError

    serve_options = _options(options)
    content = "the playground" if serve_options.model is None else serve_options.model

    def print_address(address: str) -> None:
        print(f"serving {content} at {address}", file=sys.stderr, flush=True)

    try:
        with asyncio.Runner(loop_factory=_loop_factory()) as runner:
            runner.run(serve(serve_options, started=print_address))
    except ForkServerError as error:
        raise ProgramError(f"cannot serve {content}: {error}") from None
    return 0


def _loop_factory() -> Any:
    """Return the event loop factory of uvloop, or None if uvloop is not installed."""
    try:
        import uvloop
    except ImportError:
        return None
    return uvloop.new_event_loop


def _options(options: argparse.Namespace) -> Options:
    from ts.serve.app import Options, is_local
    from ts.serve.server_limits import ServerLimits

    for name in (
        "seconds",
        "bytes",
        "max_body",
        "max_answer",
        "queue",
        "client_queue",
        "workers",
        "connections",
        "client_seconds",
        "batch",
        "threads",
    ):
        value = getattr(options, name)
        if value is not None and not value > 0:
            raise UsageError(f"--{name.replace('_', '-')} must be more than 0, got {value}")
    if not 0 <= options.port < 1 << 16:
        raise UsageError(f"--port must be at most 65535, got {options.port}")
    path, method = None, "forward"
    if options.target is not None:
        target = parse_target(options.target)
        if target.is_program or target.path.is_dir():
            raise UsageError(f"{target.path} is not an archive; `ts.jit.save` writes archives")
        path, method = str(target.path.resolve()), target.name or "forward"
    is_model = path is not None
    limits = ServerLimits(
        seconds=options.seconds or (10.0 if is_model else 2.0),
        bytes=options.bytes or (1 << 30 if is_model else 1 << 28),
        body=options.max_body,
        answer=options.max_answer,
        bodies=max(1 << 28, 2 * options.max_body, 2 * options.max_answer),
        queue=options.queue,
        client_queue=options.client_queue or -(-options.queue // 2),
        client_header=options.client_header,
        workers=options.workers,
        batch=options.batch,
        connections=options.connections,
        client_seconds=options.client_seconds,
        hosts=frozenset(name.lower() for name in [*options.allow_host, options.host]),
        any_host=is_model and not is_local(options.host) and not options.allow_host,
    )
    return Options(
        model=path,
        method=method,
        host=options.host,
        port=options.port,
        threads=options.threads,
        imports=tuple(os.path.abspath(name) if name.endswith(".py") else name for name in options.imports),
        limits=limits,
    )
