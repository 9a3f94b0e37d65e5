"""Tensors without operators: data, creation, indexing, copies and sharing."""

import copy
import math
import pickle
import warnings

import numpy as np
import pytest

import ts
from ts import devices, dtypes
from ts._core.tensor import factories
from ts._core.tensor.tensor import Size, Tensor, wrap_array

tensor = factories.tensor


@pytest.mark.parametrize(
    ("data", "dtype", "shape"),
    [
        (1, dtypes.int64, ()),
        (1.5, dtypes.float32, ()),
        (True, dtypes.bool_, ()),
        (1j, dtypes.complex64, ()),
        ([], dtypes.float32, (0,)),
        ([[], []], dtypes.float32, (2, 0)),
        ([1, 2.5], dtypes.float32, (2,)),
        ([True, 2], dtypes.int64, (2,)),
        ([[1, 2], (3, 4)], dtypes.int64, (2, 2)),
        (range(3), dtypes.int64, (3,)),
        (np.float64(1), dtypes.float64, ()),
        ([np.int32(1)], dtypes.int32, (1,)),
        (np.zeros((2, 3), np.int16), dtypes.int16, (2, 3)),
    ],
)
def test_inference(data, dtype, shape):
    """dtype and shape are inferred from data as in PyTorch."""
    x = tensor(data)
    assert (x.dtype, x.shape) == (dtype, shape)


@pytest.mark.parametrize(
    ("data", "dtype", "error", "message"),
    [
        ([[1, 2], [3]], None, ValueError, "expected sequence of length 2 at dim 1 (got 1)"),
        ("a", None, TypeError, "new(): invalid data type 'str'"),
        (["a"], None, ValueError, "too many dimensions 'str'"),
        (None, None, RuntimeError, "Could not infer dtype of NoneType"),
        ([None], None, RuntimeError, "Could not infer dtype of NoneType"),
        ({1: 2}, None, RuntimeError, "Could not infer dtype of dict"),
        (2**63, None, ValueError, "Overflow when unpacking long long"),
        (300, dtypes.uint8, RuntimeError, "value cannot be converted to type uint8 without overflow"),
        (1j, dtypes.float32, TypeError, "must be real number, not complex"),
        ([[1], 2], None, TypeError, "not a sequence"),
    ],
)
def test_rejected_data(data, dtype, error, message):
    """Invalid data for a tensor raises PyTorch's error."""
    with pytest.raises(error) as caught:
        tensor(data, dtype=dtype)
    assert str(caught.value) == message


def test_properties_and_views():
    """Views share memory; strides and offsets count elements."""
    x = tensor([[1.0, 2, 3], [4, 5, 6]])
    row, column = x[1], x[:, 1]
    assert x.shape == (2, 3) and isinstance(x.shape, Size) and repr(x.shape) == "torch.Size([2, 3])"
    assert (x.stride(), x.T.stride(), column.stride()) == ((3, 1), (1, 3), (3,))
    assert (row.storage_offset(), column.storage_offset()) == (3, 1)
    assert x.is_contiguous() and not x.T.is_contiguous()
    assert row.data_ptr() == x.data_ptr() + 12
    row[0] = 40
    assert x.tolist() == [[1, 2, 3], [40, 5, 6]]
    assert (x.ndim, x.numel(), x.element_size(), x.type(), x.device) == (2, 6, 4, "torch.FloatTensor", devices.CPU)


@pytest.mark.parametrize(
    "index",
    [
        0, -1, slice(None), slice(1, None), (0, 1), (slice(None), 1), (..., 0), None, (None, 1), True, False, [0, 1],
        (slice(None), [0, 2]), ([0, 1], [1, 2]), (slice(0, 2), slice(None, None, 2)), (), (1, [0, 2]),
    ],
)  # fmt: skip
def test_indexing_reads_and_writes(index):
    """Reading and writing by index agree with NumPy where PyTorch and NumPy have equal rules."""
    array = np.arange(12.0).reshape(3, 4)
    x = tensor(array)
    assert np.array_equal(x[index].numpy(), array[index])
    x[index] = 7
    array[index] = 7
    assert np.array_equal(x.numpy(), array)


