"""`as_strided` over the storage of views, and elements preserved by `resize_`, equal PyTorch's."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")
import ts  # noqa: E402


def pair(dtype="float32"):
    base = np.arange(24)
    return tuple(x.from_numpy(base).to(getattr(x, dtype), copy=True) for x in (torch, ts))


VIEWS = {
    "whole": lambda x: x,
    "cut": lambda x: x[5:20],
    "step": lambda x: x[3::2],
    "turned": lambda x: x.view(4, 6).t(),
    "expanded": lambda x: x[2:5].view(3, 1).expand(3, 4),
    "of a clone": lambda x: x.view(4, 6).t().clone()[1:],
    "strided twice": lambda x: x.as_strided((3, 3), (5, 1), 2),
}


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int64", "bool", "complex64"])
@pytest.mark.parametrize("view", VIEWS)
def test_as_strided_sees_the_storage(view, dtype):
    theirs, ours = (VIEWS[view](x) for x in pair(dtype))
    for args in (((2, 3), (3, 1)), ((2, 2), (1, 4), 0), ((3,), (2,), 1), ((), (), 4), ((0, 5), (1, 1), 3)):
        want, got = theirs.as_strided(*args), ours.as_strided(*args)
        assert got.tolist() == want.tolist()
        assert (got.shape, got.stride()) == (want.shape, want.stride())
    assert ours.storage_offset() == theirs.storage_offset()


@pytest.mark.parametrize(
    "args", [((3,), (12,)), ((2,), (1, 1)), ((2,), (-1,)), ((-2,), (1,)), ((2,), (1,), -1)]
)
def test_as_strided_rejects(args):
    theirs, ours = pair()
    with pytest.raises(RuntimeError) as want:
        theirs.as_strided(*args)
    with pytest.raises(RuntimeError) as got:
        ours.as_strided(*args)
    assert str(got.value).startswith(str(want.value).split("\n")[0][:60])


@pytest.mark.parametrize("view", ["whole", "cut", "of a clone"])
def test_as_strided_scatter(view):
    theirs, ours = (VIEWS[view](x) for x in pair())
    want = torch.as_strided_scatter(theirs, torch.full((2, 2), 99.0), (2, 2), (3, 1))
    got = ts.as_strided_scatter(ours, ts.full((2, 2), 99.0), (2, 2), (3, 1))
    assert got.tolist() == want.tolist()
    assert ours.tolist() == theirs.tolist()


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("size", [(2, 3), (5,), (0, 2), ()])
def test_resize_keeps_the_storage(view, size):
    theirs, ours = (VIEWS[view](x).resize_(size) for x in pair())
    assert ours.tolist() == theirs.tolist()
    assert (ours.stride(), ours.storage_offset()) == (theirs.stride(), theirs.storage_offset())


def test_resize_grows_and_keeps_what_was_there():
    theirs, ours = (x[20:].resize_(2, 5) for x in pair("int64"))
    assert ours.shape == theirs.shape
    assert ours.flatten()[:4].tolist() == theirs.flatten()[:4].tolist() == [20, 21, 22, 23]


def test_resize_in_a_memory_format_and_as_another():
    for torch_or_ts, x in zip((torch, ts), pair(), strict=True):
        y = x.resize_(1, 2, 3, 4, memory_format=torch_or_ts.channels_last)
        assert y.stride() == (24, 1, 8, 2)
        z = torch_or_ts.ones(1).resize_as_(y, memory_format=torch_or_ts.preserve_format)
        assert z.stride() == y.stride()
        assert torch_or_ts.ones(1).resize_as_(y).stride() == (24, 12, 4, 1)


@pytest.mark.parametrize("size", [(-1,), (1 << 40, 1 << 40), (1 << 62,)])
def test_resize_rejects(size):
    theirs, ours = pair()
    with pytest.raises(RuntimeError) as want:
        theirs.resize_(size)
    with pytest.raises(RuntimeError) as got:
        ours.resize_(size)
    assert str(got.value) == str(want.value).split("\n")[0]


def test_scripts_resize():
    source = "def f(x):\n    x.resize_([2, 2])\n    return x.resize_as_(torch.ones(1, 3)), x.as_strided([2], [1], 1)\n"
    want = torch.jit.CompilationUnit(source).f(pair()[0])
    got = ts.jit.CompilationUnit(source).f(pair()[1])
    assert [t.tolist() for t in got] == [t.tolist() for t in want]


TYPED = """
    t.FloatStorage(3).size()
    t.FloatStorage([1, 2])
    t.IntStorage([1.5])
    t.FloatStorage(3).type()
    isinstance(t.ones(1).storage(), t.FloatStorage), isinstance(t.ones(1).storage(), t.IntStorage)
    t.ByteStorage.from_buffer(b).tolist()
    t.ShortStorage.from_buffer(b).tolist()
    t.ShortStorage.from_buffer(b, 'big').tolist()
    t.ShortStorage.from_buffer(b, 'x').tolist()
    t.FloatStorage.from_buffer(b, 'big').tolist()
    t.ComplexFloatStorage.from_buffer(b + b, 'big').tolist()
    t.ByteStorage.from_buffer(b, offset=1, count=2).tolist()
    t.BoolStorage.from_buffer(bytearray([0, 2, 3]), 'big').tolist()
    t.ByteStorage.from_buffer(3)
    [getattr(t.IntStorage([1, 0, 2]), name)().tolist() for name in "float double half bfloat16 long short char byte bool int".split()]
    t.IntStorage([1, 2]).complex_float().tolist(), t.IntStorage([1, 2]).complex_double().type()
    t.IntStorage([1, 2]).fill_(3).tolist()
    t.IntStorage([1, 2]).clone().tolist()
    t.FloatStorage.dtype
    t.Storage([1, 2])
    t.ComplexFloatStorage([1j])
    t.IntStorage([1, 2]).is_cuda, t.IntStorage([1, 2]).is_shared()
    t.ones(2, 2).storage()._cdata == 0
    t.FloatStorage
"""


@pytest.mark.filterwarnings("ignore:TypedStorage is deprecated")
@pytest.mark.parametrize("source", [line.strip() for line in TYPED.splitlines() if line.strip()])
def test_typed_storages(source):
    """Typed storages have PyTorch's values, representations and errors."""

    def messages(library):
        try:
            return repr(eval(source, {"t": library, "b": bytearray([64, 16, 3, 4])})).replace("ts.", "torch.")
        except (TypeError, ValueError, RuntimeError) as error:
            return type(error).__name__, str(error)

    assert messages(ts) == messages(torch)


def test_numbers_are_copied_between_storages():
    """`copy_` between storages converts numbers; PyTorch copies bytes for equal sizes."""
    target = ts.IntStorage([0, 0]).copy_(ts.FloatStorage([3.7, 4.0]))
    assert target.tolist() == [3, 4]
