"""Types of remote values by name: `RRef._get_type`.

    type_named(("ts._core.tensor.tensor", "Tensor"))     the class, if it is builtin or a class of `ts`

Other classes are user-defined. `ReceivedCode.type_of` imports them if `allow_python` is set.
"""

from __future__ import annotations

import sys
from typing import Any, Final

# Classes that other workers name are searched only in modules of these packages that are loaded. No module is
# imported.
_TRUSTED_PACKAGES: Final = ("builtins", "ts")


def type_named(name: Any) -> type | None:
    """Return a builtin class or a class of `ts` by (module, name), or None for other modules.

    Raise ValueError if `name` is not a pair of strings, or the module has no such class.
    """
    module, path = name
    if not isinstance(module, str) or not isinstance(path, str):
        raise ValueError(f"expected the name of a type as (module, name), got {name!r:.100}")
    if module.partition(".")[0] not in _TRUSTED_PACKAGES:
        return None
    value = getattr(sys.modules.get(module), path, None)
    if path == "NoneType":
        return type(None)
    if not isinstance(value, type):
        raise ValueError(f"{module}.{path} is not a type in this process")
    return value
