"""IValue: the 16-byte tagged value that registers, lists, dicts and tuples hold.

    +--------------------------+--------------------------+
    |  v.i  v.f  v.o   8 bytes |  tag             8 bytes |
    +--------------------------+--------------------------+

An int, float or bool lives in the payload and owns nothing.  TAG_OBJECT owns one reference to a
Python object (a Tensor, str, List, Dict, Tuple, complex ...), or holds NULL in a register that is
not yet written; None has a tag of its own, so an `int?` needs no box.  Bools are 0 or 1 in `v.i`.
"""

from cpython.ref cimport PyObject
from libc.stdint cimport int64_t

from ts._core.thread.stack cimport stack_is_low


cdef extern from "Python.h":
    # Declared nogil because the loop is a nogil function; the caller holds the GIL whenever an
    # object is at hand (code without objects is the only code that runs without it).
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
    /* A copy of an IValue, word by word: what an instruction has just written is eight bytes, and a processor
       waits for them to reach memory before it reads sixteen that hold them. */
    static CYTHON_INLINE void ts_assign(void *dst, const void *src) {
        const int64_t *from = (const int64_t *)src;
        int64_t *to = (int64_t *)dst, payload = from[0], tag = from[1];
    #if defined(__GNUC__)
        __asm__("" : "+r"(payload));   /* or the compiler makes one move of the two */
    #endif
        to[0] = payload;
        to[1] = tag;
    }
    """
    void assign "ts_assign"(IValue *dst, const IValue *src) noexcept nogil


cdef inline void release(IValue *x) noexcept nogil:
    """Release the reference of `x`, which must be written before the next read."""
    if x.tag == TAG_OBJECT:
        Py_XDECREF(x.v.o)


cdef inline void retain(IValue *x) noexcept nogil:
    """Add a reference to the object of `x`, if any."""
    if x.tag == TAG_OBJECT:
        Py_XINCREF(x.v.o)


cdef inline void copy_value(IValue *dst, IValue *src) noexcept nogil:
    """Copy `src` to `dst` with a new reference; release the old value, which may own `src`, last."""
    cdef IValue old = dst[0]
    retain(src)
    assign(dst, src)
    release(&old)


cdef inline void move_value(IValue *dst, IValue *src) noexcept nogil:
    """Move `src` to `dst`, transferring the reference; the old value of `dst` is released."""
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
    """dst := x; the reference that the caller owns moves into `dst`."""
    cdef IValue old = dst[0]
    dst.v.o = x
    dst.tag = TAG_OBJECT
    release(&old)


cdef inline void set_object(IValue *dst, object x) noexcept:
    """dst := x, with a new reference."""
    Py_INCREF(<PyObject *>x)
    set_object_steal(dst, <PyObject *>x)


cdef inline int enter_recursion(const char *where) except -1:
    """Before a function calls itself through C: RecursionError when too deep.  Pairs with Py_LeaveRecursiveCall."""
    if stack_is_low():
        raise RecursionError("the thread's stack is full" + where.decode())
    return -1 if Py_EnterRecursiveCall(where) else 0  # not 0 on failure, whatever its documentation says
