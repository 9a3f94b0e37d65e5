"""Access to numbers whose kind (int, float, complex) is known only at run time."""

from ts._core.thread.allowance cimport limited, take_text
from ts._core.value.tagged cimport IValue, TAG_FLOAT, TAG_OBJECT, set_object


cdef inline double real_of(IValue *x) noexcept nogil:
    return x.v.f if x.tag == TAG_FLOAT else <double>x.v.i


cdef inline double complex from_parts(double real, double imag) noexcept nogil:
    """Return the complex number with real part `real` and imaginary part `imag`.

    The expression `real + imag * 1j` would give NaN if `imag` is infinite, and could lose the sign of a zero.
    """
    cdef double complex z
    z.real = real
    z.imag = imag
    return z


cdef inline double complex complex_of(IValue *x) except *:
    """Return the number in a register as complex."""
    cdef object z
    if x.tag == TAG_OBJECT:
        z = <object>x.v.o
        if type(z) is not complex:
            z = complex(z)
        return from_parts(z.real, z.imag)
    return from_parts(real_of(x), 0.0)


cdef inline bint is_complex(IValue *x) noexcept nogil:
    return x.tag == TAG_OBJECT


cdef inline int set_complex(IValue *out, double complex z) except -1:
    if limited:
        take_text(32)                 # charge the Python complex object, which has 32 bytes, to the memory limit
    set_object(out, z)
    return 0