def test_indexing_by_tensors():
    """Masks and index tensors select elements; an integer next to an index tensor is applied first, as in
    PyTorch."""
    x = tensor(np.arange(24).reshape(2, 3, 4))
    assert x[tensor([True, False])].shape == (1, 3, 4)
    assert x[tensor(1)].tolist() == x[1].tolist()
    assert x[0, :, tensor([0, 1])].shape == (3, 2)
    x[tensor([[True, False, True], [False, False, False]])] = tensor([0, 0, 0, 0])
    assert x[0, 2].tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize(
    ("index", "error", "message"),
    [
        (5, IndexError, "index 5 is out of bounds for dimension 0 with size 3"),
        ((1, 2, 3), IndexError, "too many indices for tensor of dimension 2"),
        (slice(None, None, -1), ValueError, "step must be greater than zero"),
        (slice(None, None, 0), ValueError, "slice step cannot be zero"),
        ([5], IndexError, "index 5 is out of bounds for dimension 0 with size 3"),
        (([0, 1], [0, 1, 2]), IndexError,
         "shape mismatch: indexing tensors could not be broadcast together with shapes [2], [3]"),
        (tensor([0.5]), IndexError, "tensors used as indices must be long, int, byte or bool tensors"),
        ([True, False], IndexError,
         "The shape of the mask [2] at index 0 does not match the shape of the indexed tensor [3, 4] at index 0"),
    ],
)  # fmt: skip
def test_bad_indices(index, error, message):
    """Wrong indices raise PyTorch's errors."""
    with pytest.raises(error) as caught:
        tensor(np.zeros((3, 4)))[index]
    assert str(caught.value) == message


def test_conversions_to_python():
    """Conversions to numbers, bools, lengths and iterators; the errors for other numbers of elements."""
    assert (int(tensor(1.5)), float(tensor(2)), bool(tensor([1])), tensor(3).item()) == (1, 2.0, True, 3)
    assert [1, 2, 3][tensor(1)] == 2
    assert [row.tolist() for row in tensor([[1], [2]])] == [[1], [2]]
    with pytest.raises(RuntimeError, match="more than one value is ambiguous"):
        bool(tensor([1, 2]))
    with pytest.raises(RuntimeError, match="a Tensor with 2 elements cannot be converted to Scalar"):
        tensor([1, 2]).item()
    with pytest.raises(TypeError, match="only integer tensors of a single element"):
        [1][tensor(0.0)]
    with pytest.raises(TypeError, match="0-d tensor"):
        len(tensor(1))
    assert format(tensor(1.25), ".1f") == "1.2"
    assert len({tensor(1), tensor(1)}) == 2


def test_numpy_and_dlpack_share_memory():
    """from_numpy, numpy(), __array__ and DLPack are views of one memory, in both directions."""
    array = np.zeros(3, np.float32)
    x = factories.from_numpy(array)
    array[0] = 1
    assert x.tolist() == [1, 0, 0] and np.shares_memory(x.numpy(), array) and np.shares_memory(np.asarray(x), array)
    other = ts.from_dlpack(np.from_dlpack(x))
    other[1] = 2
    assert array[1] == 2
    with pytest.raises(RuntimeError, match="requires grad"):
        tensor([1.0], requires_grad=True).numpy()
    with ts.no_grad():
        assert tensor([1.0], requires_grad=True).cpu().numpy().tolist() == [1]
    with pytest.raises(ValueError, match="stride"):
        factories.from_numpy(array[::-1])
    with pytest.raises(TypeError, match=r"numpy\.str_"):
        factories.from_numpy(np.array(["a"]))


