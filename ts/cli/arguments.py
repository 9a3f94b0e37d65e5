"""Arguments from words: each is read by the type of the parameter that it is for.

read_argument("[1, 2]", ListType(INT))           [1, 2]
read_argument("x.npz:weight", TENSOR)            a tensor
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import ts
from ts.cli.targets import UsageError
from ts.ir import types
from ts.jit import ScriptFunction
from ts.runtime.script_method import ScriptMethod


def literal(text: str, expected: types.Type) -> Any:
    """A Python literal; raises UsageError with the type that was expected."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        raise UsageError(f"{text!r} is not {_with_article(expected.annotation_str)}") from None


def _with_article(name: str) -> str:
    return f"{'an' if name[0] in 'aeiouAEIO' else 'a'} {name}"


def read_member(text: str, expected: types.EnumType) -> Any:
    """A member of an enum, by its name or as `Class.NAME`."""
    members: dict[str, Any] = dict(getattr(expected.python_class, "__members__", {}))
    name = text.rpartition(".")[2]
    if name not in members:
        raise UsageError(f"{text!r} is no member of {expected.annotation_str}: {', '.join(members)}")
    return members[name]


def read_device(text: str) -> Any:
    """`cpu`, `cuda:0`, `meta`."""
    try:
        return ts.device(text)
    except RuntimeError as error:
        raise UsageError(str(error)) from None


def read_tensor(text: str, expected: types.Type) -> ts.Tensor:
    """A tensor from `PATH.npy`, `PATH.npz`, `PATH.npz:KEY` or a literal."""
    path, colon, key = text.rpartition(":") if ".npz:" in text else (text, "", "")
    if path.endswith(".npy"):
        return ts.from_numpy(load_arrays(path))
    if path.endswith(".npz"):
        arrays = load_arrays(path)
        if not colon and len(arrays.files) == 1:
            key = arrays.files[0]
        if key not in arrays.files:
            raise UsageError(f"{path} holds {', '.join(arrays.files)}; name one as {path}:KEY")
        return ts.from_numpy(arrays[key])
    try:
        return ts.tensor(literal(text, expected))
    except (TypeError, ValueError, RuntimeError) as error:
        raise UsageError(f"{text!r} is not a Tensor: {error}") from None


def load_arrays(path: str) -> Any:
    """The contents of an `.npy` or `.npz` file (no pickles: the file may not be ours)."""
    try:
        return np.load(path, allow_pickle=False)
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot read {path}: {error}") from None


def read_text(text: str) -> str:
    """The string itself, or with a leading `@` the contents of the file it names."""
    if not text.startswith("@"):
        return text
    try:
        return Path(text[1:]).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read {text[1:]}: {error}") from None


def read_argument(text: str, expected: types.Type) -> Any:
    """The value that `text` spells for a parameter of type `expected`."""
    if isinstance(expected, types.OptionalType):
        return None if text == "None" else read_argument(text, expected.elem)
    if isinstance(expected, types.StringType):
        return read_text(text)
    if isinstance(expected, types.TensorType):
        return read_tensor(text, expected)
    if isinstance(expected, types.EnumType):
        return read_member(text, expected)
    if expected == types.DEVICE:
        return read_device(text)
    if isinstance(expected, types.BoolType) and text.lower() in ("true", "false"):
        return text.lower() == "true"
    if isinstance(expected, types.FloatType):
        try:
            return float(text)
        except ValueError:
            raise UsageError(f"{text!r} is not a float") from None
    if isinstance(expected, types.DictType) and text.endswith(".npz"):
        arrays = load_arrays(text)
        return {key: ts.from_numpy(arrays[key]) for key in arrays.files}
    return literal(text, expected)


def read_arguments(
    function: ScriptFunction | ScriptMethod, texts: Sequence[str]
) -> tuple[list[Any], dict[str, Any]]:
    """Positional and keyword arguments from the command line's words, by the function's schema."""
    declared = function.schema.arguments[1 if isinstance(function, ScriptMethod) else 0 :]
    parameters = {argument.name: argument.type for argument in declared}
    order = list(parameters)
    positional: list[Any] = []
    keywords: dict[str, Any] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if equals and name in parameters:
            keywords[name] = read_argument(value, parameters[name])
        elif len(positional) < len(order):
            positional.append(read_argument(text, parameters[order[len(positional)]]))
        else:
            raise UsageError(f"{function.name} takes {len(order)} arguments: {function.schema}")
    return positional, keywords
