"""Indexing by tensors and masks, for all layouts, equals NumPy's."""

import numpy as np
import pytest

import ts

random = np.random.default_rng(0)
DTYPES = [ts.float32, ts.float64, ts.int64, ts.uint8, ts.bool, ts.float16]
LAYOUTS = {
    "contiguous": lambda x: x.contiguous(),
    "transposed": lambda x: x.transpose(0, 1).contiguous().transpose(0, 1),
    "columns with gaps": lambda x: ts.stack([x, x], -1)[..., 0],
    "every second row": lambda x: ts.stack([x, x], 1).flatten(0, 1)[::2],
}
ROWS = np.array([3, -1, 0, 3])
SUBSCRIPTS = {  # the tensor has shape (5, 4, 3)
    "rows": (ROWS,),
    "rows by a matrix": (ROWS.reshape(2, 2),),
    "one row": (np.array(2),),
    "strided rows": (np.arange(10)[::3] % 5,),
    "columns": (slice(None), np.array([1, -1, 2])),
    "last dimension": (slice(None), slice(None), np.array([2, 0])),
    "pairs": (ROWS, np.array([0, 1, -2, 3])),
    "outer pairs": (ROWS[:, None], np.array([0, 3])),
    "elements": (ROWS, np.array([0, 1, -2, 3]), np.array([0, 1, 2, -3])),
    "columns and elements": (slice(None), np.array([0, 3]), np.array([2, 1])),
    "rows and a slice": (ROWS, slice(1, 3)),
    "a slice and columns": (slice(1, 4, 2), np.array([0, 3])),
    "row mask": (np.array([True, False, True, True, False]),),
    "mask of two dimensions": (random.random((5, 4)) < 0.4,),
    "mask": (random.random((5, 4, 3)) < 0.4,),
    "mask and an integer": (np.array([True, False, True, True, False]), slice(None), 1),
    "empty mask": (np.zeros(5, bool),),
    "no rows": (np.zeros(0, np.int64),),
}


def tensors_of(subscript):
    items = tuple(ts.from_numpy(np.asarray(item).copy()) if isinstance(item, np.ndarray) else item for item in subscript)
    return items[0] if len(items) == 1 else items


def numbers(shape, dtype):
    return ts.tensor(random.integers(0, 2 if dtype is ts.bool else 100, shape)).to(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", SUBSCRIPTS)
def test_selected_elements(name, layout, dtype):
    x = numbers((5, 4, 3), dtype)
    result = LAYOUTS[layout](x)[tensors_of(SUBSCRIPTS[name])]
    assert result.dtype is dtype and np.array_equal(result.numpy(), x.numpy()[SUBSCRIPTS[name]])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", SUBSCRIPTS)
def test_assigned_elements(name, layout, dtype):
    """Numbers, tensors and tensors that broadcast are written only to the selected elements."""
    x = numbers((5, 4, 3), dtype)
    shape = x.numpy()[SUBSCRIPTS[name]].shape
    values = [1, *(numbers(s, dtype) for s in (shape, shape[1:], (), (1,)))]
    if "rows" in name or "mask" not in name:  # NumPy's value for repeated indices is the last one
        values += [numbers((1, *shape[1:]), dtype)] if shape else []
    for value in values:
        expected, written = x.numpy().copy(), LAYOUTS[layout](x.clone())
        expected[SUBSCRIPTS[name]] = value.numpy() if isinstance(value, ts.Tensor) else value
        written[tensors_of(SUBSCRIPTS[name])] = value
        assert np.array_equal(written.numpy(), expected)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", [name for name in SUBSCRIPTS if "slice" not in name and "integer" not in name])
def test_accumulated_elements(name, layout):
    x = numbers((5, 4, 3), ts.int64)
    if any(isinstance(item, slice) for item in SUBSCRIPTS[name]):
        return
    values = numbers(x.numpy()[SUBSCRIPTS[name]].shape, ts.int64)
    expected, written = x.numpy().copy(), LAYOUTS[layout](x.clone())
    np.add.at(expected, SUBSCRIPTS[name], values.numpy())
    items = tensors_of(SUBSCRIPTS[name])
    written.index_put_(items if isinstance(items, tuple) else (items,), values, accumulate=True)
    assert np.array_equal(written.numpy(), expected)


def test_elements_around_strided_targets_stay_the_same():
    base = ts.zeros(4, 6)
    base[:, ::2][ts.tensor([1, 3]), ts.tensor([0, 2])] = ts.tensor([5.0, 7.0])
    assert base.nonzero().tolist() == [[1, 0], [3, 4]] and base.sum().item() == 12


def test_strides_of_results():
    x = ts.zeros(6, 5, 4)
    index = ts.tensor([[0, 1, 2], [3, 4, 0]])
    assert x[index].stride() == (60, 20, 4, 1)
    assert x.transpose(1, 2)[index].stride() == (60, 20, 1, 4)
    assert x[index.t().contiguous().t()].stride() == (20, 40, 4, 1)
    assert x.transpose(0, 2)[ts.tensor([1, 2]), ts.tensor([0, 1])].stride() == (6, 1)


@pytest.mark.parametrize(
    "index, message",
    [
        (ts.tensor([0, 5]), "index 5 is out of bounds for dimension 0 with size 5"),
        ((slice(None), ts.tensor([-5])), "index -5 is out of bounds for dimension [01] with size 4"),
        ((ts.tensor([0, 1]), ts.tensor([0, 1, 2])), "shape mismatch"),
        (ts.tensor([True, False]), "The shape of the mask"),
        ((ts.tensor([0]),) * 4, "too many indices"),
    ],
)
def test_invalid_indices_leave_the_tensor_unchanged(index, message):
    for x in (ts.zeros(5, 4, 3), ts.zeros(3, 4, 5).transpose(0, 2)):
        with pytest.raises(IndexError, match=message):
            x[index]
        for value in (1.0, ts.tensor(1.0), ts.ones(3)):
            with pytest.raises(IndexError, match=message):
                x[index] = value
        assert not x.any()


def test_memory_overlap():
    x = ts.arange(5.0)
    with pytest.raises(RuntimeError, match="single memory location"):
        x[ts.tensor([4, 3, 2, 1])] = x[:4]
    x[x > 2] = x[1]
    assert x.tolist() == [0, 1, 2, 1, 1]
    expanded = ts.zeros(1).expand(5)
    expanded[ts.tensor([1])] = ts.ones(1)
    assert expanded.tolist() == [1] * 5


def test_shapes_of_assigned_tensors():
    x = ts.zeros(3, 2)
    x[ts.tensor([0, 2])] = ts.ones(1, 1, 2, 2)  # leading dimensions of size 1 are removed
    assert x.tolist() == [[1, 1], [0, 0], [1, 1]]
    for shape in [(3,), (3, 2), (2, 2, 2)]:
        with pytest.raises(RuntimeError, match="shape mismatch"):
            x[ts.tensor([0, 2])] = ts.ones(shape)
    with pytest.raises(RuntimeError, match="dtypes match"):
        x[ts.tensor([0, 2])] = ts.ones(2, dtype=ts.int64)
