"""Access to numbers of IValues whose kind is known at run time only: Scalars and operands of mixed kinds."""

from ts._core.thread.allowance cimport limited, take_text
from ts._core.value.tagged cimport IValue, TAG_FLOAT, TAG_OBJECT, set_object


cdef inline double real_of(IValue *x) noexcept nogil:
    return x.v.f if x.tag == TAG_FLOAT else <double>x.v.i


cdef inline double complex from_parts(double real, double imag) noexcept nogil:
    """Return a complex number from its parts; `real + imag * 1j` would give nan for an infinite part."""
    cdef double complex z
    z.real = real
    z.imag = imag
    return z


cdef inline double complex complex_of(IValue *x) except *:
    """Return the complex number of a register; Cython's conversion `real + imag * 1j` loses signs of zeros and infinities."""
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
        take_text(32)                 # a Python complex object
    set_object(out, z)
    return 0
