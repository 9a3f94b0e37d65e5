"""Functional calls of modules with other parameters, and stacked states of ensembles of modules.

Example, for a module `net` and a list `nets` of modules of one class:

    y = ts.func.functional_call(net, {"weight": w}, (x,))       net(x), with `w` for net.weight
    parameters, buffers = ts.func.stack_module_state(nets)      stacked over the modules, for `vmap`
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ts._core.tensor.python_operators import operator
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
    """Call a module with other parameters and buffers, and restore the originals afterwards."""
    dicts = parameter_and_buffer_dicts
    tensors = (
        dict(dicts)
        if isinstance(dicts, dict)
        else {k: v for tensors_by_name in dicts for k, v in tensors_by_name.items()}
    )
    arguments = () if args is None else args if isinstance(args, tuple) else (args,)
    with replaced_members(module, tensors, tie_weights, strict):
        return module(*arguments, **(kwargs or {}))


@contextmanager
def replaced_members(
    module: Any, tensors: dict[str, Tensor], tie_weights: bool = True, strict: bool = False
) -> Iterator[None]:
    """Replace the named parameters and buffers of a module during a `with` block."""
    names = [name for name, _ in _members(module)]
    if strict and set(names) != set(tensors):
        raise RuntimeError(_mismatch(module, tensors, names))
    members = dict(_members(module))
    if tie_weights:  # a tensor that has several names is replaced under all of them
        replaced = {id(members[name]): value for name, value in tensors.items() if name in members}
        tensors = {name: replaced[id(old)] for name, old in members.items() if id(old) in replaced} | tensors
    before = []
    try:
        for name, value in tensors.items():
            if name not in members:
                continue
            path, _, last = name.rpartition(".")
            owner = module.get_submodule(path)
            table = owner._parameters if last in owner._parameters else owner._buffers
            before.append((table, last, table[last]))
            table[last] = value
        yield
    finally:
        for table, last, old in reversed(before):
            table[last] = old


def stack_module_state(models: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the stacked parameters and the stacked buffers of modules. All modules must have the same class.

    Both are dictionaries from name to tensor. The stacked tensors are leaf tensors if the originals are.
    Raise RuntimeError for an empty list, or for modules of different classes or training modes. Also raise it
    if a parameter requires grad only in some of the modules.
    """
    models = list(models)
    if not models:
        raise RuntimeError("stack_module_state: Expected at least one model, got 0.")
    if any(model.training != models[0].training for model in models):
        raise RuntimeError("stack_module_state: Expected all models to have the same training/eval mode.")
    if any(type(model) is not type(models[0]) for model in models):
        raise RuntimeError("stack_module_state: Expected all models to be of the same class.")

    def stack_tables(tables: list[dict[str, Any]]) -> dict[str, Any]:
        return {name: _stack_tensors(name, [table[name] for table in tables]) for name in tables[0]}

    return (
        stack_tables([dict(model.named_parameters()) for model in models]),
        stack_tables([dict(model.named_buffers()) for model in models]),
    )


def _stack_tensors(name: str, tensors: list[Any]) -> Any:
    requires_grad_flags = {x.requires_grad for x in tensors}
    if len(requires_grad_flags) > 1:
        raise RuntimeError(f"Expected {name} from each model to have the same .requires_grad")
    if not all(x.is_leaf for x in tensors):
        return operator("stack")(tensors)
    return operator("stack")([x.detach() for x in tensors]).requires_grad_(requires_grad_flags.pop())


def _members(module: Any) -> list[tuple[str, Tensor]]:
    return [
        *module.named_parameters(remove_duplicate=False), *module.named_buffers(remove_duplicate=False),
    ]  # fmt: skip


def _mismatch(module: Any, tensors: dict[str, Tensor], names: list[str]) -> str:
    message = f"Error(s) in reparametrizing for {type(module).__name__}:"
    for kind, keys in (
        ("Unexpected", [name for name in tensors if name not in names]),
        ("Missing", [name for name in names if name not in tensors]),
    ):
        if keys:
            message += f"\n\t{kind} key(s): {', '.join(repr(name) for name in keys)}."
    return message
