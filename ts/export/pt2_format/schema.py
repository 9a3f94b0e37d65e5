"""JSON schema of `.pt2` archives, with one class for each kind of JSON object.

The annotation of a field is the type that the reader accepts and the writer encodes. A `TaggedUnion` is a
JSON object with one key, which is the kind of the value. Each line shows JSON and the decoded object:

    {"as_tensor": {"name": "x"}}         Argument("as_tensor", Name("x"))
    {"as_ints": [1, 2]}                  Argument("as_ints", [1, 2])

Unknown keys of other objects are ignored, because later versions may add keys.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final

SCHEMA_VERSION: Final = (8, 20)
OPSET_VERSION: Final = {"aten": 10}
TORCH_VERSION: Final = "2.13.0"

STRIDED_LAYOUT_CODE: Final = 7
MEMORY_FORMATS: Final = {
    "contiguous_format": 1, "channels_last": 2, "channels_last_3d": 3, "preserve_format": 4,
}  # fmt: skip
GUARD_LINES_KEY: Final = "ts.lines_of_guards"  # metadata key of the source lines of guards
POSITIONAL: Final = 1
KEYWORD: Final = 2


@dataclass(slots=True)
class TaggedUnion:
    """JSON object with one key, which is the kind of the value."""

    kind: str
    value: Any
    kinds: ClassVar[dict[str, Any]] = {}


@dataclass(slots=True)
class Device:
    """Device: type and optional index, for example `cuda:1`."""

    type: str
    index: int | None = None


class Hint(TaggedUnion):
    """Example value of a symbolic number."""

    kinds = {"as_int": int, "as_bool": bool, "as_float": float}


@dataclass(slots=True)
class Expression:
    """Symbolic expression as text, and the example value (hint) of this expression."""

    expr_str: str
    hint: Hint | None = None


class SymInt(TaggedUnion):
    """Size or other int: a literal, or an expression."""

    kinds = {"as_expr": Expression, "as_int": int}


class SymFloat(TaggedUnion):
    """Float: a literal, or an expression."""

    kinds = {"as_expr": Expression, "as_float": float}


class SymBool(TaggedUnion):
    """Boolean: a literal, or an expression."""

    kinds = {"as_expr": Expression, "as_bool": bool}


@dataclass(slots=True)
class TensorMeta:
    """Metadata of a tensor: dtype, sizes, strides, device, layout."""

    dtype: int
    sizes: list[SymInt]
    requires_grad: bool
    device: Device
    strides: list[SymInt]
    storage_offset: SymInt
    layout: int = STRIDED_LAYOUT_CODE


@dataclass(slots=True)
class Name:
    """Name of a value of the graph."""

    name: str


@dataclass(slots=True)
class CustomObject:
    """Script object: name of the value, and fully qualified class name."""

    name: str
    class_fqn: str


@dataclass(slots=True)
class Complex:
    """Complex number."""

    real: float
    imag: float


class IntOrName(TaggedUnion):
    """Integer literal, or name of a value."""

    kinds = {"as_name": str, "as_int": int}


class FloatOrName(TaggedUnion):
    """Float literal, or name of a value."""

    kinds = {"as_name": str, "as_float": float}


class BoolOrName(TaggedUnion):
    """Boolean literal, or name of a value."""

    kinds = {"as_name": str, "as_bool": bool}


class OptionalTensor(TaggedUnion):
    """Name of a tensor, or None."""

    kinds = {"as_tensor": Name, "as_none": bool}


@dataclass(slots=True)
class SubgraphArgument:
    """Subgraph of a control-flow operator, with the attribute name of its module."""

    name: str
    graph: Graph


class Argument(TaggedUnion):
    """Operator argument or result, as a tagged union."""


@dataclass(slots=True)
class NamedArgument:
    """Argument of a call with its parameter name. `kind` is 1 if passed by position, 2 if by keyword."""

    name: str
    arg: Argument
    kind: int | None = None


@dataclass(slots=True)
class Node:
    """Node of a graph: call of an operator or function."""

    target: str
    inputs: list[NamedArgument]
    outputs: list[Argument]
    metadata: dict[str, str]
    is_hop_single_tensor_return: bool | None = None
    name: str | None = None


@dataclass(slots=True)
class Graph:
    """Graph: inputs, outputs, nodes in execution order, and metadata by value name."""

    inputs: list[Argument]
    outputs: list[Argument]
    nodes: list[Node]
    tensor_values: dict[str, TensorMeta]
    sym_int_values: dict[str, SymInt]
    sym_bool_values: dict[str, SymBool]
    is_single_tensor_return: bool = False
    custom_obj_values: dict[str, CustomObject] = field(default_factory=dict)
    sym_float_values: dict[str, SymFloat] = field(default_factory=dict)


Argument.kinds = {
    "as_none": bool, "as_tensor": Name, "as_tensors": list[Name], "as_int": int, "as_ints": list[int],
    "as_float": float, "as_floats": list[float], "as_string": str, "as_strings": list[str],
    "as_sym_int": IntOrName, "as_sym_ints": list[IntOrName], "as_scalar_type": int, "as_memory_format": int,
    "as_layout": int, "as_device": Device, "as_bool": bool, "as_bools": list[bool],
    "as_sym_bool": BoolOrName, "as_sym_bools": list[BoolOrName], "as_graph": SubgraphArgument,
    "as_optional_tensors": list[OptionalTensor], "as_custom_obj": CustomObject, "as_operator": str,
    "as_sym_float": FloatOrName, "as_sym_floats": list[FloatOrName], "as_optional_tensor": OptionalTensor,
    "as_complex": Complex, "as_nested_tensors": list[list[Name]], "as_int_lists": list[list[int]],
    "as_string_to_argument": dict[str, Argument], "as_float_lists": list[list[float]],
}  # fmt: skip


class Constant(TaggedUnion):
    """Number, string or None."""

    kinds = {"as_none": bool, "as_int": int, "as_float": float, "as_string": str, "as_bool": bool}


@dataclass(slots=True)
class UserSpec:
    """Graph input or output that is an argument or result of the user's call."""

    arg: Argument


