"""Alias analysis: aliasing, mutation and reordering of nodes."""

import itertools

import pytest

import ts
from tests.jit_helpers import needs_interpreted_compiler

from ts.analysis.alias import AliasDb
from ts.analysis.liveness import Liveness
from ts.ir.graph_parser import parse_ir
from ts.passes import constant_pooling, dce


def values_of(graph):
    named = {v.debug_name(): v for v in graph.inputs()}
    for node in graph.all_nodes():
        named |= {v.debug_name(): v for v in node.outputs()}
        for block in node.blocks():
            named |= {v.debug_name(): v for v in block.inputs()}
    return named


def analysed(text):
    graph = parse_ir(text)
    return AliasDb(graph), values_of(graph)


VIEWS = """graph(%a : Tensor, %b : Tensor):
  %0 : int = prim::Constant[value=0]()
  %1 : int = prim::Constant[value=1]()
  %c : Tensor = aten::add(%a, %b, %1)
  %v : Tensor = aten::select(%c, %0, %1)
  %d : Tensor = aten::neg(%c)
  %w : Tensor = aten::add_(%v, %d, %1)
  return (%d)
"""


def test_inputs_may_alias_each_other():
    """Two arguments may be the same tensor; a fresh result aliases neither."""
    db, v = analysed(VIEWS)
    assert db.may_alias(v["a"], v["b"])
    assert not db.may_alias(v["a"], v["c"])


def test_views_alias_their_base():
    """`select` returns a view, `neg` and `add` new memory, `add_` its first argument."""
    db, v = analysed(VIEWS)
    assert db.may_alias(v["c"], v["v"])
    assert db.may_alias(v["c"], v["w"])
    assert not db.may_alias(v["c"], v["d"])


def test_writes_to_views_are_writes_to_bases():
    """A write to a view is a write to its base, and to no unrelated value."""
    db, v = analysed(VIEWS)
    assert db.has_writers(v["c"])
    assert db.has_writers(v["v"])
    assert not db.has_writers(v["d"])
    assert not db.has_writers(v["a"])


def test_numbers_never_alias():
    """Values of immutable types do not alias any value."""
    db, v = analysed(VIEWS)
    assert not db.may_alias(v["0"], v["1"])
    assert not db.has_writers(v["0"])


def test_containers_contain_stored_values():
    """An appended value can be read from its list; a list argument may contain any argument."""
    db, v = analysed(
        """graph(%a : Tensor, %l : Tensor[]):
  %0 : int = prim::Constant[value=0]()
  %c : Tensor = aten::neg(%a)
  %d : Tensor = aten::neg(%a)
  %m : Tensor[] = prim::ListConstruct(%c)
  %e : Tensor = aten::__getitem__(%m, %0)
  %f : Tensor = aten::__getitem__(%l, %0)
  %n : Tensor[] = aten::append(%m, %d)
  return (%e, %f)
"""
    )
    assert db.may_alias(v["e"], v["c"])
    assert db.may_alias(v["e"], v["d"])
    assert db.may_alias(v["f"], v["a"])
    assert not db.may_alias(v["f"], v["c"])
    assert db.may_contain_alias(v["m"], v["c"])
    assert not db.may_alias(v["m"], v["l"])
    assert db.has_writers(v["m"])
    assert not db.has_writers(v["l"])


def test_outputs_of_ifs_and_loops():
    """The output of an `if` aliases both branch results; that of a loop its initial and body values."""
    db, v = analysed(
        """graph(%a : Tensor, %p : bool, %n : int):
  %t : bool = prim::Constant[value=1]()
  %c : Tensor = aten::neg(%a)
  %d : Tensor = aten::neg(%a)
  %e : Tensor = prim::If(%p)
    block0():
      -> (%c)
    block1():
      -> (%d)
  %f : Tensor = prim::Loop(%n, %t, %c)
    block0(%i : int, %g : Tensor):
      %h : Tensor = aten::neg(%g)
      -> (%t, %h)
  return (%e, %f)
"""
    )
    assert db.may_alias(v["e"], v["c"]) and db.may_alias(v["e"], v["d"])
    assert db.may_alias(v["f"], v["c"]) and db.may_alias(v["f"], v["h"])
    assert db.may_alias(v["g"], v["h"])
    assert not db.may_alias(v["f"], v["d"])


