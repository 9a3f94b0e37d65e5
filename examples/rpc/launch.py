"""Start the processes of an RPC example, with a rendezvous at a free port."""

import multiprocessing
import os
import socket
from collections.abc import Callable


def run(process: Callable[..., None], count: int, *arguments: object) -> None:
    """Run `process(rank, *arguments)` in `count` processes, including this one as rank 0."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(found.getsockname()[1]))
    context = multiprocessing.get_context("spawn")  # other ranks inherit the environment
    others = [context.Process(target=process, args=(rank, *arguments)) for rank in range(1, count)]
    for other in others:
        other.start()
    process(0, *arguments)
    for other in others:
        other.join()
