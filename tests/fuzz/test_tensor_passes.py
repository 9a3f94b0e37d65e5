"""Each pass on random programs with views and writes: all results agree with unoptimized and PyTorch results.

Results and argument values agree bit for bit, except after passes that change the order of additions;
PyTorch's agree up to rounding. `python -m tests.fuzz.test_tensor_passes COUNT [SEED]` runs more programs.
"""

import random
import sys
from functools import partial

import numpy as np
import pytest

import ts
from tests.fuzz.tensors import TensorProgramWriter
from ts.analysis.alias import AliasDb
from ts.ir.types import TensorType
from ts.ir.verifier import verify
from ts.passes import (
    constant_pooling,
    constant_propagation,
    cse,
    dce,
    erase_shapes,
    create_functional_graphs,
    peephole,
    peephole_list_idioms,
    refine_integer_values,
    shape_analysis,
)
from ts.passes.pass_utils import walk_nodes
from ts.passes.pytorch import (
    batch_mm,
    canonicalize_graph_fuser_ops,
    fuse_addmm,
    fuse_linear,
    guards,
    if_hoisting,
    inplace_activations,
    loop_unrolling,
    peel_loops,
    refine_tuple_types,
    remove_mutation,
)

EXACT = [
    canonicalize_graph_fuser_ops.canonicalize_graph_fuser_ops,
    constant_pooling.constant_pooling,
    constant_propagation.constant_propagation,
    cse.eliminate_common_subexpressions,
    dce.eliminate_dead_code,
    partial(create_functional_graphs.create_functional_graphs, fewest=2),
    if_hoisting.hoist_from_ifs,
    inplace_activations.functional_to_inplace_activation,
    inplace_activations.inplace_to_functional_activation,
    loop_unrolling.unroll_loops,
    peel_loops.peel_loops,
    peephole.peephole,
    peephole_list_idioms.peephole_list_idioms,
    refine_integer_values.refine_integer_values,
    refine_tuple_types.refine_tuple_types,
    remove_mutation.remove_mutation,
]
IN_ANOTHER_ORDER = [batch_mm.batch_mm, fuse_linear.fuse_linear]


def program(seed):
    return TensorProgramWriter(random.Random(seed).randrange).source()


def arguments(seed, size, package):
    numbers = np.random.default_rng(seed)
    a, b, v = (numbers.standard_normal(shape).astype(np.float32) for shape in [(size, size), (size, size), (size,)])
    return [*(package.from_numpy(x) for x in (a, b, v)), seed % 4, seed % 3 == 0]


def outcome(function, given):
    """Return the results and the arguments after the call, or the class of the error."""
    try:
        results = function(*given)
    except Exception as error:
        return type(error).__name__
    return [x.detach().numpy().copy() if hasattr(x, "numpy") else x for x in (*results, *given)]


def outcomes_are_equal(first, second, exact):
    if isinstance(first, str) or isinstance(second, str):
        return isinstance(first, str) and isinstance(second, str)
    return all(
        np.array_equal(x, y, equal_nan=True) if exact else np.allclose(x, y, 1e-3, 1e-3, equal_nan=True)
        for x, y in zip(first, second, strict=True)
    )


def with_profiles(graph, seed):
    """Return the graph with a profile of each tensor, as after a run with matrices of three rows."""
    typed = graph.copy()
    shape_analysis.complete_shape_analysis(typed, arguments(seed, 3, ts))
    nodes = [node for node in walk_nodes(typed.block()) if node.kind() != "prim::Constant"]
    found = [(node, value, value.type()) for node in nodes for value in node.outputs()]
    erase_shapes.erase_shape_information(typed)
    for node, value, known in found:
        if isinstance(known, TensorType) and known.is_refined() and value.has_uses():
            profile = typed.create("prim::profile", [value]).set("profiled_type", known, "ty")
            profile.insert_after(node)
            value.replace_all_uses_with(profile.output())
            profile.replace_input(0, value)
    return typed


def with_products_joined(graph, seed):
    """Run `fuse_addmm` on a graph with the types of matrices with three rows."""
    shape_analysis.complete_shape_analysis(graph, arguments(seed, 3, ts))
    changed = fuse_addmm.fuse_addmm(graph)
    erase_shapes.erase_shape_information(graph)
    return changed


def insert_guards_and_bail_outs(graph):
    """Replace profiles by guards and bail-outs."""
    changed = guards.insert_guards(graph)
    guards.eliminate_guards(graph)
    return guards.insert_bail_outs(graph) or changed


def move_nodes(graph, seed):
    """Move nodes to random positions allowed by alias analysis."""
    generator = random.Random(seed)
    aliases = AliasDb(graph)
    nodes = list(walk_nodes(graph.block()))
    for _ in range(2 * len(nodes)):
        node, target = generator.choice(nodes), generator.choice(nodes)
        move = generator.choice([aliases.move_before_topologically_valid, aliases.move_after_topologically_valid])
        move(node, target)
    return True


def in_python(source, torch):
    """Return the function executed by Python, because TorchScript's optimizer returns wrong results for one
    program in a hundred."""
    names = {"torch": torch, "Tensor": torch.Tensor, "Tuple": tuple}
    exec(source, names)
    return names["f"]


def check(seed, pytorch=None):
    source = program(seed)
    function = ts.jit.CompilationUnit(source).f
    graph = function.graph
    with ts.jit.optimized_execution(False):
        raw = ts.jit.CompilationUnit(source).f
        expected = {size: outcome(raw, arguments(seed, size, ts)) for size in (3, 4)}
    forms = [(p, graph.copy(), True) for p in EXACT] + [(p, graph.copy(), False) for p in IN_ANOTHER_ORDER]
    forms.append((partial(move_nodes, seed=seed), graph.copy(), True))
    forms.append((partial(with_products_joined, seed=seed), graph.copy(), False))
    forms.append((insert_guards_and_bail_outs, with_profiles(graph, seed), True))
    for size in expected:
        assert outcomes_are_equal(outcome(function, arguments(seed, size, ts)), expected[size], True), f"optimised:\n{source}"
    for run, copy, exact in forms:
        name = getattr(run, "__name__", str(run))
        run(copy)
        verify(copy)
        with ts.jit.optimized_execution(False):
            changed = ts.jit.create_function_from_graph("f", copy)
            for size in expected:
                found = outcome(changed, arguments(seed, size, ts))
                assert outcomes_are_equal(found, expected[size], exact), f"{name}, size {size}:\n{source}\n{copy}"
    if pytorch is not None:
        theirs = in_python(source, pytorch)
        for size in expected:
            assert outcomes_are_equal(outcome(theirs, arguments(seed, size, pytorch)), expected[size], False), f"PyTorch:\n{source}"


@pytest.mark.parametrize("seed", range(25))
def test_passes(seed):
    check(seed, sys.modules.get("torch"))


if __name__ == "__main__":
    import torch as reference

    count, start = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0
    for number in range(start, start + count):
        check(number, reference)
    print(f"{count} programs agree")
