"""Linear algebra. For example, `ts.linalg.norm` is the operator `aten::linalg_norm`."""

from __future__ import annotations

from ts.errors import LinAlgError
from ts.ops.namespace_functions import namespace_attributes

__all__ = ["LinAlgError"]
__getattr__, __dir__ = namespace_attributes("linalg", globals(), ("LinAlgError",))
