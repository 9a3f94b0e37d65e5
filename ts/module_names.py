"""Conversion of module names between `ts` and `torch`: after `install_as_torch`, `ts.nn` is named `torch.nn`.

>>> own_name("ts.nn"), is_own("ts.nn"), is_own("numpy")
('ts.nn', True, False)

Use `is_own` to find out whether a class, function or frame belongs to `ts`.
"""

from __future__ import annotations

_is_installed = False  # whether `import torch` returns `ts`


def set_installed() -> None:
    """Record that `import torch` returns `ts` in this process."""
    global _is_installed
    _is_installed = True


def is_installed() -> bool:
    """Return whether `import torch` returns `ts` in this process."""
    return _is_installed


def own_name(module: object) -> str:
    """Return the `ts` name of a module (`ts.nn` for `torch.nn` once installed); "" for a non-string."""
    if not isinstance(module, str):
        return ""
    if _is_installed and (module == "torch" or module.startswith("torch.")):
        return f"ts{module[5:]}"
    return module


def is_own(module: object) -> bool:
    """Return whether a module name belongs to `ts`."""
    name = own_name(module)
    return name == "ts" or name.startswith("ts.")


def torch_name(module: str) -> str:
    """Return the PyTorch name of a `ts` module; other names unchanged."""
    return f"torch{module[2:]}" if module == "ts" or module.startswith("ts.") else module
