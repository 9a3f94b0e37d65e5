"""Check of the signatures of forward hooks and pre-hooks against the module's `forward`.

A mismatch raises a RuntimeError with the expected signature. The example shows `forward` and valid hooks:

    def forward(self, a: str) -> int
    def pre_hook(self, input: Tuple[str]) -> None                  or -> str, or -> Tuple[str]
    def hook(self, input: Tuple[str], output: int)                 any return type
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ts.ir.types import NONE, TupleType, Type

if TYPE_CHECKING:
    from ts.frontend.modules import ConcreteModule


def check_hook_signatures(concrete: ConcreteModule) -> None:
    """Raise RuntimeError for a hook whose signature does not match `forward` of the module."""
    methods = concrete.type.methods
    if not (concrete.pre_hooks or concrete.hooks) or "forward" not in methods:
        return
    schema = methods["forward"].schema
    module = type_name(concrete)
    inputs = [argument.type for argument in schema.arguments[1:]]
    for hook in concrete.pre_hooks:
        _check_pre_hook(module, methods[hook.__name__], hook, inputs)
    output = schema.returns[0].type
    for hook in concrete.hooks:
        _check_hook(module, methods[hook.__name__], inputs, output)
        output = methods[hook.__name__].schema.returns[0].type


def type_name(concrete: ConcreteModule) -> str:
    """Return the name of a module's class."""
    return concrete.python_class.__name__


def _check_pre_hook(module: str, method: Any, function: Any, inputs: Sequence[Type]) -> None:
    name = method.name
    expected = TupleType(inputs).repr_str
    is_nested = len(inputs) == 1 and isinstance(inputs[0], TupleType)
    if len(inputs) == 1 and not is_nested:
        results = f"'None', '{_type_text(inputs[0])}', or '{expected}'"
    else:
        results = f"'None' or '{expected}'"
    advice = (
        f"This error occurred while scripting the forward pre-hook '{name}' on module '{module}'. If you did "
        "not want to script this pre-hook remove it from the original NN module before scripting. Pre-hooks "
        f"for module '{module}' are expected to have the following signature: {name}(self, input: {expected})"
        f" with a return type of either {results}.\n"
    )
    label = f"Pre-hook '{name}' on module '{module}'"
    arguments = method.schema.arguments
    if len(arguments) != 2:
        raise RuntimeError(
            f"{label} was expected to only have exactly 2 inputs but it had {len(arguments)} inputs. {advice}"
        )
    _check_input(label, arguments[1].type, inputs, advice)
    if not _has_return_annotation(function):
        raise RuntimeError(
            f"{label} is missing a return annotation. Return annotations are required, please add one.\n"
            f"{advice}"
        )
    returned = method.schema.returns[0].type
    if returned is NONE or (len(inputs) == 1 and not is_nested and returned == inputs[0]):
        return
    message = f"{label} returned the wrong type of: '{_type_text(returned)}'."
    if not isinstance(returned, TupleType):
        raise RuntimeError(f"{message}{advice}")
    if is_nested and returned.elems != (inputs[0],):
        raise RuntimeError(
            f"{message} When forward has a single tuple input argument, the return needs to be 'None' or a "
            f"nested tuple containing forward's input tuple argument as in: '{expected}'.\n{advice}"
        )
    if len(returned.elems) != len(inputs):
        raise RuntimeError(
            f"{message} The returned tuple contains the wrong number of contained types.\n{advice}"
        )
    if list(returned.elems) != list(inputs):
        raise RuntimeError(f"{message} The returned tuple contains the wrong inner types.\n{advice}")


def _check_hook(module: str, method: Any, inputs: Sequence[Type], output: Type) -> None:
    name = method.name
    advice = (
        f"This error occurred while scripting the forward hook '{name}' on module {module}. If you did not "
        "want to script this hook remove it from the original NN module before scripting. This hook was "
        f"expected to have the following signature: {name}(self, input: {TupleType(inputs).repr_str}, "
        f"output: {_type_text(output)}). "
        "The type of the output arg is the returned type from either the forward "
        "method or the previous hook if it exists. Note that hooks can return anything, but if the hook is "
        "on a submodule the outer module is expecting the same return type as the submodule's forward.\n"
    )
    label = f"Hook '{name}' on module '{module}'"
    arguments = method.schema.arguments
    if len(arguments) != 3:
        raise RuntimeError(
            f"{label} was expected to only have exactly 3 inputs but it had {len(arguments)} inputs. {advice}"
        )
    _check_input(label, arguments[1].type, inputs, advice)
    received = arguments[2].type
    if not output.is_subtype_of(received):
        raise RuntimeError(
            f"{label} has the wrong type for the output argument. Received type: '{_type_text(received)}'. "
            f"Expected type: '{_type_text(output)}'.\n{advice}"
        )


def _check_input(label: str, received: Type, inputs: Sequence[Type], advice: str) -> None:
    """Raise RuntimeError if the `input` parameter of a hook is not a tuple with the element types `inputs`.

    `received` is the annotated type of the parameter. The message begins with `label`, which names the hook,
    and ends with `advice`.
    """
    if not isinstance(received, TupleType):
        raise RuntimeError(
            f"{label} expected the input argument to be typed as a Tuple but found type: "
            f"'{_type_text(received)}' instead.\n{advice}"
        )
    received_note = f"Received type: '{received.repr_str}'.\n{advice}"
    if not inputs and received.elems:
        raise RuntimeError(f"{label} was expecting Tuple[()] as the input type. {received_note}")
    if len(received.elems) != len(inputs):
        raise RuntimeError(
            f"{label} has the wrong number of contained types for the input argument's Tuple. {received_note}"
        )
    if list(received.elems) != list(inputs):
        raise RuntimeError(f"{label} has the wrong inner types for the input tuple argument. {received_note}")


def _type_text(type: Type) -> str:
    return type.repr_str.removesuffix(" (inferred)")


def _has_return_annotation(function: Any) -> bool:
    from ts.frontend import parse

    if "return" in getattr(function, "__annotations__", {}):
        return True
    try:
        return parse.function_def(function, signature_only=True).type_comment is not None
    except OSError:
        return True
