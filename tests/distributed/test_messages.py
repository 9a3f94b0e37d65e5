"""Messages are decoded unchanged from fragments of any size; malformed messages are rejected."""

import random
import struct

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ts.distributed.transport.message_pack import decode
from ts.distributed.transport.message_codec import INLINE_BYTES, STAGING_BYTES, TransportLimits, MalformedMessageError, MessageDecoder, MessageEncoder


def read(data, limits=None, pieces=lambda: STAGING_BYTES):
    """Return the messages decoded from `data`, which arrives in pieces."""
    reader, messages, at = MessageDecoder(limits), [], 0
    while at < len(data):
        target = reader.target()
        piece = data[at : at + min(len(target), pieces())]
        target[: len(piece)] = piece
        messages += reader.received(len(piece))
        at += len(piece)
    return messages


def sent(message):
    return b"".join(MessageEncoder().pack(message))


def received(message, pieces=lambda: STAGING_BYTES):
    (found,) = read(sent(message), pieces=pieces)
    return found


def decoded_form(value):
    """Return the decoded form of a message: lists become tuples, memory becomes bytes."""
    if isinstance(value, dict):
        return {name: decoded_form(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return tuple(decoded_form(each) for each in value)
    return bytes(value) if isinstance(value, (bytes, bytearray, memoryview)) else value


long_bytes = st.integers(INLINE_BYTES - 2, 3 * STAGING_BYTES).map(lambda size: bytes([size % 256]) * size)
leaves = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False)
    | st.text()
    | st.binary()
    | long_bytes
)
messages = st.recursive(leaves, lambda each: st.lists(each) | st.dictionaries(st.text(), each), max_leaves=12)


@settings(max_examples=40, deadline=None)
@given(messages, st.integers(0, 2**32))
def test_random_messages_arrive(message, seed):
    """Messages arrive unchanged in fragments of any size."""
    sizes = random.Random(seed)
    found = received(message, lambda: sizes.choice((1 + sizes.randrange(9), 1 + sizes.randrange(STAGING_BYTES))))
    assert decoded_form(found) == decoded_form(message)


@settings(max_examples=20, deadline=None)
@given(st.lists(messages, max_size=5))
def test_several_messages_in_one_read(several):
    """One read may contain several messages and the beginning of the next."""
    assert decoded_form(read(b"".join(map(sent, several)))) == decoded_form(several)


def test_views_are_sent_without_a_copy():
    """A sent view is encoded without a copy of the array's memory."""
    array = np.arange(10_000.0)
    _, frame = MessageEncoder().pack({"data": memoryview(array)})
    assert np.shares_memory(np.frombuffer(frame), array)
    found = received({"data": memoryview(array)})["data"]
    assert not found.readonly
    np.testing.assert_array_equal(np.frombuffer(found), array)


@pytest.mark.parametrize(
    "array",
    [
        np.arange(60_000.0)[::2],
        np.asfortranarray(np.random.rand(99, 77)),
        np.ones((0, 3)),
        np.float32(3),
        np.zeros((2, 1, 4)),
    ],
    ids=["steps", "columns first", "empty", "one", "small"],
)
def test_views_of_every_layout_arrive(array):
    """A view of any layout arrives in row-major order, as `tobytes` returns it."""
    assert bytes(received([memoryview(array)])[0]) == array.tobytes()


def test_frames_do_not_share_memory():
    """Received frames do not share memory."""
    first, second = received([b"a" * 5000, b"b" * 5000])
    first[:] = b"c" * 5000
    assert bytes(second) == b"b" * 5000


@pytest.mark.parametrize(
    "message", [{1: 2}, {b"a": 1}, {1, 2}, object(), 2**64, 1j, [np.float32], {"a": {None: 1}}]
)
def test_unsendable_values_raise(message):
    """Values that cannot be sent raise an error in the sender."""
    with pytest.raises((TypeError, OverflowError)):
        MessageEncoder().pack(message)


