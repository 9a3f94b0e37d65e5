"""Rules of PyTorch's export programming model (2.13), by section of its document."""

import collections
import re
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest

import ts
from ts.export import Dim, export


def targets(program):
    """Return the operators of a program."""
    return [str(node.target) for node in program.graph.nodes if node.op == "call_function"]


def module(function):
    """Return a module with this function as `forward`."""

    class Of(ts.nn.Module):
        def forward(self, *args, **kwargs):
            return function(*args, **kwargs)

    return Of()


# ---------------------------------------------------------------- basics of tracing


def test_runs_on_other_inputs_of_the_same_conditions():
    program = export(module(lambda x: x.sin() if x.shape[0] > 2 else x.cos()), (ts.ones(4),), dynamic_shapes={"args": ({0: Dim.AUTO},)})
    assert targets(program) == ["aten.sin.default"]
    x = ts.rand(7)
    assert ts.equal(program.module()(x), x.sin())
    with pytest.raises(AssertionError, match="Guard failed"):
        program.module()(ts.rand(2))


def test_python_code_runs_during_export():
    seen = []

    def forward(x):
        seen.append(type(x).__name__)
        seen.append([f"{i}" for i in range(3)])
        assert x.shape == (2, 3) and x.dtype is ts.float32
        with pytest.raises(RuntimeError):
            x.numpy()
        return x + 1

    export(module(forward), (ts.ones(2, 3),))
    assert len(seen) == 2 and seen[1] == ["0", "1", "2"]


def test_non_strict_is_the_default_and_strict_is_rejected_by_name():
    with pytest.raises(ts._dynamo.exc.UserError, match="strict=False"):
        export(module(lambda x: x), (ts.ones(2),), strict=True)


# ---------------------------------------------------------------- static and dynamic values


def test_static_values_are_in_the_graph():
    class MyMod(ts.nn.Module):
        def forward(self, x, y):
            z = y + 7
            return x + z

    program = export(MyMod(), (ts.randn(1), 3))
    assert "torch.ops.aten.add.Tensor(x, 10)" in program.graph_module.code
    assert targets(program) == ["aten.add.Tensor"]
    x = ts.randn(1)
    assert ts.equal(program.module()(x, 3), x + 10)
    with pytest.raises(AssertionError, match=re.escape("Guard failed: y == 3")):
        program.module()(x, 4)


def test_data_are_dynamic_and_shapes_static_by_default():
    program = export(module(lambda x: x * 2), (ts.ones(2, 3),))
    assert ts.equal(program.module()(ts.full((2, 3), 5.0)), ts.full((2, 3), 10.0))
    with pytest.raises(AssertionError, match="Guard failed"):
        program.module()(ts.ones(3, 3))


def test_shapes_are_dynamic_if_declared():
    program = export(module(lambda x: x * 2), (ts.ones(2, 3),), dynamic_shapes={"args": ({0: Dim("n")},)})
    assert program.module()(ts.ones(9, 3)).shape == (9, 3)
    with pytest.raises(AssertionError, match="Guard failed"):
        program.module()(ts.ones(2, 4))


def test_shapes_of_parameters_and_buffers_are_static():
    program = export(ts.nn.BatchNorm1d(3).eval(), (ts.ones(2, 3),), dynamic_shapes=({0: Dim("n")},))
    state = [n for n in program.graph.nodes if n.op == "placeholder" and n.name != "input"]
    assert len(state) >= 4
    assert all(type(size) is int for n in state for size in n.meta["val"].shape)


def test_dtype_and_device_are_static():
    def forward(x):
        return x + 1 if x.dtype is ts.float32 and x.device.type == "cpu" else x - 1

    assert targets(export(module(forward), (ts.ones(2),))) == ["aten.add.Tensor"]


