"""`parse_ir` with invalid text: an error with a location for any text."""

import random

import pytest

from ts.errors import ParseError
from ts.ir.graph_parser import parse_ir

TEXT = """graph(%a : Float(2, 3, strides=[3, 1], requires_grad=0, device=cpu), %b : Union(int, str), %c : Future(int)):
  %1 : complex = prim::Constant[value=1+2j]()
  %2 : int[] = prim::Constant[value=[1, -2, 3]]()
  %3 : (int, str) = prim::Constant[value=(1, "a\\n")]()
  %4 : Device = prim::Constant[value="cpu"]()
  %5 : Tensor = prim::Constant[value={1}]()
  %6 : Dict(str, int) = prim::Constant[value={"a": 1}]() # a.py:3:4
  %7 : bool = prim::isinstance[types=[int, str[]]](%b)
  %n : int, %s : int? = prim::Loop(%2, %7)
    block0(%i : int):
      %8 : float = prim::Constant[value=-inf]()
      %9 : int = prim::If(%7) # a.py:4:4
        block0():
          -> (%i)
        block1():
          %10 : NamedTuple(x : int, y : Tensor) = prim::TupleConstruct(%i, %a), scope: one/two # a.py:5:0
          -> (%i)
      -> (%7)
  return (%a, %7)
"""
PIECES = """% ( ) [ ] { } : = -> - . ? " # , * ! < \\ 0 1e999 99999999999999999999 -- inf nan int Tensor graph return
block0 prim::If value :: Dict( Float( Union() NamedTuple( %1 %x.1 annotate( torch.device( Future() \x00 é""".split()


def mutated(random):
    """Return TEXT with one to three random changes: characters removed, inserted, copied or cut off."""
    text = TEXT
    for _ in range(random.randint(1, 3)):
        at = random.randrange(len(text))
        match random.randrange(5):
            case 0:
                text = text[:at] + text[at + random.randint(1, 6) :]
            case 1 | 2:
                text = text[:at] + random.choice(PIECES) + text[at:]
            case 3:
                other = random.randrange(len(text))
                text = text[:at] + text[other : other + 20] + text[at + 20 :]
            case 4:
                text = text[:at] or " "
    return text


@pytest.mark.parametrize("seed", range(8))
def test_mutated(seed):
    """A mutated graph text is parsed and printed, or rejected with a source location."""
    generator = random.Random(seed)
    refused = 0
    for _ in range(150):
        text = mutated(generator)
        try:
            str(parse_ir(text))
        except ParseError as error:
            assert error.text == text and 0 <= error.position <= len(text), text
            assert "<--- HERE" in str(error)
            refused += 1
    assert refused > 50


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "unexpected end of text"),
        ("graph():", "unexpected end of text"),
        ("graph(%x : Float(2.5)):\n  return ()", "expected an integer but found '2.5'"),
        ("graph(%x : Float(2, strides=[a])):\n  return ()", "expected a number but found 'a'"),
        ("graph(%x : Future()):\n  return ()", "Future takes one type but has 0"),
        ("graph():\n  %1 : int = prim::Constant[value=-[1]]()\n  return ()", "expected a number after '-'"),
        ("graph():\n  %1 : Dict(int, int) = prim::Constant[value={[]: 1}]()\n  return ()", "a list cannot be a key of a dict"),
        ("graph(%x : NamedTuple(a : Dict(int, int) = {{}: 1})):\n  return ()", "a dict cannot be a key of a dict"),
        ("graph(%x : NamedTuple(a : float = 1" + "0" * 400 + ")):\n  return ()", "expected a number but found '1000"),
        ("graph():\n  %1 : float = prim::Constant[value=1" + "0" * 5000 + "]()\n  return ()", "expected a number but found '1000"),
        ("graph(%x : " + "(" * 1_000_000, "the graph text is nested too deeply"),
    ],
)  # fmt: skip
def test_invalid(text, message):
    """The error for invalid text has its cause and location."""
    with pytest.raises(ParseError) as error:
        parse_ir(text)
    assert error.value.message.startswith(message)
    assert text == "" or "<--- HERE" in str(error.value)
