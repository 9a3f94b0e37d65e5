"""`ts.save` and `ts.load` without PyTorch: restored values and errors."""

import copy
import io
import pickle
import zipfile

import pytest

import ts


def test_round_trip_keeps_sharing(tmp_path):
    """Two views of one storage are restored as views of one storage; a path is written completely."""
    x = ts.arange(6.0).reshape(2, 3)
    path = tmp_path / "state.pt"
    ts.save({"x": x, "row": x[1], "note": "text", "n": (1, 2.5, None)}, path)
    got = ts.load(path)
    got["x"][1, 0] = 9
    assert got["row"].tolist() == [9, 4, 5] and got["note"] == "text" and got["n"] == (1, 2.5, None)
    assert path.read_bytes()[:2] == b"PK" and [p.name for p in tmp_path.iterdir()] == ["state.pt"]


def test_foreign_names_are_rejected():
    """A pickle that names a function is rejected without calling the function."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("archive/data.pkl", b"\x80\x02cos\nsystem\nX\x04\x00\x00\x00true\x85R.")
        archive.writestr("archive/version", "3\n")
    file.seek(0)
    with pytest.raises(pickle.UnpicklingError, match=r"os\.system was not an allowed global"):
        ts.load(file)


def test_buffers_and_arrays():
    """`frombuffer` and `asarray` share memory; invalid lengths raise errors."""
    data = bytearray(b"\x01\x00\x02\x00")
    x = ts.frombuffer(data, dtype=ts.int16)
    x[0] = 7
    assert x.tolist() == [7, 2] and data[0] == 7 and ts.asarray(x) is x
    with pytest.raises(ValueError, match="must be a multiple of element size"):
        ts.frombuffer(bytearray(3), dtype=ts.int16)
    with pytest.raises(ValueError, match="can't alias"):
        ts.asarray([1, 2], copy=False)


def test_overlaps_versions_and_storages():
    """Shared versions, overlaps and offsets of storages equal values computed by hand."""
    x = ts.arange(6.0)
    view = x.view(2, 3).t()
    view.add_(1)
    assert (x._version, view._version, x.clone()._version) == (1, 1, 0)
    assert view.stride() == (1, 3) and view[1:].storage_offset() == 1
    assert view.untyped_storage() == x.untyped_storage() and x.untyped_storage().nbytes() == 24
    with pytest.raises(RuntimeError, match="single memory location"):
        x[1:].add_(x[:-1])
    with pytest.raises(RuntimeError, match="single memory location"):
        x[:1].expand(3).copy_(ts.ones(3))
    assert x.as_strided((2, 2), (1, 2), 1).tolist() == [[2, 4], [3, 5]]
    with pytest.raises(RuntimeError, match="out of bounds for storage of size 24"):
        x.as_strided((4,), (2,), 1)


def test_memory_formats():
    """Channels last: the second dimension has stride 1, copies preserve it, and `contiguous` reverts it."""
    x = ts.ones(2, 3, 4, 5).contiguous(memory_format=ts.channels_last)
    assert x.stride() == (60, 1, 15, 3) and x.is_contiguous(memory_format=ts.channels_last)
    assert x.double().stride() == ts.empty_like(x).stride() == x.clone().stride() == x.stride()
    assert x.contiguous().stride() == (60, 20, 5, 1) and x.dim_order() == (0, 2, 3, 1)


@pytest.mark.parametrize("weights_only", [True, False])
@pytest.mark.parametrize("zipped", [True, False])
def test_storages_are_values_that_tensors_share(weights_only, zipped):
    """Typed storages are restored with shared memory, and one storage is one object."""
    x = ts.arange(6.0)
    file = io.BytesIO()
    ts.save([x, x.storage(), (x[2:].storage(), x[:1])], file, _use_new_zipfile_serialization=zipped)
    file.seek(0)
    tensor, storage, (other, part) = ts.load(file, weights_only=weights_only)
    assert isinstance(storage, ts.FloatStorage) and storage is other and len(storage) == 6
    tensor.fill_(7)
    assert storage.tolist() == [7.0] * 6 and part.item() == 7 and storage.data_ptr() == tensor.data_ptr()
    storage[0] = 1
    assert tensor[0] == 1
    for copied in (copy.deepcopy(storage), pickle.loads(pickle.dumps(storage))):
        assert type(copied) is ts.TypedStorage and copied.tolist() == storage.tolist()


def test_storage_with_two_dtypes_is_rejected():
    """A storage with two dtypes cannot be saved, because a file contains one dtype per storage."""
    x = ts.ones(3)
    for value in ([x, x.view(ts.int32)], [x, x.untyped_storage()]):
        with pytest.raises(RuntimeError, match="view the same data as different types"):
            ts.save(value, io.BytesIO())


def test_consecutive_values_in_a_file(tmp_path):
    """Loading a legacy file leaves the file position after the loaded value."""
    for file in (io.BytesIO(), open(tmp_path / "values", "w+b")):
        with file:
            for value in ("head", ts.ones(3), [ts.zeros(2)]):
                if value == "head":
                    pickle.dump(value, file)
                else:
                    ts.save(value, file, _use_new_zipfile_serialization=False)
            file.write(b"tail")
            file.seek(0)
            assert pickle.load(file) == "head" and ts.load(file).tolist() == [1.0] * 3
            assert ts.load(file, weights_only=False)[0].tolist() == [0.0] * 2 and file.read() == b"tail"


class Pipe:
    def __init__(self, data):
        self.read = io.BytesIO(data).read


class Filling(io.BytesIO):
    """A file that fills memory in small steps."""

    def read(self, *size):
        raise AssertionError("readinto does without a copy")

    def readinto(self, memory):
        return super().readinto(memory[:100])


def test_files_with_read_or_readinto():
    file = io.BytesIO()
    ts.save(ts.arange(100), file)
    for given in (Pipe(file.getvalue()), Filling(file.getvalue())):
        assert ts.load(given).tolist() == list(range(100))


def test_texts_of_python_2():
    """The encoding of Python 2 strings is an argument of `load`, with default UTF-8."""
    with io.BytesIO() as file:
        ts.save(["abc", ts.ones(1)], file, _use_new_zipfile_serialization=False)
        data = file.getvalue().replace(b"X\x03\x00\x00\x00abc", b"U\x03a\xc3\xa9")
    for name in (b"storage", b"cpu", b"0"):  # strings of the storage reference
        data = data.replace(b"X" + bytes([len(name), 0, 0, 0]) + name, b"U" + bytes([len(name)]) + name)
    for weights_only in (True, False):
        texts = [
            ts.load(io.BytesIO(data), weights_only=weights_only, **given)[0]
            for given in ({}, {"encoding": "latin1"}, {"encoding": "bytes"})
        ]
        assert texts == ["a\xe9", "a\xc3\xa9", b"a\xc3\xa9"]


@pytest.mark.skipif(ts.cuda.is_available(), reason="there is a CUDA device")
def test_tensors_of_cuda_devices_say_how_to_read_them():
    file = io.BytesIO()
    ts.save(ts.ones(2), file, _use_new_zipfile_serialization=False)
    data = file.getvalue().replace(b"X\x03\x00\x00\x00cpu", b"X\x06\x00\x00\x00cuda:0")
    with pytest.raises(
        RuntimeError, match=r"Attempting to deserialize object on a CUDA device .* map_location='cpu'"
    ):
        ts.load(io.BytesIO(data))
    assert ts.load(io.BytesIO(data), map_location="cpu").tolist() == [1.0, 1.0]


def test_default_restore_location():
    """`map_location` functions may call `default_restore_location` with a device."""
    from ts.serialization import default_restore_location as restore

    storage = ts.ones(2).untyped_storage()
    assert restore(storage, "cpu") is storage
    moved = restore(storage, "meta")
    assert (moved.device.type, moved.nbytes()) == ("meta", 8)
    file = io.BytesIO()
    ts.save(ts.ones(2), file)
    file.seek(0)
    assert ts.load(file, map_location=lambda s, _: restore(s, "meta")).is_meta
    for location in ("cpu:0", "shelf", "xpu:0"):
        with pytest.raises(RuntimeError, match=rf"UntypedStorage \(tagged with {location}\)"):
            restore(storage, location)
    if not ts.cuda.is_available():
        with pytest.raises(RuntimeError, match=r"torch\.cuda\.is_available\(\) is False"):
            restore(storage, "cuda:0")
    with pytest.raises(TypeError, match="got 'NoneType'"):
        restore(storage, None)