def test_wildcards_by_type():
    """A list of ints from outside does not alias a list of strings from outside."""
    db, v = analysed("graph(%a : int[], %b : int[], %c : str[]):\n  return (%a)\n")
    assert db.may_alias(v["a"], v["b"])
    assert not db.may_alias(v["a"], v["c"])


def test_any_may_alias_any_value():
    """A value without a static type can alias any value."""
    db, v = analysed("graph(%a : int[], %b : Any):\n  return (%a)\n")
    assert db.may_alias(v["a"], v["b"])


MOVES = """graph(%x : Tensor, %y : Tensor):
  %1 : int = prim::Constant[value=1]()
  %a : Tensor = aten::neg(%x)
  %b : Tensor = aten::neg(%y)
  %c : Tensor = aten::add(%a, %y, %1)
  %d : Tensor = aten::add_(%b, %1, %1)
  %e : Tensor = aten::neg(%b)
  return (%c, %e)
"""


@pytest.mark.parametrize(
    "moved_node, target, after, moved",
    [
        ("a", "b", True, True),  # independent nodes
        ("a", "d", True, True),  # the definition of %c stays after this node
        ("e", "d", False, False),  # reads what %d writes
        ("c", "b", False, False),  # reads %a, which can be moved together with it
    ],
)
def test_moves_keep_order_of_reads_and_writes(moved_node, target, after, moved):
    """A move never places a use before its definition or reorders a read and a write."""
    graph = parse_ir(MOVES)
    db, v = AliasDb(graph), values_of(graph)
    move = db.move_after_topologically_valid if after else db.move_before_topologically_valid
    result = move(v[moved_node].node(), v[target].node())
    graph.lint()
    if (moved_node, target) == ("c", "b"):
        assert result
    else:
        assert result == moved
        if moved:
            assert v[moved_node].node().is_after(v[target].node()) == after


@pytest.mark.parametrize("after", [True, False])
def test_could_move_agrees_with_move(after):
    """`could_move` does not move nodes and returns the result of the move."""
    names = ["a", "b", "c", "d", "e"]
    for moved_node, target in itertools.permutations(names, 2):
        graph = parse_ir(MOVES)
        db, v = AliasDb(graph), values_of(graph)
        could = db.could_move_after_topologically if after else db.could_move_before_topologically
        move = db.move_after_topologically_valid if after else db.move_before_topologically_valid
        movable = could(v[moved_node].node(), v[target].node())
        assert str(graph) == str(parse_ir(MOVES))
        assert move(v[moved_node].node(), v[target].node()) == movable, (moved_node, target)
        graph.lint()


BRANCHES = """graph(%x : Tensor, %p : bool):
  %1 : int = prim::Constant[value=1]()
  %a : Tensor = aten::neg(%x)
  %b : Tensor = aten::neg(%x)
   = prim::If(%p)
    block0():
      %w : Tensor = aten::add_(%a, %1, %1)
      -> ()
    block1():
      -> ()
  %c : Tensor = aten::neg(%a)
  %d : Tensor = aten::neg(%b)
  return (%c, %d)
"""


def test_effects_of_branches():
    """An `if` blocks only moves of nodes whose memory it reads or writes."""
    graph = parse_ir(BRANCHES)
    db, v = AliasDb(graph), values_of(graph)
    choice = v["w"].node().owning_block().owning_node()
    assert db.is_mutable(choice)
    assert not db.is_mutable(v["c"].node())
    assert not db.move_before_topologically_valid(v["c"].node(), choice)
    assert db.move_before_topologically_valid(v["d"].node(), choice)
    assert db.has_writes_between([v["a"]], v["a"].node(), v["c"].node())
    assert not db.has_writes_between([v["b"]], v["a"].node(), v["c"].node())