@pytest.mark.parametrize(("value", "other"), [(2, 3), (1.5, 2.5), (True, False), ("sum", "mean"), (None, 1)])
def test_primitives_are_static(value, other):
    def forward(x, y):
        return x.sum() if y in ("sum", 2, 1.5, None) or y is True else x.mean()

    program = export(module(forward), (ts.ones(3), value))
    assert targets(program) == ["aten.sum.default"]
    assert program.module()(ts.ones(3), value) == 3
    with pytest.raises((AssertionError, ValueError), match=r"Guard failed|tree structure|pytree"):
        program.module()(ts.ones(3), other)


Pair = collections.namedtuple("Pair", ["a", "b"])


class Typed(NamedTuple):
    a: ts.Tensor
    b: int


@pytest.mark.parametrize(
    ("value", "wrong"),
    [
        ([ts.ones(2), 3], [ts.ones(2), 3, 4]),
        ((ts.ones(2), 3), (ts.ones(2),)),
        ({"a": ts.ones(2), "b": 3}, {"a": ts.ones(2), "c": 3}),
        (Pair(ts.ones(2), 3), (ts.ones(2), 3)),
        (Typed(ts.ones(2), 3), Pair(ts.ones(2), 3)),
    ],
    ids=["list", "tuple", "dict", "namedtuple", "NamedTuple"],
)
def test_structures_of_containers_are_static(value, wrong):
    def forward(x):
        a, b = x.values() if isinstance(x, dict) else x
        return a * b

    program = export(module(forward), (value,))
    again = ts.utils._pytree.tree_map(lambda x: x + 1 if isinstance(x, ts.Tensor) else x, value)
    assert ts.equal(program.module()(again), ts.full((2,), 6.0))
    with pytest.raises(ValueError):
        program.module()(wrong)


# ---------------------------------------------------------------- inputs


@dataclass
class Input:
    f: ts.Tensor
    p: ts.Tensor


ts.export.register_dataclass(Input)


def test_own_types_that_are_registered():
    class M(ts.nn.Module):
        def forward(self, x: Input):
            return x.f + 1

    program = export(M(), (Input(f=ts.ones(10, 4), p=ts.zeros(10, 4)),))
    assert targets(program) == ["aten.add.Tensor"]
    assert ts.equal(program.module()(Input(f=ts.zeros(10, 4), p=ts.zeros(10, 4))), ts.ones(10, 4))


def test_own_types_that_are_not_registered_are_rejected():
    class Other:
        def __init__(self):
            self.f = ts.ones(2)

    with pytest.raises(ValueError, match="Unsupported input type"):
        export(module(lambda x: x.f), (Other(),))


def test_optional_inputs():
    class M(ts.nn.Module):
        def forward(self, x, y=None):
            if y is not None:
                return y * x
            return x + x

    passed = export(M(), (ts.randn(3, 3), ts.randn(3, 3)))
    text = str(passed)
    assert 'def forward(self, x: "f32[3, 3]", y: "f32[3, 3]"):' in text
    assert "code: return y * x" in text
    assert 'mul: "f32[3, 3]" = torch.ops.aten.mul.Tensor(y, x);  y = x = None' in text
    missing = export(M(), (ts.randn(3, 3),))
    text = str(missing)
    assert 'add: "f32[3, 3]" = torch.ops.aten.add.Tensor(x, x);  x = None' in text
    assert "return (add,)" in text
    with pytest.raises((TypeError, ValueError)):  # the default is not exported
        passed.module()(ts.randn(3, 3))


# ---------------------------------------------------------------- control flow


def test_static_control_flow_is_specialized():
    def forward(x, flag, n):
        if flag:
            x = x.sin()
        for _ in range(n):
            x = x + 1
        while n > 1:
            x, n = x * 2, n - 1
        if x.shape[0] == 2:
            x = x.cos()
        return x

    program = export(module(forward), (ts.ones(2), True, 3))
    ops = ["aten.sin.default", *["aten.add.Tensor"] * 3, *["aten.mul.Tensor"] * 2, "aten.cos.default"]
    assert targets(program) == ops


