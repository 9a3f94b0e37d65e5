"""Construction, indexing and errors compared with PyTorch by Python expressions."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import ts  # noqa: E402
from ts import devices, dtypes  # noqa: E402
from ts._core.tensor import factories  # noqa: E402
from ts._core.tensor.tensor import Tensor  # noqa: E402


class Ts:
    """Names of `torch` that the expressions use."""

    tensor = staticmethod(factories.tensor)
    as_tensor = staticmethod(factories.as_tensor)
    from_numpy = staticmethod(factories.from_numpy)
    Tensor = Tensor
    device = devices.device
    float32, float64, int32, int64, uint8, bool, bfloat16, complex64 = (
        dtypes.by_name(n)
        for n in ("float32", "float64", "int32", "int64", "uint8", "bool", "bfloat16", "complex64")
    )


EXPRESSIONS = """
t.tensor([[1, 2], [3]])
t.tensor([1, 2.5]), t.tensor([True, 2]), t.tensor([]), t.tensor([[], []]), t.tensor(1j), t.tensor([1, 2j])
t.tensor("a")
t.tensor(["a"])
t.tensor([None])
t.tensor({1: 2})
t.tensor({1})
t.tensor(2**63)
t.tensor(300, dtype=t.uint8)
t.tensor(-1, dtype=t.uint8)
t.tensor([1.5, float("nan")], dtype=t.int32)
t.tensor([1j], dtype=t.float32)
t.tensor(1.5, dtype=t.bool)
t.tensor([[1], 2])
t.tensor(np.float32(2)), t.tensor([np.float64(1), 2]), t.tensor([np.array([1, 2]), np.array([3, 4])])
t.tensor([t.tensor(1), t.tensor(2.5)])
t.as_tensor([1, 2], dtype=t.float64)
t.tensor([1.0, 2.0]).to(t.int32), t.tensor([1, 2]).to(t.bfloat16)
bool(t.tensor([1, 2]))
bool(t.tensor([]))
t.tensor([1, 2]).item()
int(t.tensor(1.5)), float(t.tensor(True)), complex(t.tensor(2)), int(t.tensor([[3]]))
int(t.tensor(float("nan")))
len(t.tensor(1))
list(t.tensor(1))
[1, 2, 3][t.tensor(1)]
[1, 2, 3][t.tensor(1.0)]
x[1, 2], x[0], x[-1], x[...], x[None].shape, x[:, 1], x[1:, ::2], x[True].shape, x[False].shape, x[()]
x[[0, 1]], x[:, [0, 2]], x[[0, 2], [1, 3]], x[t.tensor(1)], x[t.tensor([0, 1]), 2], x[x > 5], x[[True, False, True]]
x[5]
x[-4]
x[1, 2, 3]
x[1.5]
x["a"]
x[::-1]
x[0:3:0]
x[t.tensor([5])]
x[t.tensor([True, False])]
x[t.tensor([0, 1]), t.tensor([0, 1, 2])]
x[t.tensor([0.5])]
x[0][0][0]
x.__setitem__(0, 1.7), x
x.__setitem__(slice(None), t.tensor([1, 2, 3, 4])), x
x.__setitem__((slice(None), [0, 2]), t.tensor([[1], [2], [3]])), x
x.__setitem__(x > 3, -1), x
x.__setitem__(0, t.tensor([1, 2]))
x.__setitem__(0, "a")
x.stride(), x.T.stride(), x[:, 1].storage_offset(), x.is_contiguous(), x.T.is_contiguous(), x.type(), x.size(), x.size(-1)
x.size(2)
x.requires_grad_()
t.device("cpu"), t.device("cuda:1"), t.device("cuda", 0), str(t.device("meta"))
t.device("foo")
t.device("cuda:-1")
x.to("meta").numpy()
x.to("meta").cpu()
x.to("meta")
x == None, x != "a"
x < "a"
x + "a"
x @ 1
2**x, x**2, 7 // x[x > 0], x % 5, -x, abs(x - 5), x & 3, x | 1, x ^ 2, ~x, x << 1, x >> 1, 3 - x
x / 2, 1 / x, x // 2, x + 1.5, x * True, x > 2, 2 <= x
t.tensor([t.tensor([1.0])]), t.tensor([t.tensor([1]), t.tensor([2.5])]), t.tensor([[1, 2], t.tensor([3, 4])])
t.tensor([t.tensor([1.0, 2.0])])
t.from_numpy(np.arange(3, dtype=">i4"))
x.where(x > 3, 0), x.where(condition=x > 5, other=-x), x.float().add(1).polygamma(1)
x.chunk(2), x.split(2), x.split([1, 2]), x.unbind(), x.tensor_split(2), x.nonzero(as_tuple=True), x.unique(), (x % 3).unique(return_counts=True)
x[[[0, 1], [1, 0]]], x[[slice(1), 2]], x[[None, 1]].shape, x[[0, 2]], x[[x[0] > 0, x[0] > 1][1]].shape
x - True
True - x
x.sub_(True)
(x > 3) - x
x - (x > 3)
(x > 3) - (x > 2)
x.sub(t.tensor(True))
x.bool().pow(x.bool())
x.float()[:, :1].expand(3, 4).add_(1)
x.float()[:, :1].expand(3, 4).exp_()
x[:, :1].expand(3, 1).add_(1)
x.new_tensor([1.5, 2.5]), x.float().new_tensor([1, 2]), x.new_tensor(1, dtype=t.float64)
list(reversed(x)), reversed(x)
x.repeat_interleave(t.tensor([1, 2, 3])), x[:0].float().quantile(0.5)
x.float().quantile(0.5, 0), x[:0].float().quantile(0.5, 1)
x[:0].mode(0)
x[0].float().orgqr(x[0].float())
x.to(t.complex64).random_()
x.float().mvlgamma(0)
""".strip().split("\n")


def outcome(text, t, x):
    """Return the printed value, or the error's class and first line."""
    try:
        return repr(eval(text, {"t": t, "x": x, "np": np}))
    except Exception as error:
        first_line = (
            str(error).splitlines()[0].replace("ts.Tensor", "Tensor")
        )  # PyTorch omits the module of the class
        return f"{type(error).__name__}: {first_line}"


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("text", EXPRESSIONS)
def test_same_outcome(text):
    """An expression has PyTorch's value or error."""
    array = np.arange(12).reshape(3, 4)
    assert outcome(text, Ts, factories.tensor(array)) == outcome(text, torch, torch.tensor(array))


