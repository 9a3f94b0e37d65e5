"""`ts.save` and `ts.load` compared with PyTorch's: files are exchanged in both directions."""

import collections
import io
import pickle

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import ts  # noqa: E402
from ts.errors import ArchiveError  # noqa: E402


def value(t):
    x = t.arange(6.0).reshape(2, 3)
    ones = t.ones(2)
    ones.note = "kept"
    return {
        "x": x, "row": x[1], "turned": x.t(), "numbers": [3, 1.5, 1j, 2**80, True, None], "text": "h\xe9",
        "tuple": (1, (2, 3)), "dtype": t.float16, "size": t.Size([1, 2]), "device": t.device("cpu"),
        "bytes": b"ab\xff", "ordered": collections.OrderedDict(a=1), "half": t.ones(2, dtype=t.bfloat16),
        "unsigned": t.ones(2).to(t.uint16), "parameter": t.nn.Parameter(t.ones(1)), "set": {1, 2},
        "empty": t.empty(0), "noted": ones, "mask": t.tensor([True, False]),
    }  # fmt: skip


def saved(t, obj):
    file = io.BytesIO()
    t.save(obj, file)
    file.seek(0)
    return file


@pytest.mark.parametrize(("writer", "reader"), [(torch, ts), (ts, torch), (ts, ts)])
def test_values(writer, reader):
    """Values of all kinds are restored, and tensors on one storage share it again."""
    got = reader.load(saved(writer, value(writer)))
    assert repr(got) == repr(value(reader)) and got["noted"].note == "kept"
    got["x"][1, 0] = 9
    assert got["row"][0] == 9 and got["turned"][0, 1] == 9 and got["turned"].stride() == (1, 3)


@pytest.mark.parametrize(("writer", "reader"), [(torch, ts), (ts, torch)])
def test_state_of_modules(writer, reader):
    layer = writer.nn.Linear(3, 2)
    state = reader.load(saved(writer, layer.state_dict()))
    other = reader.nn.Linear(3, 2)
    other.load_state_dict(state)
    x = np.ones((1, 3), np.float32)
    want, got = layer(writer.from_numpy(x)), other(reader.from_numpy(x))
    assert np.allclose(got.detach().numpy(), want.detach().numpy())


def test_other_classes_are_rejected():
    with pytest.raises(pickle.UnpicklingError, match="Unsupported global"):
        ts.load(saved(torch, torch.nn.Linear(1, 1)))


def test_other_files_are_rejected():
    with pytest.raises(ts.errors.ArchiveError, match="not a zip file"):
        ts.load(io.BytesIO(b"\x80\x02}q\x00."))
    with pytest.raises(ts.errors.ArchiveError, match="scripted module"):
        file = io.BytesIO()
        torch.jit.save(torch.jit.script(torch.nn.ReLU()), file)
        file.seek(0)
        ts.load(file)


def layers(t):
    original = t.nn.Sequential(
        t.nn.Linear(2, 4),
        t.nn.BatchNorm1d(4),
        t.nn.ReLU(),
        t.nn.TransformerEncoderLayer(4, 2),
        t.nn.Dropout(0.5),
    )
    return t.nn.ModuleDict({"layers": original, "conv": t.nn.Conv1d(1, 2, 2)}).eval()


@pytest.mark.parametrize(("writer", "reader"), [(torch, ts), (ts, torch), (ts, ts)])
def test_whole_modules(writer, reader):
    """Whole modules are exchanged with `weights_only=False` and rejected otherwise."""
    original = layers(writer)
    data = saved(writer, original).getvalue()
    with pytest.raises(pickle.UnpicklingError, match="Weights only load failed"):
        reader.load(io.BytesIO(data))
    with pytest.raises(pickle.UnpicklingError, match="Weights only load failed"):
        reader.load(io.BytesIO(data), weights_only=True)
    got = reader.load(io.BytesIO(data), weights_only=False)
    assert type(got) is reader.nn.ModuleDict
    x = [[1.0, 2.0], [3.0, 4.0]]
    expected = original["layers"](writer.tensor(x)).flatten().tolist()
    assert got["layers"](reader.tensor(x)).flatten().tolist() == pytest.approx(expected, abs=1e-5)
    expected = original["conv"](writer.tensor(x)[:, None]).flatten().tolist()
    assert got["conv"](reader.tensor(x)[:, None]).flatten().tolist() == pytest.approx(expected, abs=1e-5)
    assert list(got.state_dict()) == list(original.state_dict())


def test_values_of_trusted_files():
    """A file of tensors loads with equal values for `weights_only` True and False."""
    data = saved(torch, value(torch)).getvalue()
    assert str(ts.load(io.BytesIO(data), weights_only=False)) == str(ts.load(io.BytesIO(data)))


