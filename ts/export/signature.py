"""Graph signature: kinds of the exported graph's inputs and outputs."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Mapping
from typing import Any


@dataclasses.dataclass
class TensorArgument:
    """Argument that is a tensor. `name` is the name of its node."""

    name: str


@dataclasses.dataclass
class SymIntArgument:
    """Argument that is a symbolic int. `name` is the name of its node."""

    name: str


@dataclasses.dataclass
class SymFloatArgument:
    """Argument that is a symbolic float. `name` is the name of its node."""

    name: str


@dataclasses.dataclass
class SymBoolArgument:
    """Argument that is a symbolic bool. `name` is the name of its node."""

    name: str


@dataclasses.dataclass
class TokenArgument:
    """Effect token, an argument that orders calls with side effects."""

    name: str


@dataclasses.dataclass
class CustomObjArgument:
    """Argument that is a script object: node name, class name, and fake value."""

    name: str
    class_fqn: str
    fake_val: Any = None


@dataclasses.dataclass
class ConstantArgument:
    """Number, string or None argument, with its value during export."""

    name: str
    value: int | float | bool | str | None


ArgumentSpec = (
    TensorArgument | SymIntArgument | SymFloatArgument | SymBoolArgument | ConstantArgument
    | CustomObjArgument | TokenArgument
)  # fmt: skip


class InputKind(enum.Enum):
    """Kind of a graph input: user input or module state."""

    USER_INPUT = enum.auto()
    PARAMETER = enum.auto()
    BUFFER = enum.auto()
    CONSTANT_TENSOR = enum.auto()
    CUSTOM_OBJ = enum.auto()
    TOKEN = enum.auto()


class OutputKind(enum.Enum):
    """Kind of a graph output: user output, loss, mutation or gradient."""

    USER_OUTPUT = enum.auto()
    LOSS_OUTPUT = enum.auto()
    BUFFER_MUTATION = enum.auto()
    PARAMETER_MUTATION = enum.auto()
    GRADIENT_TO_PARAMETER = enum.auto()
    GRADIENT_TO_USER_INPUT = enum.auto()
    USER_INPUT_MUTATION = enum.auto()
    TOKEN = enum.auto()


@dataclasses.dataclass
class InputSpec:
    """Spec of a graph input: kind, argument, name of the parameter or buffer, persistence of a buffer."""

    kind: InputKind
    arg: Any
    target: str | None
    persistent: bool | None = None

    def __str__(self) -> str:
        target = "" if self.target is None else f" target='{self.target}'"
        persistent = "" if self.persistent is None else f" persistent={self.persistent}"
        return f"{self.arg.name}: {self.kind.name}{target}{persistent}"


@dataclasses.dataclass
class OutputSpec:
    """Spec of a graph output: kind, argument, and name of the input whose new value the output is, if any."""

    kind: OutputKind
    arg: Any
    target: str | None

    def __str__(self) -> str:
        target = "" if self.target is None else f" target='{self.target}'"
        return f"{self.arg.name}: {self.kind.name}{target}"


@dataclasses.dataclass
class ExportBackwardSignature:
    """Graph outputs that are gradients (output -> parameter or input), and the output that is the loss."""

    gradients_to_parameters: dict[str, str]
    gradients_to_user_inputs: dict[str, str]
    loss_output: str


def _value(argument: Any) -> Any:
    return argument.value if isinstance(argument, ConstantArgument) else argument.name


@dataclasses.dataclass
class ExportGraphSignature:
    """Specs of all inputs and outputs of an exported graph, in order."""

    input_specs: list[InputSpec]
    output_specs: list[OutputSpec]

    def _inputs(self, kind: InputKind) -> list[InputSpec]:
        return [s for s in self.input_specs if s.kind is kind]

    def _outputs(self, kind: OutputKind) -> list[OutputSpec]:
        return [s for s in self.output_specs if s.kind is kind]

    @property
    def parameters(self) -> tuple[str, ...]:
        """Qualified names of the parameters, in the order of their inputs."""
        return tuple(str(s.target) for s in self._inputs(InputKind.PARAMETER))

    @property
    def buffers(self) -> tuple[str, ...]:
        """Qualified names of the buffers, in the order of their inputs."""
        return tuple(str(s.target) for s in self._inputs(InputKind.BUFFER))

    @property
    def non_persistent_buffers(self) -> tuple[str, ...]:
        """Names of the non-persistent buffers."""
        return tuple(str(s.target) for s in self._inputs(InputKind.BUFFER) if s.persistent is False)

    @property
    def lifted_tensor_constants(self) -> tuple[str, ...]:
        """Names of the tensor constants."""
        return tuple(str(s.target) for s in self._inputs(InputKind.CONSTANT_TENSOR))

    @property
    def lifted_custom_objs(self) -> tuple[str, ...]:
        """Names of the custom object constants."""
        return tuple(str(s.target) for s in self._inputs(InputKind.CUSTOM_OBJ))

    @property
    def user_inputs(self) -> tuple[Any, ...]:
        """Node names of the user inputs, or values of constant inputs."""
        return tuple(_value(s.arg) for s in self._inputs(InputKind.USER_INPUT))

    @property
    def user_outputs(self) -> tuple[Any, ...]:
        """Node names of the user outputs, or values of constant outputs."""
        kinds = (OutputKind.USER_OUTPUT, OutputKind.LOSS_OUTPUT)
        return tuple(_value(s.arg) for s in self.output_specs if s.kind in kinds)

    def _names(self, kind: InputKind) -> Mapping[str, str]:
        return {s.arg.name: str(s.target) for s in self._inputs(kind)}

    @property
    def inputs_to_parameters(self) -> Mapping[str, str]:
        """Mapping: name of an input node -> name of the parameter."""
        return self._names(InputKind.PARAMETER)

    @property
    def inputs_to_buffers(self) -> Mapping[str, str]:
        """Mapping: name of an input node -> name of the buffer."""
        return self._names(InputKind.BUFFER)

    @property
    def inputs_to_lifted_tensor_constants(self) -> Mapping[str, str]:
        """Mapping: name of an input node -> name of the tensor constant."""
        return self._names(InputKind.CONSTANT_TENSOR)

    @property
    def inputs_to_lifted_custom_objs(self) -> Mapping[str, str]:
        """Mapping: name of an input node -> name of the custom object."""
        return self._names(InputKind.CUSTOM_OBJ)

    def _mutations(self, kind: OutputKind) -> Mapping[str, str]:
        return {s.arg.name: str(s.target) for s in self._outputs(kind)}

    @property
    def buffers_to_mutate(self) -> Mapping[str, str]:
        """Mapping: name of an output node -> name of the buffer that gets its value."""
        return self._mutations(OutputKind.BUFFER_MUTATION)

    @property
    def parameters_to_mutate(self) -> Mapping[str, str]:
        """Mapping: name of an output node -> name of the parameter that gets its value."""
        return self._mutations(OutputKind.PARAMETER_MUTATION)

    @property
    def user_inputs_to_mutate(self) -> Mapping[str, str]:
        """Mapping: name of an output node -> name of the user input that gets its value."""
        return self._mutations(OutputKind.USER_INPUT_MUTATION)

    @property
    def backward_signature(self) -> ExportBackwardSignature | None:
        """Gradients among the outputs, or None if the graph computes no gradients."""
        loss = self._outputs(OutputKind.LOSS_OUTPUT)
        if not loss:
            return None
        parameters = {s.arg.name: str(s.target) for s in self._outputs(OutputKind.GRADIENT_TO_PARAMETER)}
        inputs = {s.arg.name: str(s.target) for s in self._outputs(OutputKind.GRADIENT_TO_USER_INPUT)}
        return ExportBackwardSignature(parameters, inputs, loss[0].arg.name)

    @property
    def assertion_dep_token(self) -> None:
        """None, because PyTorch no longer uses this token."""
        return None

    @property
    def input_tokens(self) -> tuple[str, ...]:
        """Names of the effect token inputs."""
        return tuple(s.arg.name for s in self._inputs(InputKind.TOKEN))

    @property
    def output_tokens(self) -> tuple[str, ...]:
        """Names of the effect token outputs."""
        return tuple(s.arg.name for s in self._outputs(OutputKind.TOKEN))

    def replace_all_uses(self, old: str, new: str) -> None:
        """Replace the node name `old` by `new` in all specs."""
        specs: list[Any] = [*self.input_specs, *self.output_specs]
        for spec in specs:
            if not isinstance(spec.arg, ConstantArgument) and spec.arg.name == old:
                spec.arg.name = new

    def get_replace_hook(self, replace_inputs: bool = False) -> Any:
        """Return a function `f(old, new, user)` that a graph calls when it replaces a node.

        The function renames results in the signature. If `replace_inputs` is True, it also renames inputs.
        """

        def replaced(old: Any, new: str, user: Any) -> None:
            if user.op == "output":
                self.replace_all_uses(old.name, new)
            if replace_inputs and old.op == "placeholder":
                self.replace_all_uses(old.name, new)

        return replaced

    def __str__(self) -> str:
        inputs = "\n".join(map(str, self.input_specs))
        outputs = "\n".join(map(str, self.output_specs))
        return f"\n# inputs\n{inputs}\n\n# outputs\n{outputs}\n"
