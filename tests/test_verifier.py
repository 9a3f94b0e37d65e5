"""The bytecode verifier rejects instructions whose operands have another type than they read."""

import re

import pytest

import ts
import ts.ops.node_schema
from ts._core.value.spec import KINDS, SPECS, TypeSpec
from ts._core.vm.breaks import Breakpoints
from ts._core.vm.code import Code, Method
from ts._core.vm.named import CalleeBase, MethodBase
from ts._core.vm.function import Function
from ts.bytecode.opcodes import NUMBER
from ts.bytecode.typespec import type_spec
from ts.errors import InternalError
from ts.ir.types import ANY, BOOL, FLOAT, INT, STR, TENSOR, ClassType, DictType, FutureType, ListType, OptionalType, TupleType
from ts.ops import registry

POINT = ClassType("__torch__.Point", {"x": INT, "name": STR, "inner": ListType(FLOAT)})
LINE = ClassType("__torch__.Line", {"name": STR})
INTS, STRINGS, TABLE, PAIR = ListType(INT), ListType(STR), DictType(STR, INT), TupleType([INT, STR])
TYPES = [INTS, STRINGS, TABLE, PAIR, POINT, STR, ANY, FutureType(INT)]  # indices of these types are the operands T
T_INTS, T_STRINGS, T_TABLE, T_PAIR, T_POINT, T_STR = range(6)
LETTERS = {INT: "i", FLOAT: "f", BOOL: "b", ANY: "x"}


def operator(key):
    return next(o for o in registry.lookup(key.partition(".")[0]) if o.key == key)


class Callee(Function):
    def __init__(self, *types, result=ANY, code=None):
        super().__init__("g", [(f"a{i}", type_spec(t)) for i, t in enumerate(types)], result=type_spec(result))
        self.made = code

    def _prepare(self):
        return self.made


def code(parameters, rows, locals="", constants=(), letters="", result=ANY, **tables):
    """Create a Code with registers for the parameters, the locals of these classes and the constants."""
    classes = "".join(LETTERS.get(t, "x" if t.kind() == "OptionalType" else "o") for t in parameters) + locals + letters
    return Code(
        "test",
        [(NUMBER[name], *operands, *[0] * (3 - len(operands))) for name, *operands in rows],
        classes,
        [type_spec(t) for t in parameters],
        constants,
        types=[type_spec(t) for t in TYPES],
        result=type_spec(result),
        **tables,
    )


GOOD = [
    ([INTS, INT], [("LIST_GET_SCALAR", 2, 0, 1), ("RETURN", 2)], "i"),
    ([STRINGS, INT], [("LIST_GET", 2, 0, 1), ("RETURN", 2)], "o"),
    ([INTS, INT], [("LIST_GET", 2, 0, 1), ("RETURN", 2)], "x"),
    ([TABLE, STR], [("DICT_GET", 2, 0, 1), ("RETURN", 2)], "i"),
    ([TABLE, STR, INT], [("DICT_GET_SCALAR", 3, 0, 1), ("DICT_SET_SCALAR", 0, 1, 3), ("RETURN", 3)], "i"),
    ([TABLE, STR, INT], [("DICT_FIND", 2, 0, 1), ("RETURN", 2)], ""),
    ([TABLE, STR, OptionalType(STR)], [("DICT_FIND", 2, 0, 1), ("RETURN", 2)], ""),
    ([PAIR], [("TUPLE_GET", 1, 0, 1), ("RETURN", 1)], "o"),
    ([POINT], [("ATTR_GET_SCALAR", 1, 0, 0), ("RETURN", 1)], "i"),
    ([POINT, STR], [("ATTR_SET", 0, 1, 1), ("RETURN", 0)], ""),
    ([ANY], [("CAST_TO", 1, 0, T_INTS), ("LIST_LEN", 2, 1), ("RETURN", 2)], "oi"),
    ([FutureType(INT)], [("WAIT", 1, 0, T_STR), ("RETURN", 1)], "o"),
]


