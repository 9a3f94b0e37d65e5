"""Mutations of archives: of their source, pickles, records, zip headers and bytes.

Input: an archive, all archives, and a generator.  Output: the archive with one to three mutations of one kind:

    source       a token replaced, a line removed or copied from another archive, text that no printer writes
    pickle       instructions removed, moved, copied from other pickles; extreme or other arguments
    records      removed, swapped, renamed, truncated, filled with data that inflates to a thousand times its size
    zip          a number of a header; directory entries removed, duplicated, pointing at other entries' records
    bytes        random bytes at any position

In files of the legacy format (`torch.save` before 1.6, without zip), pickles and bytes are mutated.
"""

from __future__ import annotations

import io
import pickletools
import random
import re
import struct
import tokenize
import zipfile
from functools import lru_cache

from tests.fuzz.wrong_programs import with_a_word_changed
from tests.untrusted_input import handcrafted_archives

WORDS = """x self int str None List[int] List[str] float True 1 -1 0 1.5 "a" [] {} () (1,) ... 9223372036854775807 -9223372036854775808
    annotate(Any,1) annotate(List[str],[]) unchecked_cast(str,1) unchecked_cast(List[str],[1]) uninitialized(str) uninitialized(List[int])
    __torch__.M __torch__.Point Tensor Any Optional[str] Dict[str,int] Tuple[int,str] Future[int] Device NoneType CONSTANTS.c0 CONSTANTS.c999
    _ignore_ __new__ __slots__ mro _x BroadcastingList9[int]
    torch.append torch.len torch.add torch.__getitem__ torch.resize_ torch.as_strided ops.prim.NumToTensor ops.prim.data ops.aten.exit
    fork wait isinstance getattr hasattr if for while in return raise assert del break continue pass def class import lambda
    + - * ** / // % @ == < and or not is = : , ( ) [ ] { } -> # \t""".split()
TEXTS = ("\0", "\r", "\f", "\ufeff", "é", "\t", "(" * 300, "-" * 5000 + "1", "1" + "+1" * 3000, "9" * 5000, "x" * 70000, '"' + "\\x00" * 99 + '"', "1e999")
PIECES = (
    b"K\x01", b"](K\x01e", b"}", b")", b"N", b"\x88", b"\x8a\x0a" + b"\xff" * 10, b"G\x7f\xf8" + bytes(6), handcrafted_archives.text("a"), handcrafted_archives.text("\0"),
    b"c__torch__\nM\n", b"ctorch._utils\n_rebuild_tensor_v2\n", b"ctorch\nFloatStorage\n", b"ccollections\nOrderedDict\n", b"cbuiltins\neval\n",
    b"ctorch.jit._pickle\nbuild_intlist\n", b"ctorch.jit._pickle\nrestore_type_tag\n", b"h\x00", b"h\x01", b"q\x01", b"0", b"2", b"(", b"1",
    b"\x81", b"R", b"b", b"Q", b"a", b"e", b"s", b"u", b"t", b"\x85", b"\x86", b"\x87", b"]q\x01h\x01a", handcrafted_archives.doubled(),
    handcrafted_archives.nested(b"", b"\x85", 2000), b"\x8a\xff", b"X\xff\xff\xff\x7f", b"j\xff\xff\xff\xff", b"r\xff\xff\xff\xff", b".",
)  # fmt: skip
NUMBERS = (0, 1, 2, -1, 255, 65535, 2**31 - 1, -(2**31), 2**32, 2**62, 2**63 - 1, -(2**63), 2**64, 10**40)
NAMES = ("data/99", "code/__torch__.py", "code/../x.py", "constants/0", "version", ".data/version", "byteorder", "\0", "é", "code/a/" * 50)
CONTENTS = (b"", b"\xff", b"-1\n", b"9" * 5000, b"99999999999999999999", b"3\n", b"big", bytes(100), b" " * (8 << 20), b"x=1\n" * (1 << 16), bytes(32 << 20))
# Header fields: offset after the signature, and format.
FIELDS = {
    b"PK\x03\x04": ((4, "H"), (6, "H"), (8, "H"), (14, "I"), (18, "I"), (22, "I"), (26, "H"), (28, "H")),
    b"PK\x01\x02": ((4, "H"), (6, "H"), (8, "H"), (10, "H"), (16, "I"), (20, "I"), (24, "I"), (28, "H"), (30, "H"), (32, "H"), (34, "H"), (42, "I")),
    b"PK\x05\x06": ((4, "H"), (6, "H"), (8, "H"), (10, "H"), (12, "I"), (16, "I"), (20, "H")),
}  # fmt: skip
_ENTRY = struct.Struct("<4s6H3I5H2I")  # directory entry
_END = struct.Struct("<4s4H2IH")


