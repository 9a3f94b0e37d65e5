"""`ExportedProgram` objects: construction, copies, pickles, read-only attributes."""

import copy
import pickle

import pytest

import ts
from tests.export.functions import module_of
from ts import nn
from ts.export import Dim, ExportedProgram, default_decompositions, export
from ts.export.decomp_utils import CustomDecompTable


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 2)

    def forward(self, x):
        return self.linear(x).relu()


def exported():
    return export(Net(), (ts.rand(2, 3),), dynamic_shapes=({0: Dim("b")},))


def test_constructor():
    program = exported()
    made = ExportedProgram(
        root=program.graph_module,
        graph=program.graph,
        graph_signature=program.graph_signature,
        state_dict=program.state_dict,
        range_constraints=program.range_constraints,
        module_call_graph=program.module_call_graph,
        example_inputs=program.example_inputs,
        constants=program.constants,
        verifiers=[program.verifier],
    )
    x = ts.rand(4, 3)
    assert ts.equal(made.module()(x), program.module()(x))
    assert made.graph_module is not program.graph_module and made.dialect == program.dialect


def test_constructor_checks_the_graph():
    program = exported()
    signature = copy.deepcopy(program.graph_signature)
    signature.input_specs.pop()
    with pytest.raises(Exception, match="inputs"):
        ExportedProgram(
            program.graph_module, program.graph, signature, program.state_dict, {}, program.module_call_graph
        )


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda p: pickle.loads(pickle.dumps(p))])
def test_copies(copied):
    program = exported()
    made, x = copied(program), ts.rand(5, 3)
    assert ts.equal(made.module()(x), program.module()(x))
    with pytest.raises(AssertionError, match=r"Guard failed: x.size\(\)\[1\] == 3"):
        made.module()(ts.rand(5, 4))
    shares = made.state_dict["linear.weight"] is program.state_dict["linear.weight"]
    assert shares is (copied is copy.copy)


@pytest.mark.parametrize("name", ["graph", "graph_module", "graph_signature", "state_dict", "constants", "dialect"])
def test_attributes_that_cannot_be_set(name):
    with pytest.raises(RuntimeError, match=f"Unable to set ExportedProgram's {name} attribute."):
        setattr(exported(), name, None)


def test_example_inputs_are_checked():
    program = exported()
    with pytest.raises(ValueError, match="Example inputs should be a tuple"):
        program.example_inputs = ts.ones(2, 3)
    with pytest.raises(ValueError, match="do not match"):
        program.example_inputs = ((ts.ones(2, 3), 1), {})
    program.example_inputs = None
    program.example_inputs = ((ts.ones(4, 3),), {})
    assert program.example_inputs[0][0].shape == (4, 3)


def test_update_shares_other_fields():
    program = exported()
    made = program._update(program.graph_module, program.graph_signature, state_dict={})
    assert made.state_dict == {} and made.constants is program.constants
    assert made.range_constraints == program.range_constraints


def test_decomposition_table():
    table = default_decompositions()
    linear = ts.ops.aten.linear.default
    assert isinstance(table, CustomDecompTable) and type(table.materialize()) is dict
    other = table.copy()
    assert isinstance(other, CustomDecompTable) and callable(other.pop(linear))
    assert linear in table and linear not in other
    program = exported().run_decompositions(other)
    assert linear in [node.target for node in program.graph.nodes]


class Rows(nn.Module):
    def forward(self, x):
        return x.reshape(-1, 3)


def test_size_conditions_as_assertions():
    shapes = {"x": {0: Dim("n", max=99)}}
    with pytest.raises(RuntimeError, match="Constraints violated"):
        export(Rows(), (ts.ones(6),), dynamic_shapes=shapes)
    program = export(
        Rows(), (ts.ones(6),), dynamic_shapes=shapes, prefer_deferred_runtime_asserts_over_guards=True
    )
    texts = [str(n.args[1]) for n in program.graph.nodes if "_assert_scalar" in str(n.target)]
    assert texts == [
        f"Runtime assertion failed for expression {condition} on node '{node}'"
        for condition, node in (
            ("Eq(Mod(s0, 3), 0)", "eq"), ("2 <= 3*((s0//3))", "ge"), ("Ne((s0//3), 1)", "sym_not")
        )
    ]
    assert program.module()(ts.ones(9)).shape == (3, 3)
    with pytest.raises(RuntimeError):
        program.module()(ts.ones(7))
    assert [str(n.args[1]) for n in program.run_decompositions().graph.nodes if "_assert_scalar" in str(n.target)]


