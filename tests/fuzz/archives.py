"""Archives that somebody has changed: their source, their pickles, their records, the bytes of the zip file.

In: a range of seeds.  Out: a line for each archive that was neither loaded nor refused as it should be:

    python -m tests.fuzz.archives 0 300         300 archives, each changed in one to three places
    python -m tests.fuzz.archives SEED          the one of a seed, with its traceback

What `load` takes is called, shown and saved again.  All that may come of it are results, `ArchiveError`, errors of the
compiler and limits, and of programs that run exceptions with the place in the script.  A seed makes the same archive
each time.
"""

from __future__ import annotations

import io
import pickle
import pickletools
import random
import struct
import sys
import tokenize
import traceback
import zipfile
from enum import Enum
from functools import cache
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

import ts
from tests.fuzz import watched
from tests.fuzz.wrong_programs import with_a_word_changed
from tests.program_files import all_programs, read
from tests.trust import crafted
from ts.errors import ArchiveError, FrontendError, InternalError, LimitExceeded, ScriptRuntimeError

SECONDS = 10  # that an archive may take; its programs have LIMITS
LIMITS: dict[str, Any] = {"seconds": 3, "fuel": 1_000_000, "bytes": 1 << 27, "depth": 500}
PROGRAMS = 24  # files of tests/programs that are saved, and changed
WORDS = """x self int str None List[int] List[str] float True 1 -1 0 1.5 "a" [] {} () (1,) ... 9223372036854775807 -9223372036854775808
    annotate(Any,1) annotate(List[str],[]) unchecked_cast(str,1) unchecked_cast(List[str],[1]) uninitialized(str) uninitialized(List[int])
    __torch__.M __torch__.Point Tensor Any Optional[str] Dict[str,int] Tuple[int,str] Future[int] Device NoneType CONSTANTS.c0 CONSTANTS.c999
    _ignore_ __new__ __slots__ mro _x BroadcastingList9[int]
    torch.append torch.len torch.add torch.__getitem__ torch.resize_ torch.as_strided ops.prim.NumToTensor ops.prim.data ops.aten.exit
    fork wait isinstance getattr hasattr if for while in return raise assert del break continue pass def class import lambda
    + - * ** / // % @ == < and or not is = : , ( ) [ ] { } -> # \t""".split()
PIECES = (
    b"K\x01", b"](K\x01e", b"}", b")", b"N", b"\x88", b"\x8a\x0a" + b"\xff" * 10, b"G\x7f\xf8" + bytes(6), crafted.text("a"), crafted.text("\0"),
    b"c__torch__\nM\n", b"ctorch._utils\n_rebuild_tensor_v2\n", b"ctorch\nFloatStorage\n", b"ccollections\nOrderedDict\n", b"cbuiltins\neval\n",
    b"ctorch.jit._pickle\nbuild_intlist\n", b"ctorch.jit._pickle\nrestore_type_tag\n", b"h\x00", b"h\x01", b"q\x01", b"0", b"2", b"(", b"1",
    b"\x81", b"R", b"b", b"Q", b"a", b"e", b"s", b"u", b"t", b"\x85", b"\x86", b"\x87", b"]q\x01h\x01a", crafted.doubled(),
    crafted.nested(b"", b"\x85", 2000), b"\x8a\xff", b"X\xff\xff\xff\x7f", b"j\xff\xff\xff\xff", b"r\xff\xff\xff\xff", b".",
)  # fmt: skip


class Color(Enum):
    RED = 1
    BLUE = 2


class Pair(NamedTuple):
    n: int
    x: ts.Tensor


@ts.jit.script
class Point:
    def __init__(self, x: int, names: List[str]):
        self.x = x
        self.names = names

    def moved(self, by: int):
        return Point(self.x + by, self.names)


