"""Pass pipelines: preserved analyses, skipped passes, and declarations of preserved analyses."""

from itertools import combinations
from pathlib import Path

import pytest

from tests.passes.test_golden import read_cases
from ts.analysis.alias import AliasDb
from ts.ir.graph_parser import parse_ir
from ts.passes.licm import hoist_loop_invariants
from ts.passes.pass_utils import preserved_analyses
from ts.passes.pass_utils import applies_to, preserves
from ts.passes.peephole import simplify
from ts.passes.pipelines import DIFFERENTIATE, FRONTEND, OPTIMIZE, run_pipeline

TEXT = """graph(%x : Tensor, %n : int):
  %1 : int = prim::Constant[value=1]()
  %a : Tensor = aten::neg(%x)
  %b : Tensor = aten::neg(%a)
  return (%b)"""


def remove_first_negation(graph):
    """Replace the first `neg` by its input; each run removes one."""
    for node in graph.find_all_nodes("aten::neg"):
        node.output().replace_all_uses_with(node.input())
        node.destroy()
        return True
    return False


def test_analyses_are_kept_until_the_graph_changes():
    """Passes share an analysis until the graph changes; outside of a pipeline no analysis is stored."""
    seen = []

    def look(graph):
        seen.append(graph.analysis(AliasDb))
        return False

    def look_again(graph):
        return look(graph)

    graph = parse_ir(TEXT)
    run_pipeline(graph, (look, look_again, remove_first_negation, look))
    assert seen[0] is seen[1] and seen[2] is not seen[0]
    assert graph.analyses is None and graph.analysis(AliasDb) is not graph.analysis(AliasDb)


def test_preserved_analyses_are_kept():
    """An analysis is reused after a change by a pass that declares that it preserves the analysis."""
    seen = []

    def look(graph):
        seen.append(graph.analysis(AliasDb))
        return False

    run_pipeline(parse_ir(TEXT), (look, preserves(AliasDb)(lambda graph: remove_first_negation(graph)), look))
    assert seen[0] is seen[1]


def test_passes_are_skipped_on_unchanged_graphs():
    """In repeated runs, a pass runs again only if the graph changed after its last run without changes."""
    runs = []

    def nothing(graph):
        runs.append("nothing")
        return False

    def remove(graph):
        runs.append("remove")
        return remove_first_negation(graph)

    graph = parse_ir(TEXT)
    assert run_pipeline(graph, (remove, nothing), until_unchanged=True)
    assert not graph.find_all_nodes("aten::neg")
    assert runs == ["remove", "nothing"] * 2 + ["remove"]


def test_passes_are_skipped_without_relevant_nodes():
    """A pass that applies to some kinds of nodes runs only if the graph has such a node."""
    runs = []

    def record(graph):
        runs.append(graph)
        return False

    graph = parse_ir(TEXT)
    run_pipeline(graph, (applies_to("prim::If", "prim::Loop")(record),))
    assert not runs
    run_pipeline(graph, (applies_to("prim::If", "aten::neg")(record),))
    assert runs == [graph]


# `simplify` reorders constant operands without reporting it as a change.
PASSES = {*FRONTEND, *OPTIMIZE, *DIFFERENTIATE} - {simplify}


@pytest.mark.parametrize("run", sorted(PASSES, key=lambda run: run.__name__))
def test_passes_report_their_changes(run):
    """A pass that returns False has not changed the graph; one that preserves aliases changes no alias query."""
    for path in sorted(Path(__file__).parent.glob("*.ir")):
        for _, before, after in read_cases(path):
            for text in (before, after):
                check(run, parse_ir(text))


def check(run, graph):
    before, aliases = str(graph), AliasDb(graph)
    try:
        changed = run(graph)
    except Exception:  # graphs before the conversion to SSA, or with nodes of PyTorch's executor
        return
    assert changed or str(graph) == before
    if AliasDb in getattr(run, "preserves", ()):
        new = AliasDb(graph)
        values = [value for node in graph.all_nodes() for value in node.outputs()] + list(graph.inputs())
        assert [aliases.has_writers(value) for value in values] == [
            new.has_writers(value) for value in values
        ]
        pairs = list(combinations(values, 2))
        assert [aliases.may_alias(*pair) for pair in pairs] == [new.may_alias(*pair) for pair in pairs]


def test_some_pass_preserves_aliases():
    """Loop-invariant code motion preserves aliases, because it only moves nodes."""
    assert AliasDb in preserved_analyses(hoist_loop_invariants)
