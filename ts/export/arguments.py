"""Argument binding (signature binding) of call arguments to parameter names of `forward`."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from ts.nn.modules.module import Module


def arguments_by_name(module: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """Return a dictionary from parameter names of `forward` to arguments, in the order of the call."""
    forward = module.forward if isinstance(module, Module) else module
    parameters = list(inspect.signature(forward).parameters.values())
    positional = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    rest = next((p.name for p in parameters if p.kind is p.VAR_POSITIONAL), None)
    arguments: dict[str, Any] = dict(zip(positional, args, strict=False))
    if len(args) > len(positional):
        if rest is None:
            raise TypeError(
                f"forward() takes {len(positional)} positional arguments but {len(args)} were given"
            )
        arguments[rest] = tuple(args[len(positional) :])
    return arguments | dict(kwargs)


def argument_names(mod: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> list[str]:
    """Return one name per argument of a call.

    Arguments for a parameter `*rest` are named rest_0, rest_1, ...
    """
    forward = mod.forward if isinstance(mod, Module) else mod
    parameters = inspect.signature(forward).parameters.values()
    names = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    rest = next((p.name for p in parameters if p.kind is p.VAR_POSITIONAL), "")
    rest_names = [f"{rest}_{i}" for i in range(len(args) - len(names))]
    return [*names[: len(args)], *rest_names, *kwargs]
