"""Deep copies of script values.

Input: a script value, and the memo of `copy.deepcopy`. Output: an equal value that shares no memory with the
input. Calls with the same memo copy each object once, even if several values refer to it.
"""

from __future__ import annotations

import copy
from typing import Any

from ts._core.value.dicts import Dict
from ts._core.value.ivalue import new_object, object_get, object_set, to_core
from ts._core.value.lists import List, Tuple
from ts._core.value.objects import Object


def deep_copy(value: Any, memo: dict[int, Any]) -> Any:
    """Return a deep copy of a value."""
    if not isinstance(value, Object | List | Dict | Tuple):
        return copy.deepcopy(value, memo)
    existing = memo.get(id(value))
    if existing is not None:
        return existing
    # Store `value` in the memo, as the module `copy` does. The memo thus keeps `value` alive, so that its id,
    # a key of the memo, is not reused.
    memo.setdefault(id(memo), []).append(value)
    if isinstance(value, Object):
        # stored before the attributes are copied, because an attribute may refer to the object
        copied = memo[id(value)] = new_object(value.cls)
        for slot in range(len(value.cls.names)):
            try:
                attribute = object_get(value, slot, False)
            except AttributeError:  # the attribute has no value
                continue
            object_set(copied, slot, deep_copy(attribute, memo))
        return copied
    container: Any = value
    python_container: Any
    if isinstance(value, Dict):
        python_container = {deep_copy(key, memo): deep_copy(item, memo) for key, item in container.items()}
    else:
        elements = [deep_copy(element, memo) for element in value]
        python_container = elements if isinstance(value, List) else tuple(elements)
    copied = memo[id(value)] = to_core(python_container, container.spec)
    return copied
