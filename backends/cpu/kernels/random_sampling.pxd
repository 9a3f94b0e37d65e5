"""Tensors that are filled with random numbers."""

from libc.stdint cimport int32_t

from ts._core.dispatch.operator cimport Operator
from ts._core.tensor.ndarray cimport PyArrayObject
from ts._core.value.ivalue cimport IValue

# Type of functions that fill a contiguous array of dtype `kind` with samples of a distribution. `first` and
# `second` are the parameters of the distribution, which has at most two.
ctypedef void (*Fill)(PyArrayObject *a, int kind, double first, double second) noexcept

# Store a new tensor of samples in the result register. Arguments: (size, dtype, layout, device, pin_memory).
cdef int sample_new(Operator op, IValue *r, const int32_t *at, Fill fill, double first, double second) except -1
# Store a new tensor of samples with the shape of `x`. Arguments: (x, dtype, layout, device, pin_memory,
# memory_format).
cdef int sample_like(Operator op, IValue *r, const int32_t *at, Fill fill, double first, double second) except -1
# Replace the elements of the tensor in the first register by samples. If `supported` is False, or if
# `generator` is not the default generator, the Python kernel runs instead.
cdef int sample_in_place(
    Operator op, IValue *r, const int32_t *at, IValue *generator, bint supported, Fill fill, double first, double second
) except -1
