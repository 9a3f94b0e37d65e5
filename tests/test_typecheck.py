"""Type errors in graphs from users are rejected before execution."""

import pytest

import ts
from ts.errors import CompilationError


def function(body: str):
    """Return the function of a graph with parameters of several types."""
    parameters = (
        "%x : int, %s : str, %l : int[], %t : Tensor, %u : Union(str, int[]), %p : (int, str), %c : bool"
    )
    return ts.jit.create_function_from_graph("f", ts.parse_ir(f"graph({parameters}):\n{body}"))


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("  %1 : str = aten::len(%l)\n  return (%1)", "aten::len returns int, not str"),
        ("  %1 : int = aten::len(%x)\n  return (%1)", "aten::len takes no inputs of types (int)"),
        ("  %1 : int[] = prim::ListConstruct(%s)\n  return (%1)", "takes int as input 0, not str"),
        ("  %1 : int[] = prim::TupleConstruct(%x)\n  return (%1)", "returns a tuple, not int[]"),
        ("  %1 : str, %2 : str = prim::TupleUnpack(%p)\n  return (%1)", "returns int, not str"),
        ("  %1 : int, %2 : str = prim::TupleUnpack(%l)\n  return (%1)", "takes a tuple, not int[]"),
        ("  %1 : str, %2 : str = prim::ListUnpack(%l)\n  return (%1)", "returns int, not str"),
        ("  %1 : int[] = prim::Constant[value=3]()\n  return (%1)", "has the value 3"),
        ("  %1 : str = prim::Constant()\n  return (%1)", "has no value"),
        ("  %1 : bool = prim::isinstance(%u)\n  return (%1)", "has no attribute types"),
        ("  %1 : int = prim::GetAttr[name=\"n\"](%x)\n  return (%1)", "takes an object, not int"),
        ("  %1 : int = prim::CallFunction(%x)\n  return (%1)", "takes a function, not int"),
        ("  %1 : Generator = prim::Uninitialized()\n  return (%1)", "is not allowed"),
        (
            "  %1 : str = prim::Loop(%x, %c, %l)\n    block0(%i : int, %a : str):\n      -> (%c, %a)\n  return (%1)",
            "carries str, not int[]",
        ),
    ],
)  # fmt: skip
def test_invalid_types_are_rejected(body, message):
    """Inputs, outputs and attributes must match the operator."""
    with pytest.raises(CompilationError) as error:
        function(body)
    assert message in str(error.value)


def test_casts_are_checked_at_run_time():
    """A cast without `isinstance` fails for a value of another type."""
    length = function("  %1 : int[] = prim::unchecked_cast(%u)\n  %2 : int = aten::len(%1)\n  return (%2)")
    arguments = (1, "", [], ts.ones(1))
    assert length(*arguments, [5, 6], (1, ""), True) == 2
    with pytest.raises(RuntimeError, match="is not of type"):
        length(*arguments, "text", (1, ""), True)


NONE_READ = {
    "Tensor": "%2 : int = aten::dim(%1)\n  return (%2)",
    "int[]": "%2 : int = aten::len(%1)\n  return (%2)",
    "Dict(str, int)": "%2 : int = aten::len(%1)\n  return (%2)",
    "(int, str)": "%2 : int, %3 : str = prim::TupleUnpack(%1)\n  return (%3)",
    "str": "%2 : str = aten::upper(%1)\n  return (%2)",
    "int": "%2 : int = aten::neg(%1)\n  return (%2)",
    "Device": "%2 : str = prim::type(%1)\n  return (%2)",
    "Future(int)": "%2 : int = aten::wait(%1)\n  return (%2)",
    "Generator": "return (%1)",
}


@pytest.mark.parametrize("type", NONE_READ)
def test_none_constant_of_a_type_without_none(type):
    """A constant without a value is rejected if its type excludes None."""
    with pytest.raises(CompilationError, match="has no value"):
        function(f"  %1 : {type} = prim::Constant()\n  {NONE_READ[type]}")


@pytest.mark.parametrize("type", ["Tensor?", "int?", "Tensor?[]?", "NoneType"])
def test_none_of_an_optional(type):
    given = function(f"  %1 : {type} = prim::Constant()\n  return (%1)")
    assert given(1, "", [], ts.ones(1), [], (1, ""), True) is None


def test_cast_of_none_to_a_tensor():
    """A cast of None to a Tensor fails at run time."""
    cast = function("  %1 : Tensor? = prim::Constant()\n  %2 : Tensor = prim::unchecked_cast(%1)\n  return (%2)")
    with pytest.raises(RuntimeError, match=r"not of type|another type"):
        cast(1, "", [], ts.ones(1), [], (1, ""), True)


@pytest.mark.parametrize(
    ("type", "value"),
    [("int[]", []), ("Dict(str, int)", {}), ("(int, str[])", (0, [])), ("str", ""), ("int?", None)],
)
def test_uninitialized_values(type, value):
    """Uninitialized values that a compiler would never read contain placeholders, not other memory."""
    assert (
        function(f"  %1 : {type} = prim::Uninitialized()\n  return (%1)")(
            1, "", [], ts.ones(1), "", (1, ""), True
        )
        == value
    )
