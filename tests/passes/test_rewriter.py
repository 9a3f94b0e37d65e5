"""The worklist engine of local rewrites, and a check that all local passes use it."""

from pathlib import Path

import pytest

import ts.passes
from ts.ir.graph_parser import parse_ir
from ts.ir.verifier import verify
from ts.passes import pass_logging
from ts.passes.rewriter import Rule, RuleSet

# Passes over blocks, loops, functions or groups of nodes, and the matcher of pattern graphs. A rewrite of one
# node with its producers or users is a `Rule`.
NOT_LOCAL = {
    "batch_mm", "concat_frozen_linear", "constant_propagation", "create_autodiff_subgraphs",
    "create_functional_graphs", "cse", "dce", "graph_fuser", "guards", "hoist_loop_views", "if_hoisting",
    "inline", "licm", "loop_unrolling", "loop_versioning", "lower_executor_nodes", "peel_loops", "rewriter",
    "slice_autodiff_subgraphs", "specialize_to_arguments", "subgraph_rewrite",
}  # fmt: skip


def rewrite(text, *rules, **options):
    graph = parse_ir(text)
    changed = RuleSet("test", *rules, **options).apply(graph)
    verify(graph)
    return changed, [node.kind() for node in graph.nodes()], str(graph)


def test_local_rewrites_use_the_engine():
    """A pass that counts its changes itself is in the list of non-local passes."""
    folder = Path(ts.passes.__file__).parent
    files = {path.stem for path in folder.rglob("*.py") if "optimization_allowed(" in path.read_text()}
    assert files - {"pass_logging"} == NOT_LOCAL


TRANSPOSES = """graph(%x : Tensor):
  %a : Tensor = aten::t(%x)
  %b : Tensor = aten::t(%a)
  %c : Tensor = aten::t(%b)
  %d : Tensor = aten::t(%c)
  return (%d)"""


@pytest.mark.parametrize("leaves_dead_nodes", [False, True])
def test_until_no_rule_matches(leaves_dead_nodes):
    """Users of a replaced value are visited again."""
    rule = Rule("aten::t(aten::t(x))", "x")
    changed, kinds, text = rewrite(TRANSPOSES, rule, leaves_dead_nodes=leaves_dead_nodes)
    assert changed and "return (%x)" in text
    assert len(kinds) == (4 if leaves_dead_nodes else 2)
    assert not rewrite("graph(%x : Tensor):\n  %a : Tensor = aten::t(%x)\n  return (%a)", rule)[0]


def test_patterns():
    """In patterns, literals match equal constants, a repeated name matches one value, and `_` any value."""
    text = """graph(%x : int, %y : int):
  %1 : int = prim::Constant[value=1]()
  %a : int = aten::mul(%x, %1)
  %b : int = aten::sub(%a, %x)
  %c : int = aten::sub(%b, %y)
  return (%c)"""
    times_one, minus_itself = Rule("aten::mul(x, 1)", "x"), Rule("aten::sub(x, x)", "0")
    assert rewrite(text, times_one, minus_itself)[1] == ["prim::Constant", "prim::Constant", "aten::sub"]
    assert not rewrite(text, Rule("aten::mul(x, 2)", "x"))[0]
    assert not rewrite(text, Rule("aten::mul(x, True)", "x"))[0]
    assert rewrite(text, Rule("aten::sub(aten::mul(_, _), _)", "7"))[0]
    assert not rewrite(text, Rule("aten::mul(x, 1)", "x", lambda node: False))[0]


def test_new_nodes_are_visited():
    """A call that a replacement inserts is simplified, too, and has the metadata of the replaced node."""
    text = "graph(%x : int):\n  %a : int = aten::neg(%x) # f.py:3:1\n  return (%a)"
    rules = Rule("aten::neg(x)", "aten::sub(0, x)"), Rule("aten::sub(0, x)", "aten::mul(x, -1)")
    _, kinds, text = rewrite(text, *rules)
    assert kinds[-1] == "aten::mul" and "[value=-1]" in text and "# f.py:3:1" in text


def test_writers():
    """A rule can query the writers of a value, also through aliases."""
    text = """graph(%x : Tensor):
  %1 : int = prim::Constant[value=1]()
  %a : Tensor = aten::neg(%x)
  %v : Tensor = aten::t(%a)
  %w : Tensor = aten::add_(%v, %1, %1)
  %b : Tensor = aten::abs(%a)
  return (%b)"""
    rule = Rule(
        "aten::abs", lambda rewriter, node: None if rewriter.is_written(node.input()) else node.input()
    )
    assert not rewrite(text, rule)[0]
    assert rewrite(text.replace("add_", "add"), rule)[0]


def test_limit():
    """If the limit is exhausted, no rule runs."""
    pass_logging.configure(limits="peephole=1")
    try:
        graph = parse_ir(TRANSPOSES)
        rules = RuleSet("peephole", Rule("aten::t(aten::t(x))", "x"))
        assert rules.apply(graph) and not rules.apply(graph)
        assert graph.find_all_nodes("aten::t")
    finally:
        pass_logging.configure()
