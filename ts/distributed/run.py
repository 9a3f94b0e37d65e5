"""Launch a program once for each rank (elastic launcher), as `torchrun` does.

Examples for a file, for a module, and for a program that imports torch:

    python -m ts.distributed.run --standalone --nproc-per-node 4 train.py --epochs 3
    ts launch --nproc-per-node 4 -m package.train
    python -m ts.as_torch -m torch.distributed.run ...

Each process finds RANK, LOCAL_RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT in its environment.
`init_process_group("gloo")` reads these variables. If one process fails, all processes restart, at most
`--max-restarts` times.

For several machines, pass `--nnodes N --node-rank I --master-addr A --master-port P` on each machine.
"""

from __future__ import annotations

import argparse
import os
import socket
import sys
from collections.abc import Sequence
from typing import Final

from ts.distributed.launcher import ChildFailedError, ProcessLaunch, SignalException, launch_processes

_DEFAULT_MASTER_PORT: Final = 29500
_EXAMPLES: Final = """\
examples:
  ts launch --standalone --nproc-per-node 4 train.py --epochs 3
  ts launch --nproc-per-node 2 --max-restarts 3 -m package.train
  ts launch --nnodes 2 --node-rank 1 --master-addr 10.0.0.1 --nproc-per-node 4 train.py
"""


