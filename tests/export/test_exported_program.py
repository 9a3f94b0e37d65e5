"""`ExportedProgram` as an object: construction, copies, pickles, attributes that cannot be set."""

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


def test_update_shares_what_is_not_given():
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


def test_conditions_on_sizes_are_asserted_where_asked():
    shapes = {"x": {0: Dim("n", max=99)}}
    with pytest.raises(RuntimeError, match="Constraints violated"):
        export(Rows(), (ts.ones(6),), dynamic_shapes=shapes)
    program = export(
        Rows(), (ts.ones(6),), dynamic_shapes=shapes, prefer_deferred_runtime_asserts_over_guards=True
    )
    texts = [str(n.args[1]) for n in program.graph.nodes if "_assert_scalar" in str(n.target)]
    assert texts == ["Runtime assertion failed for expression Eq(Mod(s0, 3), 0) on node 'eq'"]
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
