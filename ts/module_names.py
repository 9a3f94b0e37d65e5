"""Names of modules of `ts` under `install_as_torch`: there `ts.nn` says that it is `torch.nn`.

>>> own_name("ts.nn"), is_own("ts.nn"), is_own("numpy")
('ts.nn', True, False)

Whoever asks whether a class, function or frame belongs to `ts` asks here.
"""

from __future__ import annotations

_is_installed = False  # whether `import torch` gives `ts`


def set_installed() -> None:
    """Let `torch` and its modules be those of `ts`."""
    global _is_installed
    _is_installed = True


def is_installed() -> bool:
    """Return whether `import torch` gives `ts` in this process."""
    return _is_installed


def own_name(module: object) -> str:
    """Return the name of a module as `ts` has it: `ts.nn` for `torch.nn` if that is it; "" for no text."""
    if not isinstance(module, str):
        return ""
    if _is_installed and (module == "torch" or module.startswith("torch.")):
        return f"ts{module[5:]}"
    return module


def is_own(module: object) -> bool:
    """Return whether a module with the name is one of `ts`."""
    name = own_name(module)
    return name == "ts" or name.startswith("ts.")


def torch_name(module: str) -> str:
    """Return the name in PyTorch of a module of `ts`; other names as they are."""
    return f"torch{module[2:]}" if module == "ts" or module.startswith("ts.") else module
