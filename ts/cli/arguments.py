"""Command-line argument parsing by parameter type.

Input: text from the command line, and the type of a parameter. Output: a value of this type. Examples:

    read_argument("[1, 2]", ListType(INT))           [1, 2]
    read_argument("x.npz:weight", TENSOR)            the tensor `weight` in a file
    read_arguments(f, ["x.npy", "n=2"])              [a tensor], {"n": 2}
"""

from __future__ import annotations

import ast
import io
import re
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

import ts
from ts.cli.errors import UsageError
from ts.ir import types
from ts.ir.attributes import type_of_constant
from ts.jit import ScriptFunction
from ts.runtime.script_method import ScriptMethod

_SHAPE: Final = re.compile(r"([A-Za-z]\w*)\[([\d,\s]*)\]")  # tensor description such as float32[1,3,224,224]
STANDARD: Final = "-"  # file argument that means standard input or output

ARGUMENT_SYNTAX: Final = """\
arguments are read according to the parameters' types:
  int, float, bool      42   2.5   true
  str                   text, or @PATH for the contents of a text file
  Tensor                PATH.npy, PATH.npz:KEY, - for .npy data from standard input,
                        a literal such as [[1.0, 2.0]],
                        or random numbers: float32[1,3,224,224]
  Dict[str, Tensor]     PATH.npz
  Enum, torch.device    the name of the enum member or device
  any other type        a Python literal: [1, 2], {'a': 1}, (1, 2.0), None
  NAME=VALUE            keyword argument
  PATH.npz              keyword arguments, if all array names are parameter names
  --                    needed before arguments that begin with a dash: -- -3
"""


def parse_literal(source: str, expected: types.Type) -> Any:
    """Parse a Python literal. If parsing fails, raise UsageError with the expected type."""
    try:
        return ast.literal_eval(source)
    except (ValueError, SyntaxError):
        raise UsageError(f"{source!r} is not {_with_article(expected.annotation_str)}") from None


def _with_article(name: str) -> str:
    return f"{'an' if name[0] in 'aeiouAEIO' else 'a'} {name}"


def read_member(member_name: str, expected: types.EnumType) -> Any:
    """Parse an enum member, written as the name or as `Class.NAME`."""
    members: dict[str, Any] = dict(getattr(expected.python_class, "__members__", {}))
    name = member_name.rpartition(".")[2]
    if name not in members:
        raise UsageError(
            f"{member_name!r} is not a member of {expected.annotation_str}: {', '.join(members)}"
        )
    return members[name]


def read_device(device_name: str) -> Any:
    """Parse a device such as `cpu`, `cuda:0` or `meta`. Raise UsageError for other text."""
    try:
        return ts.device(device_name)
    except RuntimeError as error:
        raise UsageError(str(error)) from None


def read_tensor(argument: str, expected: types.Type) -> ts.Tensor:
    """Read a tensor from `PATH.npy`, `PATH.npz`, `PATH.npz:KEY`, `-` for standard input, or a literal."""
    path, colon, key = argument.rpartition(":") if ".npz:" in argument else (argument, "", "")
    if path.endswith(".npy") or path == STANDARD:
        return to_tensor(load_arrays(path), path)
    if path.endswith(".npz"):
        arrays = load_arrays(path)
        if not colon and len(arrays.files) == 1:
            key = arrays.files[0]
        if key not in arrays.files:
            raise UsageError(f"{path} contains {', '.join(arrays.files)}; select one with {path}:KEY")
        return to_tensor(arrays[key], argument)
    described = parse_tensor_description(argument)
    if described is not None:
        return random_tensor(*described)
    try:
        return ts.tensor(parse_literal(argument, expected))
    except (TypeError, ValueError, RuntimeError) as error:
        raise UsageError(f"{argument!r} is not a Tensor: {error}") from None


