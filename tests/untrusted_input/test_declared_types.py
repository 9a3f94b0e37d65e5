"""Types declared in an archive are checked before an instruction relies on them.

Without these checks, a number could be used as a memory address.
"""

import pytest

import ts
from tests.untrusted_input.handcrafted_archives import archive, load, module, state
from ts.errors import ArchiveError, CompilationError

CLASSES = """\
class A:
  s : str
class B:
  n : int
class I(Interface):
  def f(self) -> str:
    pass
class F:
  def f(self: __torch__.F) -> int:
    return 1311768467463790320
class E(Enum):
  one = 1
class Pair(NamedTuple):
  s : str
  t : str
"""
ADDRESS = "1311768467463790320"


def run(body, *arguments, parameters=""):
    return load(archive(module(body, CLASSES, parameters=parameters)))(*arguments)


@pytest.mark.parametrize(
    ("type", "value"),
    [
        ("List[str]", f"[{ADDRESS}]"),
        ("List[int]", "['text']"),
        ("List[List[str]]", f"[[{ADDRESS}]]"),
        ("List[Any]", "[1]"),
        ("List[Optional[int]]", "[1]"),
        ("str", "annotate(Any, [1])"),
        ("str", "annotate(Any, 1)"),
        ("int", "annotate(Any, 1.5)"),
        ("float", "annotate(Any, True)"),
        ("int", "annotate(Optional[int], None)"),
        ("Tensor", "'text'"),
        ("Tensor", "annotate(Any, [1])"),
        ("Device", "'cpu'"),
        ("complex", "1."),
        ("Dict[str, int]", f"{{{ADDRESS}: 2}}"),
        ("Tuple[int, int, int]", "(1,)"),
        ("Tuple[str, int]", f"({ADDRESS}, 1)"),
        ("Tuple[Tuple[str], int]", f"(({ADDRESS},), 1)"),
        ("__torch__.Pair", f"('text', {ADDRESS})"),
        ("Optional[List[str]]", f"annotate(Optional[List[int]], [{ADDRESS}])"),
        ("__torch__.A", "__torch__.B.__new__(__torch__.B)"),
        ("__torch__.A", "annotate(Any, __torch__.B.__new__(__torch__.B))"),
        ("__torch__.A", "[1]"),
        ("__torch__.I", "__torch__.F.__new__(__torch__.F)"),
        ("__torch__.I", "__torch__.A.__new__(__torch__.A)"),
        ("__torch__.I", "'text'"),
        ("__torch__.E", "1"),
        ("__torch__.E", "annotate(Any, 'one')"),
        ("Future[int]", "'text'"),
        ("Future[int]", "[1]"),
        ("Generator", "'text'"),
    ],
)
def test_casts(type, value):
    """An `unchecked_cast` to a wrong type raises RuntimeError with the source location of the cast."""
    with pytest.raises(RuntimeError, match="is not of type") as error:
        run(f"x = unchecked_cast({type}, {value})\nreturn x")
    assert "unchecked_cast" in str(error.value)


@pytest.mark.parametrize(
    ("type", "value", "expected"),
    [
        ("int", "annotate(Any, 3)", 3),
        ("Optional[int]", "annotate(Any, None)", None),
        ("List[str]", "annotate(Any, ['a'])", ["a"]),
        ("Tuple[Any, Any]", "(1, 'a')", (1, "a")),
        ("Tuple[Optional[int], str]", "annotate(Any, (1, 'a'))", (1, "a")),
        ("Union[int, str]", "annotate(Any, 'a')", "a"),
        ("__torch__.Pair", "annotate(Any, ('a', 'b'))", ("a", "b")),
        ("Dict[str, List[int]]", "annotate(Any, {'a': [1]})", {"a": [1]}),
    ],
)
def test_true_casts(type, value, expected):
    """A cast to the type of the value returns the value."""
    assert run(f"x = unchecked_cast({type}, {value})\nreturn x") == expected


@pytest.mark.parametrize(
    ("type", "use", "outcome"),
    [
        ("str", "torch.len(x)", 0),
        ("List[List[str]]", "torch.len(x)", 0),
        ("Dict[str, str]", "torch.len(x)", 0),
        ("Tuple[int, List[str]]", "torch.len(x[1])", 0),
        ("Tensor", "torch.dim(x)", 1),
        ("Optional[str]", "x", None),
        ("Union[str, int]", "x", 0),
        ("__torch__.E", "x.value", 1),
        ("__torch__.Pair", "torch.len(x.t)", 0),
        ("__torch__.A", "x.s", "no value for attribute 's'"),
        ("Tuple[Tensor, __torch__.A]", "(x[1]).s", "no value for attribute 's'"),
        ("__torch__.I", "(x).f()", "has no method 'f'"),
        ("Future[int]", "torch.wait(x)", "was never assigned"),
    ],
)
def test_uninitialized(type, use, outcome):
    """An uninitialized value has the blank value of its type, or raises an error at its use."""
    body = f"x = uninitialized({type})\nreturn {use}"
    if not (isinstance(outcome, str) and outcome):
        assert run(body) == outcome
        return
    with pytest.raises(RuntimeError, match=outcome):
        run(body)


def test_uninitialized_from_outside():
    """A type without a blank value cannot be declared with `uninitialized`."""
    with pytest.raises(CompilationError, match="cannot be left uninitialized"):
        run("x = uninitialized(Generator)\nreturn torch.rand([2], generator=x)")