@pytest.mark.parametrize(
    "text",
    [
        "x.flatten()[3:].as_strided([2], [1])",
        "x.flatten()[3:].as_strided([2], [1], 0)",
        "x[1:].as_strided([2, 2], [4, 1], 1)",
        "x.t().as_strided([3, 2], [1, 2])",
        "x[:, 1].as_strided([2], [4])",
        "x[1:].as_strided([2], [1], 11)",
    ],
)
def test_as_strided_counts_from_the_storage(text):
    """The offset of `as_strided` is relative to the storage and defaults to the view's offset."""
    array = np.arange(12).reshape(3, 4)
    assert outcome(text, Ts, factories.tensor(array)) == outcome(text, torch, torch.tensor(array))


@pytest.mark.parametrize(
    "text",
    [
        "t.nn.functional.channel_shuffle(x, 0)",
        "t.nn.functional.channel_shuffle(x.reshape(1, 4, 3), 3)",
        "t.nn.functional.channel_shuffle(x.reshape(1, 4, 3), 0)",
        "t.nn.functional.channel_shuffle(x.reshape(1, 4, 3), 2)",
        "t.nn.functional.pixel_unshuffle(x, 2)",
        "t.nn.functional.pixel_unshuffle(x.reshape(1, 3, 4), 2)",
        "t.combinations(x[0], -1)",
        "t.repeat_interleave(x)",
        "t.searchsorted(x, 1)",
        "t.nn.functional.absent",
    ],
)
def test_signatures_in_errors(text):
    array = np.arange(12).reshape(3, 4)
    assert outcome(text, ts, factories.tensor(array)) == outcome(text, torch, torch.tensor(array)).replace(
        "torch.nn", "ts.nn"
    )
