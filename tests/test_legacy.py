"""Legacy files: declared sizes and types are verified."""

import io
import pickle
import random

import pytest

import ts
from ts.archive import legacy_format
from ts.errors import ArchiveError, MemoryExceeded


def saved(obj):
    file = io.BytesIO()
    ts.save(obj, file, _use_new_zipfile_serialization=False)
    return file.getvalue()


def load(data, **options):
    return ts.load(io.BytesIO(data), **options)


@pytest.fixture(scope="module")
def data():
    x = ts.arange(6.0)
    return saved({"x": x, "part": x[2:4], "n": ts.tensor([1, 2])})


def test_round_trip(data):
    got = load(data, map_location="cpu")
    got["x"][2] = 20.0
    assert got["part"].tolist() == [20.0, 3.0]
    assert got["n"].tolist() == [1, 2]
    assert load(data, map_location="meta")["x"].is_meta


def legacy_file(value, keys=(), storages=b"", version=1001, little=True):
    """Return the bytes of a legacy file with the given pickled value, storage keys and storages."""
    head = [0x1950A86A20F9469CFC6C, version, {"little_endian": little}]
    return b"".join(pickle.dumps(part, 2) for part in head) + value + pickle.dumps(list(keys), 2) + storages


def reference(key=b"0", kind=b"FloatStorage", numel=b"K\x02", view=b"N"):
    text = b"X%c\x00\x00\x00" % len(key) + key
    return b"\x80\x02(X\x07\x00\x00\x00storagectorch\n" + kind + b"\n" + text + b"X\x03\x00\x00\x00cpu" + numel + view + b"tQ."


TWO = (2).to_bytes(8, "little") + bytes(8)


@pytest.mark.parametrize(
    ("file", "message"),
    [
        (legacy_file(b"N.", version=1000), "unsupported version"),
        (legacy_file(b"N.", version="1001"), "unsupported version"),
        (legacy_file(b"N.", little=False), "big-endian machine"),
        (legacy_file(b"N.", ["0"]), "list of storages"),
        (legacy_file(reference(), []), "list of storages"),
        (legacy_file(reference(), ["0", "0"]), "list of storages"),
        (legacy_file(reference(), ["0"], TWO[:-1]), "is truncated"),
        (legacy_file(reference(), ["0"], b""), "is truncated"),
        (legacy_file(reference(numel=b"J\xff\xff\xff\x7f"), ["0"], TWO), "is truncated"),
        (legacy_file(reference(numel=b"J\xff\xff\xff\xff"), ["0"], TWO), "not a storage reference"),
        (legacy_file(reference(), ["0"], (3).to_bytes(8, "little") + bytes(8)), "does not have the 2 elements"),
        (legacy_file(reference(kind=b"QInt8Storage"), ["0"], TWO), "unknown type QInt8Storage"),
        (legacy_file(reference(view=b"(X\x01\x00\x00\x00vK\x01K\x02t"), ["0"], TWO), "exceeds the bounds"),
        (legacy_file(reference(view=b"(X\x01\x00\x00\x00vJ\xff\xff\xff\xffK\x01t"), ["0"], TWO), "exceeds the bounds"),
        (legacy_file(reference(view=b"K\x01"), ["0"], TWO), "exceeds the bounds"),
        (legacy_file(b"\x80\x02K\x01Q."), "not a storage reference"),
        (legacy_file(reference()[:-1] + b"0" + reference(numel=b"K\x03")[2:], ["0"], TWO), "conflicting definitions of storage"),
        (legacy_file(b"\x80\x02cos\nsystem\n."), r"os\.system"),
    ],
)  # fmt: skip
def test_inconsistent_headers(file, message):
    """Invalid versions, names, counts and sizes in a file raise an error."""
    with pytest.raises((ArchiveError, pickle.UnpicklingError), match=message):
        load(file)


def test_names_before_the_value():
    """A file with pickled names before the value is rejected."""
    head = pickle.dumps(0x1950A86A20F9469CFC6C, 2)
    with pytest.raises(ArchiveError, match="expected only numbers and strings"):
        load(head + b"\x80\x02cos\nsystem\n.")


def test_damaged_files(data):
    """A truncated file is rejected; a file with a changed byte is loaded or rejected with an error."""
    for size in (len(legacy_format.BEGINNING), 40, 100, len(data) - 1):
        with pytest.raises(ArchiveError):
            load(data[:size])
    numbers = random.Random(3)
    for _ in range(400):
        damaged = bytearray(data)
        damaged[numbers.randrange(len(data))] ^= 1 << numbers.randrange(8)
        try:
            load(bytes(damaged))
        except (ArchiveError, pickle.UnpicklingError):
            continue


def test_limits(data):
    with ts.limits(bytes=100), pytest.raises(MemoryExceeded):
        load(data)
