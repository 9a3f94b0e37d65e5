"""Pattern rewriting: occurrences are found by data flow, in blocks too, without overlap."""

from ts.ir.read import parse_ir
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
    found = [node.kind() for node in graph.all_nodes()]
    assert changed == any(kind.startswith("my::") for kind in found)
    return found


CHAIN = """graph(%x, %y, %z):
  %t = aten::mul(%x, %y)
  %p = aten::mul(%t, %z)
  %u = aten::mul(%p, %x)
  return (%u)"""


def test_no_overlap():
    """Of two occurrences that share a node the first is rewritten."""
    assert kinds(CHAIN) == ["my::mulmul", "aten::mul"]


def test_inside_is_used_elsewhere():
    """A value that goes away must not be used outside of the occurrence."""
    assert kinds(CHAIN.replace("return (%u)", "return (%u, %t)")) == ["aten::mul", "my::mulmul"]


def test_in_blocks():
    """Occurrences in blocks count; one that spans blocks does not."""
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
    """Constants of the pattern have to be equal, and the caller may refuse an occurrence."""
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
