"""Archives of `ts`: programs survive a round trip; damaged and malicious files are rejected."""

import io
import os
import pickle
import random
import struct
import zipfile
from enum import Enum
from typing import Dict, List

import pytest

import ts
from tests.program_files import all_programs, read
from tests.untrusted_input.handcrafted_archives import text
from ts.archive.pickler import Pickler
from ts.archive.debug_info import read_source_locations
from ts.archive.unpickler import Global, Unpickler
from ts.errors import ArchiveError, FrontendError, MemoryExceeded, TimeExceeded
from ts.frontend import classes, naming
from ts.ir.attributes import type_of_constant
from ts.ops import registry

# Functions that are not saved or do not compile again: calls of Python objects, constant indices out of
# range, and graphs without their unused expressions.
UNSAVED = {
    "callables.py", "ignored_block.py", "ignored_calls.py", "partials.py", "raises.py", "tuple_index.py", "unused_item.py",
    "unused_number.py", "unused_quotient.py",
}  # fmt: skip
PROGRAMS = [
    path
    for path in all_programs()
    if not read(path).compile_error and not read(path).scripts_itself and path.name not in UNSAVED
]


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_programs(path, capsys):
    """A program behaves identically after saving and loading."""
    program = read(path)
    data = ts.jit.script(program.load()).save_to_buffer()
    loaded = ts.jit.load(io.BytesIO(data))
    if program.runtime_error is None:
        loaded()
    else:
        with pytest.raises(Exception) as error:  # its text is compared below
            loaded()
        assert program.runtime_error[1] in str(error.value)
    assert capsys.readouterr().out.splitlines() == program.output