def test_queries_on_sequences():
    """Two sequences alias if a value of one aliases a value of the other."""
    db, v = analysed(VIEWS)
    assert db.may_alias([v["a"], v["v"]], [v["d"], v["c"]])
    assert not db.may_alias([v["v"], v["c"]], [v["d"], v["a"]])
    assert db.may_contain_alias([v["d"]], [v["d"], v["a"]])
    assert not db.may_contain_alias([v["d"]], [v["c"]])


GROUP = """graph(%x : Tensor):
  %1 : int = prim::Constant[value=1]()
  %a : Tensor = aten::neg(%x)
  %b : Tensor, %c : Tensor = prim::FusionGroup_0(%a, %x)
  %d : Tensor = aten::neg(%a)
  %e : Tensor = aten::neg(%x)
  return (%b, %c, %d, %e)
with prim::FusionGroup_0 = graph(%p : Tensor, %q : Tensor):
  %1 : int = prim::Constant[value=1]()
  %s : Tensor = aten::add_(%p, %1, %1)
  %t : Tensor = aten::mul(%q, %q)
  return (%s, %t)
"""


def test_effects_of_groups():
    """Results and writes of a group follow from its subgraph."""
    db, v = analysed(GROUP)
    assert db.may_alias(v["b"], v["a"])
    assert not db.may_alias(v["c"], v["a"])
    assert not db.may_alias(v["c"], v["x"])
    group = v["b"].node()
    assert db.is_mutable(group)
    assert not db.move_before_topologically_valid(v["d"].node(), group)
    assert db.move_before_topologically_valid(v["e"].node(), group)


def test_incremental_updates():
    """Replacements and new values reported by a pass need no new analysis."""
    graph = parse_ir(VIEWS)
    db, v = AliasDb(graph), values_of(graph)
    view = graph.insert_node(graph.create("aten::t", [v["c"]], 1)).output()
    db.replace_with_new_value(v["v"], view)
    assert db.may_alias(view, v["c"])
    assert db.has_writers(view)
    inner = graph.insert_node(graph.create("aten::t", [view], 1)).output()
    db.copy_value(view, inner)
    assert db.may_alias(inner, view)


@needs_interpreted_compiler
def test_moves_are_linear():
    """A node with two dependents moves past thousands of nodes in a short time."""
    lines = [f"  %v{i} : Tensor = aten::neg(%x)" for i in range(4_000)]
    lines.insert(1, "  %u : Tensor = aten::neg(%v0)\n  %w : Tensor = aten::neg(%u)")
    graph = parse_ir("graph(%x : Tensor):\n" + "\n".join(lines) + "\n  return (%w)\n")
    db, v = AliasDb(graph), values_of(graph)
    query_count = 0
    reads_of = db.reads_of

    def counted(node):
        nonlocal query_count
        query_count += 1
        return reads_of(node)

    db.reads_of = counted
    assert db.move_after_topologically_valid(v["v0"].node(), v["v3999"].node())
    graph.lint()
    assert v["w"].node().is_after(v["v3999"].node())
    assert query_count < 10  # only nodes of the group: reads of non-writing nodes are not queried


class _ForbiddenAnalysis:
    def __init__(self, graph):
        raise AssertionError("analysed")


@pytest.mark.parametrize("result", ["%z", "%r"])
@needs_interpreted_compiler
def test_constants_that_are_only_read_need_no_analysis(monkeypatch, result):
    """Equal list constants, as inlining leaves them, are pooled without alias analysis."""
    monkeypatch.setattr(constant_pooling, "AliasDb", _ForbiddenAnalysis)
    graph = parse_ir(
        f"""graph(%x : Tensor):
  %p : int[] = prim::Constant[value=[1, 0]]()
  %q : int[] = prim::Constant[value=[1, 0]]()
  %r : int[] = prim::Constant[value=[1, 0]]()
  %y : Tensor = aten::permute(%x, %p)
  %v : Tensor = aten::permute(%y, %q)
  %z : Tensor = aten::permute(%v, %r)
  return ({result})
"""
    )
    first, *others = graph.find_all_nodes("prim::Constant")
    for node in others:
        node.set("value", first["value"], "ival")
    assert constant_pooling.constant_pooling(graph)
    left = 1 if result == "%z" else 2  # a returned list is not pooled
    assert len(graph.find_all_nodes("prim::Constant")) == left


