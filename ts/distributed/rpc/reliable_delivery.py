"""One-way messages in order, with at-least-once delivery by retransmission until an acknowledgement arrives.

The example sends a message to a peer:

    outbox = ReliableOutbox(peer.send)
    outbox.send(["drop", [0, 7], [1, 3]])

After a connection failure, all unacknowledged messages are sent again, oldest first. Therefore, a receiver
may get a message twice. All messages are discarded if the peer refuses the connection, or after
DELIVERY_TIMEOUT_SECONDS without an acknowledgement.
"""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable
from typing import Any, Final

from ts.distributed.event_loop import call_later
from ts.distributed.transport.multiplexing import Done

DELIVERY_TIMEOUT_SECONDS: Final = 30.0
_RESEND_INTERVAL_SECONDS: Final = 0.2

OnDelivered = Callable[[], None] | None


class ReliableOutbox:
    """Queue of one-way messages to one worker, from which acknowledged messages are removed."""

    def __init__(self, send: Callable[[Any, Done], None]) -> None:
        self._send_message = send
        self._delivery_ids = itertools.count()
        self._lock = threading.Lock()  # protects the attributes below
        self._unanswered: dict[int, tuple[Any, OnDelivered]] = {}
        self._in_flight = 0
        self._resend_scheduled = False
        # time of the first connection failure after the last acknowledgement, or None if there was no failure
        self._failing_since: float | None = None
        self.closed = False

    def send(self, message: Any, on_delivered: OnDelivered = None) -> None:
        """Send a message, from any thread.

        `on_delivered` is called when the worker has acknowledged the message.
        """
        with self._lock:
            delivery_id = next(self._delivery_ids)
            self._unanswered[delivery_id] = message, on_delivered
            if self._resend_scheduled:
                return
            self._in_flight += 1
        self._transmit(delivery_id, message, on_delivered)

    def _transmit(self, delivery_id: int, message: Any, on_delivered: OnDelivered) -> None:
        def done(response: Any, error: Exception | None) -> None:
            self._on_response(delivery_id, error)
            if error is None and on_delivered is not None and not self.closed:
                on_delivered()

        self._send_message(message, done)

    def _on_response(self, delivery_id: int, error: Exception | None) -> None:
        with self._lock:
            self._in_flight -= 1
            if error is None:
                self._unanswered.pop(delivery_id, None)
                self._failing_since = None
            else:
                self._resend_scheduled = True
                now = time.monotonic()
                self._failing_since = self._failing_since or now
                if (
                    self.closed
                    or isinstance(error, ConnectionRefusedError)
                    or now > self._failing_since + DELIVERY_TIMEOUT_SECONDS
                ):
                    self._unanswered.clear()
            if self._in_flight or not self._resend_scheduled:
                return
        call_later(_RESEND_INTERVAL_SECONDS, self._resend)

    def _resend(self) -> None:
        with self._lock:
            self._resend_scheduled = False
            if self.closed:
                self._unanswered.clear()
            again = list(self._unanswered.items())
            self._in_flight += len(again)
        for delivery_id, (message, on_delivered) in again:
            self._transmit(delivery_id, message, on_delivered)
