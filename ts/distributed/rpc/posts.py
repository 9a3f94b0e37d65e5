"""Messages that nobody waits for and that have to arrive, in order, whatever becomes of the connection.

    posts = Posts(peer.send)
    posts.post(["drop", [0, 7], [1, 3]])

All are sent at once.  If the connection breaks, what was not answered is sent again, oldest first, and what
is posted meanwhile behind it; so each has to do the same when it comes twice.  They are given up when nobody
listens there any more, or nothing was answered for GIVE_UP seconds.
"""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable
from typing import Any, Final

from ts.distributed.comm.calls import Done
from ts.distributed.loop import loop

GIVE_UP: Final = 30.0
_AGAIN: Final = 0.2  # seconds until they are sent again

Then = Callable[[], None] | None


class Posts:
    """The messages to one process."""

    def __init__(self, send: Callable[[Any, Done], None]) -> None:
        self._send = send
        self._numbers = itertools.count()
        self._lock = threading.Lock()  # of what follows
        self._unanswered: dict[int, tuple[Any, Then]] = {}
        self._flying = 0
        self._waits = False  # until they are sent again
        self._since: float | None = None  # nothing has been answered
        self.closed = False

    def post(self, message: Any, then: Then = None) -> None:
        """Send a message, from any thread; `then` is called when it was answered."""
        with self._lock:
            number = next(self._numbers)
            self._unanswered[number] = message, then
            if self._waits:
                return
            self._flying += 1
        self._fly(number, message, then)

    def _fly(self, number: int, message: Any, then: Then) -> None:
        def done(answered: Any, error: Exception | None) -> None:
            self._landed(number, error)
            if error is None and then is not None and not self.closed:
                then()

        self._send(message, done)

    def _landed(self, number: int, error: Exception | None) -> None:
        with self._lock:
            self._flying -= 1
            if error is None:
                self._unanswered.pop(number, None)
                self._since = None
            else:
                self._waits = True
                now = time.monotonic()
                self._since = self._since or now
                if self.closed or isinstance(error, ConnectionRefusedError) or now > self._since + GIVE_UP:
                    self._unanswered.clear()
            if self._flying or not self._waits:
                return
        loop().call_soon_threadsafe(loop().call_later, _AGAIN, self._fly_again)

    def _fly_again(self) -> None:
        with self._lock:
            self._waits = False
            if self.closed:
                self._unanswered.clear()
            again = list(self._unanswered.items())
            self._flying += len(again)
        for number, (message, then) in again:
            self._fly(number, message, then)
