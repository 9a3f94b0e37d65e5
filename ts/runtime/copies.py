"""Deep copies of what scripts hold.

In: a value of the core, and the memo of `copy.deepcopy`.  Out: a value like it, which shares nothing with it:

    deep_copy(object_get(handle, slot, False), memo)

What a value holds twice its copy holds twice as well; so do other values that are copied with the memo.
"""

from __future__ import annotations

import copy
from typing import Any

from ts._core.value.dicts import Dict
from ts._core.value.ivalue import new_object, object_get, object_set, to_core
from ts._core.value.lists import List, Tuple
from ts._core.value.objects import Object


def deep_copy(value: Any, memo: dict[int, Any]) -> Any:
    """A copy of a value and of all that is in it."""
    if not isinstance(value, Object | List | Dict | Tuple):
        return copy.deepcopy(value, memo)
    found = memo.get(id(value))
    if found is not None:
        return found
    memo.setdefault(id(memo), []).append(value)  # lives as long as its number counts, as in `copy`
    if isinstance(value, Object):
        made = memo[id(value)] = new_object(value.cls)  # what it holds may hold it
        for slot in range(len(value.cls.names)):
            try:
                attribute = object_get(value, slot, False)
            except AttributeError:  # it was never assigned
                continue
            object_set(made, slot, deep_copy(attribute, memo))
        return made
    held: Any = value
    parts: Any
    if isinstance(value, Dict):
        parts = {deep_copy(key, memo): deep_copy(item, memo) for key, item in held.items()}
    else:
        elements = [deep_copy(element, memo) for element in value]
        parts = elements if isinstance(value, List) else tuple(elements)
    made = memo[id(value)] = to_core(parts, held.spec)
    return made
