"""Operators that PyTorch calls unsafe validate their memory accesses for any arguments.

Each family of calls runs in a process of its own, so that an access outside of memory fails the test and not the run.
"""

import subprocess
import sys

import pytest

import ts

RANDOM_CALLS = """
import random, sys, warnings
import ts
warnings.filterwarnings("ignore")
rng = random.Random(int(sys.argv[1]))
DTYPES = [ts.int64, ts.float32, ts.complex64, ts.int32, ts.float64, ts.bool, ts.float16]

def shape():
    n = rng.choice([0, 1, 2, 3, 5, 8])
    return [rng.choice([0, 1, 1, 2, 3, 7] if n < 6 else [1, 1, 2, 2, 3]) for _ in range(n)]

def tensor(size=None, among=DTYPES):
    size = shape() if size is None else size
    x = ts.randint(-5, 6, size).to(rng.choice(among))
    if rng.random() < 0.3 and x.dim():
        x = x[(slice(0, 1),) * x.dim()].expand(size) if 0 not in size else x
    return x.transpose(0, -1) if rng.random() < 0.2 and x.dim() > 1 else x

def indices(x):
    return [None if rng.random() < 0.4 else tensor(rng.choice([[], None, [3], [1], [2, 1]]), [ts.int64, ts.int32])
            for _ in range(rng.randint(0, min(4, x.dim() + 1)))]

aten = ts.ops.aten
for _ in range(3000):
    x = tensor()
    mask = tensor(rng.choice([None, list(x.shape), [1]]), [ts.bool, ts.bool, ts.int64])
    values = tensor(rng.choice([None, list(x.shape), [], [1]]), [x.dtype] * 3 + DTYPES)
    i = indices(x)
    try:
        {
            "masked_put": lambda: aten._unsafe_masked_index_put_accumulate(x, mask, i, values),
            "masked": lambda: aten._unsafe_masked_index(x, mask, i, 2),
            "put": lambda: aten._unsafe_index_put(x, i, values, True),
            "impl": lambda: aten._index_put_impl_(x.clone(), i, values, True, True),
            "index": lambda: aten._unsafe_index(x, i),
            "index_put": lambda: x.clone().index_put_(i, values, accumulate=True),
            "index_add": lambda: x.index_add(rng.randint(-2, 2), tensor(None, [ts.int64]), values),
        }[sys.argv[2]]()
    except (RuntimeError, TypeError, ValueError, IndexError):
        pass
print("alive")
"""


@pytest.mark.parametrize("family", ["masked_put", "masked", "put", "impl", "index", "index_put", "index_add"])
def test_random_arguments_never_end_the_process(family):
    command = [sys.executable, "-X", "faulthandler", "-c", RANDOM_CALLS, "1", family]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.stdout == "alive\n", done.stderr[-2000:]


def test_accumulated_values_have_no_more_dimensions_than_the_indexed_result():
    """Accumulated values with more dimensions than the indexed result are rejected, as in PyTorch; NumPy's
    `add.at` would access memory out of bounds."""
    x, zero = ts.zeros([2] * 8), ts.tensor(0)
    with pytest.raises(RuntimeError, match="shape mismatch: value tensor of shape"):
        x.index_put_([None, zero, zero], ts.ones([2] * 8), accumulate=True)
    with pytest.raises(RuntimeError, match=r"value tensor of shape \[1, 2\] cannot be broadcast to indexing result of shape \[2\]"):
        ts.zeros(5).index_put_([ts.tensor([1, 2])], ts.ones(1, 2), accumulate=True)
    assert ts.zeros(5).index_put_([ts.tensor([1, 1])], ts.ones(1), accumulate=True).tolist() == [0, 2, 0, 0, 0]


def test_memory_of_accumulated_values_is_limited():
    x, mask = ts.ones(2, 65536, dtype=ts.complex64), ts.ones(2, 65536, dtype=ts.bool)
    values = ts.ones(1, dtype=ts.complex64).expand(64, 65536, 2, 65536)
    with pytest.raises(ts.errors.MemoryExceeded), ts.limits(bytes=200 << 20):
        ts.ops.aten._unsafe_masked_index_put_accumulate(x, mask, [None, ts.tensor(3)], values)


@pytest.mark.parametrize(
    "self_shape, source_shape, index, dim, error, message",
    [
        ([3, 2], [2, 1], [0, 2], 0, RuntimeError, "source tensor shape must match self tensor shape, excluding"),
        ([3, 2], [2, 3], [0, 2], 0, RuntimeError, "source tensor shape must match self tensor shape, excluding"),
        ([3, 2], [2], [0, 1], 1, RuntimeError, "Indexing dim 1 is out of bounds of the source tensor with dim 1"),
        ([3, 2], [], [0, 2], 0, IndexError, "Dimension specified as 0 but tensor has no dimensions"),
        ([], [1], [0], 0, RuntimeError, "source tensor shape must match self tensor shape, excluding"),
        ([3], [3], [0, 1], 0, RuntimeError, r"Number of indices \(2\) should be equal to source.size\(dim\): \(3\)"),
    ],
)
def test_index_add_checks_its_source(self_shape, source_shape, index, dim, error, message):
    """`index_add` raises PyTorch's errors (compared for 600 shapes)."""
    with pytest.raises(error, match=message):
        ts.zeros(self_shape).index_add(dim, ts.tensor(index), ts.ones(source_shape))


def test_fused_steps_check_dtypes_and_counts():
    def step(param, state, grads=None):
        options = {"beta1": 0.9, "beta2": 0.99, "amsgrad": False, "lr": 0.1, "weight_decay": 0.0, "eps": 1e-8, "maximize": False}
        given = [ts.ones(3, dtype=param)] if grads is None else grads
        states = [[ts.ones(3, dtype=state)] for _ in range(2)]
        ts.ops.aten._fused_adamw_([ts.ones(3, dtype=param)], given, *states, [], [ts.ones(1)], **options)

    with pytest.raises(NotImplementedError, match="\"fused_adam_kernel\" not implemented for 'Int'"):
        step(ts.int32, ts.float32)
    with pytest.raises(RuntimeError, match="expected scalar type Float but found Int"):
        step(ts.float32, ts.int32)
    with pytest.raises(RuntimeError, match=r"Expected grads.size\(\) == n_tensors to be true"):
        step(ts.float32, ts.float32, [])
    step(ts.float32, ts.float32)


def test_statistics_of_integers_are_rejected():
    integers = ts.ones(2, 3, dtype=ts.uint8)
    with pytest.raises(NotImplementedError, match="not implemented for 'Byte'"):
        ts.ops.aten.batch_norm_gather_stats(integers, integers, integers, None, None, 0.1, 1e-5, 4)


@pytest.mark.parametrize("sizes", [[2, 2], [3, -1], [5]])
def test_packed_recurrent_layers_check_their_sizes(sizes):
    weights = [ts.ones(12, 4), ts.ones(12, 4), ts.ones(12), ts.ones(12)]
    with pytest.raises(RuntimeError):
        ts.ops.aten.gru.data(ts.ones(3, 4), ts.tensor(sizes), ts.zeros(1, 2, 4), weights, True, 1, 0.0, False, False)
