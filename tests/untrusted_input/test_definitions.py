"""Invalid definitions in an archive raise an error of the archive, with the source location where known."""

import gc
import io
from enum import Enum
from typing import Any, Tuple

import pytest

import ts
from tests.untrusted_input.handcrafted_archives import archive, load, module, text
from ts.errors import ArchiveError, CompilationError, FrontendError

HUGE = "0x" + "f" * 100_000


def run_constant(piece, body="return CONSTANTS.c0"):
    return load(archive(module(body), constants=b"\x80\x02" + piece + b"\x85."))()


@pytest.mark.parametrize(
    "piece",
    [
        b"](K\x01" + text("a") + b"e",
        b"](K\x01G?\xf0\x00\x00\x00\x00\x00\x00e",
        b"}(K\x01K\x02" + text("a") + b"K\x03u",
        b"c__torch__\nM\n)\x81}b",
        b"c__torch__\nM\n",
    ],
    ids=["list", "numbers", "keys", "object", "class"],
)
def test_constants_without_a_type(piece):
    """Constants without a type are rejected: lists and dicts of mixed types, objects, and classes."""
    with pytest.raises(CompilationError, match="not supported as a constant") as error:
        run_constant(piece)
    assert "CONSTANTS.c0\n" in str(error.value) and "<--- HERE" in str(error.value)


@pytest.mark.parametrize("name", ["ctorch\nfloat32\n", "cbuiltins\nprint\n", "cos\nsystem\n"])
def test_global_names_in_constants(name):
    """A pickle may refer only to the names allowed in archives; other Python names raise `ArchiveError`."""
    with pytest.raises(ArchiveError, match="is not allowed in archives"):
        run_constant(name.encode())


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("return CONSTANTS.c7", "unknown constant CONSTANTS.c7"),
        ("return CONSTANTS.x", "unknown constant CONSTANTS.x"),
        ("return CONSTANTS.c" + "9" * 5000, "unknown constant CONSTANTS.c999"),
        ("return torch.dim(CONSTANTS.c0)", "instead found type 'NoneType'"),
        ("return torch.dim(annotate(Tensor, CONSTANTS.c0))", "expected an expression of type Tensor"),
        ("return torch.dim(annotate(Tensor, None))", "expected an expression of type Tensor"),
    ],
)
def test_uses_of_constants(body, message):
    with pytest.raises(FrontendError, match=message) as error:
        run_constant(b"N", body)
    assert "<--- HERE" in str(error.value)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('__forward_hooks__ = ["nope", ]', "the class has no hook 'nope'"),
        ('__forward_pre_hooks__ = ["nope", ]', "the class has no hook 'nope'"),
        ("__forward_hooks__ = 3", "expected a list of names"),
        ("__forward_hooks__ = [nope, ]", "expected a list of names"),
        ("__parameters__ = 3", "expected a list of names"),
        ("a : Final[int] = CONSTANTS.c5", "this is not a constant"),
        ("a : Final[int] = 10**10**10", "this is not a constant"),
        (f"a : Final[int] = {HUGE}", "this value is not supported as a constant"),
        ("a : Final[int]", "Unknown type constructor Final"),
    ],
)
def test_lines_of_modules(line, message):
    """Module attribute lines with unknown hooks or invalid constants raise `FrontendError`."""
    source = f"class M(Module):\n  {line}\n  def forward(self: __torch__.M) -> int:\n    return 1\n"
    with pytest.raises(FrontendError, match=message) as error:
        load(archive(source))()
    assert "<--- HERE" in str(error.value)


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ("A = 1\n  B = 'x'", "Could not unify type list"),
        ("A = [1]", "Cannot create Enum with value type"),
        ("A = None", "Cannot create Enum with value type"),
        ("A = 1j", "Cannot create Enum with value type"),
        ("A = True", "Cannot create Enum with value type"),
        ("A = CONSTANTS.c5", "this is not a constant"),
        (f"A = {HUGE}", "this value is not supported as a constant"),
        ("A : int = 3", "an enumeration may only contain members"),
        ("A = B", "this is not a constant"),
        ("A = 1\n  A = 2", "duplicate member of an enumeration"),
        ("_E__a = 1", "'_E__a' cannot be the name of an enumeration's member"),
    ],
)
def test_members_of_enums(members, message):
    source = module("return __torch__.E.A", f"class E(Enum):\n  {members}\n")
    with pytest.raises(FrontendError, match=message) as error:
        load(archive(source))()
    assert "<--- HERE" in str(error.value)


RESERVED = [name for name in {*dir(Enum), *dir(type(Enum)), *dir(object)} if name.endswith("_")] + ["mro", "_a_", "__del__", "__slots__"]