def get_args_parser() -> argparse.ArgumentParser:
    """Return the argument parser, which has the options of `torchrun`."""
    parser = argparse.ArgumentParser(
        prog="ts launch",
        description="Start a program once for each rank.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("--nnodes", default="1:1", metavar="N", help="number of machines; default: 1")
    add(
        *_option_spellings("nproc-per-node"),
        default="1",
        metavar="N",
        help="number of processes on this machine, or cpu, gpu, auto",
    )
    add(*_option_spellings("node-rank"), type=int, default=0, metavar="N", help="index of this machine")
    add("--standalone", action="store_true", help="run on one machine, with any free port")
    add(
        *_option_spellings("master-addr"),
        default="127.0.0.1",
        metavar="HOST",
        help="address on which rank 0 listens",
    )
    add(
        *_option_spellings("master-port"),
        type=int,
        metavar="PORT",
        help=f"port on which rank 0 listens; default: {_DEFAULT_MASTER_PORT}",
    )
    add(
        *_option_spellings("rdzv-backend"),
        default="static",
        metavar="NAME",
        help="static, or c10d (one machine only)",
    )
    add(*_option_spellings("rdzv-endpoint"), default="", metavar="HOST:PORT", help="rendezvous address")
    add(*_option_spellings("rdzv-id"), default="none", metavar="ID", help="name of this run")
    add(*_option_spellings("rdzv-conf"), default="", metavar="KEY=VALUE,...", help="accepted, without effect")
    add(
        *_option_spellings("max-restarts"),
        type=int,
        default=0,
        metavar="N",
        help="maximal number of restarts after failures; default: 0",
    )
    add(
        *_option_spellings("monitor-interval"),
        type=float,
        default=0.1,
        metavar="SECONDS",
        help="interval of process checks; default: 0.1",
    )
    add(
        *_option_spellings("shutdown-timeout"),
        type=float,
        default=30.0,
        metavar="SECONDS",
        help="time between SIGTERM and SIGKILL; default: 30",
    )
    add(*_option_spellings("start-method"), default="spawn", help="accepted, without effect")
    add("--role", default="default", metavar="NAME", help="name of the processes' role")
    add("-m", "--module", action="store_true", help="PROGRAM is a module name, as for python -m")
    add(
        *_option_spellings("no-python"),
        action="store_true",
        help="execute PROGRAM directly instead of with Python",
    )
    add(*_option_spellings("log-dir"), metavar="DIR", help="output folder for --redirects")
    add(
        "-r",
        "--redirects",
        default="0",
        metavar="N",
        help="redirect to files: 0 nothing, 1 stdout, 2 stderr, 3 both",
    )
    add(*_option_spellings("local-addr"), metavar="HOST", help="accepted, without effect")
    add("training_script", metavar="PROGRAM", help="program, followed by its arguments")
    add("training_script_args", nargs=argparse.REMAINDER, metavar="ARG")
    return parser


def _option_spellings(name: str) -> tuple[str, str]:
    """Return the spellings of an option with hyphens and with underscores."""
    return f"--{name}", f"--{name.replace('-', '_')}"


def parse_args(args: Sequence[str] | None) -> argparse.Namespace:
    """Parse a command line."""
    return get_args_parser().parse_args(args)


def determine_local_world_size(nproc_per_node: str) -> int:
    """Return the number of processes that `nproc_per_node` means: a number, `cpu`, `gpu` or `auto`.

    Raise ValueError for another text.
    """
    try:
        return int(nproc_per_node)
    except ValueError:
        pass
    if nproc_per_node == "cpu":
        return os.cpu_count() or 1
    if nproc_per_node in ("gpu", "auto"):
        from ts import cuda

        if cuda.is_available():
            return cuda.device_count()
        if nproc_per_node == "auto":
            return os.cpu_count() or 1
        raise ValueError("Cuda is not available.")
    raise ValueError(f"Unsupported nproc_per_node value: {nproc_per_node}")


def parse_min_max_nnodes(nnodes: str) -> tuple[int, int]:
    """Parse a number of machines, "2", or a range, "1:4", to (min, max)."""
    bounds = nnodes.split(":")
    if len(bounds) > 2:
        raise RuntimeError(f'nnodes={nnodes} is not in "MIN:MAX" format')
    return int(bounds[0]), int(bounds[-1])


def launch_from_options(options: argparse.Namespace) -> ProcessLaunch:
    """Return the launch that options describe. Raise ValueError for conflicting options."""
    lowest, highest = parse_min_max_nnodes(options.nnodes)
    if not 0 < lowest <= highest:
        raise ValueError(f"--nnodes {options.nnodes}: expected 0 < MIN <= MAX")
    if lowest != highest:
        raise ValueError(
            f"--nnodes {options.nnodes}: an elastic number of machines is unsupported, expected one number"
        )
    processes = determine_local_world_size(options.nproc_per_node)
    if processes < 1:
        raise ValueError(f"--nproc-per-node {processes}: expected at least 1")
    host, port = options.master_addr, options.master_port
    if options.standalone or options.rdzv_backend != "static":
        if lowest > 1:
            raise ValueError(
                f"--nnodes {lowest}: several machines need --master-addr and --master-port, without "
                f"--standalone and --rdzv-backend {options.rdzv_backend}"
            )
        host, port = "127.0.0.1", _free_port()
    elif options.rdzv_endpoint:
        host, _, host_or_port = options.rdzv_endpoint.rpartition(":")
        host, port = (host, int(host_or_port)) if host else (host_or_port, port)
    if not 0 <= options.node_rank < lowest:
        raise ValueError(f"--node-rank {options.node_rank}: expected 0 to {lowest - 1}")
    return ProcessLaunch(
        command=_command(options),
        processes=processes,
        machines=lowest,
        machine=options.node_rank,
        master_addr=host,
        master_port=_DEFAULT_MASTER_PORT if port is None else port,
        run_id=options.rdzv_id,
        role=options.role,
        max_restarts=options.max_restarts,
        monitor_seconds=options.monitor_interval,
        shutdown_seconds=options.shutdown_timeout,
        log_dir=options.log_dir,
        redirects=int(options.redirects),
    )


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _command(options: argparse.Namespace) -> list[str]:
    """Return the command line of one process."""
    program = [options.training_script, *options.training_script_args]
    if options.no_python:
        if options.module:
            raise ValueError(
                "Don't use both the '--no-python' flag and the '--module' flag at the same time."
            )
        return program
    import ts

    as_torch = ["-m", "ts.as_torch"] if sys.modules.get("torch") is ts else []
    return [sys.executable, "-u", *as_torch, *(["-m"] if options.module else []), *program]


def run(args: argparse.Namespace) -> None:
    """Launch the processes and wait. Raise ChildFailedError if one fails and no restarts are left."""
    launch_processes(launch_from_options(args))


def main(args: Sequence[str] | None = None) -> None:
    """Parse the command line and run it with `run_or_exit`."""
    run_or_exit(parse_args(args))


def run_or_exit(options: argparse.Namespace) -> None:
    """Launch the processes.

    Exit with 1 if a process fails, 2 for conflicting options, 128 + N for signal N.
    """
    try:
        run(options)
    except ChildFailedError as error:
        print(error, file=sys.stderr)
        raise SystemExit(1) from None
    except SignalException as error:
        print(error, file=sys.stderr)
        raise SystemExit(128 + error.sigval) from None
    except (ValueError, RuntimeError) as error:
        print(f"{get_args_parser().prog}: {error}", file=sys.stderr)
        raise SystemExit(2) from None


if __name__ == "__main__":
    main()
