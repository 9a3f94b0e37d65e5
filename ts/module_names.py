"""Conversion of module names: after `install_as_torch`, the name of `ts.nn` is `torch.nn`.

    >>> own_name("ts.nn"), is_own("ts.nn"), is_own("numpy")
    ('ts.nn', True, False)
"""

from __future__ import annotations

from functools import lru_cache

_is_installed = False  # True if `import torch` returns `ts`


def set_installed() -> None:
    """Record that `import torch` returns `ts` in this process."""
    global _is_installed
    _is_installed = True
    _is_own_name.cache_clear()


def is_installed() -> bool:
    """Return True if `import torch` returns `ts` in this process."""
    return _is_installed


def own_name(module: object) -> str:
    """Return the name that a module has in `ts`, such as "ts.nn" for "torch.nn". Return "" for a non-string.

    Names that begin with "torch" are converted only if `ts` is installed as `torch`.
    """
    if not isinstance(module, str):
        return ""
    if _is_installed and (module == "torch" or module.startswith("torch.")):
        return f"ts{module[5:]}"
    return module


def is_own(module: object) -> bool:
    """Return True if a module name belongs to `ts`."""
    return isinstance(module, str) and _is_own_name(module)


@lru_cache(maxsize=4096)  # an export calls `is_own` for each stack frame of each operator
def _is_own_name(module: str) -> bool:
    name = own_name(module)
    return name == "ts" or name.startswith("ts.")


def torch_name(module: str) -> str:
    """Return the PyTorch name of a module of `ts`, or any other name unchanged."""
    return f"torch{module[2:]}" if module == "ts" or module.startswith("ts.") else module
