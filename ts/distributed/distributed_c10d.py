"""PyTorch's module name for the process group functions of `ts.distributed`.

Example: `from ts.distributed.distributed_c10d import all_reduce`
"""

from __future__ import annotations

from typing import Any

from ts import distributed
from ts.unsupported import names_for

_absent = names_for(__name__)


def __getattr__(name: str) -> Any:
    if name in distributed.MODULE_BY_NAME or name in ("is_gloo_available", "is_backend_available"):
        return getattr(distributed, name)
    return _absent(name)


def __dir__() -> list[str]:
    return sorted(distributed.MODULE_BY_NAME)