def test_array_changes_do_not_change_the_tensor():
    """A change of shape or dtype of an array that shares memory with a tensor does not change the tensor."""
    given = np.zeros(4)
    x = factories.from_numpy(given)
    for array in (given, x.numpy(), np.asarray(x), x.numpy(force=True), factories.as_tensor(given).numpy()):
        array.dtype = np.float32
        assert array.shape == (8,)
    assert x.shape == (4,) and x.dtype is ts.float64 and x.sum() == 0


def test_sequences_with_an_invalid_length():
    """Sequences with a wrong `__len__` neither expose uninitialized memory nor cause an endless read."""

    class Longer(list):
        def __len__(self):
            return 5

    class Endless:
        def __len__(self):
            return 3

        def __getitem__(self, i):
            return 1.5

    class Empty(list):
        def __iter__(self):
            return iter(())

    for data, length in ((Longer([1, 2]), 2), (Endless(), 4), (Empty([1, 2]), 0)):
        with pytest.raises(ValueError, match=rf"expected sequence of length {len(data)} at dim 0 \(got {length}\)"):
            tensor(data)
        with pytest.raises(ValueError, match="at dim 1"):
            tensor([[1] * len(data), data])
    assert tensor([range(3), (3, 4, 5)]).tolist() == [[0, 1, 2], [3, 4, 5]]


def test_copies():
    """clone, deepcopy and pickle keep values, dtype and attributes; `to` returns the tensor if nothing
    changes."""
    x = tensor([1.0, 2.0], requires_grad=True)
    x.note = "kept"
    for y in (copy.deepcopy(x), pickle.loads(pickle.dumps(x))):
        assert y.tolist() == [1, 2] and y.requires_grad and y.note == "kept" and y.data_ptr() != x.data_ptr()
    b = tensor([1.5], dtype=dtypes.bfloat16)
    assert pickle.loads(pickle.dumps(b)).dtype is dtypes.bfloat16 and b.item() == 1.5 and b.tolist() == [1.5]
    assert x.to("cpu") is x and x.float() is x and x.double().dtype is dtypes.float64
    assert x.to(dtypes.int32).tolist() == [1, 2] and x.to(b).dtype is dtypes.bfloat16
    assert tensor([1, 2]).copy_(tensor(3.7)).tolist() == [3, 3]
    with pytest.raises(RuntimeError, match=r"The size of tensor a \(4\) must match"):
        tensor([0, 0, 0, 0]).copy_(tensor([1, 2]))


def test_dtypes_and_devices():
    """Each dtype is one object with PyTorch's name and code; devices are printed as in PyTorch."""
    assert repr(dtypes.float32) == "torch.float32" and dtypes.BY_CODE[11] is dtypes.bool_
    assert pickle.loads(pickle.dumps(dtypes.half)) is dtypes.float16
    assert dtypes.promote(dtypes.uint8, dtypes.int8) is dtypes.int16
    assert dtypes.promote(dtypes.int64, dtypes.float16) is dtypes.float16
    assert dtypes.finfo(dtypes.bfloat16).eps == 0.0078125 and dtypes.iinfo(dtypes.uint8).max == 255
    assert repr(devices.device("cuda:1")) == "device(type='cuda', index=1)" and str(devices.device("cuda", 1)) == "cuda:1"
    assert devices.device("cpu") == devices.CPU != devices.device("cpu:0")
    for bad in ("foo", "cuda:-1", "cpu:x", ""):
        with pytest.raises(RuntimeError):
            devices.device(bad)


def test_missing_attribute():
    """A name that is no operator raises AttributeError."""
    with pytest.raises(AttributeError, match="'Tensor' object has no attribute 'foo'"):
        tensor(1).foo
    assert isinstance(Tensor(2, 3), Tensor) and Tensor([1, 2]).dtype is dtypes.float32


def test_python_types_of_results():
    x = ts.arange(6)
    assert [type(part) for part in (x.chunk(2), x.split(4), x.unbind(), ts.where(x > 2))] == [tuple] * 4
    assert ts.promote_types(ts.int8, ts.uint8) is ts.int16
    assert ts.result_type(ts.ones(2, dtype=ts.int8), 1.5) is ts.float32