def parse_tensor_description(description: str) -> tuple[ts.dtype, list[int]] | None:
    """Parse a tensor description such as `float32[1,3,224,224]`. Return None for other text."""
    match = _SHAPE.fullmatch(description)
    if match is None:
        return None
    dtype = getattr(ts, match[1], None)
    if not isinstance(dtype, ts.dtype):
        raise UsageError(f"{description}: {match[1]!r} is not a dtype")
    return dtype, [int(size) for size in match[2].split(",") if size.strip()]


def split_input(argument: str) -> tuple[str, str]:
    """Split the argument of `--input NAME=VALUE` into name and value."""
    name, equals, value = argument.partition("=")
    if not equals:
        raise UsageError(f"--input: expected NAME=VALUE, got {argument!r}")
    return name, value


def read_input(name: str, argument: str, expected: types.Type) -> Any:
    """Return the value of `--input` for a parameter of type `expected`, parsed like arguments of `ts run`.

    Raise UsageError if the text is a value of another type.
    """
    accepts_tensor = types.TENSOR.is_subtype_of(expected)
    value = None if not accepts_tensor and _SHAPE.fullmatch(argument) else read_argument(argument, expected)
    value_type = type_of_constant(value)
    if argument != "None" and (value is None or value_type is None or not value_type.is_subtype_of(expected)):
        hint = ", such as float32[2,3] or [[1.0, 2.0]]" if accepts_tensor else f", got {argument}"
        raise UsageError(f"--input {name}: expected {_with_article(expected.annotation_str)}{hint}")
    return value


def random_tensor(dtype: ts.dtype, sizes: list[int]) -> ts.Tensor:
    """Return a reproducible random tensor.

    Floating-point values are normally distributed. Integers are 0 or 1, so that most index arguments are
    valid.
    """
    source = ts.Generator().manual_seed(0)
    if dtype.is_floating_point or dtype.is_complex:
        sampled_dtype = ts.complex64 if dtype.is_complex else ts.float32
        return ts.randn(sizes, dtype=sampled_dtype, generator=source).to(dtype)
    return ts.randint(0, 2, sizes, generator=source).to(dtype)


def to_tensor(array: Any, location: str) -> ts.Tensor:
    """Convert an array to a tensor. Raise UsageError for strings and other unsupported dtypes."""
    try:
        return ts.from_numpy(array)
    except (TypeError, ValueError) as error:
        raise UsageError(f"{location}: {error}") from None


def load_arrays(path: str) -> Any:
    """Load arrays from an `.npy` or `.npz` file or from standard input.

    Pickles are rejected, because they could execute code.
    """
    file = io.BytesIO(sys.stdin.buffer.read()) if path == STANDARD else path
    try:
        return np.load(file, allow_pickle=False)
    except (OSError, ValueError, EOFError, zipfile.BadZipFile) as error:
        raise UsageError(f"cannot read {path}: {getattr(error, 'strerror', None) or error}") from None


def read_text(argument: str) -> str:
    """Return `argument`, or, if it starts with `@`, the contents of the named file."""
    if not argument.startswith("@"):
        return argument
    try:
        return Path(argument[1:]).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read {argument[1:]}: {getattr(error, 'strerror', None) or error}") from None


def read_argument(argument: str, expected: types.Type) -> Any:
    """Parse the text of an argument of type `expected`."""
    if isinstance(expected, types.OptionalType):
        return None if argument == "None" else read_argument(argument, expected.elem)
    if isinstance(expected, types.StringType):
        return read_text(argument)
    if isinstance(expected, types.TensorType):
        return read_tensor(argument, expected)
    if isinstance(expected, types.EnumType):
        return read_member(argument, expected)
    if expected == types.DEVICE:
        return read_device(argument)
    if isinstance(expected, types.BoolType) and argument.lower() in ("true", "false"):
        return argument.lower() == "true"
    if isinstance(expected, types.FloatType):
        try:
            return float(argument)
        except ValueError:
            raise UsageError(f"{argument!r} is not a float") from None
    if isinstance(expected, types.DictType) and argument.endswith(".npz"):
        arrays = load_arrays(argument)
        return {key: to_tensor(arrays[key], f"{argument}:{key}") for key in arrays.files}
    return parse_literal(argument, expected)


