"""Programs of the playground, each in a process of its own.

    programs = Programs(nursery, bounds)
    body = await programs.run("def f() -> int: ...", "f()")         JSON, as `ts.serve.program` tells it

A process lives for one program.  It has its own time and memory, and ends by the system when it overstays;
how many there are at once has a bound, and so has the queue for them.
"""

from __future__ import annotations

import asyncio
import json

from ts.serve.frames import pack, receive
from ts.serve.limits import Bounds, Refusal
from ts.serve.metrics import Gauge
from ts.serve.processes import Nursery, NurseryError


class Programs:
    """Those that run, and those that wait."""

    def __init__(self, nursery: Nursery, bounds: Bounds) -> None:
        self._nursery = nursery
        self._bounds = bounds
        self._places = asyncio.Semaphore(bounds.workers)
        self._running: set[asyncio.Task[bytes]] = set()

    def metrics(self) -> list[Gauge]:
        """What is counted here."""
        return [Gauge("ts_serve_programs", "Programs that run or wait.", lambda: len(self._running))]

    @property
    def is_ready(self) -> bool:
        """Whether programs can run."""
        return self._nursery.is_alive

    async def run(self, text: str, call: str) -> bytes:
        """What there is to say of a program."""
        if len(self._running) >= self._bounds.workers + self._bounds.queue:
            raise Refusal(503, "busy", "too many programs wait already", retry=2)
        task = asyncio.get_running_loop().create_task(self._run(text, call))
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        return await asyncio.shield(task)  # who goes away does not make room: the program still runs

    async def close(self) -> None:
        """Wait for none of them any more."""
        for task in self._running:
            task.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)

    async def _run(self, text: str, call: str) -> bytes:
        async with self._places:
            try:
                reader, writer = await self._nursery.child()
            except NurseryError as error:
                raise Refusal(503, "no_process", str(error), retry=5) from None
            try:
                writer.write(pack({}, [text.encode(), call.encode()]))
                _, (answer,) = await receive(reader)
                return answer
            except (asyncio.IncompleteReadError, ConnectionError):
                return _ended()
            finally:
                writer.close()


def _ended() -> bytes:
    message = "the process of the program was ended: it took too much time, or more memory than there is"
    error = {"kind": "Ended", "message": message, "text": "", "line": 0}
    found: dict[str, object] = {
        "functions": [],
        "result": None,
        "output": "",
        "error": error,
        "seconds": None,
    }
    return json.dumps(found).encode()
