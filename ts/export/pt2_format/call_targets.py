"""Names of call targets in archives: operators, arithmetic on sizes, and control flow.

Each line shows a call and its result:

    resolve("torch.ops.aten.add.Tensor")     the operator overload
    resolve("_operator.floordiv")            operator.floordiv
    name_of(operator.floordiv)               "_operator.floordiv"

An unknown name raises ArchiveError. Names are looked up in tables and never imported.
"""

from __future__ import annotations

import importlib
from typing import Any, Final

import ts
from ts._core.builtin_ops.properties import names_with
from ts.errors import ArchiveError
from ts.export.size_operations import ARCHIVE_TARGETS
from ts.ops import registry
from ts.ops.namespace import OpOverload, overload_named

_PREFIX: Final = "torch.ops."
_HIGHER: Final = "torch.ops.higher_order."
_BATCHES: Final = "torch._functorch.predispatch."
_VMAP_OPERATORS: Final = (  # functions that are targets of nodes in an exported call of `vmap`
    "lazy_load_decompositions", "_vmap_increment_nesting", "_vmap_decrement_nesting", "_add_batch_dim",
    "_remove_batch_dim",
)  # fmt: skip
_FILE_WRITERS: Final = names_with("writes_files")
_NAMES: Final = {function: name for name, function in ARCHIVE_TARGETS.items()}


def resolve(name: str) -> Any:
    """Return the function or operator with the name `name` in archives.

    Raise ArchiveError for an unknown name.
    """
    function = ARCHIVE_TARGETS.get(name)
    if function is not None:
        return function
    if name.startswith(_HIGHER):
        return _of_functions(name.removeprefix(_HIGHER))
    if name.startswith(_BATCHES):
        return _find_vmap_operator(name.removeprefix(_BATCHES))
    if name.startswith(_PREFIX):
        return _overload(name.removeprefix(_PREFIX))
    raise ArchiveError(f"the program calls {name[:120]}, which ts does not support")


def _overload(name: str) -> OpOverload:
    match name.split("."):
        case [namespace, base, overload] if all(
            segment.isidentifier() for segment in (namespace, base, overload)
        ):
            if f"{namespace}::{base}" in _FILE_WRITERS:
                raise ArchiveError(
                    f"the program calls the operator {namespace}::{base}, which writes files; exported "
                    "programs are not allowed to call it"
                )
            overload_name = "" if overload == "default" else overload
            for each in registry.lookup(f"{namespace}::{base}"):
                if each.overload == overload_name:
                    return overload_named(each.name, each.overload)
            raise ArchiveError(
                f"the program calls the operator {namespace}::{base}.{overload}, which is not registered"
                + ("" if namespace == "aten" else ": import the module that defines it, or see ts.library")
            )
    raise ArchiveError(f"the program calls {name[:120]}, which is not an operator")


def _of_functions(name: str) -> Any:
    """Return the higher-order operator (with graphs as arguments) that `name` denotes."""
    home = getattr(ts.ops, "higher_order", None)
    function = getattr(home, name, None) if name.isidentifier() and not name.startswith("__") else None
    if not callable(function):
        raise ArchiveError(f"the program calls torch.ops.higher_order.{name[:80]}, which ts does not support")
    return function


def _find_vmap_operator(name: str) -> Any:
    """Return the function `name` of an exported `vmap` call. Raise ArchiveError for other names."""
    home = _vmap_module()
    if name not in _VMAP_OPERATORS or home is None:
        raise ArchiveError(f"the program calls {_BATCHES}{name[:80]}, which ts does not support")
    return getattr(home, name)


def _vmap_module() -> Any:
    """Return the module that defines the functions of `vmap`, or None if this module is not installed."""
    try:
        return importlib.import_module("ts._functorch.predispatch")
    except ModuleNotFoundError:
        return None


def depth_change(name: str) -> int:
    """Return the change of the `vmap` nesting depth that a call of the function `name` makes: 1, -1 or 0."""
    last = name.removeprefix(_BATCHES)
    return {"_vmap_increment_nesting": 1, "_vmap_decrement_nesting": -1}.get(last, 0)


def is_of_functions(target: Any) -> bool:
    """Return True for a higher-order operator, whose arguments include graphs."""
    home = getattr(ts.ops, "higher_order", None)
    name = getattr(target, "__name__", "")
    return not isinstance(target, OpOverload) and getattr(home, name, None) is target is not None


def name_of(target: Any) -> str:
    """Return the name of a call target in archives. Raise ArchiveError if archives cannot contain it."""
    if isinstance(target, OpOverload):
        return f"{_PREFIX}{target}"
    try:
        registered_name = _NAMES.get(target)
    except TypeError:
        registered_name = None
    if registered_name is not None:
        return registered_name
    if is_of_functions(target):
        return f"{_HIGHER}{target.__name__}"
    name = getattr(target, "__name__", "")
    if name in _VMAP_OPERATORS and getattr(_vmap_module(), name, None) is target:
        return f"{_BATCHES}{name}"
    raise ArchiveError(f"a call of {target!r} cannot be saved")
