"""Memory safety of C kernels: maximum number of dimensions, and tensors rebound by other threads."""

import subprocess
import sys

import pytest

import ts

# Large arrays, whose memory is returned to the system when they are freed: a later read crashes.
REBINDING = """
import sys, threading
import numpy as np
import ts

ROWS, COLUMNS = 5000, 1000

def fresh():
    return ts.from_numpy(np.zeros((ROWS, COLUMNS)))  # pages that are not touched yet cost nothing

def large(*shape, dtype=ts.float64):
    return ts.zeros(*shape, dtype=dtype)

mask, index = large(ROWS, COLUMNS) > 1, ts.arange(ROWS)
columns = large(ROWS, COLUMNS, dtype=ts.int64)
copied = large(ROWS, COLUMNS)
factor, bias, filters = large(COLUMNS, 4), large(4), large(2, 1, 3, 3)
picture = lambda x: x.view(1, 1, ROWS, COLUMNS)
OPERATORS = {
    "sum": lambda x: x.sum(), "sum of columns": lambda x: x.sum(0), "std": lambda x: x.std(),
    "any": lambda x: x.any(), "count_nonzero": lambda x: x.count_nonzero(), "amax": lambda x: x.amax(1),
    "argmax": lambda x: x.argmax(1), "max": lambda x: x.max(0), "cumsum": lambda x: x.cumsum(1),
    "softmax": lambda x: x.softmax(1), "logsumexp": lambda x: x.logsumexp(0),
    "layer_norm": lambda x: ts.nn.functional.layer_norm(x, [COLUMNS]),
    "batch_norm": lambda x: ts.nn.functional.batch_norm(x, large(COLUMNS), large(COLUMNS)),
    "exp": lambda x: x.exp(), "add": lambda x: x + x, "add a row": lambda x: x + x[0], "add_": lambda x: x.add_(1),
    "relu": lambda x: x.relu(), "compare": lambda x: x > 0, "silu": lambda x: ts.nn.functional.silu(x),
    "clamp": lambda x: x.clamp(0, 1), "square": lambda x: x ** 2, "lerp": lambda x: x.lerp(x, 0.5),
    "cat": lambda x: ts.cat([x, x]), "stack": lambda x: ts.stack([x, x], 1), "index_select": lambda x: x.index_select(0, index),
    "gather": lambda x: x.gather(1, columns), "where": lambda x: ts.where(mask, x, 1.0), "masked_select": lambda x: x[mask],
    "masked_fill": lambda x: x.masked_fill(mask, 1.0), "clone": lambda x: x.clone(), "fill_": lambda x: x.fill_(2),
    "to": lambda x: x.to(ts.float32), "copy_": lambda x: copied.copy_(x), "matmul": lambda x: x @ factor,
    "linear": lambda x: ts.nn.functional.linear(x, factor.t(), bias), "bmm": lambda x: ts.bmm(x.view(1, ROWS, COLUMNS), factor[None]),
    "conv2d": lambda x: ts.conv2d(picture(x), filters), "max_pool2d": lambda x: ts.max_pool2d(picture(x), 2),
}

sys.setswitchinterval(1e-5)
wanted = sys.argv[1:] or OPERATORS
for name in wanted:
    print(name, flush=True)
    x, over = fresh(), threading.Event()

    def bind():
        turn = 0
        while not over.wait(0.0005):
            if turn % 2:
                x.data = fresh()
            else:
                x.set_(fresh())
            turn += 1

    other = threading.Thread(target=bind)
    other.start()
    try:
        for _ in range(4):
            OPERATORS[name](x)
    finally:
        over.set()
        other.join()
print("done")
"""


def test_kernels_hold_references_to_operands():
    """Kernels keep the memory of operands alive while another thread runs `x.data = y` and `x.set_(y)`."""
    ended = subprocess.run([sys.executable, "-c", REBINDING], capture_output=True, text=True, timeout=600)
    assert (ended.returncode, ended.stdout.splitlines()[-1]) == (0, "done"), ended.stdout[-100:] + ended.stderr[-2000:]


MAX_DIMS = 64  # maximum number of dimensions of NumPy


@pytest.mark.parametrize("n", [32, 33, 63, 64])
def test_maximum_number_of_dimensions(n):
    x = ts.ones([1] * (n - 1) + [2])
    assert x.add_(ts.ones([1] * (n - 1) + [2])).reshape(-1).tolist() == [2.0, 2.0]
    assert x.mul_(ts.tensor([2.0, 3.0])).reshape(-1).tolist() == [4.0, 6.0]
    assert (x + ts.ones([2] + [1] * (n - 1))).shape == (2, *[1] * (n - 2), 2)
    assert (x.transpose(0, n - 1) - x).reshape(-1).tolist() == [0.0, -2.0, 2.0, 0.0]
    assert x.sum(n - 1).dim() == n - 1 and x.sum([0], True).dim() == n
    assert x.max(0).values.reshape(-1).tolist() == [4.0, 6.0]
    assert x.logsumexp(n - 1).dim() == n - 1
    assert x.logsumexp(0, True).reshape(-1).tolist() == [4.0, 6.0]
    assert x.softmax(0).reshape(-1).tolist() == [1.0, 1.0]
    assert x.cumsum(n - 1).reshape(-1).tolist() == [4.0, 10.0]
    assert ts.cat([x, x]).shape == (2, *[1] * (n - 2), 2)
    assert x.index_select(n - 1, ts.tensor([1, 0])).reshape(-1).tolist() == [6.0, 4.0]
    assert x.gather(n - 1, ts.ones([1] * n, dtype=ts.int64)).item() == 6.0
    assert ts.where(x > 4, x, 0.0).reshape(-1).tolist() == [0.0, 6.0]
    assert x.squeeze().tolist() == [4.0, 6.0] and x[..., 0].dim() == n - 1


@pytest.mark.parametrize("join", [lambda x: ts.stack([x, x]), lambda x: x.unsqueeze(0), lambda x: x[None], lambda x: x[ts.zeros(1, 1, dtype=ts.int64)]])
def test_too_many_dimensions(join):
    """Operators that would exceed the maximum of 64 dimensions raise an error without out-of-bounds
    writes."""
    x = ts.ones([1] * MAX_DIMS)
    with pytest.raises((RuntimeError, ValueError, IndexError)):
        join(x)
