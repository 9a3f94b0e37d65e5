"""Calls of `__torch_function__` for methods of tensors that are not operators and have non-tensor arguments.

Input: the arguments that may override, the method, and all its arguments. Output: the result of the
overriding class, or MISSING. Example:

    torch_function_result((index,), Tensor.__getitem__, (x, index))
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

MISSING: Final = object()


def overrides(x: object) -> bool:
    """Return whether the class of `x` defines `__torch_function__`."""
    return hasattr(type(x), "__torch_function__")


def torch_function_result(
    candidates: Iterable[Any], function: Callable[..., Any], args: tuple[Any, ...], kwargs: Any = None
) -> Any:
    """Return the result of `__torch_function__` of the first candidate that defines it.

    Return MISSING if no candidate defines it. Raise TypeError if the result is NotImplemented.
    """
    overriding = next((x for x in candidates if overrides(x)), None)
    if overriding is None:
        return MISSING
    result = overriding.__torch_function__(function, (type(overriding),), args, kwargs or None)
    if result is NotImplemented:
        name = f"torch.Tensor.{function.__name__}"
        raise TypeError(
            f"no implementation found for '{name}' on types that implement __torch_function__: "
            f"{[type(overriding)]}"
        )
    return result
