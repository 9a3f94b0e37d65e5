"""Type checker for graphs, which compares declared types of values with the schemas of operators.

The checker raises a `CompilationError` for the first node whose inputs or outputs do not match its schema:

    %1 : int = aten::len(%xs)          accepted
    %1 : str = aten::len(%xs)          rejected: aten::len returns int, not str

The check is necessary for untrusted graphs (from text or the graph API), because wrong types could crash the
interpreter. The outputs of casts and of uninitialized values are checked at run time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from ts.errors import CompilationError
from ts.ir.attributes import REMOTE_CALLS
from ts.ir.graph import Block, Graph, Node
from ts.ir.schema import FunctionSchema
from ts.ir.types import (
    ANY,
    BOOL,
    INT,
    NONE,
    STR,
    ClassType,
    DictType,
    EnumType,
    FunctionType,
    InterfaceType,
    ListType,
    ModuleType,
    OptionalType,
    TensorType,
    TupleType,
    Type,
    match_type_variables,
    substitute,
)

_PYTHON_TYPES: Final[dict[str, Any]] = {  # kind of a constant's type -> Python class of the constant's value
    "IntType": int, "FloatType": (int, float), "BoolType": (bool, int), "ComplexType": (int, float, complex),
    "StringType": str, "ListType": list, "TupleType": tuple, "DictType": dict,
}  # fmt: skip

# Kinds of types whose values cannot be created by any node, so that they must be inputs of the graph.
_EXTERNAL_TYPES: Final = frozenset(
    {
        "GeneratorType",
        "StreamObjType",
        "StorageType",
        "QuantizerType",
        "QSchemeType",
        "CapsuleType",
        "PyObjectType",
    }
)


def check_types(graph: Graph) -> None:
    """Raise `CompilationError` if the inputs or outputs of a node do not match its operator's types."""
    _check_block(graph.block())


def _check_block(block: Block) -> None:
    for node in block.nodes():
        for inner in node.blocks():
            _check_block(inner)
        check = _CHECKS.get(node.kind(), _check_operator)
        check(node)


def _text(type: Type | None) -> str:
    return "None" if type is None else type.str()


def _require(condition: bool, node: Node, message: str) -> None:
    if not condition:
        raise CompilationError(f"{node.kind()} {message}", node.range)


def _check_inputs(node: Node, types: Iterable[Type]) -> None:
    expected = list(types)
    _require(
        len(expected) == len(node.inputs()), node, f"takes {len(expected)} inputs, not {len(node.inputs())}"
    )
    for i, (value, type) in enumerate(zip(node.inputs(), expected, strict=True)):
        _require(
            _is_acceptable_type(value.type(), type),
            node,
            f"takes {type.str()} as input {i}, not {value.type().str()}",
        )


def _check_outputs(node: Node, types: Iterable[Type]) -> None:
    actual = list(types)
    _require(
        len(actual) == len(node.outputs()), node, f"returns {len(actual)} outputs, not {len(node.outputs())}"
    )
    for value, type in zip(node.outputs(), actual, strict=True):
        _require(
            _is_acceptable_type(type, value.type()), node, f"returns {type.str()}, not {value.type().str()}"
        )


def _is_acceptable_type(type: Type, expected: Type) -> bool:
    """Return whether a parameter of type `expected` accepts values of `type`, ignoring dtypes and shapes."""
    both_tensors = isinstance(type, TensorType) and isinstance(expected, TensorType)
    return both_tensors or type.is_subtype_of(expected)


def _attribute(node: Node, name: str, kind: type) -> object:
    _require(node.has_attribute(name), node, f"has no attribute {name}")
    value = node.get(name)
    _require(isinstance(value, kind), node, f"has an attribute {name} of the wrong type")
    return value


# -- checks of operators with schemas ------------------------------------------------------------------


def _check_operator(node: Node) -> None:
    operator = node.operator()
    if operator is None:
        types = ", ".join(value.type().str() for value in node.inputs())
        raise CompilationError(f"{node.kind()} takes no inputs of types ({types})", node.range)
    schema = operator.schema
    bindings: dict[str, Type] = {}
    for argument, value in zip(schema.arguments, node.inputs(), strict=False):
        match_type_variables(argument.type, value.type(), bindings)
    if schema.is_varret:
        return
    results = [substitute(result.type, bindings) for result in schema.returns]
    # The result type has a type variable that no input determines, as in `aten::dict()`. The declared type of
    # the output is then accepted.
    _check_outputs(
        node, [out.type() if r is None else r for r, out in zip(results, node.outputs(), strict=False)]
    )


# -- checks of nodes without schemas -------------------------------------------------------------------


