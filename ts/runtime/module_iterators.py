"""Lists of children, modules, parameters, buffers and attributes of a scripted module.

Input: a scripted module or its handle (`_c`). Output: a dictionary of lists, as of PyTorch's
`_jit_debug_module_iterators`. For example, the list "named_parameters_r" contains pairs of name and value:

    debug_module_iterators(scripted)["named_parameters_r"]      [("weight", ...), ("sub.bias", ...)]

Lists whose name ends with `_r` include the attributes of submodules.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ts.runtime.module_handle import ModuleHandle


def debug_module_iterators(module: Any) -> dict[str, list[Any]]:
    """Return the lists of members of a scripted module, by PyTorch's names."""
    original = module
    for name in ("_module", "module"):  # attributes by which handles refer to a module
        module = vars(module).get(name, module)

    def as_module(value: Any) -> Any:
        """Return `value`.

        If the caller passed a handle and `value` is a module, return the handle of `value` instead.
        """
        if value is module:
            return original
        is_wrapped = isinstance(original, ModuleHandle) and hasattr(value, "_concrete")
        return ModuleHandle(value) if is_wrapped else value

    lists: dict[str, list[Any]] = {}

    def add(name: str, named: list[tuple[str, Any]], suffix: str = "") -> None:
        lists[f"{name}{suffix}"] = [as_module(value) for _, value in named]
        lists[f"named_{name}{suffix}"] = [(path, as_module(value)) for path, value in named]

    add("children", list(module.named_children()))
    add("modules", list(module.named_modules()))
    for name in ("parameters", "buffers"):
        add(name, list(getattr(module, f"named_{name}")(recurse=False)))
        add(name, list(getattr(module, f"named_{name}")()), "_r")
    for suffix, is_recursive in (("", False), ("_r", True)):
        attributes = _named_attributes(module, "", is_recursive)
        lists[f"named_attributes{suffix}"] = [(path, as_module(value)) for path, value in attributes]
    return lists


def _named_attributes(module: Any, prefix: str, is_recursive: bool) -> Iterator[tuple[str, Any]]:
    """Yield (name, value) for the attributes of a module and of its children.

    A child precedes its own attributes.
    """
    for name in module._concrete.type.attributes:
        if name not in module._modules:
            yield f"{prefix}{name}", getattr(module, name)
        if name == "training":
            yield f"{prefix}_is_full_backward_hook", None  # an attribute of PyTorch's module types
    for name, child in module.named_children():
        yield f"{prefix}{name}", child
        if is_recursive:
            yield from _named_attributes(child, f"{prefix}{name}.", is_recursive)
