"""Modules as functions: `functional_call`.

y = ts.func.functional_call(net, {"weight": w}, (x,))       net(x), with `w` for net.weight
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ts._core.tensor.tensor import Tensor


def functional_call(
    module: Any,
    parameter_and_buffer_dicts: dict[str, Tensor] | Sequence[dict[str, Tensor]],
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """Call a module with other tensors in place of those it has; it has its own again afterwards."""
    given = parameter_and_buffer_dicts
    tensors = dict(given) if isinstance(given, dict) else {k: v for part in given for k, v in part.items()}
    names = [name for name, _ in _members(module)]
    if strict and set(names) != set(tensors):
        raise RuntimeError(_mismatch(module, tensors, names))
    places = dict(_members(module))
    if tie_weights:  # a tensor that has several names is replaced under all of them
        replaced = {id(places[name]): value for name, value in tensors.items() if name in places}
        tensors = {name: replaced[id(old)] for name, old in places.items() if id(old) in replaced} | tensors
    before = []
    try:
        for name, value in tensors.items():
            if name not in places:
                continue
            path, _, last = name.rpartition(".")
            owner = module.get_submodule(path)
            table = owner._parameters if last in owner._parameters else owner._buffers
            before.append((table, last, table[last]))
            table[last] = value
        arguments = () if args is None else args if isinstance(args, tuple) else (args,)
        return module(*arguments, **(kwargs or {}))
    finally:
        for table, last, old in reversed(before):
            table[last] = old


def _members(module: Any) -> list[tuple[str, Tensor]]:
    return [
        *module.named_parameters(remove_duplicate=False), *module.named_buffers(remove_duplicate=False),
    ]  # fmt: skip


def _mismatch(module: Any, tensors: dict[str, Tensor], names: list[str]) -> str:
    text = f"Error(s) in reparametrizing for {type(module).__name__}:"
    for kind, wrong in (
        ("Unexpected", [name for name in tensors if name not in names]),
        ("Missing", [name for name in names if name not in tensors]),
    ):
        if wrong:
            text += f"\n\t{kind} key(s): {', '.join(repr(name) for name in wrong)}."
    return text
