"""Metadata and names of exported nodes, as graph passes written for PyTorch read them."""

import ts
from ts.export import Dim, export
from ts.fx.experimental.symbolic_shapes import CallMethodKey
from ts.utils._pytree import SequenceKey


def nodes_of(function, *args, dynamic_shapes=None):
    """Export a function; return its call nodes by name."""

    class Net(ts.nn.Module):
        def forward(self, *args):
            return function(*args)

    shapes = None if dynamic_shapes is None else (dynamic_shapes,)
    program = export(Net(), args, dynamic_shapes=shapes)
    return {n.name: n for n in program.graph.nodes if n.op == "call_function"}


def test_size_nodes_are_numbered_after_the_sizes_that_the_program_reads():
    """Nodes of input sizes are numbered from the count of sizes that the program reads, as in PyTorch."""
    x, y = ts.ones(4, 5), ts.ones(6, 7)
    one = nodes_of(lambda x: x.view(-1, x.shape[0]), x, dynamic_shapes=({0: Dim.DYNAMIC},))
    assert list(one) == ["sym_size_int_1", "view"]
    last = nodes_of(
        lambda x, y: ts.zeros(y.shape[1]), x, y,
        dynamic_shapes=({1: Dim.DYNAMIC}, {0: Dim.DYNAMIC, 1: Dim.DYNAMIC}),
    )  # fmt: skip
    assert list(last) == ["sym_size_int_3", "zeros"]
    assert "sym_size_int" in nodes_of(lambda x: x.nonzero() + 1, x)


def test_conversions_assert_metadata_under_pytorch_name():
    """Names of `_assert_tensor_metadata` nodes contain the overload name."""
    assert list(nodes_of(lambda x: x.to(ts.float64), ts.ones(2))) == ["_assert_tensor_metadata_default", "to"]


def test_functions_are_counted():
    """`torch_fn` contains the outermost function called by the program, with its number of calls."""
    nodes = nodes_of(lambda x: ts.nn.functional.relu(ts.nn.functional.relu(x) + 1), ts.ones(2))
    assert [n.meta["torch_fn"] for n in nodes.values()] == [
        ("relu_1", "function.relu"),
        ("add_1", "method_descriptor.add"),
        ("relu_2", "function.relu"),
    ]


def test_tensor_metadata():
    """Nodes and placeholders with a tensor have `tensor_meta`; nodes with several results have none."""
    nodes = nodes_of(lambda x: x.max(1)[0].view(-1), ts.ones(3, 2))
    assert "tensor_meta" not in nodes["max_1"].meta
    meta = nodes["view"].meta["tensor_meta"]
    assert (list(meta.shape), meta.dtype, meta.stride) == ([3], ts.float32, (1,))
    assert meta.memory_format is ts.contiguous_format


def test_unbacked_bindings():
    """`unbacked_bindings` is set on the node that first returns a data-dependent symbol, with the symbol's
    path."""

    def function(x, n):
        return x.nonzero() + 1, x.sum() * n.item()

    nodes = nodes_of(function, ts.ones(3), ts.tensor(2))
    paths = [n.meta["unbacked_bindings"] for n in nodes.values() if "unbacked_bindings" in n.meta]
    assert [list(p.values()) for p in paths] == [[(CallMethodKey("size"), SequenceKey(0))], [()]]


def test_operator_names_during_function_counting():
    """`a & b` is exported as `aten.__and__`, not as the name of a counted function."""
    nodes = nodes_of(lambda x: x & x, ts.ones(2, dtype=ts.int64))
    assert [str(n.target) for n in nodes.values()] == ["aten.__and__.Tensor"]


def test_stack_traces_have_pytorch_form():
    """A stack trace begins with `File`, without indentation, and does not end with a line break."""
    trace = nodes_of(lambda x: x + 1, ts.ones(2))["add"].stack_trace
    assert trace.startswith("File ") and not trace.endswith("\n")