def _check_constant(node: Node) -> None:
    type, value = node.output().type(), node.get("value") if node.has_attribute("value") else None
    python_type = _PYTHON_TYPES.get(type.kind())
    if value is None:
        is_valid = type.can_hold(NONE) or type in (NONE, ANY) or isinstance(type, FunctionType)
        _require(is_valid, node, f"of type {type.str()} has no value")
    elif python_type is not None:
        _require(isinstance(value, python_type), node, f"of type {type.str()} has the value {value!r}")
        element_types = type.contained_types()
        if isinstance(value, tuple):
            _require(len(value) == len(element_types), node, f"of type {type.str()} has the value {value!r}")


def _check_loop(node: Node) -> None:
    (body,) = node.blocks()
    carried = node.inputs()[2:]
    for value, parameter in zip(carried, body.inputs()[1:], strict=True):
        _require(
            _is_acceptable_type(value.type(), parameter.type()),
            node,
            f"carries {parameter.type().str()}, not {value.type().str()}",
        )
    for value, parameter in zip(body.outputs()[1:], body.inputs()[1:], strict=True):
        _require(
            _is_acceptable_type(value.type(), parameter.type()),
            node,
            f"carries {parameter.type().str()}, not {value.type().str()}",
        )
    for value, output in zip(carried, node.outputs(), strict=True):
        _require(
            _is_acceptable_type(value.type(), output.type()),
            node,
            f"returns {output.type().str()}, not {value.type().str()}",
        )
    _require(body.inputs()[0].type().kind() == "IntType", node, "has a counter that is not an int")


def _check_list(node: Node) -> None:
    type = node.output().type() if len(node.outputs()) == 1 else None
    if not isinstance(type, ListType):
        raise CompilationError(f"{node.kind()} returns a list, not {_text(type)}", node.range)
    _check_inputs(node, [type.elem] * len(node.inputs()))


def _check_tuple(node: Node) -> None:
    type = node.output().type() if len(node.outputs()) == 1 else None
    if not isinstance(type, TupleType):
        raise CompilationError(f"{node.kind()} returns a tuple, not {_text(type)}", node.range)
    _check_inputs(node, type.elems)


