"""`torch.ops.load_library`: loads C++ libraries, registers their operators, or raises OSError."""

import numpy as np
import pytest

import ts
from ts._core.thread import context
from ts.ops import extension_libraries


@pytest.fixture
def write_library(tmp_path):
    """Return a function that writes a fake shared library with given strings."""

    def write(*strings, name="extension.so"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"\x7fELF" + b"\0".join([b"", *(s.encode() for s in strings), b""]))
        return path

    return write


@pytest.mark.parametrize("content", [None, b"no library", b""])
def test_other_files_are_rejected(tmp_path, content):
    path = tmp_path / "nothing.so"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(OSError, match=r"^Could not load this library: .*nothing\.so$"):
        ts.ops.load_library(path)
    assert str(path) not in ts.ops.loaded_libraries


def test_damaged_libraries_are_rejected(write_library):
    with pytest.raises(OSError, match=r"^Could not load this library: "):
        ts.ops.load_library(write_library("truncated"))


def test_a_path_is_a_string_or_a_path():
    with pytest.raises(TypeError, match=r"expected str, bytes or os\.PathLike object, not NoneType"):
        ts.ops.load_library(None)


def test_libraries_without_pytorch_are_loaded():
    ts.ops.load_library(context.__file__)
    assert context.__file__ in ts.ops.loaded_libraries


def test_operators_of_an_unused_library_raise_by_name(write_library):
    path = write_library("libtorch_cpu.so", "geometry_a", "distance(Tensor x) -> Tensor")
    with pytest.raises(AttributeError, match="'_OpNamespace' 'geometry_a' object has no attribute 'distance'"):
        ts.ops.geometry_a.distance
    with pytest.warns(UserWarning, match=r"extension\.so is linked with PyTorch's libraries"):
        ts.ops.load_library(str(path))
    assert str(path) in ts.ops.loaded_libraries
    for operator in (ts.ops.geometry_a.distance, ts.ops.geometry_a.distance.default):
        with pytest.raises(NotImplementedError, match=r"torch\.ops\.geometry_a\.distance is .* of .*extension\.so"):
            operator(ts.ones(2))
    for namespace, name in (("geometry_a", "dist"), ("geometry_b", "distance")):
        assert not hasattr(getattr(ts.ops, namespace), name)


def test_a_program_may_implement_an_operator_of_an_unused_library(write_library):
    path = write_library("libc10.so", "geometry_c", "length(Tensor x) -> Tensor")
    with pytest.warns(UserWarning, match="linked with PyTorch"):
        ts.ops.load_library(path)
    ts.library.define("geometry_c::length", "(Tensor x) -> Tensor")
    ts.library.impl("geometry_c::length", "CPU", lambda x: x.norm())
    assert float(ts.ops.geometry_c.length(ts.tensor([3.0, 4.0]))) == 5.0


def test_optional_library_is_rejected(write_library):
    """OSError makes torchvision use its Python code; it would query the CUDA version of a loaded library."""
    path = write_library("libtorch.so", "vision_d", "vision_d::nms(Tensor dets) -> Tensor", name="torchvision/_C.so")
    with pytest.raises(OSError, match="linked with PyTorch's libraries, which ts does not run"):
        ts.ops.load_library(path)
    assert not hasattr(ts.ops.vision_d, "nms")


@pytest.fixture
def audio(write_library):
    extension_libraries._declares.cache_clear()
    path = write_library(
        "libtorch.so", "_torchaudio", "is_align_available() -> bool", "cuda_version() -> int?", "torchaudio",
        "_lfilter_core_loop(Tensor a) -> Tensor", "_overdrive_core_loop(Tensor a) -> Tensor",
        "forced_align(Tensor log_probs) -> Tensor",
    )  # fmt: skip
    with pytest.warns(UserWarning, match="linked with PyTorch"):
        ts.ops.load_library(path)
    return ts.ops.torchaudio


def test_operators_that_are_called_at_import(audio):
    assert ts.ops._torchaudio.cuda_version() is None
    assert ts.ops._torchaudio.is_align_available() is False
    with pytest.raises(NotImplementedError, match=r"torch\.ops\.torchaudio\.forced_align"):
        audio.forced_align(ts.ones(2))


@pytest.mark.parametrize("dtype", [ts.float32, ts.float64])
def test_recursive_filter(audio, dtype):
    """The filter computes y[t] = x[t] - a1 y[t-1] - a2 y[t-2] with separate coefficients per channel."""
    x = ts.linspace(-1, 1, 12, dtype=dtype).reshape(2, 2, 3)
    a = ts.tensor([[0.2, -0.5, 1.0], [0.0, 0.25, 1.0]], dtype=dtype)
    padded = ts.zeros(2, 2, 5, dtype=dtype)
    audio._lfilter_core_loop(x, a, padded)
    expected = np.zeros((2, 2, 5))
    for b in range(2):
        for c in range(2):
            for t in range(3):
                a2, a1, _ = a[c].tolist()
                expected[b, c, t + 2] = float(x[b, c, t]) - a1 * expected[b, c, t + 1] - a2 * expected[b, c, t]
    assert np.allclose(padded.numpy(), expected, atol=1e-6)
    scripted = ts.jit.script(filter_in_script)
    again = ts.zeros(2, 2, 5, dtype=dtype)
    assert ts.equal(scripted(x, a, again), padded)


def filter_in_script(x, a, padded):
    return ts.ops.torchaudio._lfilter_core_loop(x, a, padded)


def test_overdrive(audio):
    x, temp = ts.tensor([[0.5, -0.25, 1.0]]), ts.tensor([[0.4, -0.2, 0.6]])
    last_in, last_out, y = ts.zeros(1), ts.zeros(1), ts.zeros(1, 3)
    audio._overdrive_core_loop(x, temp, last_in, last_out, y)
    expected, before, after = [], 0.0, 0.0
    for sample, source in zip(x[0].tolist(), temp[0].tolist(), strict=True):
        after = source - before + 0.995 * after
        before = source
        expected.append(sample * 0.5 + after * 0.75)
    assert np.allclose(y.numpy()[0], expected, atol=1e-6)


@pytest.mark.parametrize(
    "namespace, name", [("a(b", "c["), ("(a+)+$", "x"), ("libtorch", "*"), ("a", "\ud800")]
)
def test_names_are_matched_literally(tmp_path, namespace, name):
    file = tmp_path / "names.so"
    file.write_bytes(b"\x7fELF libtorch.so " + b"a" * 50)
    with pytest.warns(UserWarning, match="does not run its code"):
        ts.ops.load_library(file)
    with pytest.raises(AttributeError):
        getattr(getattr(ts.ops, namespace), name)