@pytest.mark.parametrize(("parameters", "rows", "locals"), GOOD)
def test_valid_code_is_accepted(parameters, rows, locals):
    assert code(parameters, rows, locals).size == len(rows)


FLOAT32, INT64, STRANGE = 6, 4, 5
ELEMENTS = [
    ([TENSOR, INT], ("LOAD_FLOAT", 2, 0, FLOAT32), "f", [2, 0, 1], ""),
    ([TENSOR, INT], ("LOAD_INT", 2, 0, INT64), "i", [2, 0, 1], ""),
    ([TENSOR, FLOAT], ("STORE_FLOAT", 0, 1, FLOAT32), "", [1, 0], ""),
    ([TENSOR, INT], ("STORE_INT", 0, 1, INT64), "", [2, 0, 1], ""),
    ([TENSOR], ("HAS_ELEMENTS", 1, 0, 0xFFFFFF), "b", [0], ""),
    ([INTS, INT], ("LOAD_FLOAT", 2, 0, FLOAT32), "f", [2, 0, 1], "has type List[int], expected tensor"),
    ([ANY, INT], ("LOAD_FLOAT", 2, 0, FLOAT32), "f", [2, 0, 1], "expected tensor"),
    ([TENSOR, FLOAT], ("LOAD_FLOAT", 2, 0, FLOAT32), "f", [2, 0, 1], "r1 is not an int"),
    ([TENSOR, INT], ("LOAD_FLOAT", 2, 0, FLOAT32), "f", [0], "an element access without a tensor"),
    ([TENSOR, INT], ("LOAD_FLOAT", 2, 0, FLOAT32), "f", [9, 0, 1], "wrong pool record"),
    ([TENSOR, INT], ("LOAD_FLOAT", 2, 0, INT64), "f", [2, 0, 1], "elements of dtype 4 have no register class"),
    ([TENSOR, INT], ("LOAD_INT", 2, 0, STRANGE), "i", [2, 0, 1], "elements of dtype 5 have no register class"),
    ([TENSOR, INT], ("STORE_INT", 0, 1, 3), "", [2, 0, 1], "elements of dtype 3 have no register class"),
    ([TENSOR, INT], ("STORE_FLOAT", 0, 1, FLOAT32), "", [1, 0], "wrong register class"),
    ([TENSOR, INT], ("LOAD_INT", 2, 0, INT64), "f", [2, 0, 1], "wrong register class"),
    ([INTS], ("HAS_ELEMENTS", 1, 0, 0), "b", [0], "expected tensor"),
]


@pytest.mark.parametrize(("parameters", "row", "locals", "pool", "wrong"), ELEMENTS)
def test_elements_are_of_tensors(parameters, row, locals, pool, wrong):
    rows = [row, ("RETURN", 0)]
    if not wrong:
        assert code(parameters, rows, locals, operand_pool=pool).size == 2
        return
    with pytest.raises(InternalError, match=re.escape(wrong)):
        code(parameters, rows, locals, operand_pool=pool)