@dataclass(slots=True)
class ConstantInput:
    """Graph input that is a constant: name, and value during the export."""

    name: str
    value: Constant


@dataclass(slots=True)
class Parameter:
    """Graph input that is a parameter: name of the value, qualified name of the parameter."""

    arg: Name
    parameter_name: str


@dataclass(slots=True)
class Buffer:
    """Graph input that is a buffer: name of the value, qualified name, persistence."""

    arg: Name
    buffer_name: str
    persistent: bool


@dataclass(slots=True)
class TensorConstant:
    """Graph input that is a constant tensor."""

    arg: Name
    tensor_constant_name: str


@dataclass(slots=True)
class CustomObjectInput:
    """Graph input that is a script object."""

    arg: CustomObject
    custom_obj_name: str


@dataclass(slots=True)
class Token:
    """Effect token: input or output that orders calls with side effects."""

    arg: Name


class InputSpec(TaggedUnion):
    """Spec of a graph input, as a tagged union."""

    kinds = {
        "user_input": UserSpec, "parameter": Parameter, "buffer": Buffer, "tensor_constant": TensorConstant,
        "custom_obj": CustomObjectInput, "token": Token, "constant_input": ConstantInput,
    }  # fmt: skip


@dataclass(slots=True)
class Loss:
    """Graph output that is the loss, in programs that compute gradients."""

    arg: Name


@dataclass(slots=True)
class BufferMutation:
    """Graph output that is the new value of a buffer."""

    arg: Name
    buffer_name: str


@dataclass(slots=True)
class UserInputMutation:
    """Graph output that is the new value, or the gradient, of a user input."""

    arg: Name
    user_input_name: str


class OutputSpec(TaggedUnion):
    """Spec of a graph output, as a tagged union."""

    kinds = {
        "user_output": UserSpec, "loss_output": Loss, "buffer_mutation": BufferMutation,
        "gradient_to_parameter": Parameter, "gradient_to_user_input": UserInputMutation,
        "user_input_mutation": UserInputMutation, "token": Token, "parameter_mutation": Parameter,
    }  # fmt: skip


@dataclass(slots=True)
class Signature:
    """Graph signature: specs of inputs and outputs."""

    input_specs: list[InputSpec]
    output_specs: list[OutputSpec]


@dataclass(slots=True)
class Range:
    """Inclusive value range of a symbol. A bound None means unbounded."""

    min_val: int | None
    max_val: int | None


@dataclass(slots=True)
class CallSignature:
    """Signature of a module call: arguments, results and their pytree specs."""

    inputs: list[Argument]
    outputs: list[Argument]
    in_spec: str
    out_spec: str
    forward_arg_names: list[str] | None = None


@dataclass(slots=True)
class CallEntry:
    """Entry of the module call graph: path of the module, and signature if the call is preserved."""

    fqn: str
    signature: CallSignature | None = None


@dataclass(slots=True)
class NamedTuple:
    """Field names of a named tuple class."""

    field_names: list[str]


@dataclass(slots=True)
class GraphModule:
    """Graph module: graph, signature and module call graph."""

    graph: Graph
    signature: Signature
    module_call_graph: list[CallEntry]
    metadata: dict[str, str] = field(default_factory=dict)
    treespec_namedtuple_fields: dict[str, NamedTuple] = field(default_factory=dict)


@dataclass(slots=True)
class Version:
    """Schema version. Files with another major version are rejected."""

    major: int
    minor: int


@dataclass(slots=True)
class Program:
    """Contents of `models/model.json`."""

    graph_module: GraphModule
    opset_version: dict[str, int]
    range_constraints: dict[str, Range]
    schema_version: Version
    verifiers: list[str] = field(default_factory=list)
    torch_version: str = "<=2.4"
    guards_code: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Payload:
    """Stored tensor payload: raw bytes, or a file of `torch.save` if `use_pickle`."""

    path_name: str
    is_param: bool
    use_pickle: bool
    tensor_meta: TensorMeta | None = None


@dataclass(slots=True)
class Payloads:
    """Table of the tensors in the folder of weights or of constants: name -> payload."""

    config: dict[str, Payload]


__all__ = [name for name, value in globals().items() if dataclasses.is_dataclass(value)] + [
    "KEYWORD", "MEMORY_FORMATS", "OPSET_VERSION", "POSITIONAL", "SCHEMA_VERSION",
    "STRIDED_LAYOUT_CODE",
    "TORCH_VERSION",
]  # fmt: skip
