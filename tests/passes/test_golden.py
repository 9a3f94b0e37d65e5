"""Each pass against golden graph text: `<pass>.ir` holds cases of a graph before and after it.

    === name of the case
    graph(%x : int):
      ...
    --- after
    graph(%x : int):
      ...

`TS_UPDATE_GOLDEN=1 pytest tests/passes` rewrites the text after `--- after`; review the difference.
The graph is verified after the pass, also after `convert_to_ssa`, which reads loads and stores.
"""

import importlib
import os
from pathlib import Path

import pytest

from ts.ir.graph_parser import parse_ir
from ts.ir.verifier import verify
from ts.passes import pass_logging
from ts.passes.canonicalize import canonicalize
from ts.passes.dce import eliminate_dead_code
from ts.passes.pipelines import run_pass

FUNCTIONS = {
    "convert_to_ssa": "convert_to_ssa",
    "exit_transform": "exit_transform",
    "canonicalize_loops": "canonicalize_modified_loops",
    "canonicalize_outputs": "canonicalize_outputs",
    "normalize_ops": "normalize_ops",
    "lower_tuples": "lower_simple_tuples",
    "dce": "eliminate_dead_code",
    "cse": "eliminate_common_subexpressions",
    "constant_propagation": "constant_propagation",
    "constant_propagation_immutable_types": "constant_propagation_immutable_types",
    "constant_pooling": "constant_pooling",
    "peephole": "peephole",
    "licm": "hoist_loop_invariants",
    "hoist_loop_views": "hoist_loop_views",
    "loop_unrolling": "unroll_loops",
    "remove_mutation": "remove_mutation",
    "decompose_ops": "decompose_ops",
    "lower_all_tuples": "lower_all_tuples",
    "remove_inplace_ops": "remove_inplace_ops",
    "fuse_relu": "fuse_add_relu",
    "remove_expands": "remove_expands",
    "canonicalize_graph_fuser_ops": "canonicalize_graph_fuser_ops",
    "batch_mm": "batch_mm",
    "peel_loops": "peel_loops",
    "if_hoisting": "hoist_from_ifs",
    "peephole_list_idioms": "peephole_list_idioms",
    "refine_integer_values": "refine_integer_values",
    "refine_tuple_types": "refine_tuple_types",
    "fuse_linear": "fuse_linear",
    "functional_to_inplace_activation": "functional_to_inplace_activation",
    "inplace_to_functional_activation": "inplace_to_functional_activation",
    "create_functional_graphs": "create_functional_graphs",
    "inline_functional_graphs": "inline_functional_graphs",
    "insert_guards": "insert_guards",
    "guard_elimination": "eliminate_guards",
    "insert_bail_outs": "insert_bail_outs",
    "specialize_autogradzero": "specialize_autogradzero",
    "graph_fuser": "fuse_graph",
    "scalarize_loops": "version_element_loops",
    "fuse_addmm": "fuse_addmm",
    "specialize_to_arguments": "specialize_to_input_types",
}
MODULES = {
    "functional_to_inplace_activation": "inplace_activations",
    "inplace_to_functional_activation": "inplace_activations",
    "inline_functional_graphs": "create_functional_graphs",
    "insert_guards": "guards",
    "guard_elimination": "guards",
    "insert_bail_outs": "guards",
    "canonicalize_outputs": "canonicalize",
    "lower_all_tuples": "lower_tuples",
    "constant_propagation_immutable_types": "constant_propagation",
}
FOLDER = Path(__file__).parent
ROOT = FOLDER.parent.parent
MARK, AFTER = "=== ", "--- after\n"


def read_cases(path):
    for part in path.read_text().split(MARK)[1:]:
        name, _, body = part.partition("\n")
        before, _, after = body.partition(AFTER)
        yield name, before, after


CASES = [(path, *case) for path in sorted(FOLDER.glob("*.ir")) for case in read_cases(path)]


def transformed(path, before):
    function = FUNCTIONS[path.stem]
    file = pass_logging.pass_files()[MODULES.get(path.stem, path.stem)]
    module = ".".join(file.relative_to(ROOT).with_suffix("").parts)
    run = getattr(importlib.import_module(module), function)
    graph = parse_ir(before)
    run_pass(graph, run)
    verify(graph)
    return str(graph)


@pytest.mark.parametrize(
    "path, name, before, after", CASES, ids=[f"{case[0].stem}: {case[1]}" for case in CASES]
)
def test_golden(path, name, before, after):
    """The pass transforms the graph into the recorded graph."""
    result = transformed(path, before)
    if os.environ.get("TS_UPDATE_GOLDEN"):
        update(path, name, result)
    else:
        assert result.strip() == after.strip()


def update(path, name, result):
    cases = [(n, b, result if n == name else a) for n, b, a in read_cases(path)]
    path.write_text("\n".join(f"{MARK}{n}\n{b.strip()}\n{AFTER}{a.strip()}\n" for n, b, a in cases))


@pytest.mark.parametrize(
    "path, name, before, after", CASES, ids=[f"{case[0].stem}: {case[1]}" for case in CASES]
)
def test_second_run_changes_nothing(path, name, before, after):
    """A second run of a pass does not change the graph."""
    if path.stem in ("convert_to_ssa", "exit_transform", "constant_pooling", "dce", "loop_unrolling", "peel_loops"):
        pytest.skip("runs once, or reverses the order of constants, or does more in a second run by design")
    assert transformed(path, after).strip() == after.strip()


# Transformations that are required before a graph runs or is printed, which the limit does not apply to.
UNLIMITED = {
    "convert_to_ssa", "exit_transform", "canonicalize_loops", "canonicalize_outputs", "constant_pooling",
    "constant_propagation_immutable_types", "dce", "lower_all_tuples", "lower_tuples", "normalize_ops",
    "remove_inplace_ops",
}  # fmt: skip
REORDERS = {"create_functional_graphs", "peephole"}  # they reorder nodes or operands, which the limit does not count
LIMITS = {
    "fuse_linear": "subgraph_rewrite",
    "fuse_relu": "subgraph_rewrite",
    "inplace_to_functional_activation": "remove_mutation",
}
LIMITED = sorted({case[0] for case in CASES if case[0].stem not in UNLIMITED | REORDERS})


def tidy(graph):
    """Return the graph text after dead code elimination and renumbering."""
    eliminate_dead_code(graph)
    return str(canonicalize(graph, False))


@pytest.mark.parametrize("path", LIMITED, ids=lambda path: path.stem)
def test_a_limit_of_zero_disables_all_changes(path):
    """`TS_JIT_OPT_LIMIT=pass=0` disables each change of a pass, for bisection."""
    name = LIMITS.get(path.stem, MODULES.get(path.stem, path.stem))
    for _, before, _ in read_cases(path):
        pass_logging.configure(limits=f"{name}=0")
        try:
            after = transformed(path, before)
        finally:
            pass_logging.configure()
        assert tidy(parse_ir(after)) == tidy(parse_ir(before))
