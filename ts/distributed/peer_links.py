"""Connections of one rank to all others (progress engine, leader-follower), with zero-copy transfer.

The example receives a message from rank 1 and sends one to rank 2. Both messages have the same tag:

    links = PeerConnections(rank, {1: socket, 2: socket})
    got = links.receive(1, tag, memory)
    sent = links.send(2, tag, memory)
    links.wait([got, sent], deadline)

A message consists of its tag, the number of bytes, and the bytes. If a receive with this tag is waiting, the
bytes are read directly into its memory. Otherwise, the message is buffered.

The first waiting thread transfers data for all waiting threads. If requests are pending and no thread waits,
a background thread starts after a short delay.
"""

from __future__ import annotations

import contextlib
import itertools
import selectors
import socket
import struct
import threading
import time
from collections import deque
from collections.abc import Collection, Iterable, Sequence
from typing import Any, Final

import numpy as np

from ts.distributed.errors import DistBackendError, DistError, DistNetworkError
from ts.distributed.message_tags import ALL, FAILED, LEAVING, MessageTag, format_tag
from ts.distributed.transport.socket_io import NOT_NOW, Outgoing, may_contain_data

_WIRE: Final = struct.Struct("<BBBBIqQQ")
# Size of the receive buffer of a connection. One system call can read several small messages into it.
_STAGING_BYTES: Final = 1 << 16
# The background thread completes requests for which no caller waits. It starts to transfer their data after
# this delay.
_BACKGROUND_IO_DELAY_SECONDS: Final = 0.002
# An exiting process waits at most this long until its queued messages are sent.
_FLUSH_TIMEOUT_SECONDS: Final = 5.0


class Request:
    """Send or receive operation: the message's memory and completion state."""

    __slots__ = ("done", "error", "label", "memory", "source")

    def __init__(self, label: MessageTag, source: int | None, memory: memoryview) -> None:
        self.label, self.source, self.memory = label, source, memory
        self.done = False
        self.error: Exception | None = None


class _Connection:
    """Connection to another rank, with its queues and partly transferred messages."""

    def __init__(self, rank: int, sock: socket.socket) -> None:
        self.rank, self.socket = rank, sock
        self.staging = np.empty(_STAGING_BYTES, np.uint8).data
        self.start = self.end = 0  # bytes `staging[start:end]` are received but not parsed yet
        # tag of the message that is being received, or None between messages
        self.label: MessageTag | None = None
        self.target: memoryview = memoryview(b"")
        self.filled = 0
        # Request that receives the message being read. If it is None, no receive matches yet, and the message
        # is buffered.
        self.request: Request | None = None
        self.posted: dict[tuple[int, int, int], deque[Request]] = {}
        self.unexpected_messages: dict[tuple[int, int, int], deque[tuple[MessageTag, memoryview]]] = {}
        self.outgoing = Outgoing()
        # (value that `outgoing.sent` has when the message of the request is completely sent, request)
        self.unsent: deque[tuple[int, Request]] = deque()
        self.writes = False
        # error that ended the connection, or None while it is open
        self.disconnect_error: Exception | None = None