WRONG_KIND = [
    # an instruction for another type of object
    ([TABLE], [("LIST_LEN", 1, 0)], "i", "has type Dict[str, int], expected list"),
    ([TENSOR, INT], [("LIST_GET", 2, 0, 1)], "x", "has type Tensor, expected list"),
    ([STR, INT], [("LIST_GET_SCALAR", 2, 0, 1)], "i", "has type str, expected list"),
    ([POINT, INT], [("LIST_SET_SCALAR", 0, 1, 1)], "", "expected list"),
    ([PAIR, INT], [("LIST_APPEND", 0, 1)], "", "expected list"),
    ([INTS], [("DICT_LEN", 1, 0)], "i", "has type List[int], expected dict"),
    ([INTS, STR], [("DICT_CONTAINS", 2, 0, 1)], "b", "expected dict"),
    ([INTS, STR], [("DICT_GET", 2, 0, 1)], "x", "expected dict"),
    ([INTS, STR], [("DICT_SET_SCALAR", 0, 1, 2)], "i", "expected dict"),
    ([STR], [("TUPLE_GET", 1, 0, 0)], "x", "has type str, expected tuple"),
    ([INTS], [("ATTR_GET", 1, 0, 0)], "x", "has type List[int], expected object"),
    ([STR], [("WAIT", 1, 0, T_STR)], "o", "has type str, expected future"),
    # the expected container with another element type
    ([STRINGS, INT], [("LIST_GET_SCALAR", 2, 0, 1)], "i", "cannot hold a value of type str"),
    ([INTS, INT], [("LIST_GET", 2, 0, 1)], "o", "cannot hold a value of type int"),
    ([STRINGS, INT], [("LIST_SET_SCALAR", 0, 1, 1)], "", "expected str"),
    ([INTS, INT, STR], [("LIST_SET", 0, 1, 2)], "", "expected int"),
    ([STRINGS, TENSOR], [("LIST_APPEND", 0, 1)], "", "expected str"),
    ([TABLE, INT], [("DICT_GET", 2, 0, 1)], "x", "expected str"),
    ([TABLE, INT], [("DICT_GET_SCALAR", 2, 0, 1)], "i", "expected str"),
    ([TABLE, STR], [("DICT_GET_SCALAR", 2, 0, 1)], "f", "cannot hold a value of type int"),
    ([TABLE, STR], [("DICT_SET_SCALAR", 0, 1, 2)], "f", "expected int"),
    ([TABLE, STR], [("DICT_FIND", 1, 0, 1)], "", "cannot hold a value of type"),
    ([TABLE, STR], [("DICT_SET", 0, 1, 1)], "", "expected int"),
    ([PAIR], [("TUPLE_GET", 1, 0, 1)], "i", "cannot hold a value of type str"),
    ([PAIR], [("TUPLE_GET", 1, 0, 2)], "x", "Tuple[int, str] has no element 2"),
    ([POINT], [("ATTR_GET", 1, 0, 3)], "x", "has no attribute 3"),
    ([POINT], [("ATTR_GET_SCALAR", 1, 0, 1)], "i", "cannot hold a value of type str"),
    ([POINT, INT], [("ATTR_SET_SCALAR", 0, 1, 1)], "", "expected str"),
    ([LINE], [("ATTR_GET", 1, 0, 2)], "x", "has no attribute 2"),
    # a number for an object, and vice versa
    ([INT], [("COPY", 1, 0)], "o", "cannot hold a value of type int"),
    ([STR], [("COPY", 1, 0)], "i", "cannot hold a value of type str"),
    ([ANY], [("COPY", 1, 0)], "o", "cannot hold a value of type Any"),
    ([ANY], [("CAST_OBJECT", 1, 0), ("LIST_LEN", 2, 1)], "oi", "has type object, expected list"),
    ([ANY], [("CAST_TO", 1, 0, T_STR)], "i", "cannot hold a value of type str"),
    # no value in the register
    ([], [("LIST_LEN", 1, 0)], "oi", "may be read before it is written"),
    ([INTS], [("DROP", 0), ("LIST_LEN", 1, 0)], "i", "may be read before it is written"),
    ([INTS], [("TAKE", 1, 0), ("LIST_LEN", 2, 0)], "oi", "may be read before it is written"),
    ([ANY], [("DROP", 0), ("RETURN", 0)], "", "may be read before it is written"),
]


@pytest.mark.parametrize(("parameters", "rows", "locals", "message"), WRONG_KIND)
def test_invalid_objects_are_rejected(parameters, rows, locals, message):
    """The verifier rejects instructions that would read another object type or out of bounds."""
    with pytest.raises(InternalError, match=re.escape(message)):
        code(parameters, [*rows, ("RAISE", 0, 0)], locals)