@pytest.mark.parametrize(("writer", "reader"), [(torch, ts), (ts, torch), (ts, ts)])
def test_legacy_format(writer, reader, tmp_path):
    """Files of the legacy format are exchanged, by path and open file, with shared memory."""
    original = value(writer)
    if reader is torch:
        del original["unsigned"]  # PyTorch writes it, but cannot read it
    path = tmp_path / "old.pt"
    writer.save(original, path, _use_new_zipfile_serialization=False)
    assert path.read_bytes()[:2] == b"\x80\x02"
    got = reader.load(path)
    assert list(got) == list(original)
    for name in {
        "x",
        "row",
        "turned",
        "half",
        "unsigned",
        "empty",
        "noted",
        "mask",
        "parameter",
    } & original.keys():
        assert got[name].tolist() == original[name].tolist(), name
        assert str(got[name].dtype).split(".")[1] == str(original[name].dtype).split(".")[1]
    assert (got["numbers"], got["text"], got["bytes"], got["noted"].note) == (
        original["numbers"],
        "h\xe9",
        b"ab\xff",
        "kept",
    )
    got["x"][1, 0] = 70.0
    assert got["row"].tolist()[0] == got["turned"].tolist()[0][1] == 70.0
    file = io.BytesIO()
    writer.save(writer.nn.Linear(2, 3).state_dict(), file, _use_new_zipfile_serialization=False)
    module = reader.nn.Linear(2, 3)
    module.load_state_dict(reader.load(io.BytesIO(file.getvalue())))
    whole = io.BytesIO()
    writer.save(writer.nn.Linear(2, 3), whole, _use_new_zipfile_serialization=False)
    assert type(reader.load(io.BytesIO(whole.getvalue()), weights_only=False)) is reader.nn.Linear


@pytest.mark.parametrize("old", [False, True])
def test_conjugate_and_negative_views(old):
    """Views with conjugate or negative bits saved by PyTorch are resolved."""
    x, n = torch.tensor([1 + 2j, 3 - 1j]), torch.tensor([1.0, 2.0])
    original = {
        "conj": x.conj(),
        "neg": torch._neg_view(n),
        "both": torch.ones(2, dtype=torch.complex64).conj().imag,
    }
    for name, tensor in original.items():
        file = io.BytesIO()
        torch.save(tensor, file, _use_new_zipfile_serialization=not old)
        assert ts.load(io.BytesIO(file.getvalue())).tolist() == tensor.tolist(), name


def test_tensors_without_elements():
    """Empty tensors keep their strides, meta tensors their shapes."""
    for tensor in (
        torch.empty(0, 3),
        torch.empty(2, 0, 4).transpose(0, 2),
        torch.empty(2, 3, device="meta").t(),
    ):
        for trusted in (False, True):
            got = ts.load(saved(torch, tensor), weights_only=not trusted)
            assert (tuple(got.shape), got.stride()) == (tuple(tensor.shape), tensor.stride())
            assert (str(got.device), str(got.dtype)) == (str(tensor.device), str(tensor.dtype))


@pytest.mark.filterwarnings("ignore")
def test_quantized_tensors_are_dequantised():
    whole = torch.quantize_per_tensor(torch.tensor([-0.6, 0.1]), 0.1, 0, torch.qint8)
    scales, zeros = torch.tensor([0.1, 0.2]), torch.tensor([0, 1])
    rows = torch.quantize_per_channel(torch.tensor([[1.0, 2.0], [0.6, -0.2]]), scales, zeros, 0, torch.qint8)
    for original in (whole, rows):
        for trusted in (False, True):
            got = ts.load(saved(torch, original), weights_only=not trusted)
            assert got.dtype == ts.float32 and got.tolist() == original.dequantize().tolist()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("make", "what"),
    [(lambda: torch.nested.nested_tensor([torch.ones(2), torch.ones(3)]), "a nested tensor")],
)
def test_unsupported_tensors(make, what):
    """Unsupported tensors in a file raise ArchiveError with their kind, for `weights_only` True and False."""
    for trusted in (False, True):
        with pytest.raises(ArchiveError, match=f"contains {what}, which ts does not support"):
            ts.load(saved(torch, make()), weights_only=not trusted)


def test_load_of_a_scripted_module():
    """`load` with `weights_only=False` passes a TorchScript archive to `jit.load` with PyTorch's warning."""

    def found(library):
        file = io.BytesIO()
        library.jit.save(library.jit.script(library.nn.Linear(3, 4)), file)
        file.seek(0)
        with pytest.warns(UserWarning, match="looks like a TorchScript archive") as warned:
            module = library.load(file, weights_only=False)
        texts = [str(w.message) for w in warned if w.category is UserWarning]
        return texts, type(module).__name__, [list(p.shape) for p in module.parameters()]

    assert found(ts) == found(torch)
