"""Command `ts worker`, which runs a worker process of a cluster.

The worker executes calls of other processes.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
from typing import TYPE_CHECKING, Any, NoReturn

from ts.cli.errors import ProgramError, UsageError
from ts.cli.limit_options import size

if TYPE_CHECKING:
    from ts.distributed.rpc.options import RpcBackendOptions


def arguments(parser: argparse.ArgumentParser, command: str) -> str:
    """Add the command's arguments to `parser` and return its help epilog."""
    parser.add_argument("address", metavar="ADDRESS", help="address of the cluster, printed by `ts cluster`")
    parser.add_argument("--name", default="", help="worker name; default: assigned by the cluster")
    parser.add_argument(
        "--host", metavar="ADDRESS", help="address at which other machines reach this one; default: detected"
    )
    parser.add_argument("--quiet", action="store_true", help="print only errors")
    add_worker(parser)
    return """\
Needs dask.distributed: pip install 'torchscript-ts[rpc]'.  Runs until Ctrl-C or the end of the cluster.

examples:
  ts worker ts://127.0.0.1:4711 --name extra --allow-op aten::add --seconds 10
  TS_RPC_SECRET=... ts worker ts://10.0.0.1:4711               # from another machine
  ts worker ts+tls://10.0.0.1:4711 --tls-dir certificates
"""


def add_worker(parser: argparse.ArgumentParser) -> None:
    """Add the worker options, which `ts cluster` shares with `ts worker`."""
    group = parser.add_argument_group("permissions and limits of calls")
    group.add_argument("--allow-python", action="store_true", help="allow calls of Python functions by name")
    group.add_argument(
        "--allow-op",
        action="append",
        metavar="NAME",
        help="allow only this operator, such as aten::add; can be repeated",
    )
    group.add_argument("--seconds", type=float, metavar="N", help="time limit of a call")
    group.add_argument("--bytes", type=size, metavar="SIZE", help="memory limit of a call, such as 64M")
    group.add_argument(
        "--fuel", type=int, metavar="N", help="limit on loop iterations and function calls in a call"
    )
    group.add_argument(
        "--threads", type=int, default=16, metavar="N", help="maximal number of concurrent calls; default: 16"
    )
    parser.add_argument("--tls-dir", metavar="DIR", help="folder with ca.pem, cert.pem and key.pem")
    parser.add_argument(
        "--patience",
        type=float,
        default=60.0,
        metavar="N",
        help="seconds to wait for the scheduler to return after a lost connection; default: 60",
    )


def worker_arguments(options: argparse.Namespace) -> tuple[str, ...]:
    """Return command-line words that pass the worker options to a subprocess."""
    arguments = ["--allow-python"] if options.allow_python else []
    for name in options.allow_op or ():
        arguments += ["--allow-op", name]
    for name in ("seconds", "bytes", "fuel", "threads", "patience"):
        value = getattr(options, name)
        arguments += [] if value is None else [f"--{name}", str(value)]
    return tuple(arguments)


def check_options(options: argparse.Namespace) -> None:
    """Raise UsageError for invalid worker options."""
    for name in ("seconds", "bytes", "fuel", "threads"):
        value = getattr(options, name)
        if value is not None and not value > 0:
            raise UsageError(f"--{name} must be more than 0, got {value}")
    if options.patience < 0:
        raise UsageError(f"--patience must be at least 0, got {options.patience}")
    if options.allow_op:
        from ts.ops import registry

        for name in options.allow_op:
            if "::" not in name or (name.startswith("aten::") and not registry.lookup(name)):
                raise UsageError(f"--allow-op: unknown operator {name}")


def check_name(name: str) -> None:
    """Raise UsageError if a worker name is invalid."""
    from ts.distributed.rpc import api

    try:
        api.check_name(name)
    except RuntimeError as error:
        raise UsageError(str(error)) from None


def require_dask() -> None:
    """Raise ProgramError if dask.distributed is not installed."""
    try:
        import distributed  # noqa: F401
    except ImportError:
        message = "clusters need dask.distributed: pip install 'torchscript-ts[rpc]'"
        raise ProgramError(message) from None


def run(options: argparse.Namespace) -> int:
    """Run a worker until the cluster stops."""
    require_dask()
    check_options(options)
    from ts.distributed.cluster import worker

    if options.name:
        check_name(options.name)
    if options.allow_python:
        sys.path.insert(0, os.getcwd())  # modules in the current folder can be imported, as with `python -m`
    signal.signal(signal.SIGTERM, _terminated)

    def joined(name: str) -> None:
        if not options.quiet:
            print(f"{name} of {options.address}", file=sys.stderr, flush=True)

    try:
        worker.serve(options.address, options.name, worker_options(options), options.patience, joined)
    except SystemExit:
        _exit(0)
    except (RuntimeError, OSError, ValueError) as error:
        print(f"ts worker: {error}", file=sys.stderr)
        _exit(1)
    if not options.quiet:
        print("the cluster has ended", file=sys.stderr)
    _exit(0)


def _exit(code: int) -> NoReturn:
    """Exit without waiting for the threads that serve calls."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def _terminated(signal_number: int, frame: Any) -> None:
    raise SystemExit(0)


def worker_options(options: argparse.Namespace) -> RpcBackendOptions:
    """Return the RPC options of a worker: permissions, limits and security."""
    from ts.distributed.cluster.worker import make_limits
    from ts.distributed.rpc.options import RpcBackendOptions

    return RpcBackendOptions(
        init_method=options.address,
        num_worker_threads=options.threads,
        security=security_in(options.tls_dir),
        host=options.host,
        allow_python=options.allow_python,
        limits=make_limits(seconds=options.seconds, bytes=options.bytes, fuel=options.fuel),
        allowed_ops=options.allow_op,
    )


def security_in(folder: str | None) -> Any:
    """Return security settings for certificates in a folder. Raise ProgramError if files are missing."""
    if folder is None:
        return None
    from ts.distributed.cluster import certificates

    try:
        return certificates.security(folder)
    except OSError as error:
        raise ProgramError(f"--tls-dir: {error}") from None
