"""Former PyTorch module of `vmap`, which some packages still import."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ts.func.vmap import vmap
from ts.unsupported import names_for

__all__ = ["vmap"]
__getattr__ = names_for(__name__)


def _vmap(
    func: Callable[..., Any],
    in_dims: Any = 0,
    out_dims: Any = 0,
    allow_none_pass_through: bool = False,
) -> Callable[..., Any]:
    """Vectorize a function over a batch. With `allow_none_pass_through`, results may be None."""
    if not allow_none_pass_through:
        return vmap(func, in_dims, out_dims)

    def mapped(*args: Any) -> Any:
        captured: list[Any] = []

        def without_none(*inner: Any) -> Any:
            results = func(*inner)
            is_tuple = isinstance(results, tuple)
            items = results if is_tuple else (results,)
            captured[:] = [is_tuple, [item is None for item in items]]
            return tuple(item for item in items if item is not None)

        outputs = iter(vmap(without_none, in_dims, out_dims)(*args))
        is_tuple, is_none = captured
        items = tuple(None if none else next(outputs) for none in is_none)
        return items if is_tuple else items[0]

    return mapped