def test_ranges_stay_conditions_of_arguments():
    def program(x, y):
        return x + y if x.shape[0] > 4 else x * y

    args = (ts.ones(5), ts.ones(5))
    made = export(
        module_of(program, args),
        args,
        dynamic_shapes=({0: Dim.AUTO}, {0: Dim.AUTO}),
        prefer_deferred_runtime_asserts_over_guards=True,
    )
    assert not [n for n in made.graph.nodes if "_assert_scalar" in str(n.target)]
    with pytest.raises(AssertionError, match="Guard failed"):
        made.module()(ts.ones(4), ts.ones(4))


def test_metadata_of_a_decomposition():
    def program(x, n):
        return x[x > 0] * n.item()

    args = (ts.ones(5), ts.tensor(2))
    made = export(module_of(program, args), args).run_decompositions()
    nodes = {n.name: n for n in made.graph.nodes}
    assert nodes["gt"].meta["tensor_meta"].shape == (5,)
    assert "sym_size_int" in " ".join(nodes) and "unbacked_bindings" in nodes["index"].meta


class Constant(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("shift", ts.ones(2))
        self.norm = nn.BatchNorm1d(2)
        self.c = ts.arange(2.0)

    def forward(self, x):
        return self.norm(x) + self.shift + self.c


def test_order_of_constants_in_a_decomposition():
    """A decomposition preserves the order of constants, which `program.module()` defines."""
    program = export(Constant().eval(), (ts.rand(3, 2),))
    assert [s.target for s in program.graph_signature.input_specs][-2] == "c"
    decomposed = program.run_decompositions()
    targets = [s.target for s in decomposed.graph_signature.input_specs]
    assert targets == [
        "norm.weight", "norm.bias", "shift", "c", "norm.running_mean", "norm.running_var",
        "norm.num_batches_tracked", None,
    ]  # fmt: skip
    names = [n.name for n in decomposed.graph.nodes if n.op == "placeholder"]
    assert names == [s.arg.name for s in decomposed.graph_signature.input_specs]
    x = ts.rand(4, 2)
    program = export(Constant().eval(), (x,))
    assert ts.allclose(program.run_decompositions().module()(x), program.module()(x))


def test_passes_on_the_program():
    from ts.fx.passes.infra.pass_base import PassResult

    def use_tanh(module):
        for node in module.graph.find_nodes(op="call_function", target=ts.ops.aten.relu.default):
            with module.graph.inserting_after(node):
                made = module.graph.call_function(ts.ops.aten.tanh.default, node.args)
            made.meta = dict(node.meta)
            node.replace_all_uses_with(made)
            module.graph.erase_node(node)
        return PassResult(module, True)

    program = exported()
    assert program._transform_do_not_use(lambda module: PassResult(module, False)) is program
    made, x = program._transform_do_not_use(use_tanh), ts.rand(4, 3)
    made.validate()
    linear = made.module().linear
    assert ts.allclose(made.module()(x), ts.tanh(x @ linear.weight.T + linear.bias))


def test_patterns_of_overloads_are_replaced():
    """`symbolic_trace` records the overload that a pattern calls, not its operator."""

    def pattern(x, w, b):
        return ts.ops.aten.relu.default(ts.ops.aten.linear.default(x, w, b))

    def replacement(x, w, b):
        return ts.ops.aten.sigmoid.default(ts.ops.aten.linear.default(x, w, b))

    module, x = exported().module(), ts.rand(4, 3)
    assert len(ts.fx.subgraph_rewriter.replace_pattern(module, pattern, replacement)) == 1
    linear = module.linear
    assert ts.allclose(module(x), ts.sigmoid(x @ linear.weight.T + linear.bias))


def test_partitions_by_module_class():
    from ts.fx.passes.utils.source_matcher_utils import get_source_partitions

    found = get_source_partitions(exported().run_decompositions().graph, [nn.Linear, nn.BatchNorm1d])
    assert [[n.name for n in each.nodes] for each in found[nn.Linear]] == [["permute", "addmm"]]


class Scaled(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(2, 2)

    def forward(self, x):
        return self.linear(x) * ts.tensor([1.0, 2.0])


def test_constants_are_named_by_their_module():
    program = export(nn.Sequential(Scaled(), nn.ReLU(), Scaled()), (ts.rand(3, 2),))
    constants = program.graph_signature.inputs_to_lifted_tensor_constants
    assert constants == {
        "c_0_lifted_tensor_0": "0.lifted_tensor_0",
        "c_2_lifted_tensor_1": "2.lifted_tensor_1",
    }