def test_variables_of_branches():
    """An uninitialized value that leaves a branch is checked like one that is read directly."""
    body = f"if b:\n  x = uninitialized(List[str])\nelse:\n  x = ['text']\ny = {ADDRESS}\nreturn torch.len(x)"
    loaded = load(archive(module(body, parameters=", b: bool")))
    assert loaded(True) == 0
    assert loaded(False) == 1


def test_unions_of_classes():
    """A method with different signatures in two classes is not a method of their union."""
    classes = (
        "class A:\n  def f(self: __torch__.A, i: int) -> int:\n    return i\n"
        "class B:\n  def f(self: __torch__.B, i: str) -> int:\n    return torch.len(i)\n"
    )
    body = (
        "if b:\n  x = __torch__.A.__new__(__torch__.A)\nelse:\n  x = __torch__.B.__new__(__torch__.B)\n"
        f"return (x).f({ADDRESS})"
    )
    with pytest.raises(CompilationError, match=r"the method f of .* is not the same"):
        load(archive(module(body, classes, parameters=", b: bool")))(False)


def test_futures():
    """The result of a future is checked against the declared type."""
    body = "def task():\n  return ['text']\nf = unchecked_cast(Future[{}], fork(task))\nreturn torch.wait(f)"
    assert run(body.format("List[str]")) == ["text"]
    for type in ("List[int]", "int", "__torch__.A", "Tensor", "Tuple[str]"):
        with pytest.raises(RuntimeError, match="wait"):
            run(body.format(type))


@pytest.mark.parametrize(
    ("type", "piece"),
    [
        ("int", b"X\x01\x00\x00\x00a"),
        ("str", b"K\x01"),
        ("Tensor", b"X\x01\x00\x00\x00a"),
        ("List[str]", b"](K\x01e"),
        ("Dict[str, int]", b"}K\x01K\x02s"),
        ("Tuple[str, int]", b"K\x01\x85"),
        ("__torch__.A", b"K\x01"),
        ("__torch__.A", b"c__torch__\nB\n)\x81}X\x01\x00\x00\x00nK\x01sb"),
        ("__torch__.I", b"c__torch__\nF\n)\x81}b"),
        ("__torch__.E", b"K\x01"),
        ("Future[int]", b"K\x01"),
        ("Union[int, str]", b"](K\x01e"),
    ],
)
def test_attributes(type, piece):
    """An attribute value in a pickle must have the attribute's declared type."""
    source = module("return 1", CLASSES, attributes=f"a : {type}")
    with pytest.raises(ArchiveError):
        load(archive(source, state(a=piece)))


def test_untrusted_state_methods():
    """Casts in `__setstate__`, which runs while an archive is loaded, are checked, too."""
    source = module("return torch.len(self.a[0])", attributes="a : List[str]") + (
        "  def __setstate__(self: __torch__.M, state: List[int]) -> NoneType:\n"
        "    self.a = unchecked_cast(List[str], state)\n    return None\n"
    )
    data = b"\x80\x02c__torch__\nM\n)\x81](\x8a\x08" + b"\x12" * 8 + b"eb."
    with pytest.raises(RuntimeError, match="a value of type List\\[int\\] is not of type List\\[str\\]"):
        load(archive(source, data))


def test_strings():
    """Casts in `CompilationUnit` source and graph text are checked, too."""
    unit = ts.jit.CompilationUnit(f"def f():\n    l = unchecked_cast(List[str], [{ADDRESS}])\n    return torch.len(l[0])\n")
    with pytest.raises(RuntimeError, match="is not of type"):
        unit.f()
    graph = ts.parse_ir(
        "graph(%x : int[]):\n  %s : str[] = prim::unchecked_cast(%x)\n  %i : int = prim::Constant[value=0]()\n"
        "  %t : str = aten::__getitem__(%s, %i)\n  %n : int = aten::len(%t)\n  return (%n)"
    )
    with pytest.raises(RuntimeError, match="is not of type"):
        ts.jit.create_function_from_graph("f", graph)([int(ADDRESS)])


@pytest.mark.parametrize(
    ("type", "value"),
    [
        ("int", '"text"'),
        ("str", "3"),
        ("str[]", "[1, 2]"),
        ("int[]", '["text"]'),
        ("(int, str)", "(1, 2)"),
        ("Tensor", '"text"'),
        ("Tensor", "3"),
        ("Device", "3"),
        ("Device", "[1]"),
        ("Dict(str, int)", "[1]"),
        ("float", '"text"'),
        ("int?", '"text"'),
        ("Future(int)", '"text"'),
    ],
)
def test_constants_of_graphs(type, value):
    """Graph constants must match their declared types."""
    graph = ts.parse_ir(f"graph():\n  %c : {type} = prim::Constant[value={value}]()\n  return (%c)")
    with pytest.raises(CompilationError):
        ts.jit.create_function_from_graph("f", graph)()


def test_source_is_not_slowed():
    """Functions compiled from Python source contain no run-time type checks for their casts."""

    def first(x: ts.Tensor | None) -> ts.Tensor:
        return x if x is not None else ts.ones(1)

    script = ts.jit.script(first)
    script(None)
    assert not [node for node in script.graph.find_all_nodes("prim::unchecked_cast") if node.needs_type_check]