def changed(archives: list[bytes], generator: random.Random) -> bytes:
    """Return an archive with one to three mutations of one kind."""
    data = generator.choice(archives)
    is_zip = data.startswith(b"PK")
    kinds = ["source", "source", "source", "pickle", "pickle", "records", "zip", "bytes"] if is_zip else ["pickle", "bytes"]
    how = generator.choice(kinds)
    for _ in range(generator.choice([1, 1, 2, 3])):
        if how == "bytes":
            data = _with_bytes_changed(data, generator)
        elif how == "zip":
            data = generator.choice([_with_a_field_changed, _with_a_field_changed, _with_the_directory_changed])(data, generator)
        elif is_zip:
            data = _with_a_record_changed(data, how, generator, archives)
        else:
            data = _with_instructions_changed(data, generator, [data])
    return data


@lru_cache(maxsize=64)
def _records(data: bytes) -> tuple[tuple[str, bytes], ...]:
    with zipfile.ZipFile(io.BytesIO(data)) as file:
        return tuple((name, file.read(name)) for name in file.namelist())


def _with_a_record_changed(data: bytes, how: str, generator: random.Random, archives: list[bytes]) -> bytes:
    records = list(_records(data))
    wanted = {"source": (".py",), "pickle": (".pkl", ".debug_pkl"), "records": ("",)}[how]
    candidates = [i for i, (name, _) in enumerate(records) if name.endswith(wanted)]
    if not candidates:
        return data
    i, j = generator.choice(candidates), generator.randrange(len(records))
    name, contents = records[i]
    if how == "records":
        _exchange(records, i, j, generator)
    else:
        other = generator.choice([each for each in archives if each.startswith(b"PK")])
        others = [found for found_name, found in [*_records(other), *records] if found_name.endswith(wanted)]
        change = _with_source_changed if how == "source" else _with_instructions_changed
        records[i] = name, change(contents, generator, others)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", generator.choice([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED]), compresslevel=1) as file:
        for name, contents in records:
            file.writestr(zipfile.ZipInfo(name), contents, zipfile.ZIP_DEFLATED if len(contents) > 1 << 20 else None)
    return out.getvalue()


def _with_source_changed(contents: bytes, generator: random.Random, others: list[bytes]) -> bytes:
    text = contents.decode(errors="replace")
    lines = text.split("\n")
    row = generator.randrange(len(lines))
    match generator.randrange(8):
        case 0:
            del lines[row]
        case 1:
            lines.insert(row, generator.choice(lines))
        case 2:
            lines[row] = " " * generator.randrange(7) + lines[row].lstrip()
        case 3:
            lines.insert(row, generator.choice(generator.choice(others).decode(errors="replace").split("\n")))
        case 4:
            place = generator.randrange(len(lines[row]) + 1)
            lines[row] = lines[row][:place] + generator.choice(TEXTS) + lines[row][place:]
        case _:
            try:
                return with_a_word_changed(text, generator, WORDS).encode()
            except (SyntaxError, ValueError, IndexError, tokenize.TokenError):  # mutated before
                del lines[row:]
    return "\n".join(lines).encode()


def _instructions(contents: bytes) -> list[bytes]:
    """Return the instructions of consecutive pickles, or single bytes for an invalid pickle."""
    pieces: list[bytes] = []
    begin = 0
    try:
        while begin < len(contents):
            starts = [begin + place for _, _, place in pickletools.genops(contents[begin:])]
            pieces += [contents[a:b] for a, b in zip(starts, [*starts[1:], starts[-1] + 1], strict=True)]
            begin = starts[-1] + 1
    except Exception:  # not a pickle, or mutated before
        pieces += [contents[i : i + 1] for i in range(begin, len(contents))]
    return pieces


def _with_instructions_changed(contents: bytes, generator: random.Random, others: list[bytes]) -> bytes:
    pieces = _instructions(contents) or [b""]
    i = generator.randrange(len(pieces))
    match generator.randrange(10):
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
        case 6:
            other = _instructions(generator.choice(others)) or [b""]
            begin = generator.randrange(len(other))
            pieces[i : i + generator.randrange(4)] = other[begin : begin + generator.randrange(1, 30)]
        case 7 | 8:
            _with_an_argument_changed(pieces, generator)
        case _:
            damaged = bytearray(pieces[i])
            if damaged:
                damaged[generator.randrange(len(damaged))] = generator.randrange(256)
            pieces[i] = bytes(damaged)
    return b"".join(pieces)