def test_writes_to_buffers_need_no_analysis(monkeypatch):
    """Writes to attributes of an input are visible from outside."""
    monkeypatch.setattr(dce, "AliasDb", _ForbiddenAnalysis)
    graph = parse_ir(
        """graph(%self : __torch__.Net, %x : Tensor):
  %1 : int = prim::Constant[value=1]()
  %norm : __torch__.Norm = prim::GetAttr[name="norm"](%self)
  %count : Tensor = prim::GetAttr[name="count"](%norm)
  %a : Tensor = aten::add_(%count, %1, %1)
  %b : Tensor = aten::neg(%x)
  return (%x)
"""
    )
    assert dce.eliminate_dead_code(graph)
    assert {node.kind() for node in graph.nodes()} == {"prim::Constant", "prim::GetAttr", "aten::add_"}


def test_liveness():
    """A value dies at the last node of its block that reads it, directly or in a nested block."""
    graph = parse_ir(
        """graph(%a : int, %p : bool):
  %b : int = aten::add(%a, %a)
  %c : int = prim::If(%p)
    block0():
      %d : int = aten::neg(%b)
      -> (%d)
    block1():
      -> (%a)
  return (%c)
"""
    )
    live, v = Liveness(graph), values_of(graph)
    choice = v["c"].node()
    assert live.last_use(v["b"]) is choice
    assert live.last_use(v["a"]) is choice
    assert set(live.dying(choice)) == {v["a"], v["b"], v["p"]}
    assert live.last_use(v["c"]) is graph.return_node()
    assert live.last_use(v["d"]) is choice.blocks()[0].return_node()


GIVES_SELF = """
def f(x, y):
    z = x + 0
    d = torch.{name}(z, 0.5, False)
    b = z.exp() * d
    d.add_(y)
    c = z.exp() * d
    return b, c, z, d

def g(x, y):
    z = x + 0
    found = []
    for i in range(3):
        d = torch.{name}(z, 0.0, True)
        v = z.t()
        d.add_(y)
        found.append((v + d).exp())
    return found, z
"""


@pytest.mark.parametrize("name", ["dropout", "feature_dropout", "alpha_dropout", "feature_alpha_dropout"])
def test_inactive_dropout_returns_its_input(name):
    """Inactive dropout returns its input: in-place writes to either tensor are visible in both, optimized or
    not."""
    x, y = ts.ones(2, 2), ts.full((2, 2), 2.0)
    for given in (x, x.t(), ts.ones(4, 2)[::2], ts.ones(0, 2)):
        assert getattr(ts, name)(given, 0.5, False) is given and getattr(ts, name)(given, 0.0, True) is given
    unit = ts.jit.CompilationUnit(GIVES_SELF.format(name=name))
    b, c, z, d = unit.f(x, y)
    assert ts.equal(z, d) and ts.equal(z, ts.full((2, 2), 3.0))
    assert ts.allclose(c, z.exp() * 3) and ts.allclose(b, x.exp())
    result, z = unit.g(x, y)
    assert [each[0, 0].log().item() for each in result] == pytest.approx([6.0, 10.0, 14.0])
    with ts.jit.optimized_execution(False):
        for expected, got in zip((b, c, z), (*unit.f(x, y)[:2], unit.g(x, y)[1])):
            assert ts.equal(expected, got)


def test_operators_that_may_return_their_argument_alias_it():
    graph = ts.jit.CompilationUnit("def f(x):\n  z = x + 0\n  return z.type_as(x), torch.dropout(z, 0.5, False), z.exp()\n").f.graph
    aliases = AliasDb(graph)
    (z,) = [node.output() for node in graph.nodes() if node.kind() == "aten::add"]
    results = {node.kind(): aliases.may_alias(z, node.output()) for node in graph.nodes() if z in node.inputs()}
    assert results == {"aten::type_as": True, "aten::dropout": True, "aten::exp": False}