class Net(ts.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = ts.nn.Linear(2, 3)
        self.register_buffer("steps", ts.tensor([1, 2]))
        self.names = ["a", "b"]

    def forward(self, x):
        return self.linear(x) + self.steps.sum() + len(self.names)


@pytest.fixture(scope="module")
def archive():
    return ts.jit.script(Net()).save_to_buffer()


def load(data):
    return ts.jit.load(io.BytesIO(data))


def rewritten(data, **changes):
    """Return the archive with changed records; None removes a record."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as before, zipfile.ZipFile(out, "w") as after:
        for name in before.namelist():
            record = name.removeprefix("archive/")
            contents = changes.get(record, before.read(name))
            if contents is not None:
                after.writestr(name, contents)
    return out.getvalue()


def test_records(archive):
    """Archive entries begin at multiples of 64 bytes, and storages are not compressed."""
    with zipfile.ZipFile(io.BytesIO(archive)) as file:
        names = [name.removeprefix("archive/") for name in file.namelist()]
        assert {"data.pkl", "constants.pkl", "version", "byteorder", ".data/serialization_id"} <= set(names)
        assert "code/__torch__/tests/test_archives.py" in names
        assert file.read("archive/version") == b"3\n"
        assert [name for name in names if name.startswith("data/")] == ["data/0", "data/1", "data/2"]
        for entry in file.infolist():
            header = archive[entry.header_offset : entry.header_offset + 30]
            name_length, extra_length = struct.unpack("<HH", header[26:])
            assert (entry.header_offset + 30 + name_length + extra_length) % 64 == 0
            if "/data/" in entry.filename:
                assert entry.compress_type == zipfile.ZIP_STORED


def test_version_follows_operator_semantics():
    """The version of an archive is the highest version that the semantics of its operators require."""

    def version(function):
        with zipfile.ZipFile(io.BytesIO(ts.jit.script(function).save_to_buffer())) as file:
            (name,) = [name for name in file.namelist() if name.endswith("version")]
            return name, file.read(name)

    def divides(x):
        return x / 2

    def spaced(x):
        return x / ts.linspace(0.0, 1.0, 3)

    assert version(divides) == ("archive/version", b"4\n")
    assert version(spaced) == ("archive/.data/version", b"8\n")
    since = {record.key: record.since for record in registry.records() if "gelu" in record.name or "div" in record.name}
    assert (since["aten::gelu"], since["aten::gelu.out"], since["aten::gelu_"]) == (10, 10, 0)  # added with this semantics
    assert (since["aten::div.Scalar_mode"], since["aten::div.Scalar_mode_out"], since["aten::div_.Scalar_mode"]) == (4, 0, 4)


# ---- files -------------------------------------------------------------------------------------------


def test_saving_to_a_path(tmp_path):
    """The folder in an archive has the file's name; a file that cannot be written is unchanged."""
    path = tmp_path / "model.pt"
    net = ts.jit.script(Net())
    net.save(path)
    with zipfile.ZipFile(path) as file:
        assert {name.partition("/")[0] for name in file.namelist()} == {"model"}
    before = path.read_bytes()

    @ts.jit.script
    def calls_python(x: int):
        return python(x)

    with pytest.raises(ArchiveError, match="Could not export Python function call"):
        ts.jit.save(calls_python, path)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["model.pt"]
    x = ts.ones(1, 2)
    assert ts.jit.load(str(path))(x).tolist() == net(x).tolist()


@ts.jit.ignore
def python(x: int) -> int:
    return x


def test_invalid_paths(tmp_path):
    """Errors for a missing file, a directory or a missing parent directory contain its path."""
    with pytest.raises(ValueError, match="does not exist"):
        ts.jit.load(tmp_path / "missing.pt")
    with pytest.raises(ValueError, match="is a directory"):
        ts.jit.load(tmp_path)
    with pytest.raises(RuntimeError, match=r"Parent directory .* does not exist"):
        ts.jit.save(ts.jit.script(Net()), tmp_path / "missing" / "model.pt")


def test_only_scripted_modules_are_saved():
    """A module that is not scripted cannot be saved."""
    with pytest.raises(AttributeError, match="'Net' object has no attribute 'save_to_buffer'"):
        ts.jit.save(Net(), io.BytesIO())


def test_map_location(archive):
    """`map_location` selects the device of loaded tensors."""
    assert load(archive).steps.device == ts.device("cpu")
    moved = ts.jit.load(io.BytesIO(archive), map_location="meta")
    assert moved.steps.is_meta and moved.linear.weight.is_meta


# ---- damaged files -----------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [0, 1, 30, 1000, -1, -100])
def test_truncated(archive, size):
    """A truncated archive raises an error."""
    with pytest.raises(ArchiveError, match="failed reading zip archive"):
        load(archive[:size])


def test_flipped_bits(archive):
    """An archive with a changed byte loads or raises a descriptive error."""
    numbers = random.Random(1)
    for _ in range(400):
        byte_index = numbers.randrange(len(archive))
        damaged = bytearray(archive)
        damaged[byte_index] ^= 1 << numbers.randrange(8)
        try:
            load(bytes(damaged))
        except (ArchiveError, FrontendError):
            continue


def test_damaged_pickles(archive):
    """Damage inside of the pickle, which no checksum detects, raises `ArchiveError` or loads."""
    with zipfile.ZipFile(io.BytesIO(archive)) as file:
        data = file.read("archive/data.pkl")
    numbers = random.Random(2)
    refused = 0
    for _ in range(300):
        damaged = bytearray(data)
        damaged[numbers.randrange(len(data))] = numbers.randrange(256)
        try:
            load(rewritten(archive, **{"data.pkl": bytes(damaged)}))
        except (ArchiveError, FrontendError):
            refused += 1
    assert refused > 50


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"data.pkl": None}, "locating file data.pkl"),
        ({"constants.pkl": None}, "written by torch.save"),
        ({"version": None}, "locating file .data/version"),
        ({"version": b"99\n"}, "maximum supported version"),
        ({"version": b"new"}, "invalid version of the archive: 'new'"),
        ({"byteorder": b"big"}, "big-endian machine"),
        ({"data/0": None}, "locating file data/0"),
        ({"data/0": b"1234"}, "has 4 bytes, expected"),
        ({"code/__torch__/tests/test_archives.py": b"class Other(Module):\n  pass\n"}, "Unknown type name"),
        ({"code/__torch__/tests/test_archives.py": b"\xff"}, "is not valid UTF-8"),
        ({"constants.pkl": b"\x80\x02]."}, "does not contain a tuple"),
        ({"data.pkl": b"\x80\x02K\x01."}, "does not contain a scripted module"),
        ({"data.pkl": b"\x80\x02]" + b"a" * 3 + b"."}, "expected a list on the stack"),
    ],
)
def test_invalid_records(archive, changes, message):
    """Missing or invalid records of an archive are named in the error."""
    with pytest.raises(ArchiveError, match=message):
        load(rewritten(archive, **changes))