def test_conditions_on_shapes_are_guards():
    def forward(x):
        return x.sin() if x.shape[0] > 5 else x.cos()

    dim = {"args": ({0: Dim("n", max=100)},)}
    with pytest.raises(ts._dynamo.exc.UserError, match=r"Suggested fixes:\s+n = Dim\('n', min=6, max=100\)"):
        export(module(forward), (ts.ones(8),), dynamic_shapes=dim)
    program = export(module(forward), (ts.ones(8),), dynamic_shapes={"args": ({0: Dim("n", min=6, max=100)},)})
    assert targets(program) == ["aten.sin.default"]
    for n in (5, 101):
        with pytest.raises(AssertionError, match="Guard failed"):
            program.module()(ts.ones(n))
    assert program.module()(ts.ones(100)).shape == (100,)


def test_conditions_on_data_are_rejected_and_cond_keeps_both_branches():
    class Old(ts.nn.Module):
        def forward(self, x):
            if x.sum() > 0:
                return x.sin()
            else:
                return x.cos()

    class New(ts.nn.Module):
        def forward(self, x):
            return ts.cond(
                pred=x.sum() > 0,
                true_fn=lambda x: x.sin(),
                false_fn=lambda x: x.cos(),
                operands=(x,),
            )

    with pytest.raises(ts.errors.GuardOnDataDependentSymNode, match="Could not guard on data-dependent expression"):
        export(Old(), (ts.ones(3),))
    program = export(New(), (ts.ones(3),))
    assert targets(program)[-2:] == ["cond", "<built-in function getitem>"]
    assert [targets_of(getattr(program.graph_module, f"{kind}_graph_0")) for kind in ("true", "false")] == [
        ["aten.sin.default"],
        ["aten.cos.default"],
    ]
    for x in (ts.ones(3), -ts.ones(3)):
        for _ in range(2):
            assert ts.equal(program.module()(x), Old()(x))


def targets_of(graph_module):
    return [str(n.target) for n in graph_module.graph.nodes if n.op == "call_function"]


def test_loops_over_data():
    from ts._higher_order_ops import map as mapped

    program = export(module(lambda xs: mapped(lambda x: x / x.sum(), xs)), (ts.ones(3, 2),))
    assert "map_impl" in targets(program)
    x = ts.rand(3, 2)
    assert ts.allclose(program.module()(x), x / x.sum(1, keepdim=True))


def test_conditions_on_sizes_of_data_need_an_assertion():
    class Old(ts.nn.Module):
        def forward(self, x):
            nz = x.nonzero()
            if nz.shape[0] > 0:
                return x.sin()
            else:
                return x.cos()

    class New(ts.nn.Module):
        def forward(self, x):
            nz = x.nonzero()
            ts._check(nz.shape[0] > 0)
            if nz.shape[0] > 0:
                return x.sin()
            else:
                return x.cos()

    with pytest.raises(ts.errors.GuardOnDataDependentSymNode, match=r"u0 > 0"):
        export(Old(), (ts.ones(3),))
    program = export(New(), (ts.ones(3),))
    assert "aten.sin.default" in targets(program) and "aten.cos.default" not in targets(program)
    assert ts.equal(program.module()(ts.ones(3)), ts.ones(3).sin())
    with pytest.raises(RuntimeError, match="Runtime assertion failed for expression"):
        program.module()(ts.zeros(3))


# ---------------------------------------------------------------- symbolic shapes


def test_shapes_of_results_are_expressions():
    dims = {"args": ({0: Dim("a")}, {0: Dim("b")})}
    program = export(module(lambda x, y: ts.cat([x, y])), (ts.ones(3, 2), ts.ones(5, 2)), dynamic_shapes=dims)
    x, y = (n.meta["val"].shape[0] for n in program.graph.nodes if n.op == "placeholder")
    result = next(n for n in program.graph.nodes if n.op == "call_function").meta["val"]
    assert str(result.shape[0]) in (f"{x} + {y}", f"{y} + {x}")
    assert result.shape[1] == 2 and type(result.shape[1]) is int


def test_fakes_compute_shapes_alone():
    with ts.fake():
        x = ts.empty(4, 5)
        assert x.index_select(1, ts.empty(3, dtype=ts.int64)).shape == (4, 3)
        assert ts.tensor(1.0).index_select(0, ts.empty(1, dtype=ts.int64)).shape == ()


