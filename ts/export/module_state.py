"""Snapshot and restoration of module state around an export.

During an export, `forward` runs on fake tensors and may assign attributes of the module. All attributes are
restored afterwards, with the contents of lists, dictionaries and sets. If `forward` replaced a buffer, the
exported program ends with a `copy_` into the old buffer.
"""

from __future__ import annotations

import warnings
from collections import deque
from collections.abc import Iterable, Iterator
from typing import Any, Final

from ts._core.tensor.tensor import Tensor
from ts.nn.modules.module import Module
from ts.runtime.module import ScriptModule

_TABLES: Final = ("_parameters", "_buffers", "_modules")
_CONTAINERS: Final = (list, deque, dict, set)  # attribute types whose contents are saved and restored
_REGISTER: Final = (
    "https://pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.register_buffer"
)


class Snapshot:
    """Snapshot of the attributes of a module and its submodules."""

    def __init__(self, module: Module) -> None:
        self.before = [
            (name, m, dict(m.__dict__), {table: dict(getattr(m, table)) for table in _TABLES})
            for name, m in module.named_modules()
            # Attributes of script modules cannot be restored by assignment.
            if not isinstance(m, ScriptModule)
        ]
        # id of a list or other container -> (the container, a copy of its contents)
        self.contents: dict[int, tuple[Any, Any]] = {}
        for _, _, attributes, _ in self.before:
            self._save(attributes.values())
        self.tensors = self._tensors()

    def _save(self, values: Iterable[Any]) -> None:
        """Save the contents of the containers in `values`, recursively."""
        for x in values:
            if isinstance(x, _CONTAINERS) and id(x) not in self.contents:
                self.contents[id(x)] = x, (items := _items(x))
                self._save(items.values() if isinstance(items, dict) else items)
            elif isinstance(x, tuple):
                self._save(x)

    def _tensors(self) -> dict[str, Tensor]:
        """Return the tensors in plain attributes, by expressions such as `self.layer.seen[0]`."""
        tensors: dict[str, Tensor] = {}
        for path, module, _, _ in self.before:
            for name, x in module.__dict__.items():
                if name not in _TABLES:
                    tensors.update(_tensors_in(x, f"self.{path}.{name}" if path else f"self.{name}", ()))
        return tensors

    def replaced_buffers(self) -> Iterator[tuple[str, Tensor, Tensor]]:
        """Yield (module path, old tensor, new tensor) for each buffer that was replaced."""
        for path, module, _, tables in self.before:
            for name, x in tables["_buffers"].items():
                now = module._buffers.get(name)
                if x is not None and isinstance(now, Tensor) and now is not x:
                    yield path, x, now

    def restore(self) -> None:
        """Restore the attributes of all modules.

        Warn if the program has assigned other tensors to plain attributes.
        """
        assigned = [at for at, x in self._tensors().items() if self.tensors.get(at) is not x]
        for _, module, attributes, tables in self.before:
            now = module.__dict__
            for name in [*now]:
                if name not in _TABLES and now[name] is not attributes.get(name, _TABLES):
                    if name in attributes:
                        now[name] = attributes[name]
                    else:
                        del now[name]
            now.update({k: v for k, v in attributes.items() if k not in now})
            for table, entries in tables.items():
                getattr(module, table).clear()
                getattr(module, table).update(entries)
        for x, items in self.contents.values():
            _restore_contents(x, items)
        if assigned:
            names = ", ".join(sorted(assigned))
            several = len(assigned) > 1
            warnings.warn(
                f"The tensor attribute{'s' if several else ''} {names} {'were' if several else 'was'} "
                "assigned during export. Such attributes must be registered as buffers using the "
                f"`register_buffer` API ({_REGISTER}).",
                stacklevel=2,
            )


def _items(x: Any) -> Any:
    """Return a copy of a container's contents: a dictionary, or a list of the elements."""
    return dict(x) if isinstance(x, dict) else list(x)


def _restore_contents(x: Any, items: Any) -> None:
    """Set the contents of the container `x` to `items`, if they differ."""

    def identities(items: Any) -> list[int]:
        return [id(y) for y in (*items, *(items.values() if isinstance(items, dict) else ()))]

    if identities(x) == identities(items):
        return
    x.clear()
    if isinstance(x, list | deque):
        x.extend(items)
    else:
        x.update(items)


def _tensors_in(x: Any, at: str, around: tuple[int, ...]) -> Iterator[tuple[str, Tensor]]:
    """Yield (expression such as self.layer.seen[0], tensor) for each tensor in a nested value."""
    if isinstance(x, Tensor):
        yield at, x
    elif isinstance(x, list | tuple | deque | dict) and id(x) not in around:
        for key, item in x.items() if isinstance(x, dict) else enumerate(x):
            yield from _tensors_in(item, f"{at}[{key!r}]", (*around, id(x)))
