"""Pattern rewriting: occurrences are found by data flow, also in blocks, without overlap."""

import pytest

import ts
from ts.ir.graph_parser import parse_ir
from ts.passes.subgraph_rewrite import rewrite

PATTERN = """graph(%a, %b, %c):
  %q = aten::mul(%a, %b)
  %r = aten::mul(%q, %c)
  return (%r)"""
FUSED = """graph(%a, %b, %c):
  %r = my::mulmul(%a, %b, %c)
  return (%r)"""


def kinds(text, accept=None, pattern=PATTERN, replacement=FUSED):
    graph = parse_ir(text)
    changed = rewrite(pattern, replacement, graph, accept)
    graph.lint()
    results = [node.kind() for node in graph.all_nodes()]
    assert changed == any(kind.startswith("my::") for kind in results)
    return results


CHAIN = """graph(%x, %y, %z):
  %t = aten::mul(%x, %y)
  %p = aten::mul(%t, %z)
  %u = aten::mul(%p, %x)
  return (%u)"""


def test_no_overlap():
    """Of two overlapping occurrences, the first is rewritten."""
    assert kinds(CHAIN) == ["my::mulmul", "aten::mul"]


def test_inner_values_used_outside_prevent_a_match():
    """A value that the rewrite removes must not be used outside of the occurrence."""
    assert kinds(CHAIN.replace("return (%u)", "return (%u, %t)")) == ["aten::mul", "my::mulmul"]


def test_in_blocks():
    """Occurrences inside of a block are rewritten; occurrences that span blocks are not."""
    text = """graph(%x, %c : bool):
  %t = aten::mul(%x, %x)
  %r = prim::If(%c)
    block0():
      %p = aten::mul(%t, %x)
      -> (%p)
    block1():
      %q = aten::mul(%x, %x)
      %s = aten::mul(%q, %x)
      -> (%s)
  return (%r)"""
    assert kinds(text) == ["aten::mul", "prim::If", "aten::mul", "my::mulmul"]


def test_attributes_and_filter():
    """Constants must equal the pattern's, and the caller's filter can reject an occurrence."""
    pattern = """graph(%a):
  %one : int = prim::Constant[value=1]()
  %r = aten::add(%a, %a, %one)
  return (%r)"""
    replacement = "graph(%a):\n  %r = my::double(%a)\n  return (%r)"
    text = """graph(%x):
  %n : int = prim::Constant[value={}]()
  %y = aten::add(%x, %x, %n)
  return (%y)"""
    assert "my::double" in kinds(text.format(1), None, pattern, replacement)
    assert "my::double" not in kinds(text.format(2), None, pattern, replacement)
    assert "my::double" not in kinds(text.format(1), lambda values: False, pattern, replacement)


def function(body):
    return ts.jit.CompilationUnit(f"def f(a, b, c):\n{body}").f


MULTIPLY_ADD = """graph(%a, %b, %c, %o):
  %m = aten::mul(%a, %b)
  %r = aten::add(%m, %c, %o)
  return (%r)"""
ADDCMUL = """graph(%a, %b, %c, %o):
  %r = aten::addcmul(%c, %a, %b, %o)
  return (%r)"""


def test_occurrence_that_reads_another():
    f = function("  return (a * b + c) * b + c\n")
    assert rewrite(MULTIPLY_ADD, ADDCMUL, f.graph)
    f.graph.lint()
    assert [n.kind() for n in f.graph.nodes()][-2:] == ["aten::addcmul"] * 2
    assert f(ts.tensor(2.0), ts.tensor(3.0), ts.tensor(1.0)).item() == 22
    g = ts.jit.CompilationUnit("def f(a):\n  return a.neg().neg().neg().neg()\n").f
    negs = "graph(%a):\n  %m = aten::neg(%a)\n  %r = aten::neg(%m)\n  return (%r)"
    assert rewrite(negs, "graph(%a):\n  %r = aten::abs(%a)\n  return (%r)", g.graph)
    g.graph.lint()
    assert g(-ts.ones(1)).item() == 1


@pytest.mark.parametrize(
    ("body", "changes"),
    [
        ("  m = a * b\n  a.add_(1)\n  return m + c\n", False),  # c can alias a
        ("  m = a * b\n  d = a + 1\n  d.add_(1)\n  return m + c\n", True),
        ("  m = a * b\n  b.zero_()\n  return m + c\n", False),
    ],
)
def test_no_occurrence_is_moved_past_a_write(body, changes):
    f, same = function(body), function(body)
    assert rewrite(MULTIPLY_ADD, ADDCMUL, f.graph) == changes
    f.graph.lint()
    arguments = [ts.tensor(x) for x in (2.0, 3.0, 1.0)]
    assert f(*(x.clone() for x in arguments)).item() == same(*(x.clone() for x in arguments)).item()


def test_replacement_stays_before_a_write():
    body = "  m = a * 2\n  a.zero_()\n  return m.neg()\n"
    f = ts.jit.CompilationUnit(f"def f(a):\n{body}").f
    pattern = "graph(%a, %b):\n  %m = aten::mul(%a, %b)\n  %r = aten::neg(%m)\n  return (%r)"
    replacement = "graph(%a, %b):\n  %n = aten::neg(%a)\n  %r = aten::mul(%n, %b)\n  return (%r)"
    assert rewrite(pattern, replacement, f.graph)
    assert f(ts.tensor(3.0)).item() == -6


@pytest.mark.parametrize(
    ("run", "body", "last"),
    [
        ("_jit_pass_fuse_linear", "  return torch.matmul(torch.matmul(a, b.t()), b.t()) + c\n", "aten::linear"),
        ("_jit_pass_fuse_add_relu", "  return torch.relu(torch.add(torch.relu(torch.add(a, b)), c))\n", "aten::_add_relu"),
    ],
)  # fmt: skip
def test_passes_that_rewrite_chains(run, body, last):
    f, same = function(body), function(body)
    getattr(ts._C, run)(f.graph)
    f.graph.lint()
    assert last in [node.kind() for node in f.graph.nodes()]
    arguments = ts.ones(2, 2), ts.ones(2, 2), ts.ones(2, 2)
    assert f(*arguments).equal(same(*arguments))
