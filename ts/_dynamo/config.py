"""Settings of a compiler that is not there: they can be set and read, and change nothing."""

from __future__ import annotations

cache_size_limit = recompile_limit = 8
accumulated_cache_size_limit = accumulated_recompile_limit = 256
suppress_errors = verbose = capture_scalar_outputs = capture_dynamic_output_shape_ops = False
assume_static_by_default = automatic_dynamic_shapes = True