@pytest.mark.parametrize("name", ["_ignore_", "_order_", "_missing_", "__new__", "__getattr__", *sorted(RESERVED)])
@pytest.mark.usefixtures("freeze_objects")
def test_reserved_enum_names(name, recwarn, capfd):
    """Enum members with names that Python reserves raise `CompilationError`; no code is called by these
    names."""
    for members in (f"{name} = 1", f"{name} = 'x'\n  A = 'y'", f"A = 1\n  {name} = 2"):
        source = module("return __torch__.E.A", f"class E(Enum):\n  {members}\n")
        with pytest.raises(CompilationError, match=f"'{name}' cannot be the name of an enumeration's member") as error:
            load(archive(source))()
        assert "class E" in str(error.value) and "<--- HERE" in str(error.value)
    gc.collect()
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("name", ["name", "value", "names", "_", "__", "_a", "a_", "__a", "__a_", "É"])
def test_valid_enum_member_names(name):
    source = module(f"return (__torch__.E.{name}, __torch__.E.A)", f"class E(Enum):\n  A = 1\n  {name} = 2\n")
    member, other = load(archive(source))()
    assert (member.name, member.value, other.name, other.value) == (name, 2, "A", 1)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ("_x : int", "cannot start with an underscore: '_x'"),
        ("__class__ : int", "cannot start with an underscore: '__class__'"),
        ("x : int\n  x : float", "duplicate field name: 'x'"),
        ("__annotations__['class'] = int", "cannot be a keyword: 'class'"),
        ("__annotations__['0'] = int", "must be valid identifiers: '0'"),
        ("__annotations__['a b'] = int", "must be valid identifiers: 'a b'"),
    ],
)
def test_fields_of_named_tuples(fields, message):
    source = module("return __torch__.T(1)", f"class T(NamedTuple):\n  {fields}\n")
    with pytest.raises(CompilationError, match=message) as error:
        load(archive(source))()
    assert "class T" in str(error.value) and "<--- HERE" in str(error.value)


@pytest.mark.parametrize("annotation", ["E.mro", "E.__class__", "M.forward", "M.mro"])
def test_attributes_of_python_classes(annotation):
    """Attributes of Python classes cannot be named from an archive."""
    for line in (f"a : __torch__.{annotation}", f"a : Final[int] = [__torch__.{annotation}]"):
        source = f"class E(Enum):\n  A = 1\nclass M(Module):\n  {line}\n  def forward(self: __torch__.M):\n    return 1\n"
        with pytest.raises(CompilationError, match=r"Unknown type name|this is not a constant"):
            load(archive(source))()


@pytest.mark.parametrize(
    "default",
    [
        "int = -'a'",
        "Device = torch.device('a b')",
        f"int = CONSTANTS.c{'9' * 5000}",
        f"float = 0x{'f' * 1000}",
        f"complex = 0x{'f' * 1000}",
        "int = 0x1ffffffffffffffff",
        "Dict[int, int] = {[1]: 2}",
        "int = __torch__.M.forward",
    ],
)
def test_defaults(default):
    source = module("return 1", "").rstrip() + f"\n  def g(self, x: {default}) -> int:\n    return 1\n"
    with pytest.raises(FrontendError, match="Expected a default value") as error:
        print(load(archive(source)).g.schema)
    assert "<--- HERE" in str(error.value)


@pytest.mark.parametrize("size", ["", "x", "99999999", "9" * 5000])
def test_sizes_of_broadcasting_lists(size):
    """The size in `BroadcastingList` must be a positive integer."""
    source = module("return 1", "").rstrip() + f"\n  def g(self, x: BroadcastingList{size}[int]) -> int:\n    return 1\n"
    with pytest.raises(CompilationError, match="must be a positive integer"):
        print(load(archive(source)).g.schema)


@pytest.mark.parametrize(
    "expression",
    [
        "__torch__.M.__new__(List[int])",
        "__torch__.M.__new__(3)",
        "__torch__.M.__new__()",
        "__torch__.X.__new__(__torch__.X)",
        "__torch__.I.__new__(__torch__.I)",
        "__torch__.E.__new__(__torch__.E)",
        "int.__new__(int)",
        "List[int].__new__(List[int])",
    ],
)
def test_new_objects(expression):
    """`__new__` creates instances of script classes only; interfaces, enums and other types are rejected."""
    definitions = "class I(Interface):\n  def f(self) -> int:\n    pass\nclass E(Enum):\n  a = 1\n"
    with pytest.raises(CompilationError) as error:
        load(archive(module(f"return {expression}", definitions)))()
    assert "<--- HERE" in str(error.value)


