"""Files of `safetensors`."""

import sys

import pytest

import ts
from ts.archive.safetensors import load_file, save_file
from ts.errors import ArchiveError


def test_without_the_library(monkeypatch, tmp_path):
    """Without safetensors, the error names the package to install."""
    monkeypatch.setitem(sys.modules, "safetensors", None)
    with pytest.raises(ModuleNotFoundError, match="pip install safetensors"):
        save_file({"x": ts.ones(1)}, tmp_path / "x.safetensors")


class TestFiles:
    """Tests with the library installed."""

    @pytest.fixture(autouse=True)
    def library(self):
        return pytest.importorskip("safetensors")

    def test_round_trip(self, tmp_path):
        """Every dtype, empty tensors, scalars and views are restored; the header contains the metadata."""
        path = tmp_path / "all.safetensors"
        kinds = "float64 float32 float16 bfloat16 int64 int32 int16 int8 uint64 uint32 uint16 uint8 bool complex64".split()
        tensors = {kind: ts.tensor([[0, 1, 1], [1, 0, 1]]).to(getattr(ts, kind)) for kind in kinds}
        tensors |= {"empty": ts.empty(0, 3), "number": ts.tensor(2.5), "turned": ts.arange(6.0).view(2, 3).t()}
        save_file(tensors, path, {"format": "pt"})
        got = load_file(path)
        assert set(got) == set(tensors)
        for name, tensor in tensors.items():
            assert got[name].dtype == tensor.dtype and got[name].tolist() == tensor.tolist(), name
        assert b'"__metadata__":{"format":"pt"}' in path.read_bytes()
        got["float32"].zero_()
        assert load_file(path, "meta")["number"].is_meta

    def test_by_the_library(self, tmp_path, library):
        """The safetensors library reads files written by `ts`."""
        numpy = pytest.importorskip("safetensors.numpy")
        save_file({"x": ts.arange(3)}, tmp_path / "x.safetensors")
        assert numpy.load_file(tmp_path / "x.safetensors")["x"].tolist() == [0, 1, 2]

    @pytest.mark.parametrize("size", [0, 7, 20, -1])
    def test_damage(self, tmp_path, size):
        path = tmp_path / "x.safetensors"
        save_file({"x": ts.arange(3)}, path)
        path.write_bytes(path.read_bytes()[:size])
        with pytest.raises(ArchiveError, match="is not a safetensors file or is damaged"):
            load_file(path)

    def test_unsupported_values(self, tmp_path):
        for value, message in ((3, "can contain only tensors"), (ts.ones(1, dtype=ts.complex128), "do not support")):
            with pytest.raises(ValueError, match=message):
                save_file({"x": value}, tmp_path / "x.safetensors")
        assert list(tmp_path.iterdir()) == []
