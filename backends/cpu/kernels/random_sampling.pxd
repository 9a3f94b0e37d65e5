"""Tensors that are filled with random numbers."""

from libc.stdint cimport int32_t

from ts._core.tensor.ndarray cimport PyArrayObject
from ts._core.value.ivalue cimport IValue

# Return the array of `x` if it is a writable floating tensor and `generator` selects the default generator,
# else NULL.
cdef PyArrayObject *writable_float_array(IValue *x, IValue *generator) noexcept
# Return the array of the template tensor of `..._like(x, dtype, layout, device, pin_memory, memory_format)`,
# or NULL if the arguments are unsupported.
cdef PyArrayObject *read_like(IValue *r, const int32_t *at) noexcept
