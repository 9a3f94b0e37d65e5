"""What a mask lets through."""

from libc.stdint cimport int32_t

from numpy cimport npy_intp

from ts._core.value.ivalue cimport IValue
from ts.backends.cpu.kernels.walk cimport Loop

# source[by] for a mask of all of it, as an array; None where that is not so.  Both are among the `nargs` arguments, or in
# their lists.
cdef object masked(int nargs, IValue *r, const int32_t *at, IValue *source, IValue *by)

# A loop that takes from the second operand where the mask, the first, says so, and from the third elsewhere: elements of so
# many bytes.
cdef Loop choice_of(npy_intp width) noexcept

# A number in the dtype `kind`; false where that would not be exact, or changes the category.
cdef bint store(IValue *number, int kind, char *out) noexcept