def test_malicious_pickle(archive):
    """A pickle that names a Python function is rejected without calling the function."""
    called = pickle.dumps(Hostile(), 2)
    with pytest.raises(ArchiveError, match=r"the archive refers to (posix|nt)\.mkdir"):
        load(rewritten(archive, **{"data.pkl": called}))
    assert not os.path.exists(Hostile.path)


class Hostile:
    path = "made-by-a-pickle"

    def __reduce__(self):
        return os.mkdir, (self.path,)


@pytest.mark.parametrize(
    "program, message",
    [
        (b"X\xff\xff\xff\xff", "unexpected end of data"),  # a string of four gigabytes
        (b"\x8b\xff\xff\xff\x7f", "unexpected end of data"),  # an integer of two gigabytes
        (b"\x8b\xff\xff\xff\xff", "negative size"),
        (b"K\x01K\x02R", "expected a class or function on the stack"),
        (b"cm\nf\nK\x01R", "cannot be called"),
        (b"cm\nf\n)\x81", "cannot create an object of"),
        (b"}K\x01b", "cannot set the state of this object"),
        (b"h\x05", "memo has no entry 5"),
        (b"t", "has no mark"),
        (b"(K\x01u", "expected a dict"),
        (b"}(K\x01u", "a dictionary key has no value"),
        (b"}](K\x01ts", "unhashable|the stack is empty"),
        (b"\xf0", "opcode"),
        (b"X\x01\x00\x00\x00\xff", "utf-8"),
        (b"", "unexpected end of data"),
    ],
)
def test_unpickler_rejects(program, message):
    """Invalid pickle programs, and programs that exceed the limits, raise `ArchiveError`."""
    machine = Unpickler(b"\x80\x02" + program, lambda module, name: Global(f"{module}.{name}"), str)
    with pytest.raises(ArchiveError, match=message):
        machine.load()


def test_large_memo_indices_allocate_nothing():
    """A large memo index does not allocate memory for smaller indices."""
    machine = Unpickler(b"\x80\x02K\x07r\xff\xff\xff\xff0j\xff\xff\xff\xff.", lambda *name: Global("x"), str)
    assert machine.load() == 7


# ---- sharing -----------------------------------------------------------------------------------------


