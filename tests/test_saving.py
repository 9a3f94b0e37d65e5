"""`ts.save` and `ts.load` without PyTorch: what comes back, and what is refused."""

import io
import pickle
import zipfile

import pytest

import ts


def test_round_trip_keeps_sharing(tmp_path):
    """Two views of one storage are views of one storage again; a path is written whole."""
    x = ts.arange(6.0).reshape(2, 3)
    path = tmp_path / "state.pt"
    ts.save({"x": x, "row": x[1], "note": "text", "n": (1, 2.5, None)}, path)
    got = ts.load(path)
    got["x"][1, 0] = 9
    assert got["row"].tolist() == [9, 4, 5] and got["note"] == "text" and got["n"] == (1, 2.5, None)
    assert path.read_bytes()[:2] == b"PK" and [p.name for p in tmp_path.iterdir()] == ["state.pt"]


def test_foreign_names_are_refused():
    """A pickle that names a function gets no function called."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("archive/data.pkl", b"\x80\x02cos\nsystem\nX\x04\x00\x00\x00true\x85R.")
        archive.writestr("archive/version", "3\n")
    file.seek(0)
    with pytest.raises(pickle.UnpicklingError, match=r"os\.system was not an allowed global"):
        ts.load(file)


def test_buffers_and_arrays():
    """`frombuffer` and `asarray` share memory; wrong lengths are told."""
    data = bytearray(b"\x01\x00\x02\x00")
    x = ts.frombuffer(data, dtype=ts.int16)
    x[0] = 7
    assert x.tolist() == [7, 2] and data[0] == 7 and ts.asarray(x) is x
    with pytest.raises(ValueError, match="must be a multiple of element size"):
        ts.frombuffer(bytearray(3), dtype=ts.int16)
    with pytest.raises(ValueError, match="can't alias"):
        ts.asarray([1, 2], copy=False)


def test_overlaps_versions_and_storages():
    """Worked out by hand: who shares a version, what overlaps, what lies where."""
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
    """Channels last: the second dimension has stride 1, copies keep it, and `contiguous` undoes it."""
    x = ts.ones(2, 3, 4, 5).contiguous(memory_format=ts.channels_last)
    assert x.stride() == (60, 1, 15, 3) and x.is_contiguous(memory_format=ts.channels_last)
    assert x.double().stride() == ts.empty_like(x).stride() == x.clone().stride() == x.stride()
    assert x.contiguous().stride() == (60, 20, 5, 1) and x.dim_order() == (0, 2, 3, 1)