@pytest.mark.parametrize(
    ("type", "row", "pool", "message"),
    [
        (T_INTS, "LIST_NEW", [1, 0], "expected int"),
        (T_TABLE, "LIST_NEW", [0], "expected a type of kind list, got Dict[str, int]"),
        (T_PAIR, "TUPLE_NEW", [1, 0], "1 elements for a Tuple[int, str]"),
        (T_PAIR, "TUPLE_NEW", [2, 0, 0], "expected int"),
        (T_TABLE, "DICT_NEW", [1, 0], "a key without a value"),
        (T_TABLE, "DICT_NEW", [2, 0, 0], "expected int"),
        (T_STR, "OBJECT_NEW", [0], "expected a type of kind object, got str"),
    ],
)
def test_containers_match_their_types(type, row, pool, message):
    with pytest.raises(InternalError, match=re.escape(message)):
        code([STR], [(row, 1, type, 0), ("RETURN", 1)], "o", operand_pool=pool)


def test_merging_paths():
    """After a branch, a register may hold the value of either path; an instruction valid for only one of them
    is rejected."""
    rows = [
        ("JUMP_IF", 3, 0),
        ("COPY", 3, 1),
        ("JUMP", 4),
        ("COPY", 3, 2),
        ("LIST_GET_SCALAR", 4, 3, 4),
        ("RETURN", 4),
    ]
    assert code([BOOL, INTS, INTS], rows, "oi").size == 6
    with pytest.raises(InternalError, match=re.escape("Union[List[int], List[str]], expected list")):
        code([BOOL, INTS, STRINGS], rows, "oi")
    with pytest.raises(InternalError, match="may be read before it is written"):
        code([BOOL, INTS, INTS], [*rows[:3], ("DROP", 1), *rows[4:]], "oi")


def test_loops_are_verified_to_a_fixed_point():
    """A loop is verified until register types no longer change."""
    rows = [("LIST_LEN", 3, 2), ("COPY", 2, 1), ("LOOP_IF", 0, 0), ("RETURN", 3)]
    with pytest.raises(InternalError, match=re.escape("Dict[str, int]")):
        code([BOOL, TABLE, INTS], rows, "i")


@pytest.mark.parametrize(
    ("key", "parameters", "local", "message"),
    [
        ("aten::upper", [INTS], "o", "argument 0 has type List[int], expected str"),
        ("aten::append.t", [STRINGS, INT], "o", "argument 1 has type int, expected str"),
        ("aten::keys.str", [INTS], "o", "expected Dict[str, Any]"),
        ("aten::sin", [STR], "o", "expected Tensor"),
        ("aten::keys.str", [TABLE], "i", "cannot hold a value of type List[str]"),
        ("prim::EnumName", [STR], "o", "expected enum"),
    ],
)
def test_operands_match_schemas(key, parameters, local, message):
    """Arguments and results of an operator call must match the schema, because kernels do not check types."""
    n = len(parameters)
    with pytest.raises(InternalError, match=re.escape(message)):
        code(
            parameters, [("CALL_OPERATOR", 0, 0), ("RETURN", n)], local, operators=[operator(key)], operand_pool=[n + 1, *range(n + 1)]
        )


@pytest.mark.parametrize(
    ("function", "parameters", "local", "message"),
    [
        (Callee(STR), [INTS], "x", "expected str"),
        (Callee(STR, STR), [STR], "x", "1 arguments for a function with 2 parameters"),
        (Callee(STR, result=INT), [STR], "o", "cannot hold a value of type int"),
        (Method("f", (), type_spec(ANY)), [STR], "x", "cannot be called by this opcode"),
        (Breakpoints(print, print), [STR], "x", "cannot be called by this opcode"),
    ],
)
def test_calls(function, parameters, local, message):
    """Call arguments must match the parameters, and results the register."""
    with pytest.raises(InternalError, match=message):
        code(parameters, [("CALL", 1, 0, 0), ("RETURN", 1)], local, functions=[function], operand_pool=[1, 0])


