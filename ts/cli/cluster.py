"""Command `ts cluster`, which runs a scheduler and workers on this machine.

The option `--status` instead lists the members of a running cluster.
"""

from __future__ import annotations

import argparse
import asyncio
import datetime
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ts.cli.errors import ProgramError, UsageError
from ts.cli.worker import add_worker, check_name, check_options, require_dask, security_in, worker_arguments

if TYPE_CHECKING:
    from ts.distributed.cluster.supervisor import ClusterConfig


def arguments(parser: argparse.ArgumentParser, command: str) -> str:
    """Add the command's arguments to `parser` and return its help epilog."""
    parser.add_argument(
        "--workers", type=int, metavar="N", help="worker processes; default: the number of processors"
    )
    parser.add_argument(
        "--host",
        default="127.0.0.1",
        metavar="ADDRESS",
        help="address of the scheduler; default: %(default)s, this machine only",
    )
    parser.add_argument(
        "--port", type=int, default=0, metavar="N", help="port of the scheduler; default: any free port"
    )
    parser.add_argument(
        "--name-prefix", default="worker", metavar="TEXT", help="prefix of worker names; default: %(default)s"
    )
    parser.add_argument("--no-restart", action="store_true", help="do not restart workers that exit")
    parser.add_argument(
        "--dashboard", type=int, metavar="PORT", help="port of dask's dashboard (needs bokeh)"
    )
    parser.add_argument("--status", metavar="ADDRESS", help="list the members of a running cluster and exit")
    parser.add_argument("--end-with-input", action="store_true", help=argparse.SUPPRESS)
    add_worker(parser)
    return """\
Needs dask.distributed: pip install 'torchscript-ts[rpc]'.  Ctrl-C stops the cluster and all its workers.
--tls-dir creates certificates in DIR if it has none; other machines need them, or TS_RPC_SECRET.

examples:
  ts cluster --workers 4                        # prints its address, ts://127.0.0.1:PORT
  ts cluster --workers 2 --seconds 10 --bytes 64M --allow-op aten::mm --allow-op aten::relu
  ts cluster --host 10.0.0.1 --port 4711 --tls-dir certificates
  ts cluster --status ts://127.0.0.1:4711
"""


def run(options: argparse.Namespace) -> int:
    """Run a cluster until an interrupt, or print the members of a running cluster."""
    require_dask()
    check_options(options)
    if options.status is not None:
        return _status(options)
    try:
        asyncio.run(_cluster(_config(options), options.end_with_input))
    except (RuntimeError, OSError, ImportError) as error:
        raise ProgramError(f"ts cluster: {error}") from None
    return 0


def _config(options: argparse.Namespace) -> ClusterConfig:
    import os

    from ts.distributed.cluster.supervisor import ClusterConfig

    for name in ("port", "dashboard"):
        port = getattr(options, name)
        if port is not None and not 0 <= port < 1 << 16:
            raise UsageError(f"--{name} must be at most 65535, got {port}")
    check_name(options.name_prefix)
    workers = len(os.sched_getaffinity(0)) if options.workers is None else options.workers
    if workers < 0:
        raise UsageError(f"--workers must be at least 0, got {workers}")
    return ClusterConfig(
        workers=workers,
        host=options.host,
        port=options.port,
        prefix=options.name_prefix,
        folder=None if options.tls_dir is None else Path(options.tls_dir).absolute(),
        restart=not options.no_restart,
        dashboard=options.dashboard,
        arguments=worker_arguments(options),
    )


async def _cluster(config: ClusterConfig, ends_with_input: bool) -> None:
    from ts.distributed.cluster.supervisor import ClusterSupervisor

    shutdown = asyncio.Event()
    loop = asyncio.get_running_loop()
    for signal_number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(signal_number, shutdown.set)
    if ends_with_input:
        loop.add_reader(sys.stdin, shutdown.set)
    async with ClusterSupervisor(config, lambda line: print(line, file=sys.stderr, flush=True)) as cluster:
        print(cluster.address, flush=True)
        shutdown_task = asyncio.create_task(shutdown.wait())
        complete = asyncio.create_task(cluster.wait_until_registered())
        await asyncio.wait((shutdown_task, complete), return_when=asyncio.FIRST_COMPLETED)
        if not shutdown.is_set():
            complete.result()
            print(_usage_line(cluster.address, config), flush=True)
        complete.cancel()
        await shutdown_task


def _usage_line(address: str, config: ClusterConfig) -> str:
    """Return a line with the number of workers and the `init_rpc` call that connects to this cluster."""
    security = "" if config.folder is None else f', security=certificates.security("{config.folder}")'
    options = f'TensorPipeRpcBackendOptions(init_method="{address}"{security})'
    return f'{config.workers} workers: rpc.init_rpc("me", rpc_backend_options=rpc.{options})'


def _status(options: argparse.Namespace) -> int:
    from ts.cli import console
    from ts.distributed.cluster.status import members

    try:
        all_members = members(options.status, security_in(options.tls_dir))
    except (RuntimeError, ValueError) as error:
        raise ProgramError(f"ts cluster: {error}") from None
    heading = ("name", "number", "kind", "address", "pid", "running", "done", "failed", "memory", "since")
    rows = [_table_row(member) for member in all_members]
    if console.console(sys.stdout) is None:
        rows = [list(heading), *rows]
    console.table(heading, rows, sys.stdout)
    return 0


def _table_row(member: dict[str, Any]) -> list[str]:
    start_time = datetime.datetime.fromtimestamp(member["since"]).strftime("%Y-%m-%d %H:%M:%S")
    counts = [str(member[name]) for name in ("pid", "running", "done", "failed")]
    identity = [member["name"], str(member["number"]), member["kind"], member["address"]]
    return [*identity, *counts, f"{member['memory'] / (1 << 20):.0f}M", start_time]
