"""Samples to batches: what `ts.utils.data.collate` has."""

import re

from ts.utils.data.collate import collate, default_collate, default_collate_fn_map, default_convert

__all__ = ["collate", "default_collate", "default_collate_fn_map", "default_convert"]
np_str_obj_array_pattern = re.compile(r"[SaUO]")  # NumPy's types of texts and objects, which make no tensors