def test_methods_are_called_on_objects():
    method = Method("f", (type_spec(ANY),), type_spec(INT))
    with pytest.raises(InternalError, match="not an object"):
        code([STR], [("CALL_METHOD", 1, 0, 0), ("RETURN", 1)], "i", functions=[method], operand_pool=[1, 0])


def test_debugger_stop_points():
    with pytest.raises(InternalError, match="unknown stop point"):
        code([STR], [("BREAK", 0, 3, 0), ("RETURN", 0)], functions=[Breakpoints(print, print)], operand_pool=[0])


def test_parameters():
    """Parameters must have a register class that can hold their type."""
    with pytest.raises(InternalError, match="parameter 0 of class x cannot hold a value of type int"):
        Code("test", [(NUMBER["RETURN"], 0, 0, 0)], "x", [SPECS["int"]])


def test_results():
    """The type of the returned register must match the result type of the function."""
    with pytest.raises(InternalError, match="expected str"):
        code([INTS], [("RETURN", 0)], result=STR)
    given = Callee(STR, code=code([INTS], [("RETURN", 0)]))
    with pytest.raises(InternalError, match="differs from that of the function"):
        given("text")


def test_handlers_read_their_register():
    """An object released by an exception handler must be set wherever the exception can be raised."""
    rows = [("DROP", 0), ("RAISE", 1, 1)]
    with pytest.raises(InternalError, match="may be read before it is written"):
        code([POINT, STR], rows, handlers=[(0, 2, 0, print)])


@pytest.mark.parametrize("table", ["operators", "functions", "types"])
def test_operator_tables_are_verified(table):
    tables = {"operators": (), "functions": (), "types": (), table: ["text"]}
    with pytest.raises(InternalError, match="is invalid: str"):
        Code("test", [(NUMBER["RETURN"], 0, 0, 0)], "i", [SPECS["int"]], **tables)


@pytest.mark.parametrize("cls", [CalleeBase, MethodBase])
def test_function_classes_known_to_the_interpreter(cls):
    """A function operand must be a class known to the interpreter."""
    with pytest.raises(InternalError, match=r"is invalid: (CalleeBase|MethodBase)"):
        Code("test", [(NUMBER["RETURN"], 0, 0, 0)], "i", [SPECS["int"]], functions=[cls()])


@pytest.mark.parametrize("kind", ["ListType", "DictType", "OptionalType", "UnionType", "FutureType"])
def test_types_have_their_parts(kind):
    """A handmade type without the children that instructions read raises ValueError."""
    with pytest.raises(ValueError, match="children"):
        TypeSpec(KINDS[kind], (), "x")


def test_interfaces_find_methods_of_their_types():
    """A class whose method differs in types from the interface method is rejected at the call."""
    unit = ts.jit.CompilationUnit(
        """
class A:
    def __init__(self):
        self.n = 1
    def f(self, x: str) -> int:
        return len(x)
def make() -> A:
    return A()
"""
    )
    method = Method("f", (type_spec(ANY), type_spec(INT)), type_spec(INT))
    given = type_spec(unit.make.schema.returns[0].type)
    call = Code(
        "call",
        [(NUMBER["CALL_METHOD"], 2, 0, 0), (NUMBER["RETURN"], 2, 0, 0)],
        "oii",
        [given, SPECS["int"]],
        operand_pool=[2, 0, 1],
        functions=[method],
    )

    class Caller(Function):
        def _prepare(self):
            return call

    caller = Caller("call", [("a", given), ("x", SPECS["int"])])
    with pytest.raises(RuntimeError, match=r"method 'f' of class .* does not match the call"):
        caller(unit.make(), 1)


@pytest.mark.parametrize("row", [(), (NUMBER["RETURN"],), (NUMBER["RETURN"], 0, 0), (NUMBER["RETURN"], 0, 0, 0, 0)])
def test_instructions_have_four_words(row):
    with pytest.raises(InternalError, match="four numbers"):
        Code("test", [row], "i", [SPECS["int"]])
