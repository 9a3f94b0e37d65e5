"""Memory-mapped tensors of files."""

import io
import os
import struct
import subprocess
import sys
import zipfile

import pytest

import ts

N = 1 << 18  # elements; large tensors, which are mapped instead of read


class Net(ts.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("large", ts.arange(float(N)))
        self.register_buffer("small", ts.ones(2))
        self.register_buffer("part", self.large[10:20].view(2, 5).t())

    def forward(self):
        return self.large[5] + self.part[0, 0] + self.small.sum()


@pytest.fixture
def path(tmp_path):
    ts.jit.script(Net()).save(tmp_path / "net.pt")
    return tmp_path / "net.pt"


@pytest.fixture
def state(tmp_path):
    ts.save({"large": ts.arange(float(N)), "small": ts.ones(2)}, tmp_path / "state.pt")
    return tmp_path / "state.pt"


def is_mapped(x, path):
    """Return True if the memory of a tensor is in the mapping of a file."""
    with open("/proc/self/maps") as maps:
        areas = [line.split()[0].split("-") for line in maps if str(path) in line]
    return any(int(low, 16) <= x.data_ptr() < int(high, 16) for low, high in areas)


on_linux = pytest.mark.skipif(not os.path.exists("/proc/self/maps"), reason="asks Linux what is mapped")


@on_linux
def test_modules(path):
    """Large tensors of an archive are mapped and small ones are read; views share memory."""
    net = ts.jit.load(path)
    assert is_mapped(net.large, path) and not is_mapped(net.small, path)
    assert net().item() == 17.0
    net.part[0, 0] = 100.0
    assert net.large[10].item() == 100.0
    assert ts.jit.load(str(path))().item() == 17.0  # the write did not change the file


@on_linux
def test_values(state):
    """`ts.load(mmap=True)` maps tensors without changing the file, as in PyTorch."""
    before = state.read_bytes()
    got = ts.load(state, mmap=True)
    assert is_mapped(got["large"], state) and not is_mapped(got["small"], state)
    got["large"].zero_()
    assert state.read_bytes() == before
    assert not is_mapped(ts.load(state)["large"], state)


@on_linux
def test_reading(path):
    """Files are read into memory without `mmap`, and file objects always."""
    assert not is_mapped(ts.jit.load(path, mmap=False).large, path)
    with open(path, "rb") as file:
        assert not is_mapped(ts.jit.load(file).large, path)
    with pytest.raises(ValueError, match="f must be a file path in order to use the mmap argument"):
        ts.load(io.BytesIO(), mmap=True)


def test_replacing(path):
    """A file can be overwritten or deleted while its mapped tensors are in use."""
    net = ts.jit.load(path)
    other = ts.jit.script(ts.nn.Linear(1, 1))
    other.save(path)
    assert net().item() == 17.0
    path.unlink()
    assert net().item() == 17.0
    assert net.large.sum().item() == ts.arange(float(N)).sum().item()


MEMORY = """
import resource, sys
import ts
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
net = ts.jit.load(sys.argv[1])
grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
assert net.large.shape[0] == 1 << 28
print(grown)
"""


@on_linux
def test_memory(tmp_path):
    """A mapped gigabyte needs almost no memory before it is read."""
    ts.jit.script(Net()).save(tmp_path / "net.pt")
    large = tmp_path / "large.pt"
    with zipfile.ZipFile(tmp_path / "net.pt") as before, zipfile.ZipFile(large, "w") as after:
        for name in before.namelist():
            contents = before.read(name)
            if name == "net/data.pkl":
                contents = contents.replace(b"J" + struct.pack("<i", N), b"J" + struct.pack("<i", 1 << 28))
            if name != "net/data/0":
                after.writestr(name, contents)
        data_offset = (after.fp.tell() + 63) // 64 * 64 + 64
        entry = zipfile.ZipInfo("net/data/0")
        padding = data_offset - after.fp.tell() - 30 - len(entry.filename)
        entry.extra = b"FB" + struct.pack("<H", padding - 4) + bytes(padding - 4)
        entry.CRC, entry.file_size, entry.compress_size = 0, 1 << 30, 1 << 30
        entry.header_offset = after.fp.tell()
        after.fp.write(entry.FileHeader(False))
        after.fp.truncate(after.fp.tell() + (1 << 30))  # a sparse file
        after.fp.seek(0, os.SEEK_END)
        after.start_dir = after.fp.tell()
        after.filelist.append(entry)
        after.NameToInfo[entry.filename] = entry
        after._didModify = True
    done = subprocess.run([sys.executable, "-c", MEMORY, str(large)], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 100_000  # kilobytes, including compilation


@pytest.mark.parametrize("what", ["signature", "offset", "alignment", "compressed", "size"])
def test_records_that_are_not_mapped(path, what, tmp_path):
    """Misplaced, unaligned or compressed records are read into memory or rejected."""
    data = bytearray(path.read_bytes())
    with zipfile.ZipFile(path) as file:
        entry = next(e for e in file.infolist() if e.filename.endswith("data/0"))
        names = {name: file.read(name) for name in file.namelist()}
    directory = data.rindex(entry.filename.encode()) - 46
    strange = tmp_path / "strange.pt"
    if what == "signature":
        data[entry.header_offset] ^= 1
    elif what == "offset":
        data[directory + 42 : directory + 46] = struct.pack("<I", len(data) - 10)
    elif what == "size":
        data[directory + 20 : directory + 28] = struct.pack("<II", len(data), len(data))
    strange.write_bytes(data)
    if what in ("alignment", "compressed"):
        with zipfile.ZipFile(strange, "w", zipfile.ZIP_DEFLATED if what == "compressed" else zipfile.ZIP_STORED) as file:
            file.writestr("net/odd", b"x", zipfile.ZIP_STORED)
            for name, contents in names.items():
                file.writestr(name, contents)
        assert ts.jit.load(strange)().item() == 17.0
    else:
        with pytest.raises(ts.errors.ArchiveError):
            ts.jit.load(strange)
