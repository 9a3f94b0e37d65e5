"""Destinations of random numbers."""

from libc.stdint cimport int32_t

from ts._core.tensor.ndarray cimport PyArrayObject
from ts._core.value.ivalue cimport IValue

# Return the array of a writable tensor to fill from the default generator; NULL for anything else.
cdef PyArrayObject *writable_float_array(IValue *x, IValue *generator) noexcept
# Return the template array of `..._like(x, dtype, layout, device, pin_memory, memory_format)`; NULL if
# unsupported.
cdef PyArrayObject *read_like(IValue *r, const int32_t *at) noexcept
