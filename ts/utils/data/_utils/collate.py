"""Compatibility module: names of `ts.utils.data.collate`."""

import re

from ts.unsupported import names_for
from ts.utils.data.collate import (
    collate,
    collate_float_fn,
    collate_int_fn,
    collate_numpy_array_fn,
    collate_numpy_scalar_fn,
    collate_str_fn,
    collate_tensor_fn,
    default_collate,
    default_collate_fn_map,
    default_convert,
)

__all__ = [
    "collate", "collate_float_fn", "collate_int_fn", "collate_numpy_array_fn", "collate_numpy_scalar_fn",
    "collate_str_fn", "collate_tensor_fn", "default_collate", "default_collate_fn_map", "default_convert",
]  # fmt: skip
__getattr__ = names_for(__name__)
# NumPy types of strings and objects, which tensors cannot contain
np_str_obj_array_pattern = re.compile(r"[SaUO]")