class Block(ts.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = ts.nn.Linear(2, 2)

    def forward(self, x: ts.Tensor) -> ts.Tensor:
        return ts.relu(self.linear(x))


class Net(ts.nn.Module):
    """Attributes of every kind that an archive has."""

    names: List[str]
    table: Dict[str, List[int]]
    maybe: Optional[Tuple[int, str]]
    scale: ts.jit.Final[float]

    def __init__(self) -> None:
        super().__init__()
        self.blocks = ts.nn.ModuleList([Block(), Block()])
        self.conv = ts.nn.Conv2d(1, 2, 1)
        self.norm = ts.nn.BatchNorm1d(2)
        self.register_buffer("steps", ts.tensor([1, 2]))
        self.shared = self.blocks[0].linear.weight
        self.names, self.table, self.maybe, self.scale = ["a", "b"], {"k": [1, 2]}, (1, "x"), 0.5
        self.color, self.place, self.number = Color.RED, ts.device("cpu"), 2j

    @ts.jit.export
    def described(self, n: int = 2) -> Tuple[str, Dict[str, List[int]]]:
        pair = Pair(n, self.steps)
        point = Point(pair.n, self.names).moved(1)
        maybe = self.maybe
        if maybe is not None and self.color == Color.RED:
            return f"{point.x} {maybe[1]}", self.table
        raise ValueError("nothing")

    def forward(self, x: ts.Tensor = ts.ones(1, 2)) -> List[ts.Tensor]:
        found: List[ts.Tensor] = []
        for block in self.blocks:
            x = block(x) * self.scale
            found.append(x)
        task = ts.jit.fork(self.described, 3)
        text, table = ts.jit.wait(task)
        with ts.no_grad():
            found.append(self.norm(x) + len(text) + sum([len(v) for v in table.values()]))
        while len(found) < 4:
            found += [self.conv(found[-1].view(1, 1, 1, -1)).sum()]
        return found


@cache
def originals() -> list[bytes]:
    """The archives that are changed: a module, a trace, values, and programs."""
    ts.manual_seed(0)
    net = Net().eval()
    values = io.BytesIO()
    ts.save({"a": [ts.ones(2, 3).t(), 1, "x"], "b": (None, 2.5, ts.ones(2, dtype=ts.bfloat16))}, values)
    traced = ts.jit.trace(lambda x: (x @ x.t()).relu() + ts.ones(1), ts.ones(2, 2))
    found = [ts.jit.script(net).save_to_buffer()] * 8 + [values.getvalue()] * 2 + [traced.save_to_buffer()]
    programs = [p for p in map(read, all_programs()) if not p.compile_error and not p.scripts_itself]
    for program in random.Random(0).sample(programs, PROGRAMS):
        try:
            found.append(ts.jit.script(program.load()).save_to_buffer())
        except ArchiveError:  # it calls Python
            continue
    return found


def changed(generator: random.Random) -> bytes:
    """An archive with one to three changes."""
    data = generator.choice(originals())
    how = generator.choice(["source", "source", "source", "pickle", "pickle", "records", "bytes"])
    for _ in range(generator.choice([1, 1, 2, 3])):
        if how == "bytes":
            data = _with_bytes_changed(data, generator)
        else:
            data = _with_a_record_changed(data, how, generator)
    return data


def _with_a_record_changed(data: bytes, how: str, generator: random.Random) -> bytes:
    with zipfile.ZipFile(io.BytesIO(data)) as file:
        records = [(name, file.read(name)) for name in file.namelist()]
    wanted = {"source": (".py",), "pickle": (".pkl", ".debug_pkl"), "records": ("",)}[how]
    chosen = [i for i, (name, _) in enumerate(records) if name.endswith(wanted)]
    if not chosen:
        return data
    i, other = generator.choice(chosen), generator.randrange(len(records))
    name, contents = records[i]
    if how == "source":
        records[i] = name, _source(contents, generator)
    elif how == "pickle":
        records[i] = name, _pickle(contents, generator)
    else:
        _structure(records, i, other, generator)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", generator.choice([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])) as file:
        for name, contents in records:
            file.writestr(zipfile.ZipInfo(name), contents)
    return out.getvalue()


def _source(contents: bytes, generator: random.Random) -> bytes:
    text = contents.decode()
    lines = text.split("\n")
    row = generator.randrange(len(lines))
    match generator.randrange(6):
        case 0:
            del lines[row]
        case 1:
            lines.insert(row, generator.choice(lines))
        case 2:
            lines[row] = " " * generator.randrange(7) + lines[row].lstrip()
        case _:
            try:
                return with_a_word_changed(text, generator, WORDS).encode()
            except (SyntaxError, ValueError, IndexError, tokenize.TokenError):  # of a text that has been changed before
                del lines[row:]
    return "\n".join(lines).encode()


def _pickle(contents: bytes, generator: random.Random) -> bytes:
    """Instructions dropped, doubled, moved, or others in their place; or some byte changed."""
    try:
        starts = [place for _, _, place in pickletools.genops(contents)]
    except Exception:  # of a pickle that has been changed before
        starts = list(range(len(contents))) or [0]
    pieces = [contents[a:b] for a, b in zip(starts, [*starts[1:], len(contents)], strict=True)]
    i = generator.randrange(len(pieces))
    match generator.randrange(7):
        case 0:
            del pieces[i]
        case 1:
            pieces.insert(i, generator.choice(pieces))
        case 2:
            pieces[i] = generator.choice(pieces)
        case 3:
            pieces[i] = generator.choice(PIECES)
        case 4:
            pieces.insert(i, generator.choice(PIECES))
        case 5:
            del pieces[i:]
        case _:
            damaged = bytearray(pieces[i])
            if damaged:
                damaged[generator.randrange(len(damaged))] = generator.randrange(256)
            pieces[i] = bytes(damaged)
    return b"".join(pieces)


def _structure(records: list[tuple[str, bytes]], i: int, other: int, generator: random.Random) -> None:
    name, contents = records[i]
    folder = name.partition("/")[0]
    match generator.randrange(8):
        case 0:
            del records[i]
        case 1:
            records[i] = name, records[other][1]
        case 2:
            records[i] = records[other][0], contents
        case 3:
            names = ["data/99", "code/__torch__.py", "code/../x.py", "constants/0", "version", ".data/version", "\0", "é", "code/a/" * 50]
            records.append((f"{folder}/{generator.choice(names)}", contents))
        case 4:
            records[i] = generator.choice(["other", "", "..", "/"]) + name.removeprefix(folder), contents
        case 5:
            records[i] = name, contents[: generator.randrange(len(contents) + 1)]
        case 6:
            records[i] = name, contents + bytes(generator.randrange(200))
        case _:
            records[i] = name, generator.choice([b"", b"\xff", b"-1\n", b"9" * 5000, b"99999999999999999999", b"3\n", bytes(100)])


def _with_bytes_changed(data: bytes, generator: random.Random) -> bytes:
    """The zip file's own bytes: of its directory half of the time, where the sizes and places are."""
    damaged = bytearray(data)
    directory = data.rfind(b"PK\x01\x02", 0, max(data.find(b"PK\x01\x02") + 200, 0))
    place = generator.randrange(directory if generator.random() < 0.5 and directory > 0 else 0, len(data) or 1)
    match generator.randrange(4):
        case 0:
            damaged[place : place + 1] = bytes([generator.randrange(256)])
        case 1:
            number = generator.choice([0, 1, 0xFFFF, 0x7FFFFFFF, 0xFFFFFFFF, len(data)])
            damaged[place : place + 4] = struct.pack("<I", number)
        case 2:
            del damaged[place : place + generator.choice([1, 4, 30])]
        case _:
            del damaged[place:]
    return bytes(damaged)


def check(data: bytes) -> bool:
    """Whether an archive can be loaded; whatever else happens than what may is raised."""
    with ts.limits(**LIMITS):
        try:
            loaded = ts.jit.load(io.BytesIO(data))
        except (ArchiveError, FrontendError, LimitExceeded):
            loaded = None
        try:
            ts.load(io.BytesIO(data))
        except (ArchiveError, LimitExceeded, pickle.UnpicklingError):  # the last of classes, as PyTorch's
            pass
        if loaded is None:
            return False
        used(loaded)
    return True


def used(loaded: Any) -> None:
    """Call, show and save what was loaded."""
    for use in (
        loaded,
        lambda: loaded.described(),
        lambda: str(loaded.code),
        lambda: str(loaded.graph),
        lambda: repr(loaded.state_dict()),
        lambda: str(loaded),
        lambda: ts.jit.load(io.BytesIO(loaded.save_to_buffer())),
    ):
        try:
            use()
        except InternalError:
            raise
        except (ArchiveError, FrontendError, LimitExceeded, ScriptRuntimeError):
            continue
        except Exception as error:
            if not is_located(error):
                raise


def is_located(error: Exception) -> bool:
    """Whether a script's exception says where, or that what was called takes other arguments, or is not there."""
    text = str(error)
    located = "Traceback of TorchScript" in text or "Declaration: " in text
    return located or (isinstance(error, AttributeError) and "has no attribute" in text)


def main(first: str, last: str, *place: str) -> None:
    """Check the archives of these seeds."""
    originals()
    calls = watched.Calls(*place, seconds=SECONDS)
    for seed in range(int(first), int(last)):
        calls.run(f"archive {seed}", (), check, changed(random.Random(seed)))


def problems(first: int, last: int) -> list[str]:
    """What went wrong with the archives of these seeds."""
    return watched.problems(__spec__.name, first, last)


if __name__ == "__main__":
    if len(sys.argv) == 2:
        try:
            print(check(changed(random.Random(int(sys.argv[1])))))
        except Exception:
            traceback.print_exc()
    elif len(sys.argv) == 3:
        print("\n".join(problems(int(sys.argv[1]), int(sys.argv[2]))))
    else:
        main(*sys.argv[1:])