class Shared(ts.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = [[1], [2]]
        self.second = [[0]]

    def forward(self) -> int:
        return len(self.first)

    @ts.jit.export
    def share(self) -> None:
        self.second = self.first

    @ts.jit.export
    def grow(self) -> int:
        self.second.append([3])
        return len(self.first)


def test_shared_lists():
    """A list shared by two attributes is shared after loading."""
    net = ts.jit.script(Shared())
    net.share()
    loaded = load(net.save_to_buffer())
    assert loaded.grow() == 3
    assert load(ts.jit.script(Shared()).save_to_buffer()).grow() == 2


class Numbered(ts.nn.Module):
    table: Dict[float, List[int]]

    def __init__(self) -> None:
        super().__init__()
        self.table = {float("nan"): [1], 2.0: [2]}

    def forward(self) -> Dict[float, List[int]]:
        return self.table


def test_nan_keys():
    """NaN keys of a dictionary, which never compare equal, are saved, and so are all following items."""
    loaded = load(ts.jit.script(Numbered()).save_to_buffer())
    assert str(loaded()) == "{nan: [1], 2.0: [2]}"


def test_two_archives(archive):
    """Equally named classes of two archives are distinct; a module with both can be saved."""

    def counter(step):
        class Counter(ts.nn.Module):
            def __init__(self):
                super().__init__()
                self.count = step

            def forward(self, x: int) -> int:
                self.count += x
                return self.count

        ts.jit.clear_class_registry()
        return load(ts.jit.script(Counter()).save_to_buffer())

    class Both(ts.nn.Module):
        def __init__(self):
            super().__init__()
            self.a = counter(10)
            self.b = counter(20)

        def forward(self, x: int) -> int:
            return self.a(x) * 1000 + self.b(x)

    combined = ts.jit.script(Both())
    assert combined(1) == 11021
    again = load(combined.save_to_buffer())
    assert (again(1), combined(1)) == (12022, 12022)


class Speed(Enum):
    SLOW = 1
    FAST = 2


def test_enum_of_the_program():
    """Archives with an enum of the program use its members, without an earlier compilation of the enum."""

    def other(speed: Speed):
        return Speed.SLOW if speed == Speed.FAST else Speed.FAST

    data = io.BytesIO()
    ts.jit.save(ts.jit.script(other), data)
    delattr(Speed, classes.ATTRIBUTE)
    naming.clear_names()
    assert ts.jit.load(io.BytesIO(data.getvalue()))(Speed.FAST) is Speed.SLOW


# ---------------------------------------------------------------- limits


def deflated(data, name, contents):
    """Return an archive with a deflated record."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as before, zipfile.ZipFile(out, "w") as after:
        for entry in before.infolist():
            if entry.filename.endswith(name):
                after.writestr(entry.filename, contents, zipfile.ZIP_DEFLATED)
            else:
                after.writestr(entry.filename, before.read(entry))
    return out.getvalue()


def test_records_count_against_limits_before_reading(archive):
    """A record whose declared unpacked size exceeds the memory limit is rejected before it is read."""
    large = deflated(archive, "/constants.pkl", bytes(50_000_000))
    with ts.limits(bytes=20_000_000):
        assert load(archive) is not None
        with pytest.raises(MemoryExceeded):
            load(large)
    with pytest.raises(ArchiveError):
        load(large)


def test_a_record_larger_than_its_file(archive):
    """A record that declares a size larger than its file raises `ArchiveError` without a large
    allocation."""
    with zipfile.ZipFile(io.BytesIO(archive)) as file:
        entry = next(e for e in file.infolist() if e.filename.endswith("/data.pkl"))
    header_offset = archive.rindex(entry.filename.encode())  # in the zip directory: 46 bytes, then the name
    sizes = struct.pack("<II", 1_000_000_000, 1_000_000_000)
    hostile = archive[: header_offset - 46 + 20] + sizes + archive[header_offset - 46 + 28 :]
    with pytest.raises(ArchiveError):
        load(hostile)
    with ts.limits(bytes=10_000_000), pytest.raises(ArchiveError):
        load(hostile)


def test_pickles_count_against_limits(archive):
    """Objects of a pickle count against the memory and time limits while they are read."""
    many = b"\x80\x02(" + b"]" * 3_000_000 + b"l."
    with ts.limits(bytes=30_000_000), pytest.raises(MemoryExceeded):
        load(rewritten(archive, **{"constants.pkl": many}))
    with ts.limits(seconds=0.2), pytest.raises(TimeExceeded):
        load(rewritten(archive, **{"constants.pkl": many}))


def test_sources_of_debug_records_are_bounded():
    """Debug records with repeated source texts are dropped without a large allocation."""
    line = "x" * 1_000_000
    record = ("FORMAT_WITH_STRING_TABLE", ("", line), ((0, (((1,) * 20_000, 0, 0), 0, 5), 0),))
    kind = type_of_constant(record)
    assert kind is not None
    data = Pickler(str, str, lambda tensor: None).dump(record, kind)
    assert read_source_locations(data)(3) is None
    few = ("FORMAT_WITH_STRING_TABLE", ("", line), ((0, (((1,) * 20, 0, 0), 0, 5), 0),))
    data = Pickler(str, str, lambda tensor: None).dump(few, type_of_constant(few))
    with ts.limits(bytes=10_000_000), pytest.raises(MemoryExceeded):
        read_source_locations(data)(3)
    assert read_source_locations(data)(3).text() == "xxxxx"


def test_malformed_debug_records():
    """Debug records with unsorted offsets provide no source locations."""
    record = ((("0",), ("text", "file.py", 1), 0, 4),)
    data = Pickler(str, str, lambda tensor: None).dump(record, type_of_constant(record))
    assert read_source_locations(data)(3) is None


@pytest.mark.parametrize("location", [(0, 0, 1 << 64), (0, -1, 4), (1 << 64, 0, 4), (-1, 0, 4)])
def test_source_locations_out_of_range(location):
    """Source locations with line numbers or offsets out of range are dropped."""

    def record(line, start, end):
        numbers = [b"\x8a\x09" + number.to_bytes(9, "little", signed=True) for number in (line, start, end)]
        source = b"(" + text("text") + text("file.py") + numbers[0] + b"t"
        return b"\x80\x02K\x00(" + source + numbers[1] + numbers[2] + b"t\x86\x85."

    assert read_source_locations(record(1, 0, 4))(3).text() == "text"
    assert read_source_locations(record(*location))(3) is None