def test_deep_messages_are_not_sent():
    """Deeply nested messages are rejected by the encoder and the decoder."""
    nested = []
    for _ in range(100_000):
        nested = [nested]
    with pytest.raises(ValueError, match="nested"):
        MessageEncoder().pack(nested)


def header(head=b"", lengths=(), size=None, frames=None):
    count = len(lengths) if frames is None else frames
    return struct.pack(f"<II{len(lengths)}Q", len(head) if size is None else size, count, *lengths) + head


MALFORMED = {
    "no head": header(b""),
    "a byte that msgpack has not": header(b"\xc1"),
    "half a value": header(b"\xda\xff\xff"),
    "two values": header(b"\x01\x02"),
    "text that is none": header(b"\xa2\xff\xff"),
    "an extension": header(b"\xd4\x05a"),
    "an empty extension": header(b"\xc7\x00\x05"),
    "a time": header(b"\xd6\xff\x00\x00\x00\x00"),
    "a number for a name": header(b"\x81\x01\x02"),
    "bytes for a name": header(b"\x81\xc4\x01a\x02"),
    "a list for a name": header(b"\x81\x90\x02"),
    "a frame that is not there": header(b"\x81\xc4\x00\x00"),
    "a frame before the first": header(b"\x81\xc4\x00\xff", (0,)),
    "a frame of no number": header(b"\x81\xc4\x00\xa1a", (0,)),
    "a frame and more": header(b"\x82\xc4\x00\x00\xa1a\x00", (0,)),
    "a long list": header(b"\xdd\xff\xff\xff\xff"),
    "lists in lists, all long": header(b"\xdd\x00\x01\x00\x00" * 20_000),
    "a deep list": header(b"\x91" * 5000 + b"\xc0"),
    "a large head": header(b"", size=2**32 - 1),
    "many frames": header(b"", frames=2**32 - 1),
    "one frame too many": header(b"", frames=101),
    "a large frame": header(b"\xc0", (2**63,)),
    "frames that are large together": header(b"\xc0", (2**31,) * 3),
    "sums that wrap around": header(b"\xc0", (2**63, 2**63)),
}


@pytest.mark.parametrize("data", MALFORMED.values(), ids=MALFORMED)
def test_malformed(data):
    """Malformed messages are rejected without allocating the announced memory."""
    with pytest.raises(MalformedMessageError):
        read(data, TransportLimits(bytes=2**32, frames=100))


@given(st.binary(max_size=300))
def test_random_bytes(data):
    """Random bytes decode to messages, wait for more data, or raise `MalformedMessageError`."""
    try:
        read(data, TransportLimits(bytes=10_000))
    except MalformedMessageError:
        return


def test_random_bytes_of_many_lengths():
    """Random bytes of many lengths raise `MalformedMessageError` or decode."""
    generator = random.Random(0)
    for _ in range(10_000):
        head = generator.randbytes(generator.randrange(30))
        frames = [generator.randrange(20) for _ in range(generator.randrange(3))]
        try:
            read(header(head, frames) + generator.randbytes(sum(frames)))
        except MalformedMessageError:
            continue


@given(st.data())
def test_damaged_messages(data):
    """A message with one changed byte decodes, waits for more data, or raises `MalformedMessageError`."""
    whole = bytearray(sent({"a": [1, 2.0, "text", b"x" * 5000], "b": None}))
    whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    try:
        read(bytes(whole), TransportLimits(bytes=10_000))
    except MalformedMessageError:
        return


@given(st.integers(0, 99))
def test_truncated_messages_wait_for_more_data(part):
    """A truncated message is neither an error nor a message."""
    whole = sent({"a": [1, b"x" * 10_000]})
    assert read(whole[: len(whole) * part // 100]) == []


def test_placeholders_cannot_be_sent():
    """The encoding of a frame placeholder cannot occur in a message."""
    assert decode(MessageEncoder().pack([b"a" * 5000])[0][16:]) == ({b"": 0},)
    with pytest.raises(TypeError, match="keys in a message must be of type str"):
        MessageEncoder().pack([{b"": 0}, b"a" * 5000])
