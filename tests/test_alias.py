"""The alias analysis: what may share memory, who writes to it, and which nodes may change places."""

import pytest

from ts.analysis.alias import AliasDb
from ts.analysis.liveness import Liveness
from ts.ir.read import parse_ir


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
    """Two arguments may be the same tensor; a fresh result is neither."""
    db, v = analysed(VIEWS)
    assert db.may_alias(v["a"], v["b"])
    assert not db.may_alias(v["a"], v["c"])


def test_views_alias_their_base():
    """`select` gives a view; `neg` and `add` give new memory; `add_` gives its first argument."""
    db, v = analysed(VIEWS)
    assert db.may_alias(v["c"], v["v"])
    assert db.may_alias(v["c"], v["w"])
    assert not db.may_alias(v["c"], v["d"])


def test_writers_reach_through_views():
    """A write to a view is a write to its base, and to nothing else."""
    db, v = analysed(VIEWS)
    assert db.has_writers(v["c"])
    assert db.has_writers(v["v"])
    assert not db.has_writers(v["d"])
    assert not db.has_writers(v["a"])


def test_numbers_never_alias():
    """Values of immutable types have no memory."""
    db, v = analysed(VIEWS)
    assert not db.may_alias(v["0"], v["1"])
    assert not db.has_writers(v["0"])


def test_containers_hold_what_is_stored():
    """What is appended to a list comes out of it; a list that is an argument may hold any argument."""
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


def test_ifs_and_loops_join():
    """An if's output may be either side's; a loop's, the initial value or the body's."""
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
    """A list of ints from outside is no list of strings from outside."""
    db, v = analysed("graph(%a : int[], %b : int[], %c : str[]):\n  return (%a)\n")
    assert db.may_alias(v["a"], v["b"])
    assert not db.may_alias(v["a"], v["c"])


def test_any_may_be_anything():
    """A value without a static type may be any argument."""
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
    "mover, target, after, moved",
    [
        ("a", "b", True, True),  # independent
        ("a", "d", True, True),  # %c follows
        ("e", "d", False, False),  # reads what %d writes
        ("c", "b", False, False),  # needs %a, and %a may go along: still before %b
    ],
)
def test_moves_keep_order_of_reads_and_writes(mover, target, after, moved):
    """A node moves only where no value is used before it exists, and no read changes places with a write."""
    graph = parse_ir(MOVES)
    db, v = AliasDb(graph), values_of(graph)
    move = db.move_after_topologically_valid if after else db.move_before_topologically_valid
    result = move(v[mover].node(), v[target].node())
    graph.lint()
    if (mover, target) == ("c", "b"):
        assert result
    else:
        assert result == moved
        if moved:
            assert v[mover].node().is_after(v[target].node()) == after


def test_liveness():
    """A value dies at the last node of its own block that reads it, itself or in its blocks."""
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
    assert list(live.outer_values(choice.blocks()[0])) == [v["b"]]
    assert live.last_use(v["c"]) is graph.return_node()
    assert live.last_use(v["d"]) is choice.blocks()[0].return_node()