def test_backed_and_unbacked_sizes():
    def forward(x):
        return x.repeat(2, 1), x.nonzero()

    program = export(module(forward), (ts.ones(3, 2),), dynamic_shapes={"args": ({0: Dim("n")},)})
    repeated, indices = (n.meta["val"] for n in program.graph.nodes if n.op == "call_function" and isinstance(n.meta.get("val"), ts.Tensor))
    assert re.fullmatch(r"2\*s\d+", str(repeated.shape[0])) and repeated.shape[0].node.has_hint()
    assert re.fullmatch(r"u\d+", str(indices.shape[0])) and not indices.shape[0].node.has_hint()


def test_specification_has_the_structure_of_the_inputs():
    with pytest.raises(ts._dynamo.exc.UserError, match=r"is a <class .tuple.>, but `dynamic_shapes\[.args.\]` is a <class .list.>"):
        export(module(lambda x: x), (ts.ones(3),), dynamic_shapes={"args": [{0: Dim("n")}]})


def test_static_shapes_need_no_specification():
    program = export(module(lambda x: x.sin() if x.shape[0] > 2 else x), (ts.ones(3),))
    assert program.range_constraints == {} and targets(program) == ["aten.sin.default"]


def test_specification_has_to_imply_the_guards():
    dims = {"args": ({0: Dim("n")}, {0: Dim("m")})}
    with pytest.raises(ts._dynamo.exc.UserError, match=r"Constraints violated(.|\n)*Suggested fixes:\s+m = n"):
        export(module(lambda x, y: x + y), (ts.ones(4), ts.ones(4)), dynamic_shapes=dims)


def test_assertions_follow_the_size():
    def forward(x):
        n = x.item()
        ts._check(n >= 2)
        ts._check(n <= 5)
        return ts.zeros(n).sum()

    program = export(module(forward), (ts.tensor(3),))
    ops = targets(program)
    asserted = [i for i, op in enumerate(ops) if "_assert_scalar" in op]
    assert ops[0] == "aten.item.default" and asserted and max(asserted) < ops.index("aten.zeros.default")
    assert program.module()(ts.tensor(5)) == 0
    for n in (1, 6):
        with pytest.raises(RuntimeError, match="Runtime assertion failed"):
            program.module()(ts.tensor(n))


# ---------------------------------------------------------------- operators


def test_custom_operators():
    @ts.library.custom_op("model_of_programming::sin", mutates_args=())
    def sin(x: ts.Tensor) -> ts.Tensor:
        x_np = x.numpy()
        y_np = np.sin(x_np)
        return ts.from_numpy(y_np)

    @ts.library.register_fake("model_of_programming::sin")
    def _(x: ts.Tensor) -> ts.Tensor:
        return ts.empty_like(x)

    @ts.library.custom_op("model_of_programming::custom_nonzero", mutates_args=())
    def custom_nonzero(x: ts.Tensor) -> ts.Tensor:
        return x.nonzero()

    @ts.library.register_fake("model_of_programming::custom_nonzero")
    def _(x):
        nnz = ts.library.get_ctx().new_dynamic_size()
        shape = [nnz, x.dim()]
        return x.new_empty(shape, dtype=ts.int64)

    program = export(module(lambda x: (sin(x), custom_nonzero(x))), (ts.ones(3),), dynamic_shapes={"args": ({0: Dim("n")},)})
    assert targets(program)[:2] == ["model_of_programming.sin.default", "model_of_programming.custom_nonzero.default"]
    indices = next(n for n in program.graph.nodes if "custom_nonzero" in str(n.target)).meta["val"]
    assert re.fullmatch(r"u\d+", str(indices.shape[0])) and indices.shape[1] == 1
    x = ts.tensor([0.0, 1.0, 2.0, 0.0])
    for _ in range(2):
        y, at = program.module()(x)
        assert ts.allclose(y, x.sin()) and ts.equal(at, x.nonzero())


