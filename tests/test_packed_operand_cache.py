"""Products and convolutions use the elements that a weight has now, also after its packed form was cached."""

import pytest

import ts
import ts.nn.functional as F
from ts.backends.cpu.kernels import microkernels, packed_operand_cache

NEEDS_PACKING = pytest.mark.skipif(
    microkernels.instruction_set() == "128 bit", reason="products of vectors of 128 bits pack no operands"
)


def zeros_of(w):
    return ts.zeros(w.numel())


def set_memory(w):
    alias = ts.empty(0)
    alias.set_(w)
    alias.add_(1)
    return alias


def set_memory_twice(w):
    alias = ts.empty(0)
    alias.set_(w)
    second = ts.empty(0)
    second.set_(alias)
    del alias
    second.mul_(3)


def assign_data(w):
    alias = ts.empty_like(w)
    alias.data = w
    alias.add_(1)


def assign_data_of_parameter(w):
    parameter = ts.nn.Parameter(ts.empty(0))
    parameter.data = w
    ts.nn.init.ones_(parameter)
    return parameter


def batch(w):
    return ts.randn(4, w.numel())


WRITES = {
    "set_": set_memory,
    "set_ of set_": set_memory_twice,
    "data": assign_data,
    "data of a parameter": assign_data_of_parameter,
    "running mean": lambda w: F.batch_norm(batch(w), w.view(-1), ts.ones(w.numel()), training=True),
    "running variance": lambda w: F.batch_norm(batch(w), zeros_of(w), w.view(-1), training=True, momentum=1),
    "instance norm": lambda w: F.instance_norm(ts.randn(2, w.numel(), 3), w.view(-1), ts.ones(w.numel()), use_input_stats=True),
    "native batch norm": lambda w: ts.native_batch_norm(batch(w), None, None, w.view(-1), zeros_of(w), True, 0.1, 1e-5),
    "legit batch norm": lambda w: ts.ops.aten._native_batch_norm_legit(batch(w), None, None, w.view(-1), zeros_of(w), True, 0.1, 1e-5),
    "batch norm with update": lambda w: ts.ops.aten._batch_norm_with_update(batch(w), None, None, w.view(-1), zeros_of(w), 0.1, 1e-5),
    "update of statistics": lambda w: ts.batch_norm_update_stats(batch(w), w.view(-1), zeros_of(w), 0.5),
    "noise": lambda w: ts.ops.aten.rrelu_with_noise(ts.randn(w.shape), w, 0.1, 0.3, True),
}


@NEEDS_PACKING
@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("shape", [(64, 64), (64, 64, 3, 3), (64, 64, 1, 1)], ids=("linear", "conv 3x3", "conv 1x1"))
@pytest.mark.parametrize("make", [lambda w: w, ts.nn.Parameter], ids=("tensor", "parameter"))
def test_writes_without_a_version_counter_are_seen(make, shape, write):
    """Writes by another tensor with the same memory, and to running statistics, drop the packed weight."""
    weight = make(ts.randn(shape))
    x = ts.ones(8, 64) if len(shape) == 2 else ts.ones(1, 64, 6, 6)
    run = F.linear if len(shape) == 2 else F.conv2d
    packed_operand_cache.clear()
    with ts.no_grad():
        for _ in range(4):
            run(x, weight)
        assert packed_operand_cache.cache_size()[0] == 1
        alias = WRITES[write](weight)
        for _ in range(3):
            assert ts.allclose(run(x, weight), run(x, weight.clone()), atol=1e-4)
    del alias
