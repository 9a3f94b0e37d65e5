"""Message encoding and decoding (wire format) of plain data, and of memory buffers without copies.

A message is plain data: None, a bool, a 64-bit int, a float, a string, bytes, or a list or dict of plain
data. The keys of a dict are strings. A buffer of more than INLINE_BYTES bytes is sent separately, as a frame.
In the example, the encoder returns two buffers, and the decoder one message:

    MessageEncoder().pack({"op": "sum", "data": memoryview(array)})   [b"prelude and head", array memory]
    reader = MessageDecoder()
    count = sock.recv_into(reader.target())
    reader.received(count)                              [{"op": "sum", "data": memoryview of 67108864 bytes}]

The wire format consists of a prelude (the first line, in little-endian byte order), a head and the frames:

    number of bytes of the head: u32 │ number of frames: u32 │ number of bytes of each frame: u64
    the head, in MessagePack
    the frames

In the head, `{b"": 2}` refers to frame 2. If both ends share memory, a frame may be in a shared segment
(`shm_segments`). In a decoded message, lists are tuples, and frames are new writable memory.

Security: the sender is untrusted. A prelude is checked against `TransportLimits` before memory is allocated.
If allocation fails, the connection ends. If `MessageDecoder.spares` is True, the message is instead skipped
and replaced by `MessageTooLargeError`.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np

from ts.distributed.transport.message_pack import decode, encode
from ts.distributed.transport.shm_segments import (
    MIN_SHARED_BYTES,
    SHARED_MEMORY_FLAG,
    SegmentReceiver,
    SegmentSender,
    size_of,
)

# Buffers above this size become frames of the message. Smaller buffers are part of the head.
INLINE_BYTES: Final = 4096
# size of the buffer into which several small messages are received by one system call
STAGING_BYTES: Final = 1 << 16

_PRELUDE: Final = struct.Struct("<II")
_LENGTHS: Final = tuple(struct.Struct(f"<{count}Q") for count in range(17))

_NOTHING: Final = memoryview(b"")

_PLAIN: Final = frozenset((type(None), bool, int, float, str))

Buffer = bytes | bytearray | memoryview


class MalformedMessageError(ValueError):
    """Raised for a malformed or too large message, after which the stream cannot be decoded."""


@dataclass(frozen=True)
class TransportLimits:
    """Limits of a connection: sizes of messages, number of connections, and shared memory."""

    bytes: int = 1 << 34
    frames: int = 1024
    header_bytes: int = 1 << 26  # maximum size of the head, which counts towards `bytes`
    # maximum number of open connections. The limit of the system on open files may be lower.
    connections: int = 10_000
    shared: int = 1 << 29  # maximum size of all shared memory that this process creates

    def __post_init__(self) -> None:
        max_frames = (STAGING_BYTES - _PRELUDE.size) // 8
        if self.frames > max_frames:
            raise ValueError(
                f"the limit on frames of a message must be at most {max_frames}, got {self.frames}"
            )

    def check(self, header: Buffer, frames: list[memoryview]) -> None:
        """Raise ValueError for a message that exceeds these limits."""
        size = len(header) + sum(map(len, frames))
        if size > self.bytes:
            raise ValueError(f"a message has {size} bytes, {self.bytes} are allowed")
        if len(frames) > self.frames:
            raise ValueError(f"a message has {len(frames)} frames, {self.frames} are allowed")


class MessageTooLargeError(NamedTuple):
    """Result for a received message whose frames could not be allocated."""

    message: Any  # the message in which each frame that could not be allocated is replaced by an empty frame
    size: int  # bytes of the frame that could not be allocated

    def error(self) -> MemoryError:
        """Return the exception that the receiver of this message raises."""
        return MemoryError(f"cannot allocate a buffer of {self.size} bytes for a message")


class MessageEncoder:
    """Encoder of messages, which may be used from any thread."""

    def __init__(self, limits: TransportLimits | None = None, sender: SegmentSender | None = None) -> None:
        self.limits = limits or TransportLimits()
        # Sender of large frames in shared memory, or None if all frames are sent through the socket.
        self.sender = sender

    def pack(self, message: Any) -> list[Buffer]:
        """Encode a message as buffers: prelude and head, followed by each frame without a copy.

        Raise ValueError if the message exceeds the limits.
        """
        frames: list[memoryview] = []
        try:
            header = encode(_without_frames(message, frames))
        except RecursionError:
            raise ValueError("a message is nested too deeply") from None
        self.limits.check(header, frames)
        if not frames:
            return [_PRELUDE.pack(len(header), 0) + header]
        sizes = [*map(len, frames)]
        if self.sender is not None and max(sizes) >= MIN_SHARED_BYTES:
            frames = self._share_frames(frames, sizes, self.sender)
        prelude = _PRELUDE.pack(len(header), len(sizes)) + _lengths(len(sizes)).pack(*sizes)
        return [prelude + header, *frames]

    @property
    def has_unconsumed_segments(self) -> bool:
        """Return True if the peer has not read all shared memory segments that were sent."""
        return self.sender is not None and self.sender.has_unconsumed_segments

    def close(self) -> None:
        """Release the shared memory segments. A segment that the peer has mapped stays mapped in the peer."""
        if self.sender is not None:
            self.sender.close()

    @staticmethod
    def _share_frames(frames: list[memoryview], sizes: list[int], sender: SegmentSender) -> list[memoryview]:
        """Copy large frames to shared memory. Replace the sizes of copied frames in `sizes` by references.

        Return the frames that were not copied. They must be sent through the socket.
        """
        unshared_frames = []
        for buffer_index, frame in enumerate(frames):
            reference = sender.copy_to_segment(frame)
            if reference is None:
                unshared_frames.append(frame)
            else:
                sizes[buffer_index] = reference
        return unshared_frames


def _without_frames(value: Any, frames: list[memoryview]) -> Any:
    kind = type(value)
    if kind in _PLAIN:
        return value
    if isinstance(value, (list, tuple)):
        return [each if type(each) in _PLAIN else _without_frames(each, frames) for each in value]
    if isinstance(value, dict):
        for name in value:
            if not isinstance(name, str):
                raise TypeError(f"keys in a message must be of type str, found {name!r}")
        return {name: _without_frames(each, frames) for name, each in value.items()}
    if kind is memoryview:
        value = value.cast("B") if value.c_contiguous and value.nbytes else value.tobytes()
    if isinstance(value, (bytes, bytearray, memoryview)) and len(value) > INLINE_BYTES:
        frames.append(memoryview(value))
        return {b"": len(frames) - 1}
    return value


def _lengths(count: int) -> struct.Struct:
    return _LENGTHS[count] if count < len(_LENGTHS) else struct.Struct(f"<{count}Q")


class MessageDecoder:
    """Decoder from received bytes to messages (message framing by length prefixes).

    Bytes are received into a staging buffer, which may contain several messages. If a frame is incomplete,
    its rest is received directly into the memory of the frame.
    """

    def __init__(
        self, limits: TransportLimits | None = None, receiver: SegmentReceiver | None = None
    ) -> None:
        self.limits = limits or TransportLimits()
        # Receiver of frames in shared memory, or None if all frames are received from the socket.
        self.receiver = receiver
        # True to skip a message if the memory of a frame cannot be allocated, False to end the connection.
        self.spares = False
        self._staging = _memory(STAGING_BYTES)
        self._start = self._end = 0  # bytes `_staging[_start:_end]` are received but not decoded yet
        self._sizes: Sequence[int] = ()  # sizes of the parts of the current message: its head and its frames
        self._buffers: list[memoryview] = []  # parts of the current message that are complete
        # incomplete part of the current message, into which bytes are received
        self._incomplete_buffer: memoryview | None = None
        self._filled = 0
        # number of bytes that will be received and discarded, because no memory was available for their frame
        self._skipped = 0
        # size of a frame of the current message that could not be allocated, or 0 if no allocation has failed
        self._too_large = 0
        self.shared_bytes = 0  # total size of the frames that were received in shared memory so far

    @property
    def is_between_messages(self) -> bool:
        """Return True between two messages."""
        return self._incomplete_buffer is None and not self._sizes and self._start == self._end

    def close(self) -> None:
        """Stop receiving. Received frames in shared memory stay valid."""
        self._buffers, self._incomplete_buffer = [], None
        if self.receiver is not None:
            self.receiver.close()

    def target(self) -> memoryview:
        """Return a nonempty buffer for the bytes that are received next."""
        if self._skipped:
            return self._staging[: self._skipped]
        return (
            self._staging[self._end :]
            if self._incomplete_buffer is None
            else self._incomplete_buffer[self._filled :]
        )

    def received(self, count: int) -> list[Any]:
        """Decode `count` more received bytes. Return the messages that are now complete.

        Raise MalformedMessageError if a message is invalid.
        """
        if self._skipped:
            self._skipped -= count
            if self._skipped:
                return []
            self._buffers.append(_NOTHING)
        elif self._incomplete_buffer is None:
            self._end += count
        else:
            self._filled += count
            if self._filled < len(self._incomplete_buffer):
                return []
            self._buffers.append(self._incomplete_buffer)
            self._incomplete_buffer = None
        messages: list[Any] = []
        while self._prelude() and self._read_buffers():
            message = _unpack(self._buffers)
            messages.append(MessageTooLargeError(message, self._too_large) if self._too_large else message)
            self._sizes, self._buffers, self._too_large = (), [], 0
        # If no part is incomplete, the remaining bytes are the start of the next prelude.
        if self._incomplete_buffer is None:
            unparsed_bytes = self._end - self._start
            if unparsed_bytes:
                self._staging[:unparsed_bytes] = self._staging[self._start : self._end]
            self._start, self._end = 0, unparsed_bytes
        return messages

    def _prelude(self) -> bool:
        """Decode the prelude of the next message. Return False if the prelude is not complete yet."""
        if self._sizes:
            return True
        at, available = self._start, self._end - self._start
        if available < _PRELUDE.size:
            return False
        header, frames = _PRELUDE.unpack_from(self._staging, at)
        limits = self.limits
        if header > limits.header_bytes or frames > limits.frames:
            raise MalformedMessageError(
                f"a message announces a header of {header} bytes and {frames} frames, more than allowed"
            )
        lengths = _lengths(frames)
        if available < _PRELUDE.size + lengths.size:
            return False
        sizes = (header, *lengths.unpack_from(self._staging, at + _PRELUDE.size))
        announced = sum(sizes)
        if announced >= SHARED_MEMORY_FLAG:
            announced = sum(map(size_of, sizes))
        if announced > limits.bytes:
            raise MalformedMessageError(f"a message announces {announced} bytes, {limits.bytes} are allowed")
        self._sizes = sizes
        self._start = at + _PRELUDE.size + lengths.size
        return True

    def _read_buffers(self) -> bool:
        """Move the parts of the message from the staging buffer to `_buffers`.

        Return True if all parts of the message are complete.
        """
        for size in self._sizes[len(self._buffers) :]:
            if size >= SHARED_MEMORY_FLAG:
                self._map_frame(size)
                continue
            end = self._start + size
            if end > self._end:
                available = self._staging[self._start : self._end]
                self._begin(size, available)
                self._start = self._end = 0
                return False
            available = self._staging[self._start : end]
            self._start = end
            # The head is not copied, because it is decoded before the staging buffer is overwritten.
            is_head = not self._buffers
            self._buffers.append(available if is_head else _copy(available))
        return True

    def _map_frame(self, reference: int) -> None:
        """Map a frame in shared memory."""
        self.shared_bytes += size_of(reference)
        if self.receiver is None:
            raise MalformedMessageError(
                "a message refers to shared memory, but this connection does not share memory"
            )
        try:
            self._buffers.append(self.receiver.map_segment(reference))
        except MemoryError:
            if not self.spares:
                raise _no_memory(size_of(reference)) from None
            self._buffers.append(_NOTHING)
            self._too_large = size_of(reference)
        except OSError as error:
            raise MalformedMessageError(
                f"cannot access a shared memory frame of a message: {error}"
            ) from None

    def _begin(self, size: int, received_bytes: memoryview) -> None:
        """Allocate memory for an incomplete part of a message, and copy the `received_bytes` of the part.

        A part is the head or a frame. If the allocation for a frame fails and `spares` is True, skip the
        frame. Raise MalformedMessageError for other failed allocations.
        """
        try:
            self._incomplete_buffer, self._filled = _memory(size), len(received_bytes)
        except MalformedMessageError:
            if not self.spares or not self._buffers:
                raise
            # The bytes to skip will overwrite the staging buffer. Copy the head, which refers to this buffer.
            self._buffers[0] = _copy(self._buffers[0])
            self._skipped, self._too_large = size - len(received_bytes), size
        else:
            self._incomplete_buffer[: self._filled] = received_bytes


def _memory(size: int) -> memoryview:
    try:
        return np.empty(size, np.uint8).data
    except MemoryError:
        raise _no_memory(size) from None


def _no_memory(size: int) -> MalformedMessageError:
    return MalformedMessageError(f"a message announces {size} bytes, which cannot be allocated")


def _copy(data: memoryview) -> memoryview:
    copied = _memory(len(data))
    copied[:] = data
    return copied


def _unpack(frames: list[memoryview]) -> Any:
    header = frames[0]

    def named(value: dict[Any, Any]) -> Any:
        if b"" in value:
            (index,) = value.values()
            if type(index) is not int or index < 0:
                raise ValueError(f"invalid index of a frame: {index!r}")
            return frames[1 + index]
        return dict(**value)  # raises TypeError for keys that are not strings

    try:
        return decode(header, named)
    except (ValueError, TypeError, LookupError) as error:
        raise MalformedMessageError(f"malformed message header: {error}") from None