def test_meta_tensors_are_pickled():
    x = pickle.loads(pickle.dumps(ts.ones(2, 3, device="meta").t()))
    assert (x.shape, x.stride(), str(x.device)) == ((3, 2), (1, 3), "meta")


def test_print_options():
    try:
        ts.set_printoptions(precision=2)
        assert repr(ts.tensor([1.2345])) == "tensor([1.23])"
    finally:
        ts.set_printoptions(profile="default")


@pytest.mark.parametrize("write", ["add_", "mul_", "sub_", "pow_"])
def test_writes_to_expanded_tensors_raise(write):
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
        getattr(ts.ones(2).expand(3, 2), write)(2)


def test_uninitialized_objects_are_empty_tensors():
    """`Tensor.__new__` without `__init__` returns an empty tensor, in subclasses too."""
    for cls in (ts.Tensor, ts.nn.Parameter, type("Own", (ts.Tensor,), {"__init__": lambda self: None})):
        tensor = cls.__new__(cls)
        assert type(tensor) is cls and tensor.shape == (0,) and (tensor + 1).tolist() == [] and repr(tensor)


class OwnBase:
    """An array-like object whose `base` is itself, which would make a search for the memory owner endless."""

    ndim = 1

    @property
    def base(self):
        return self


@pytest.mark.parametrize("other", [OwnBase(), [1], None], ids=lambda x: type(x).__name__)
def test_storages_of_other_objects_are_rejected(other):
    with pytest.raises(TypeError, match="is not an array type of a loaded backend"):
        ts.UntypedStorage.of(other)


def test_base_of_views():
    """`_base` is the tensor that owns the memory, through nested views; a detached tensor has no base."""
    x = ts.ones(2, 3)
    for view in (x[0], x[0][1:], x.t(), x.T, x.view(6).view(3, 2), x.expand(4, 2, 3), next(iter(x)), x.unbind(1)[0]):
        assert view._is_view()
        assert view._base is x
    detached = x.view(6).detach()
    assert detached[0]._base is detached
    for owner in (x, detached, x.data, x.clone(), x + 1, x.t().contiguous()):
        assert not owner._is_view()
        assert owner._base is None


def test_negative_byte_strides():
    """A stride of -1 byte, the C API's error value, is valid, also in a subscript."""
    x = wrap_array(np.arange(8, dtype=np.int8)[::-1])
    assert x[1:4].tolist() == [6, 5, 4] and x[None, 1:3].tolist() == [[6, 5]]


def test_out_of_range_values_become_infinity():
    """A value out of the range of a dtype becomes infinity without a warning, as in PyTorch."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for dtype in (ts.float16, ts.bfloat16, ts.float32):
            assert ts.tensor([1e300, -1e300, 1.0], dtype=dtype).tolist() == [math.inf, -math.inf, 1.0]


@pytest.mark.parametrize("dtype", [ts.int64, ts.uint8, ts.int32])
def test_long_lists_of_integers(dtype):
    """Long integer lists are checked completely; negative numbers wrap as in PyTorch."""
    numbers = [i % 200 for i in range(70_000)]
    assert ts.tensor(numbers, dtype=dtype).tolist() == numbers
    assert ts.tensor([*numbers, True], dtype=dtype)[-1] == 1
    with pytest.raises((ValueError, RuntimeError), match=r"(?i)overflow"):
        ts.tensor([*numbers[:50_000], 2**64, *numbers], dtype=dtype)
    assert ts.tensor([*numbers, -1], dtype=ts.uint8)[-1] == 255


def test_subscript_items_are_a_tuple_or_list():
    """The subscript parser rejects other iterables, such as a tensor with billions of rows."""
    from ts._core.tensor.subscripts import parse_subscript

    with pytest.raises(TypeError, match="tuple or list of the items of a subscript, got Tensor"):
        parse_subscript(ts.zeros(1).expand(1 << 40), 1, int)
