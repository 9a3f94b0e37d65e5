"""Text that the debugger shows for values.

Input: a Python value. Output: its `repr`, or the attributes of an object whose class has no `__repr__`.

The second text is shown while `__init__` runs:

    Point(x=1, y=2)
    Point(x=1, y unset)
"""

from __future__ import annotations

from typing import Any

from ts._core.value.ivalue import object_get
from ts._core.value.objects import Object


class PartialObject:
    """Python copy of a script object, for its `repr`. Attributes without a value are shown as unset."""

    def __init__(self, instance: Object) -> None:
        self._class = instance.cls.name.rpartition(".")[2]
        self._unset = []
        for slot, name in enumerate(instance.cls.names):
            try:
                setattr(self, name, object_get(instance, slot))
            except AttributeError:
                self._unset.append(name)

    def __repr__(self) -> str:
        values = [
            f"{name}={value!r}" for name, value in vars(self).items() if name not in ("_class", "_unset")
        ]
        return f"{self._class}({', '.join([*values, *(f'{name} unset' for name in self._unset)])})"


def format_value(value: Any) -> str:
    """Return the text of a value, which may have several lines."""
    cls: Any = type(value)
    if cls.__repr__ is object.__repr__ and hasattr(value, "__dict__"):
        return (
            f"{cls.__name__}({', '.join(f'{name}={attribute!r}' for name, attribute in vars(value).items())})"
        )
    return repr(value)
