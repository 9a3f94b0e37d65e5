"""What a module has before its program runs, so that it has it again afterwards.

Running `forward` on fake tensors may assign attributes.  A buffer that was replaced is written by the program
(a `copy_` at its end); other attributes get back what they were.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any, Final

from ts._core.tensor.tensor import Tensor
from ts.nn.modules.module import Module

_TABLES: Final = ("_parameters", "_buffers", "_modules")
_REGISTER: Final = (
    "https://pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.register_buffer"
)


class Snapshot:
    """The attributes of a module and of all below, as they are now."""

    def __init__(self, module: Module) -> None:
        self.before = [
            (name, m, dict(m.__dict__), {table: dict(getattr(m, table)) for table in _TABLES})
            for name, m in module.named_modules()
        ]

    def replaced_buffers(self) -> Iterator[tuple[Tensor, Tensor]]:
        """Buffers that are other tensors now: what they were, what they are."""
        for _, module, _, tables in self.before:
            for name, x in tables["_buffers"].items():
                now = module._buffers.get(name)
                if x is not None and isinstance(now, Tensor) and now is not x:
                    yield x, now

    def restore(self) -> None:
        """Let the modules be as they were; a warning where tensors were assigned to attributes."""
        assigned: list[str] = []
        for path, module, attributes, tables in self.before:
            now = module.__dict__
            for name in [*now]:
                if name in _TABLES:
                    continue
                if name not in attributes or now[name] is not attributes[name]:
                    if _has_tensor(now[name]):
                        assigned.append(f"self.{path}.{name}" if path else f"self.{name}")
                    if name in attributes:
                        now[name] = attributes[name]
                    else:
                        del now[name]
            now.update({k: v for k, v in attributes.items() if k not in now})
            for table, entries in tables.items():
                getattr(module, table).clear()
                getattr(module, table).update(entries)
        if assigned:
            names = ", ".join(sorted(assigned))
            several = len(assigned) > 1
            warnings.warn(
                f"The tensor attribute{'s' if several else ''} {names} {'were' if several else 'was'} "
                "assigned during "
                "export. Such attributes must be registered as buffers using the `register_buffer` API "
                f"({_REGISTER}).",
                stacklevel=2,
            )


def _has_tensor(x: Any) -> bool:
    if isinstance(x, list | tuple):
        return any(map(_has_tensor, x))
    return isinstance(x, Tensor) or (isinstance(x, dict) and any(map(_has_tensor, x.values())))