# ---------------------------------------------------------------- module state


class State(ts.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = ts.nn.Parameter(ts.ones(2))
        self.register_buffer("calls", ts.zeros(2))
        self.table = ts.full((2,), 3.0)
        self.count = 1


class Reads(State):
    def forward(self, x):
        return x * self.weight + self.calls + self.table + self.count + (100 if self.training else 0)


def test_reading_state():
    program = export(Reads().eval(), (ts.ones(2),))
    signature = program.graph_signature
    assert (signature.parameters, signature.buffers, signature.lifted_tensor_constants) == (("weight",), ("calls",), ("table",))
    assert set(program.state_dict) == {"weight", "calls"} and list(program.constants) == ["table"]
    assert ts.equal(program.module()(ts.ones(2)), ts.full((2,), 5.0))
    program.state_dict["calls"].add_(1)  # the state is read when the program runs
    assert ts.equal(program.module()(ts.ones(2)), ts.full((2,), 6.0))
    assert "aten.add.Tensor" in targets(program) and ", 1)" in program.graph_module.code


def test_unregistered_state_raises():
    class M(ts.nn.Module):
        def forward(self, x):
            return x + self.missing

    with pytest.raises(AttributeError, match="missing"):
        export(M(), (ts.ones(2),))


def test_static_attributes_may_be_updated():
    class M(State):
        def forward(self, x):
            self.count += 1
            y = x + self.count
            self.count += 1
            return y * self.count

    module = M()
    program = export(module, (ts.ones(2),))
    assert ("add.Tensor(x, 2)" in program.graph_module.code) and ("mul.Tensor(add, 3)" in program.graph_module.code)
    assert not [n for n in program.graph.nodes if n.op == "get_attr"] and module.count == 1  # restored


def test_buffers_may_be_updated():
    class Inplace(State):
        def forward(self, x):
            self.calls[:] = self.calls + x
            return self.calls * 2

    class Assigned(State):
        def forward(self, x):
            self.calls = self.calls + x
            return self.calls * 2

    for kind in (Inplace, Assigned):
        program = export(kind(), (ts.ones(2),))
        core = program.run_decompositions()
        assert core.graph_signature.buffers_to_mutate.values() and list(core.graph_signature.buffers_to_mutate.values()) == ["calls"]
        for ep in (program, core):
            run = ep.module()
            before = run.calls.clone()
            assert ts.equal(run(ts.ones(2)), (before + 1) * 2)
            assert ts.equal(run.calls, before + 1)


def test_tensor_attributes_are_restored():
    class M(State):
        def forward(self, x):
            self.table = x * 2
            return self.table + 1

    module = M()
    table = module.table
    with pytest.warns(UserWarning, match="table"):
        program = export(module, (ts.ones(2),))
    assert module.table is table
    assert ts.equal(program.module()(ts.ones(2)), ts.full((2,), 3.0))


def test_parameters_cannot_be_updated_with_gradients_on():
    class M(State):
        def forward(self, x):
            self.weight.add_(1)
            return x * self.weight

    with pytest.raises(RuntimeError, match="leaf Variable that requires grad"):
        export(M(), (ts.ones(2),))
    with ts.no_grad():
        program = export(M(), (ts.ones(2),)).run_decompositions()
    assert dict(program.graph_signature.parameters_to_mutate).values() and "weight" in program.graph_signature.parameters_to_mutate.values()


def test_state_is_lifted_to_inputs_and_outputs():
    class M(State):
        def forward(self, x):
            self.calls.add_(x)
            return x * self.weight

    core = export(M(), (ts.ones(2),)).run_decompositions()
    names = [n.name for n in core.graph.nodes if n.op == "placeholder"]
    assert names == ["p_weight", "b_calls", "x"]
    kinds = [spec.kind.name for spec in core.graph_signature.output_specs]
    assert kinds == ["BUFFER_MUTATION", "USER_OUTPUT"]
    assert ts.equal(core.state_dict["weight"], ts.ones(2)) and ts.equal(core.state_dict["calls"], ts.zeros(2))
