"""Frontend errors and parser functions, under the names of `torch.jit.frontend`.

The first example prints the error for an unsupported construct:

    try:
        ts.jit.script(f)
    except ts.jit.frontend.NotSupportedError as error:
        print(error)

The second example returns the parsed definition of f, with its syntax tree and source:

    ts.jit.frontend.get_jit_def(f, "f")
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from ts.errors import FrontendError, NotSupportedError, UnsupportedNodeError
from ts.frontend.parse import ParsedFunction, function_def
from ts.frontend.tree_printer import definition_text


class Definition(ParsedFunction):
    """Parsed definition whose text has the format of PyTorch's trees."""

    def __init__(self, parsed: ParsedFunction, self_name: str | None) -> None:
        vars(self).update(vars(parsed))
        self.self_name = self_name  # name of the class if the function is a method, else None

    def __str__(self) -> str:
        return definition_text(self.name, self.node, self.type_comment, self.self_name)


def get_jit_def(
    fn: Callable[..., Any], def_name: str, self_name: str | None = None, is_classmethod: bool = False
) -> Definition:
    """Parse the definition of a function. Raise an error for constructs outside the language."""
    return Definition(function_def(fn, def_name), self_name)


def get_default_args(fn: Callable[..., Any] | None) -> dict[str, Any]:
    """Return the default values of a function's parameters, by name."""
    if fn is None:
        return {}
    parameters = inspect.signature(fn).parameters.values()
    return {p.name: p.default for p in parameters if p.default is not inspect.Parameter.empty}


__all__ = ["FrontendError", "NotSupportedError", "UnsupportedNodeError", "get_default_args", "get_jit_def"]
