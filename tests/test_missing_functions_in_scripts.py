"""Unsupported PyTorch functions in scripts compile, as in PyTorch, and raise an error when they run."""

import io

import pytest

import ts


@ts.jit.script
def choose(x: ts.Tensor, blocks: bool):
    if blocks:
        return ts.sparse_bsr_tensor(x, x, x, size=(1, 1))
    return x + 1


@ts.jit.script
def reduce(x: ts.Tensor, missing: bool) -> ts.Tensor:
    if missing:
        x = ts.segment_reduce(x, "sum", lengths=x)
    return x * 2


@pytest.mark.parametrize(("function", "text"), [(choose, "sparse_bsr_tensor: tensors of layout"), (reduce, "segment_reduce is not implemented")])
def test_calls_raise_where_they_run(function, text):
    x = ts.ones(2)
    assert function(x, False).tolist() == [2.0, 2.0]
    with pytest.raises(RuntimeError, match=text):
        function(x, True)
    file = io.BytesIO()
    ts.jit.save(function, file)
    file.seek(0)
    assert ts.jit.load(file)(x, False).tolist() == [2.0, 2.0]