class PeerConnections:
    """Socket connections of this rank to all other ranks."""

    def __init__(self, rank: int, sockets: dict[int, socket.socket]) -> None:
        self.rank = rank
        # protects the attributes below. A thread releases it while it waits for the sockets.
        self._lock = threading.Lock()
        self._changed = threading.Condition(self._lock)
        self._selector = selectors.DefaultSelector()
        # True while one thread (the leader) waits for the sockets and transfers the messages of all threads
        self._has_leader = False
        self._followers = 0
        # (kind, group, tag) -> posted receives that accept a message from any rank.
        self._any_source_requests: dict[tuple[int, int, int], deque[Request]] = {}
        # (kind, group, tag) of an aborted call -> error of the call.
        self._failed: dict[tuple[int, int, int], Exception] = {}
        self._groups: dict[int, frozenset[int]] = {}
        self._peers = {each: _Connection(each, sock) for each, sock in sockets.items()}
        for peer in self._peers.values():
            peer.socket.setblocking(False)
            self._selector.register(peer.socket, selectors.EVENT_READ, peer)
        self._wakeup_receiver, self._wakeup_sender = socket.socketpair()
        self._wakeup_receiver.setblocking(False)
        self._wakeup_sender.setblocking(False)
        self._selector.register(self._wakeup_receiver, selectors.EVENT_READ)
        self._closed = False
        # Requests for which no thread waits. The background thread completes them.
        self._unawaited: list[Request] = []
        self._work_available = threading.Event()
        self._background_thread: threading.Thread | None = None

    def add_group(self, group: int, ranks: Iterable[int]) -> None:
        """Register the ranks of a group.

        If one of the ranks disconnects, all calls of the group will fail.
        """
        with self._lock:
            self._groups[group] = frozenset(ranks)

    def send(self, rank: int, label: MessageTag, memory: memoryview) -> Request:
        """Start to send memory, which must not change until the request is done."""
        request = Request(label, rank, memory)
        peer = self._peers[rank]
        with self._lock:
            if peer.disconnect_error is not None:
                request.error, request.done = peer.disconnect_error, True
                return request
            self._enqueue_message(peer, label, memory, request)
        return request

    def receive(self, rank: int | None, label: MessageTag, memory: memoryview) -> Request:
        """Start to receive into `memory` from a rank, or from any rank of the group if `rank` is None."""
        request = Request(label, rank, memory)
        key = label[:3]
        with self._lock:
            if key in self._failed:
                self._done(request, self._failed[key])
                return request
            if rank is None:
                ranks: Sequence[int] = sorted(self._groups[label.group] - {self.rank})
            else:
                ranks = (rank,)
            for each in ranks:
                peer = self._peers[each]
                if key in peer.unexpected_messages:
                    self._take_unexpected(peer, key, request)
                    return request
            error = self._error(request)
            if error is not None:
                self._done(request, error)
            elif rank is None:
                self._any_source_requests.setdefault(key, deque()).append(request)
            else:
                peer.posted.setdefault(key, deque()).append(request)
        return request

    def wait(self, requests: Collection[Request], deadline: float) -> None:
        """Wait until all requests are done. Raise the error of a failed request as soon as it occurs."""
        with self._lock:
            while True:
                if self._all_done(requests):
                    return
                if not self._has_leader:
                    break
                self._wait_for_leader(deadline)
            self._has_leader = True
        self._run_as_leader(requests, deadline)

    def poll(self, request: Request) -> bool:
        """Transfer what the sockets allow without waiting, and return True if the request is done."""
        if not request.done:
            with contextlib.suppress(TimeoutError, DistError):
                self.wait([request], 0.0)
        return request.done

    def complete_in_background(self, requests: Iterable[Request]) -> None:
        """Add `requests` to the requests that the background thread completes while no other thread waits."""
        with self._lock:
            self._unawaited = [each for each in (*self._unawaited, *requests) if not each.done]
            if not self._unawaited:
                return
            if self._background_thread is None:
                self._background_thread = threading.Thread(target=self._watch, name="ts.links", daemon=True)
                self._background_thread.start()
        self._work_available.set()

    def abort_call(self, label: MessageTag, ranks: Iterable[int], reason: str) -> None:
        """Abort a collective call in this rank. In `ranks`, make the call fail with the message `reason`.

        The messages of the call are discarded.
        """
        payload = memoryview(reason.encode())
        notice = label._replace(kind=FAILED)
        with self._lock:
            for rank in ranks:
                peer = self._peers[rank]
                if peer.disconnect_error is None:
                    self._enqueue_message(peer, notice, payload, None)
            self._drop(label[:3])

    def close(self) -> None:
        """Send queued messages, notify the other ranks that this rank leaves, and close all connections."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            for peer in self._peers.values():
                if peer.disconnect_error is None:
                    self._enqueue_message(peer, MessageTag(LEAVING, 0, 0), memoryview(b""), None)
        self._work_available.set()
        self._wake_up()
        deadline = time.monotonic() + _FLUSH_TIMEOUT_SECONDS
        while any(peer.outgoing for peer in self._peers.values()) and time.monotonic() < deadline:
            time.sleep(0.001)
            with self._lock:
                for peer in self._peers.values():
                    self._write(peer)
        with self._lock:
            for peer in self._peers.values():
                # read all received data first: otherwise, closing the socket resets the connection, and the
                # peer may lose data that this rank has sent
                self._read(peer)
                self._close_peer(peer, DistNetworkError("the process group was destroyed"))
        self._wake_up()

    def forget(self) -> None:
        """Close the sockets in a forked child process. The sockets of the parent process stay open."""
        self._closed = True
        for peer in self._peers.values():
            peer.socket.close()
            peer.disconnect_error = DistNetworkError(
                "process groups cannot be used in a forked child process"
            )

    def _all_done(self, requests: Collection[Request]) -> bool:
        settled = True
        for each in requests:
            if not each.done:
                settled = False
            elif each.error is not None:
                raise each.error
        return settled

    def _wait_for_leader(self, deadline: float) -> None:
        remaining_seconds = deadline - time.monotonic()
        if remaining_seconds <= 0:
            raise TimeoutError
        self._followers += 1
        # If the leader is the background thread, wake up the leader, so that a waiting thread can become the
        # leader.
        self._wake_up()
        try:
            self._changed.wait(remaining_seconds)
        finally:
            self._followers -= 1

    def _run_as_leader(self, requests: Collection[Request], deadline: float, yields: bool = False) -> None:
        """Transfer messages until the requests are done. The calling thread must have set `_has_leader`.

        If `yields` is True, also return when another thread waits or when the connections are closed.
        """
        has_polled = False
        try:
            while True:
                if not has_polled:
                    ready: list[tuple[Any, int]] = self._selector.select(0)
                else:
                    remaining_seconds = deadline - time.monotonic()
                    if remaining_seconds <= 0:
                        raise TimeoutError
                    ready = self._selector.select(remaining_seconds)
                has_polled = True
                with self._lock:
                    for key, events in ready:
                        peer = key.data
                        if peer is None:
                            self._drain_wakeups()
                            continue
                        if events & selectors.EVENT_WRITE:
                            self._write(peer)
                        if events & selectors.EVENT_READ:
                            self._read(peer)
                    if self._followers:
                        self._changed.notify_all()
                    if self._all_done(requests) or (yields and (self._followers or self._closed)):
                        return
        finally:
            with self._lock:
                self._has_leader = False
                self._changed.notify_all()

    def _watch(self) -> None:
        """Complete the requests in `_unawaited` while no other thread waits.

        The background thread runs this method.
        """
        while not self._closed:
            self._work_available.wait()
            self._work_available.clear()
            while not self._closed:
                time.sleep(_BACKGROUND_IO_DELAY_SECONDS)
                with self._lock:
                    self._unawaited = unawaited = [each for each in self._unawaited if not each.done]
                    if not unawaited:
                        break
                    if self._has_leader or self._followers:
                        continue
                    self._has_leader = True
                # The error is stored in the request, and a thread that waits for the request raises it.
                with contextlib.suppress(DistError, TimeoutError):
                    self._run_as_leader(unawaited, time.monotonic() + 3600, yields=True)

    def _wake_up(self) -> None:
        # BlockingIOError means that the socket buffer is full. Bytes that are already in the buffer wake up
        # the leader.
        with contextlib.suppress(BlockingIOError):
            self._wakeup_sender.send(b"!")

    def _drain_wakeups(self) -> None:
        with contextlib.suppress(BlockingIOError):
            self._wakeup_receiver.recv(4096)

    # ---- socket I/O: the caller holds `_lock` --------------------------------------------------------

    def _enqueue_message(
        self, peer: _Connection, label: MessageTag, memory: memoryview, request: Request | None
    ) -> None:
        kind, group, tag, function, reduction, dtype, elements = label
        head = _WIRE.pack(kind, function, reduction, dtype, group, tag, elements, len(memory))
        peer.outgoing.add((head, memory) if len(memory) else (head,))
        if request is not None:
            peer.unsent.append((peer.outgoing.sent + peer.outgoing.size, request))
        if not peer.writes:
            self._write(peer)

    def _write(self, peer: _Connection) -> None:
        if peer.disconnect_error is not None:
            return
        try:
            peer.outgoing.send(peer.socket)
        except NOT_NOW:
            pass
        except OSError as error:
            self._on_connection_error(peer, error)
            return
        while peer.unsent and peer.unsent[0][0] <= peer.outgoing.sent:
            self._done(peer.unsent.popleft()[1])
        has_unsent_data = peer.outgoing.size > 0
        if peer.writes != has_unsent_data:
            peer.writes = has_unsent_data
            events = selectors.EVENT_READ | (selectors.EVENT_WRITE if peer.writes else 0)
            self._selector.modify(peer.socket, events, peer)

    def _read(self, peer: _Connection) -> None:
        try:
            for calls in itertools.count(1):
                if peer.disconnect_error is not None:
                    return
                missing_bytes = len(peer.target) - peer.filled if peer.label is not None else 0
                direct = missing_bytes > 0
                destination = peer.target[peer.filled :] if direct else peer.staging[peer.end :]
                count = peer.socket.recv_into(destination)
                if not count:
                    raise ConnectionError("the peer closed the connection")
                if direct:
                    peer.filled += count
                else:
                    peer.end += count
                self._parse(peer)
                # A short read into the staging buffer means that the socket is empty. After a short read into
                # the memory of a long message, the loop continues, because more data may have arrived.
                is_empty = not direct and count < len(destination)
                if not may_contain_data(peer.socket, is_empty, calls):
                    return
        except NOT_NOW:
            return
        except OSError as error:
            self._on_connection_error(peer, error)

    def _parse(self, peer: _Connection) -> None:
        """Parse the bytes in the buffer into messages."""
        while True:
            if peer.label is None:
                if peer.end - peer.start < _WIRE.size:
                    break
                kind, function, reduction, dtype, group, tag, elements, size = _WIRE.unpack_from(
                    peer.staging, peer.start
                )
                peer.start += _WIRE.size
                self._begin(peer, MessageTag(kind, group, tag, function, reduction, dtype, elements), size)
                if peer.disconnect_error is not None:
                    return
            count = min(len(peer.target) - peer.filled, peer.end - peer.start)
            if count:
                peer.target[peer.filled : peer.filled + count] = peer.staging[peer.start : peer.start + count]
                peer.start += count
                peer.filled += count
            if peer.filled < len(peer.target):
                break
            self._complete(peer)
            if peer.disconnect_error is not None:
                return
        unparsed_bytes = peer.end - peer.start
        if unparsed_bytes:
            peer.staging[:unparsed_bytes] = peer.staging[peer.start : peer.end]
        peer.start, peer.end = 0, unparsed_bytes

    def _begin(self, peer: _Connection, label: MessageTag, size: int) -> None:
        peer.label, peer.filled = label, 0
        key = label[:3]
        request = _first(peer.posted, key) or _first(self._any_source_requests, key)
        if request is not None:
            request.source = peer.rank
            request.error = _difference(request, label, size, peer.rank)
            if request.error is None:
                peer.request, peer.target = request, request.memory
                return
            self._done(request, request.error)
        peer.request = None
        try:
            peer.target = np.empty(size, np.uint8).data
        except (MemoryError, ValueError):
            self._on_connection_error(peer, OSError(f"cannot allocate {size} bytes for a message"))

    def _complete(self, peer: _Connection) -> None:
        label, request, target = peer.label, peer.request, peer.target
        assert label is not None
        peer.label = peer.request = None
        peer.target = memoryview(b"")
        key = label[:3]
        if request is not None:
            self._done(request)
        elif label.kind == LEAVING:
            self._close_peer(peer, DistNetworkError(f"rank {peer.rank} has left the process group"))
        elif label.kind == FAILED:
            message = bytes(target).decode()
            reason = (
                message
                if " aborted the call: " in message
                else f"rank {peer.rank} aborted the call: {message}"
            )
            self._fail(label._replace(kind=ALL), reason)
        elif key not in self._failed:
            peer.unexpected_messages.setdefault(key, deque()).append((label, target))
            waiting = _first(peer.posted, key) or _first(self._any_source_requests, key)
            if waiting is not None:  # a matching receive was posted while the message arrived
                self._take_unexpected(peer, key, waiting)

    def _take_unexpected(self, peer: _Connection, key: tuple[Any, ...], request: Request) -> None:
        label, memory = _pop_first(peer.unexpected_messages, key)
        request.source = peer.rank
        error = _difference(request, label, len(memory), peer.rank)
        if error is None and len(memory):
            np.copyto(np.frombuffer(request.memory, np.uint8), np.frombuffer(memory, np.uint8))
        self._done(request, error)

    # ---- ends of connections: the caller holds `_lock` -----------------------------------------------

    def _done(self, request: Request, error: Exception | None = None) -> None:
        request.error = error
        request.done = True

    def _error(self, request: Request) -> Exception | None:
        """Return the error of a receive that must fail, or None if the expected message can still arrive."""
        rank = request.source
        if rank is not None and self._peers[rank].disconnect_error is not None:
            return self._peers[rank].disconnect_error
        for each in self._groups[request.label.group] - {self.rank}:
            ended = self._peers[each].disconnect_error
            # If a rank has exited without notice, receives from every rank fail, because any sender may be
            # waiting for the rank that exited.
            if isinstance(ended, _PeerLostError):
                return ended
        if rank is None:
            others = self._groups[request.label.group] - {self.rank}
            if any(self._peers[each].disconnect_error is None for each in others):
                return None
            return DistNetworkError("all other ranks have left the process group")
        return None

    def _on_connection_error(self, peer: _Connection, error: Exception) -> None:
        """End a connection that broke without a LEAVING message, and fail its requests."""
        self._close_peer(peer, _PeerLostError(f"rank {peer.rank} exited or its connection broke: {error}"))

    def _close_peer(self, peer: _Connection, error: Exception) -> None:
        if peer.disconnect_error is not None:
            return
        peer.disconnect_error = error
        with contextlib.suppress(KeyError, ValueError):  # the selector may already be closed
            self._selector.unregister(peer.socket)
        peer.socket.close()
        if peer.request is not None:
            self._done(peer.request, error)
        for _, request in peer.unsent:
            self._done(request, error)
        peer.unsent.clear()
        peer.outgoing.clear()
        for each in self._peers.values():
            _fail_those(each.posted, self._error, self._done)
        _fail_those(self._any_source_requests, self._error, self._done)

    def _fail(self, label: MessageTag, reason: str) -> None:
        key = label[:3]
        self._failed[key] = error = DistBackendError(reason)
        for peer in self._peers.values():
            for request in peer.posted.pop(key, ()):
                self._done(request, error)
            if peer.request is not None and peer.label is not None and peer.label[:3] == key:
                self._fail_current_receive(peer, error)

    def _drop(self, key: tuple[Any, ...]) -> None:
        """Discard the received messages of an aborted call, and the messages of the call that arrive later.

        Outgoing messages are copied, so they no longer refer to the caller's memory.
        """
        self._failed.setdefault(key, DistBackendError("the call was aborted"))
        for peer in self._peers.values():
            peer.posted.pop(key, None)
            peer.unexpected_messages.pop(key, None)
            if peer.request is not None and peer.label is not None and peer.label[:3] == key:
                self._fail_current_receive(peer, self._failed[key])
            # Queued messages must still be sent: copy them, because the caller may change the memory after
            # the call.
            if any(request.label[:3] == key for _, request in peer.unsent):
                peer.outgoing.copy_buffers()
                peer.unsent = deque(each for each in peer.unsent if each[1].label[:3] != key)

    def _fail_current_receive(self, peer: _Connection, error: Exception) -> None:
        """Fail the receive of the current message. The rest of this message is read and discarded."""
        assert peer.request is not None
        self._done(peer.request, error)
        peer.request = None
        peer.target = np.empty(len(peer.target), np.uint8).data


class _PeerLostError(DistNetworkError):
    """Error for a connection that ended without a LEAVING message."""


_PeerLostError.__name__ = "DistNetworkError"
_PeerLostError.__qualname__ = "DistNetworkError"


def _first(requests: dict[Any, deque[Request]], key: tuple[Any, ...]) -> Request | None:
    return _pop_first(requests, key) if key in requests else None


def _pop_first(queues: dict[Any, deque[Any]], key: tuple[Any, ...]) -> Any:
    queue = queues[key]
    first = queue.popleft()
    if not queue:
        del queues[key]
    return first


def _fail_those(requests: dict[Any, deque[Request]], error_of: Any, done: Any) -> None:
    for key in list(requests):
        remaining: deque[Request] = deque()
        for request in requests[key]:
            error = error_of(request)
            if error is None:
                remaining.append(request)
            else:
                done(request, error)
        if remaining:
            requests[key] = remaining
        else:
            del requests[key]


def _difference(request: Request, label: MessageTag, size: int, rank: int) -> Exception | None:
    """Return an error if the tag or the size of a message differs from that of its receive, else None."""
    if label[3:] == request.label[3:] and size == len(request.memory):
        return None
    own_tag, peer_tag = format_tag(request.label), format_tag(label)
    more = "" if own_tag != peer_tag else f": received {size} bytes, expected {len(request.memory)}"
    return DistBackendError(f"rank {rank} called {peer_tag}, but this process called {own_tag}{more}")
