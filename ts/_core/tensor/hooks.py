"""Tables of hooks, and handles that remove a hook.

    >>> table = OrderedDict()
    >>> handle = add_hook(table, print)
    >>> len(table), handle.remove(), len(table)
    (1, None, 0)
"""

from __future__ import annotations

import itertools
import weakref
from collections import OrderedDict
from typing import Any, Final

__all__ = ["Hooks", "RemovableHandle", "add_hook"]

Hooks = OrderedDict[int, Any]
_ids = itertools.count()


class RemovableHandle:
    """Handle that removes a hook from its table.

    A `with` statement with the handle removes the hook at the end of its block.
    """

    def __init__(self, hooks: Hooks) -> None:
        self.hooks_dict_ref = weakref.ref(hooks)
        self.id: Final = next(_ids)

    def remove(self) -> None:
        """Remove the hook, unless it was removed before."""
        hooks = self.hooks_dict_ref()
        if hooks is not None:
            hooks.pop(self.id, None)

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self.remove()


def add_hook(hooks: Hooks, hook: Any, prepend: bool = False) -> RemovableHandle:
    """Append a hook to the table, or prepend it, and return a handle that removes it."""
    handle = RemovableHandle(hooks)
    hooks[handle.id] = hook
    if prepend:
        hooks.move_to_end(handle.id, last=False)
    return handle
