"""Tagged union of 16 bytes (IValue) in registers and containers, with reference counting of objects.

The layout of an IValue:

    +--------------------------+--------------------------+
    |  v.i  v.f  v.o   8 bytes |  tag             8 bytes |
    +--------------------------+--------------------------+

The tag states the type of the payload `v`. An int, float or bool is stored in the payload itself. Bools are 0
or 1 in `v.i`. With TAG_OBJECT, the payload is an owned reference to a Python object. The reference is NULL in
a register that has not been written. None has a separate tag, so an Optional[int] needs no Python object.
"""

from cpython.ref cimport PyObject
from libc.stdint cimport int64_t

from ts._core.thread.stack cimport stack_is_low


cdef extern from "Python.h":
    # Declared nogil, because the interpreter loop is a nogil function. The loop calls these functions only
    # while it holds the GIL. While it runs without the GIL, it executes only code without object operands.
    void Py_XINCREF(PyObject *o) noexcept nogil
    void Py_XDECREF(PyObject *o) noexcept nogil
    void Py_INCREF(PyObject *o) noexcept nogil
    void Py_DECREF(PyObject *o) noexcept nogil
    int Py_EnterRecursiveCall(const char *where) noexcept
    void Py_LeaveRecursiveCall() noexcept


cdef enum Tag:
    TAG_NONE = 0
    TAG_INT = 1
    TAG_FLOAT = 2
    TAG_BOOL = 3
    TAG_OBJECT = 4


cdef union Payload:
    int64_t i
    double f
    PyObject *o


cdef struct IValue:
    Payload v
    int64_t tag


cdef extern from *:
    """
    /* Copy an IValue as two words.  If its payload was just stored, a 16-byte load would stall, because the processor
       forwards a store only to a load that it covers. */
    static CYTHON_INLINE void ts_assign(void *dst, const void *src) {
        const int64_t *from = (const int64_t *)src;
        int64_t *to = (int64_t *)dst, payload = from[0], tag = from[1];
    #if defined(__GNUC__)
        __asm__("" : "+r"(payload));   /* keeps the compiler from merging both moves */
    #endif
        to[0] = payload;
        to[1] = tag;
    }
    """
    void assign "ts_assign"(IValue *dst, const IValue *src) noexcept nogil


cdef inline void release(IValue *x) noexcept nogil:
    """Release the reference of `x`. `x` must be overwritten before it is read again."""
    if x.tag == TAG_OBJECT:
        Py_XDECREF(x.v.o)


cdef inline void retain(IValue *x) noexcept nogil:
    """Increment the reference count of the object in `x`, if any."""
    if x.tag == TAG_OBJECT:
        Py_XINCREF(x.v.o)


cdef inline void copy_value(IValue *dst, IValue *src) noexcept nogil:
    """Copy `src` to `dst` with a new reference, and release the old value of `dst`.

    The release is the last step, because the old value may own `src`.
    """
    cdef IValue old = dst[0]
    retain(src)
    assign(dst, src)
    release(&old)


cdef inline void move_value(IValue *dst, IValue *src) noexcept nogil:
    """Move `src` and its reference to `dst`, and release the old value of `dst`."""
    cdef IValue old = dst[0]
    assign(dst, src)
    release(&old)


cdef inline void set_int(IValue *dst, int64_t x) noexcept nogil:
    cdef IValue old = dst[0]
    dst.v.i = x
    dst.tag = TAG_INT
    release(&old)


cdef inline void set_float(IValue *dst, double x) noexcept nogil:
    cdef IValue old = dst[0]
    dst.v.f = x
    dst.tag = TAG_FLOAT
    release(&old)


cdef inline void set_bool(IValue *dst, bint x) noexcept nogil:
    cdef IValue old = dst[0]
    dst.v.i = 1 if x else 0
    dst.tag = TAG_BOOL
    release(&old)


cdef inline void set_none(IValue *dst) noexcept nogil:
    cdef IValue old = dst[0]
    dst.v.i = 0
    dst.tag = TAG_NONE
    release(&old)


cdef inline void set_object_steal(IValue *dst, PyObject *x) noexcept nogil:
    """Set `dst` to object `x`, taking over the caller's reference to `x`."""
    cdef IValue old = dst[0]
    dst.v.o = x
    dst.tag = TAG_OBJECT
    release(&old)


cdef inline void set_object(IValue *dst, object x) noexcept:
    """Set `dst` to object `x` with a new reference."""
    Py_INCREF(<PyObject *>x)
    set_object_steal(dst, <PyObject *>x)


cdef inline int enter_recursion(const char *where) except -1:
    """Raise RecursionError if the C recursion is too deep.

    After success, the caller must call Py_LeaveRecursiveCall at the end of the recursion.
    """
    if stack_is_low():
        raise RecursionError("the thread's stack is full" + where.decode())
    # Py_EnterRecursiveCall returns any nonzero value on an error, but this function must return -1
    return -1 if Py_EnterRecursiveCall(where) else 0
