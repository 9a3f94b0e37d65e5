"""Pool of processes. Tensors in arguments and results are in shared memory.

Example:

    with Pool(4) as pool: pool.map(function, tensors)
"""

from __future__ import annotations

import multiprocessing.pool
from multiprocessing import util
from typing import Any

from ts.multiprocessing.queue import SimpleQueue


def clean_worker(*args: Any, **kwargs: Any) -> None:
    """Run a worker of the pool, then collect garbage, because reference cycles may hold shared memory."""
    import gc

    multiprocessing.pool.worker(*args, **kwargs)  # type: ignore[attr-defined]
    gc.collect()


class Pool(multiprocessing.pool.Pool):
    """`multiprocessing.pool.Pool` that uses the queues of `ts.multiprocessing`."""

    def _setup_queues(self) -> None:
        self._inqueue = SimpleQueue(ctx=self._ctx)  # type: ignore[attr-defined]
        self._outqueue = SimpleQueue(ctx=self._ctx)  # type: ignore[attr-defined]
        self._quick_put = self._inqueue._writer.send  # type: ignore[attr-defined]
        self._quick_get = self._outqueue._reader.recv  # type: ignore[attr-defined]

    def _repopulate_pool(self) -> None:
        """Replace the workers that have ended."""
        for _ in range(self._processes - len(self._pool)):  # type: ignore[attr-defined]
            arguments = (
                self._inqueue,
                self._outqueue,
                self._initializer,  # type: ignore[attr-defined]
                self._initargs,  # type: ignore[attr-defined]
                self._maxtasksperchild,  # type: ignore[attr-defined]
                self._wrap_exception,  # type: ignore[attr-defined]
            )
            process = self._ctx.Process(target=clean_worker, args=arguments)  # type: ignore[attr-defined]
            process.name = process.name.replace("Process", "PoolWorker")
            process.daemon = True
            self._pool.append(process)  # type: ignore[attr-defined]
            process.start()
            util.debug("added worker")
