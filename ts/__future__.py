"""Settings for conversions of modules by methods such as `module.to(...)`: assign or swap parameters.

The settings are:

    set_swap_module_params_on_conversion(True)         `module.to(...)` swaps parameters by `swap_tensors`
    set_overwrite_module_params_on_conversion(True)    `module.to(...)` assigns new parameters
"""

from __future__ import annotations

_overwrite_module_params_on_conversion: bool = False
_swap_module_params_on_conversion: bool = False


def set_overwrite_module_params_on_conversion(value: bool) -> None:
    """Set whether conversions of modules assign new parameters (True) or change existing ones (False)."""
    global _overwrite_module_params_on_conversion
    _overwrite_module_params_on_conversion = value


def get_overwrite_module_params_on_conversion() -> bool:
    """Return True if conversions of modules assign new parameters."""
    return _overwrite_module_params_on_conversion


def set_swap_module_params_on_conversion(value: bool) -> None:
    """Set whether conversions of modules exchange parameters with `ts.utils.swap_tensors`."""
    global _swap_module_params_on_conversion
    _swap_module_params_on_conversion = value


def get_swap_module_params_on_conversion() -> bool:
    """Return True if conversions of modules exchange parameters with `ts.utils.swap_tensors`."""
    return _swap_module_params_on_conversion
