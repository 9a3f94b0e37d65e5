"""MessagePack: the Python implementation encodes and decodes like the `msgpack` package."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ts.distributed.transport import message_pack

PLAIN = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
    | st.binary(max_size=40),
    lambda inner: st.lists(inner, max_size=20) | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"]), max_size=3), inner, max_size=20),
    max_leaves=30,
)
LARGE = [
    "a" * 31, "a" * 32, "a" * 255, "a" * 256, "ä" * 40_000, b"", b"b" * 255, b"b" * 70_000, list(range(15)), [0] * 16,
    [None] * 70_000, {str(i): i for i in range(16)}, {str(i): i for i in range(70_000)}, {b"": 2}, (1, (2, [3])),
    *(sign * 2**power + offset for power in (5, 7, 8, 15, 16, 31, 32, 62) for offset in (-1, 0, 1) for sign in (1, -1)),
    -(2**63), 2**64 - 1, float("inf"), bytearray(b"ab"), memoryview(b"abc"),
]  # fmt: skip


@pytest.fixture
def in_python(monkeypatch):
    """Disable the `msgpack` package in `ts`, and return it."""
    package = pytest.importorskip("msgpack")
    monkeypatch.setattr(message_pack, "msgpack", None)
    return package


def compare_with_msgpack(package, value):
    """Check that encoding and decoding agree with the package."""
    data = message_pack.encode(value)
    assert data == package.packb(value)
    assert message_pack.decode(data) == package.unpackb(data, use_list=False)


@pytest.mark.parametrize("value", LARGE, ids=lambda value: f"{type(value).__name__}-{str(value)[:12]}")
def test_values_at_the_limits_of_encodings(in_python, value):
    compare_with_msgpack(in_python, value)


def test_random_values(in_python):
    @settings(max_examples=300, deadline=None)
    @given(PLAIN)
    def compare(value):
        compare_with_msgpack(in_python, value)

    compare()


def test_hooks_replace_dicts(in_python):
    data = message_pack.encode([{"a": {b"": 2}}, {}])
    assert message_pack.decode(data, sorted) == in_python.unpackb(data, use_list=False, object_hook=sorted)


@pytest.mark.parametrize("package", [True, False], ids=["package", "python"])
@pytest.mark.parametrize(
    ("value", "kind"), [(2**64, OverflowError), (-(2**63) - 1, OverflowError), ({1, 2}, TypeError), (1j, TypeError), ("\ud800", ValueError)],
)
def test_values_that_are_rejected(monkeypatch, package, value, kind):
    if not package:
        monkeypatch.setattr(message_pack, "msgpack", None)
    with pytest.raises(kind):
        message_pack.encode([value])


MALFORMED = {
    "nothing": b"", "a byte that stands for nothing": b"\xc1", "an extension": b"\xd4\x00\x00", "a long extension": b"\xc9\x00\x00\x00\x01\x01a",
    "a short int": b"\xcf\x00", "a short float": b"\xcb\x00", "a short text": b"\xa5abc", "text that is none": b"\xa2\xff\xfe", "short bytes": b"\xc4\x05a",
    "a list of 4 billion": b"\xdd\xff\xff\xff\xff", "lists of many in each other": b"\xdd\x00\x00\x10\x00" * 1000,
    "a dict of 4 billion": b"\xdf\xff\xff\xff\xff\xa1a", "half a dict": b"\x81\xa1a", "a number as a name": b"\x81\x01\x01",
    "a list as a name": b"\x81\x90\x01", "two values": b"\x01\x01", "nested 100,000 deep": b"\x91" * 100_000 + b"\x01", "nested 600 deep": b"\x81\xa0" * 1100 + b"\x01",
}  # fmt: skip


@pytest.mark.parametrize("package", [True, False], ids=["package", "python"])
@pytest.mark.parametrize("case", MALFORMED)
def test_malformed_bytes_are_rejected(monkeypatch, package, case):
    if package:
        pytest.importorskip("msgpack")
    else:
        monkeypatch.setattr(message_pack, "msgpack", None)
    with pytest.raises(ValueError):
        message_pack.decode(MALFORMED[case])


def test_random_bytes_decode_as_with_msgpack(in_python):
    """Random bytes decode to the value of the msgpack package, or are rejected by both."""
    rng = random.Random(3)
    starts = [message_pack.encode(value) for value in ([1, "a", {"b": [2.5, None]}], {"x": b"abc", "y": [[], {}]})]
    for _ in range(5000):
        data = bytearray(rng.choice(starts))
        for _ in range(rng.randint(1, 3)):
            data[rng.randrange(len(data))] = rng.randrange(256)
        data = bytes(data[: rng.randint(1, len(data))])
        try:
            expected = in_python.unpackb(data, use_list=False, max_ext_len=0, ext_hook=message_pack._reject_extension)
        except (ValueError, TypeError, in_python.UnpackException):
            with pytest.raises(ValueError):
                message_pack.decode(data)
        else:
            assert repr(message_pack.decode(data)) == repr(expected)
