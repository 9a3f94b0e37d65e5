"""Legacy tensor types such as `ts.FloatTensor`, in eager mode and scripts."""

import pytest

import ts


def test_constructors_give_tensors_of_their_dtype():
    for name, dtype in {"FloatTensor": ts.float32, "LongTensor": ts.int64, "BoolTensor": ts.bool}.items():
        tensor = getattr(ts, name)([1, 0])
        assert type(tensor) is ts.Tensor and tensor.dtype is dtype and tensor.tolist() == [1, 0]
        assert isinstance(tensor, getattr(ts, name)) and not isinstance(tensor, ts.DoubleTensor)
        assert getattr(ts, name)(2, 3).shape == (2, 3)


def test_conversion_by_type():
    assert ts.ones(2).type(ts.LongTensor).dtype is ts.int64
    assert ts.ones(2).type(ts.LongTensor).type() == "torch.LongTensor"
    with pytest.raises(TypeError, match="dtype must be a type, str, or dtype object"):
        ts.ones(2).type(3)


def test_cuda_types_need_cuda():
    if ts.cuda.is_available():
        pytest.skip("there is a device")
    with pytest.raises(TypeError, match=r"type torch\.cuda\.FloatTensor not available"):
        ts.cuda.FloatTensor(2)
    assert not isinstance(ts.ones(2), ts.cuda.FloatTensor)


def test_in_scripts():
    @ts.jit.script
    def main():
        return ts.FloatTensor([1.0, 2.0])

    assert main().tolist() == [1.0, 2.0]


@pytest.mark.filterwarnings("ignore:torch.set_default_tensor_type")
def test_default_type():
    ts.set_default_tensor_type(ts.DoubleTensor)
    try:
        assert ts.ones(1).dtype is ts.float64
    finally:
        ts.set_default_tensor_type("torch.FloatTensor")
    assert ts.ones(1).dtype is ts.float32
    with pytest.raises(TypeError, match="only floating-point types"):
        ts.set_default_tensor_type(ts.LongTensor)


@pytest.mark.parametrize(
    "constructor", [ts.Tensor, ts.DoubleTensor, ts.LongTensor, ts.ones(1).new, ts.ones(1).half().new]
)
def test_constructors_with_sizes_return_zeros(constructor):
    """Modules that do not initialize their parameters give the same results in each run."""
    for _ in range(20):
        garbage = [ts.full((size,), 7.5, dtype=constructor(0).dtype) for size in (3, 40, 500)]
        del garbage
        assert not any(constructor(size).any() for size in (3, 40, 500))
    assert constructor(2, 3).shape == (2, 3)