def _check_dict(node: Node) -> None:
    type = node.output().type() if len(node.outputs()) == 1 else None
    if not isinstance(type, DictType):
        raise CompilationError(f"{node.kind()} returns a dict, not {_text(type)}", node.range)
    _require(len(node.inputs()) % 2 == 0, node, "requires a value for each key")
    _check_inputs(node, [type.key, type.value] * (len(node.inputs()) // 2))


def _check_list_unpack(node: Node) -> None:
    type = node.inputs()[0].type() if len(node.inputs()) == 1 else None
    if not isinstance(type, ListType):
        raise CompilationError(f"{node.kind()} takes a list, not {_text(type)}", node.range)
    _check_outputs(node, [type.elem] * len(node.outputs()))


def _tuple_of(node: Node, count: int) -> TupleType:
    type = node.inputs()[0].type() if len(node.inputs()) == count else None
    if not isinstance(type, TupleType):
        raise CompilationError(f"{node.kind()} takes a tuple, not {_text(type)}", node.range)
    return type


def _check_tuple_unpack(node: Node) -> None:
    _check_outputs(node, _tuple_of(node, 1).elems)


def _check_tuple_index(node: Node) -> None:
    elems = _tuple_of(node, 2).elems
    index = node.inputs()[1].node()
    value = index.get("value") if index.kind() == "prim::Constant" and index.has_attribute("value") else None
    _check_inputs(node, [node.inputs()[0].type(), INT])
    if isinstance(value, int) and -len(elems) <= value < len(elems):
        elems = (elems[value],)
    for elem in elems:  # with a non-constant index, check all elements
        _check_outputs(node, [elem])


def _check_isinstance(node: Node) -> None:
    _attribute(node, "types", list)
    _check_inputs(node, [ANY])
    _check_outputs(node, [BOOL])


def _check_cast(node: Node) -> None:
    """Mark a cast as unproven, so that its result is checked against the output type at run time."""
    _require(len(node.inputs()) == len(node.outputs()) == 1, node, "takes and returns one value")
    node.needs_type_check = True


def _check_raise(node: Node) -> None:
    _check_inputs(node, [STR, OptionalType(STR)][: max(1, len(node.inputs()))])
    _check_outputs(node, [])


def _class_of(node: Node) -> ClassType:
    type = node.inputs()[0].type() if node.inputs() else None
    if not isinstance(type, ClassType):
        raise CompilationError(f"{node.kind()} takes an object, not {_text(type)}", node.range)
    return type


def _check_attribute(node: Node) -> None:
    type, name = _class_of(node), str(_attribute(node, "name", str))
    _require(name in type.attributes, node, f"reads the attribute {name}, which {type.str()} does not have")
    if node.kind() == "prim::GetAttr":
        _check_inputs(node, [type])
        _check_outputs(node, [type.attributes[name]])
    else:
        _check_inputs(node, [type, type.attributes[name]])
        _check_outputs(node, [])


def _check_container(node: Node) -> None:
    _require(len(node.inputs()) == 2 and len(node.outputs()) == 1, node, "takes a container and a key")
    type, key = (value.type() for value in node.inputs())
    _require(isinstance(type, ModuleType) and key in (INT, STR), node, "takes a container and a key")


def _check_method(node: Node) -> None:
    type, name = node.inputs()[0].type() if node.inputs() else None, str(_attribute(node, "name", str))
    if not isinstance(type, ClassType | InterfaceType):
        raise CompilationError(f"{node.kind()} takes an object, not {_text(type)}", node.range)
    method = type.find_method(name)
    if method is None:
        raise CompilationError(
            f"{node.kind()} calls the method {name}, which {type.str()} does not have", node.range
        )
    schema = method if isinstance(method, FunctionSchema) else method.schema
    _check_inputs(node, [type, *(argument.type for argument in schema.arguments[1:])])
    _check_outputs(node, [result.type for result in schema.returns])


def _check_enter(node: Node) -> None:
    method: Any = _class_of(node).find_method("__enter__")
    _require(method is not None, node, "requires an object with a method __enter__")
    _check_outputs(node, [result.type for result in method.schema.returns])


def _check_exit(node: Node) -> None:
    method: Any = _class_of(node).find_method("__exit__")
    _require(method is not None, node, "requires an object with a method __exit__")
    _check_outputs(node, [result.type for result in method.schema.returns])


def _check_enum(node: Node) -> None:
    type = node.inputs()[0].type() if len(node.inputs()) == 1 else None
    if not isinstance(type, EnumType):
        raise CompilationError(f"{node.kind()} takes an enum, not {_text(type)}", node.range)
    _check_outputs(node, [type.value_type])


def _check_call(node: Node) -> None:
    type = node.inputs()[0].type() if node.inputs() else None
    if not isinstance(type, FunctionType):
        raise CompilationError(f"{node.kind()} takes a function, not {_text(type)}", node.range)
    schema = type.function.schema
    _check_inputs(node, [type, *(argument.type for argument in schema.arguments)])
    _check_outputs(node, [result.type for result in schema.returns])


def _check_object(node: Node) -> None:
    _check_inputs(node, [])
    _require(isinstance(node.output().type(), ClassType), node, "must return an object of a class")


def _check_uninitialized(node: Node) -> None:
    _check_inputs(node, [])
    _require(len(node.outputs()) == 1, node, "returns one value")
    type = node.output().type()
    is_constructible = type.kind() not in _EXTERNAL_TYPES
    _require(
        is_constructible,
        node,
        f"of type {type.str()} is not allowed in a graph that was not compiled from source code",
    )
    node.needs_type_check = True


def _accept(node: Node) -> None:
    """Check nothing: the graph verifier checks the node, or the node accepts inputs of any type."""


_CHECKS: Final[dict[str, Callable[[Node], None]]] = {
    "prim::Constant": _check_constant,
    "prim::If": _accept,
    "prim::Loop": _check_loop,
    "prim::Print": _accept,
    "prim::PythonOp": _accept,
    "prim::fork": _accept,
    **dict.fromkeys(REMOTE_CALLS, _accept),
    "prim::Enter": _check_enter,
    "prim::Exit": _check_exit,
    "prim::ListConstruct": _check_list,
    "prim::TupleConstruct": _check_tuple,
    "prim::DictConstruct": _check_dict,
    "prim::ListUnpack": _check_list_unpack,
    "prim::TupleUnpack": _check_tuple_unpack,
    "prim::TupleIndex": _check_tuple_index,
    "prim::isinstance": _check_isinstance,
    "prim::unchecked_cast": _check_cast,
    "prim::unchecked_unwrap_optional": _check_cast,
    "prim::RaiseException": _check_raise,
    "prim::GetAttr": _check_attribute,
    "prim::SetAttr": _check_attribute,
    "prim::ModuleContainerIndex": _check_container,
    "prim::CallMethod": _check_method,
    "prim::CallFunction": _check_call,
    "prim::EnumValue": _check_enum,
    "prim::CreateObject": _check_object,
    "prim::Uninitialized": _check_uninitialized,
}
