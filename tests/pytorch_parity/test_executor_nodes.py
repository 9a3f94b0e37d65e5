"""Type check nodes of graph text return PyTorch's results, for tensors with and without gradients."""

import pytest

torch = pytest.importorskip("torch")

import ts  # noqa: E402
from ts.ir.graph_parser import parse_ir  # noqa: E402

TYPES = [
    "Float(2, 3, strides=[3, 1], requires_grad=0, device=cpu)",
    "Double(3, strides=[1], requires_grad=0, device=cpu)",
    "Float(2, 3, strides=[3, 1], requires_grad=1, device=cpu)",
    "Float(2, 1, strides=[1, 1], requires_grad=0, device=cpu)",
    "Float(1, 3, strides=[3, 1], requires_grad=0, device=cpu)",
    "Float(3, 2, strides=[1, 3], requires_grad=0, device=cpu)",
    "Float(requires_grad=0, device=cpu)",
]


def tensors(library):
    yield library.ones(2, 3)
    yield library.ones(2, 3, requires_grad=True)
    yield library.ones(3, dtype=library.float64)
    yield library.ones(2, 3)[:, :1]
    yield library.ones(2, 1)
    yield library.ones(3, 1).t()
    yield library.ones(2, 3).t()
    yield library.ones(())
    yield library.ones(3, 2)


@pytest.mark.parametrize("kind", ["TypeCheck", "RequiresGradCheck"])
@pytest.mark.parametrize("type", TYPES)
def test_checks(kind, type):
    """The check returns PyTorch's bool."""
    text = (
        f"graph(%x : Tensor):\n  %a : Tensor, %ok : bool = prim::{kind}[types=[{type}]](%x)\n  return (%ok)\n"
    )
    theirs = torch._C._create_function_from_graph("f", torch._C.parse_ir(text))
    ours = ts.jit.create_function_from_graph("f", parse_ir(text))
    for grad in (True, False):
        with torch.set_grad_enabled(grad), ts.set_grad_enabled(grad):
            assert [*map(ours, tensors(ts))] == [*map(theirs, tensors(torch))]