def read_arguments(
    function: ScriptFunction | ScriptMethod, words: Sequence[str]
) -> tuple[list[Any], dict[str, Any]]:
    """Parse command-line words as positional and keyword arguments, by the function's schema."""
    declared = function.schema.arguments[1 if isinstance(function, ScriptMethod) else 0 :]
    parser = _ArgumentParser(function, declared)
    for word in words:
        parser.add(word)
    missing = [
        argument.name for argument in declared if not (parser.has(argument.name) or argument.has_default)
    ]
    if missing:
        raise UsageError(f"missing arguments {', '.join(missing)} of {_format_signature(function, declared)}")
    return parser.positional, parser.keywords


def _format_signature(function: ScriptFunction | ScriptMethod, declared: Sequence[Any]) -> str:
    return f"{function.name}({', '.join(map(str, declared))})"


class _ArgumentParser:
    """Assigns command-line words to parameters of a function."""

    def __init__(self, function: ScriptFunction | ScriptMethod, declared: Sequence[Any]) -> None:
        self.function = function
        self.declared = declared
        self.parameters: dict[str, types.Type] = {argument.name: argument.type for argument in declared}
        self.order = list(self.parameters)
        self.positional: list[Any] = []
        self.keywords: dict[str, Any] = {}

    def has(self, name: str) -> bool:
        return name in self.keywords or name in self.order[: len(self.positional)]

    def add(self, word: str) -> None:
        """Parse one word and assign it to a parameter."""
        name, equals, value = word.partition("=")
        if equals and name in self.parameters:
            self.keyword(name, read_argument(value, self.parameters[name]))
        elif equals and name.isidentifier() and not isinstance(self.next_type(), types.StringType):
            accepted = ", ".join(self.order) or "none"
            raise UsageError(
                f"{self.function.name} has no parameter {name!r}; its parameters are: {accepted}"
            )
        elif word.endswith(".npz") and self.add_arrays(word):
            return
        else:
            expected = self.next_type()
            if expected is None:
                count = len(self.order)
                raise UsageError(
                    f"{self.function.name} takes {count} argument{'s' * (count != 1)}: "
                    f"{_format_signature(self.function, self.declared)}"
                )
            if self.order[len(self.positional)] in self.keywords:
                name = self.order[len(self.positional)]
                raise UsageError(f"positional argument {word!r} follows the keyword argument for {name!r}")
            self.positional.append(read_argument(word, expected))

    def next_type(self) -> types.Type | None:
        """Return the type of the parameter for the next positional argument, or None if none is left."""
        index = len(self.positional)
        return self.parameters[self.order[index]] if index < len(self.order) else None

    def keyword(self, name: str, value: Any) -> None:
        if self.has(name):
            raise UsageError(f"{self.function.name} got {name!r} twice")
        self.keywords[name] = value

    def add_arrays(self, path: str) -> bool:
        """Add the arrays of an .npz file as keyword arguments. Return True.

        If the file has no arrays, or has an array whose name is not a parameter name, add nothing and return
        False.
        """
        arrays = load_arrays(path)
        if not arrays.files or not set(arrays.files) <= self.parameters.keys():
            return False
        for name in arrays.files:
            self.keyword(name, from_array(arrays[name], self.parameters[name], f"{path}:{name}"))
        return True


def from_array(array: Any, expected: types.Type, location: str) -> Any:
    """Convert an array to the type of a parameter: a tensor, a number, a string or a list."""
    if isinstance(expected, types.OptionalType):
        expected = expected.elem
    return to_tensor(array, location) if isinstance(expected, types.TensorType) else array.tolist()