@pytest.mark.parametrize("literal", ["0x" + "f" * 40, HUGE, "0b" + "1" * 100, "0x8000000000000000", "9" * 30])
def test_large_numbers(literal):
    """Integers of more than 64 bits raise `CompilationError` at their source location, with a short
    message."""
    with pytest.raises(CompilationError, match="must fit in a signed 64 bit integer") as error:
        load(archive(module(f"return {literal}")))()
    assert len(str(error.value).partition("\n")[0]) < 200
    assert "<--- HERE" in str(error.value)


def test_integers_above_the_python_digit_limit():
    with pytest.raises(FrontendError, match="limit"):
        load(archive(module("return " + "1" * 5000)))()


# ---- Python objects with the same defects ----------------------------------------------------------------------


class Leaf(ts.nn.Module):
    def forward(self, x: int) -> int:
        return x


@pytest.mark.parametrize("compile", [ts.jit.script, lambda m: ts.jit.trace_module(m, {"forward": (ts.ones(1),)})])
@pytest.mark.parametrize("length", [1, 2, 5])
def test_modules_that_contain_themselves(compile, length):
    """A module that contains itself, directly or through submodules, raises `RuntimeError`."""
    ring = [Leaf() for _ in range(length)]
    for leaf, following in zip(ring, [*ring[1:], ring[0]], strict=True):
        leaf.next = following
    with pytest.raises(RuntimeError, match="a module of class 'Leaf' contains itself"):
        compile(ring[0])


@ts.jit.script
def doubled(n: int) -> Any:
    a: Any = 1
    for _ in range(n):
        a = (a, a)
    return a


@ts.jit.script
def doubled_within(n: int) -> bool:
    a: Any = 1
    for _ in range(n):
        a = (a, a)
    return isinstance(a, Tuple[Any, Any])


def test_shared_pairs_as_any():
    """Nested pairs of one value, passed as `Any`, need memory linear in their depth, in scripts and Python."""
    given = doubled(200)
    for _ in range(200):
        assert given[0] is given[1]
        given = given[0]
    assert given == 1
    assert doubled_within(200) and not doubled_within(0)


@pytest.mark.parametrize("mark", ["__parameters__", "__buffers__"])
def test_parameters_are_tensors_of_the_class(mark):
    """Names in `__parameters__` and `__buffers__` must be tensor attributes of the class."""
    for attributes in ("", "  x : int\n"):
        source = f"class M(Module):\n  {mark} = ['x']\n{attributes}  def forward(self: __torch__.M):\n    return 1\n"
        with pytest.raises(CompilationError, match="has no tensor 'x'"):
            load(archive(source))


def test_invalid_class_is_rejected_repeatedly():
    """A class with an invalid definition raises the same error at each use; no partial class remains."""
    source = module(
        "return __torch__.Half.__new__(__torch__.Half).__init__()",
        "class Half:\n  n : int\n  __parameters__ = []\n  def __init__(self: __torch__.Half) -> NoneType:\n    return None\n",
    )
    expression = load(archive(source))
    for _ in range(2):
        with pytest.raises(FrontendError, match=r"__parameters__ = \[\]"):
            expression()
    assert [each.kind for each in ts.jit.missing(io.BytesIO(archive(source)))] == ["code"]


BLOCK = """\
with torch.jit.{name}(x="inp:int", c="out:int"):
  print("this ran as Python")
  c = len([each for each in range(x) if each > 2])
return c"""


@pytest.mark.parametrize("name", ["_IgnoreContextManager", "ignore_context_manager"])
def test_python_blocks_in_text_are_rejected(name, capfd):
    """Text of an archive or a `CompilationUnit` cannot contain blocks that run as Python; only live functions
    can."""
    body = BLOCK.format(name=name)
    with pytest.raises(FrontendError):
        load(archive(module(body, parameters=", x: int")))(5)
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    with pytest.raises(FrontendError, match="<--- HERE"):
        ts.jit.CompilationUnit(f"def f(x: int) -> int:\n{lines}").f(5)
    assert capfd.readouterr().out == ""


@pytest.mark.parametrize("default", ["torch.hub.os.environ['HOME']", "torch.hub.os.getpid()", "torch.hub.sys.path[0]"])
def test_defaults_in_text_read_no_process_state(default):
    """A default in text must be a constant or a scripted name; Python objects are neither read nor called."""
    with pytest.raises(FrontendError, match="default value that is a constant"):
        ts.jit.CompilationUnit(f"def f(x: str = {default}) -> str:\n    return x\n")