def _with_an_argument_changed(pieces: list[bytes], generator: random.Random) -> None:
    """Replace an argument of a pickle: another number, string or memo index."""
    candidates = [i for i, piece in enumerate(pieces) if piece[:1] in b"KMJ\x8aXhjqrc" and len(piece) > 1]
    if not candidates:
        return
    i = generator.choice(candidates)
    kind = pieces[i][:1]
    number = generator.choice(NUMBERS)
    same = [piece for piece in pieces if piece[:1] == kind]
    if kind in b"KMJ\x8a":
        wide = number.to_bytes(number.bit_length() // 8 + 1, "little", signed=True)
        pieces[i] = b"\x8a" + bytes([len(wide)]) + wide
    elif kind in b"hjqr" and generator.random() < 0.5:
        pieces[i] = (b"j" if kind in b"hj" else b"r") + struct.pack("<I", number & 0xFFFFFFFF)
    else:
        pieces[i] = generator.choice(same)


def _exchange(records: list[tuple[str, bytes]], i: int, j: int, generator: random.Random) -> None:
    name, contents = records[i]
    folder = name.partition("/")[0]
    match generator.randrange(8):
        case 0:
            del records[i]
        case 1:
            records[i] = name, records[j][1]
        case 2:
            records[i] = records[j][0], contents
        case 3:
            records.append((f"{folder}/{generator.choice(NAMES)}", contents))
        case 4:
            records[i] = generator.choice(["other", "", "..", "/"]) + name.removeprefix(folder), contents
        case 5:
            records[i] = name, contents[: generator.randrange(len(contents) + 1)]
        case 6:
            records[i] = name, contents + bytes(generator.randrange(200))
        case _:
            records[i] = name, generator.choice(CONTENTS)


def _with_a_field_changed(data: bytes, generator: random.Random) -> bytes:
    """Change a number of a zip header or directory."""
    signature = generator.choice(list(FIELDS))
    offsets = [found.start() for found in re.finditer(re.escape(signature), data)]
    if not offsets:
        return data
    offset, form = generator.choice(FIELDS[signature])
    width = struct.calcsize(form)
    place, other = (generator.choice(offsets) + offset for _ in range(2))
    if max(place, other) + width > len(data):
        return data
    old = int.from_bytes(data[place : place + width], "little")
    number = generator.choice([*NUMBERS, old + 1, old - 1, old * 2, old ^ 8, len(data), generator.getrandbits(32)])
    if generator.random() < 0.2:
        number = int.from_bytes(data[other : other + width], "little")
    return data[:place] + (number & ((1 << 8 * width) - 1)).to_bytes(width, "little") + data[place + width :]


def _with_the_directory_changed(data: bytes, generator: random.Random) -> bytes:
    """Change the zip directory consistently, or add data before or after the archive."""
    end = data.rfind(b"PK\x05\x06")
    if not 0 <= end <= len(data) - _END.size:
        return data
    *_, size, begin, _ = _END.unpack_from(data, end)
    if begin + size > end:
        return data
    entries = [b"PK\x01\x02" + each for each in data[begin : begin + size].split(b"PK\x01\x02")[1:]]
    entries = [entry for entry in entries if len(entry) >= _ENTRY.size]
    if not entries:
        return data
    i, j = (generator.randrange(len(entries)) for _ in range(2))
    before = data[:begin]
    match generator.randrange(7):
        case 0:
            del entries[i]
        case 1:
            entries.insert(i, entries[j])
        case 2:
            entries[i], entries[j] = entries[j], entries[i]
        case 3:  # the offset of another entry
            entries[i] = entries[i][:42] + entries[j][42:46] + entries[i][46:]
        case 4:  # its sizes, too
            entries[i] = entries[i][:16] + entries[j][16:28] + entries[i][28:42] + entries[j][42:46] + entries[i][46:]
        case 5:  # 64-bit sizes and offset
            head = list(_ENTRY.unpack_from(entries[i]))
            name = entries[i][_ENTRY.size : _ENTRY.size + head[10]]
            extra = struct.pack("<HH3Q", 1, 24, *(generator.choice(NUMBERS) & (2**64 - 1) for _ in range(3)))
            head[8] = head[9] = head[16] = 0xFFFFFFFF
            head[11], head[12] = len(extra), 0
            entries[i] = _ENTRY.pack(*head) + name + extra
        case _:
            before = generator.choice([b"x", bytes(64), data]) + before
    directory = b"".join(entries)
    ending = _END.pack(b"PK\x05\x06", 0, 0, len(entries), len(entries), len(directory), len(before) & 0xFFFFFFFF, 0)
    return before + directory + ending


def _with_bytes_changed(data: bytes, generator: random.Random) -> bytes:
    """Change bytes of the file, half of the time in the zip directory with its sizes and offsets."""
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
