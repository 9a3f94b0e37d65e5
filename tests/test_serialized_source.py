"""Files of printed source, with separately parsed definitions (`frontend/serialized_source`)."""

import ast

import pytest

from ts.errors import FrontendError
from ts.frontend import parse
from ts.frontend.serialized_source import PrintedFile
from ts.ir.source import Source

PRINTED = '''\
class Net(Module):
  __parameters__ = ["weight", ]
  weight : Tensor
  __annotations__["0"] = __torch__.Layer
  def forward(self: __torch__.Net,
    x: Tensor) -> Tensor:
    def task():
      return x
    return torch.add(x, 1)
  def elif(self: __torch__.Net) -> str:
    return "def f():\\n  class"

class Empty(Module):
  __parameters__ = []

def helper(x: int) -> int:
  return torch.add(x, 1)
class Pair(NamedTuple):
  a : int
class Mode(Enum):
  A = 1
'''.replace("elif", "other")


def definitions_of_whole_parse(text):
    """Return each definition and method with locations, parsed from the whole text."""
    results = {}
    for node in parse.syntax_tree(Source(text)).body:
        if isinstance(node, ast.ClassDef):
            methods = [member for member in node.body if isinstance(member, ast.FunctionDef)]
            results[node.name] = [(member.name, dump(member)) for member in methods]
        else:
            results[node.name] = dump(node)
    return results


def by_parts(text):
    file = PrintedFile(Source(text))
    results = {}
    for name in definitions_of_whole_parse(text):
        node = file.definition(name)
        assert node is file.definition(name) and node.name == name
        is_class = isinstance(node, ast.ClassDef)
        results[name] = [(method, dump(syntax())) for method, syntax in file.methods(name)] if is_class else dump(node)
    return results


def dump(node):
    return ast.dump(node, include_attributes=True)


TEXTS = {
    "printed": PRINTED,
    "deeper": PRINTED.replace("\n ", "\n   "),
    "a string over lines": PRINTED + 'def last() -> str:\n  return """\ndef helper(x):\n  pass\n"""\n',
    "a line that goes on": PRINTED + "def last() -> int:\n  return 1 + \\\n    2\n",
    "an attribute behind methods": PRINTED.replace("\nclass Empty", "\n  late : int\nclass Empty"),
    "decorators": PRINTED.replace("def helper", "@mark\ndef helper"),
    "two of one name": PRINTED + "def helper(x: int, y: int) -> int:\n  return y\n",
    "comments": PRINTED.replace("\n", "  # class def\n"),
    "nothing": "",
    "other letters": PRINTED.replace("x", "größe"),
    "many lines": PRINTED + "\n" * 5000 + "def last() -> int:\n  return 1\n",
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_separate_parse_equals_whole_parse(text):
    """Parsing definitions separately returns the syntax and locations of a whole parse."""
    assert by_parts(text) == definitions_of_whole_parse(text)


def test_attributes():
    file = PrintedFile(Source(PRINTED))
    node = file.definition("Net")
    assert [type(member).__name__ for member in node.body] == ["Assign", "AnnAssign", "Assign", "Pass"]
    assert file.definition("absent") is None and file.methods("absent") == file.methods("Empty") == []


def test_locations_of_errors():
    """A syntax error in a method is raised when the method is parsed, with its line in the file."""
    text = PRINTED.replace("torch.add(x, 1)\n  def other", "torch.add(x, 1))\n  def other")
    file = PrintedFile(Source(text, "code/net.py"))
    file.definition("Net")
    (_, forward), (_, other) = file.methods("Net")
    assert other().lineno == 10
    with pytest.raises(FrontendError, match=r'unmatched [\s\S]*File "code/net.py", line 9'):
        forward()
