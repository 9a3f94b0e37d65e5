"""Loads and stores of single tensor elements to and from number registers, without intermediate tensors.

The operands are a list of registers (a tensor and its indices), a number register and a ScalarType. In the
examples, the ScalarType 6 is float:

    LOAD_FLOAT   r3, (r0, r1, r2), 6     r3 := r0[r1, r2]
    STORE_FLOAT  (r0, r1, r2), r3, 6     r0[r1, r2] := r3

A store increments the version counter of the tensor. Each access checks that the element is inside of the
tensor's memory, because another thread may have changed the tensor.
"""

from cpython.ref cimport PyObject
from libc.stdint cimport int32_t, int64_t, uint64_t
from numpy cimport npy_intp

from ts._core.tensor.ndarray cimport PyArrayObject, data_of, dims_of, flags_of, ndim_of, strides_of
from ts._core.tensor.tensor cimport BACKEND_CPU, Tensor, counter_of
from ts._core.thread.context cimport DIFFERENTIATED, DISPATCH_MODES, LAYERED, context_flags
from ts._core.value.ivalue cimport IValue
from ts._core.vm.code cimport Code, Instruction
from ts._core.vm.frame cimport Frame
from ts._core.vm.exit_status cimport BAD_ELEMENT
from ts._core.vm.operand_macros cimport F, I, O

cdef extern from *:
    """
    #include <string.h>

    /* `dtype` is PyTorch's ScalarType. Elements may be unaligned, hence memcpy. */
    static inline double load_float_of(const char *p, int dtype) {
        float x;
        double y;
        if (dtype == 6) { memcpy(&x, p, 4); return x; }
        memcpy(&y, p, 8);
        return y;
    }
    static inline void store_float_of(char *p, int dtype, double y) {
        float x = (float)y;
        if (dtype == 6) memcpy(p, &x, 4); else memcpy(p, &y, 8);
    }
    static inline int64_t load_int_of(const char *p, int dtype) {
        int16_t h;
        int32_t w;
        int64_t x;
        switch (dtype) {
            case 0: return *(const unsigned char *)p;
            case 1: return *(const signed char *)p;
            case 2: memcpy(&h, p, 2); return h;
            case 3: memcpy(&w, p, 4); return w;
            case 11: return *p != 0;
            default: memcpy(&x, p, 8); return x;
        }
    }
    static inline void store_int_of(char *p, int64_t x) { memcpy(p, &x, 8); }
    """
    double load_float_of(const char *p, int dtype) noexcept nogil
    void store_float_of(char *p, int dtype, double y) noexcept nogil
    int64_t load_int_of(const char *p, int dtype) noexcept nogil
    void store_int_of(char *p, int64_t x) noexcept nogil

cdef enum:
    DTYPE_BITS = 0xFF                  # mask of the ScalarType in the operand of HAS_ELEMENTS
    RANK_SHIFT = 8                     # bit position of the number of dimensions in the operand of HAS_ELEMENTS
    IS_WRITTEN = 1 << 16               # bit in the operand of HAS_ELEMENTS, set if the program writes the elements
    ALIGNED_FLAG = 0x0100              # NPY_ARRAY_ALIGNED
    WRITEABLE_FLAG = 0x0400


cdef inline PyArrayObject *array_in(PyObject *x) noexcept nogil:
    return <PyArrayObject *>(<Tensor>x).array


cdef inline bint may_have_layer(PyObject *x) noexcept nogil:
    """Return whether a tensor or its base may have a dispatch layer."""
    return (
        <PyObject *>(<Tensor>x).base != <PyObject *>None
        or (<PyObject *>(<Tensor>x).history != <PyObject *>None and <PyObject *>(<Tensor>x).history.layer != <PyObject *>None)
    )


cdef inline int has_elements(char *r, const Instruction *at) noexcept nogil:
    cdef PyObject *x = O(r, at.b)
    cdef unsigned int context_state = context_flags()
    cdef int flags
    I(r, at.a)[0] = 0
    if (<Tensor>x).backend != BACKEND_CPU or (<Tensor>x).scalar_type != (at.c & DTYPE_BITS) or (<Tensor>x).requires_grad_flag:
        return 0
    if context_state & (DISPATCH_MODES | DIFFERENTIATED) or (context_state & LAYERED and may_have_layer(x)):
        return 0
    if ndim_of(array_in(x)) != (at.c >> RANK_SHIFT) & 0xFF:
        return 0
    flags = flags_of(array_in(x))
    if not flags & ALIGNED_FLAG or (at.c & IS_WRITTEN and not flags & WRITEABLE_FLAG):
        return 0
    I(r, at.a)[0] = 1
    return 0


cdef inline char *element_at(char *r, int32_t offset, int dtype) noexcept nogil:
    """Return the address of a tensor element, or NULL if the dtype, rank or device of the tensor or an index
    is wrong.

    `offset` is the offset in the operand pool of the register list: the tensor, then the indices.
    """
    cdef const int32_t *items = (<Code>(<Frame *>r - 1).code).operand_pool + offset
    cdef PyObject *x = (<IValue *>r)[items[1]].v.o
    cdef PyArrayObject *a = array_in(x)
    cdef int rank = items[0] - 1, k
    cdef int64_t i
    cdef npy_intp n
    cdef char *address
    if (<Tensor>x).scalar_type != dtype or (<Tensor>x).backend != BACKEND_CPU or ndim_of(a) != rank:
        return NULL
    address = data_of(a)
    for k in range(rank):
        i, n = (<IValue *>r)[items[k + 2]].v.i, dims_of(a)[k]
        if <uint64_t>i >= <uint64_t>n:
            i += n
            if <uint64_t>i >= <uint64_t>n:
                return NULL
        address += i * strides_of(a)[k]
    return address


cdef inline void count_write(char *r, int32_t offset) noexcept nogil:
    """Increment the version counter of a tensor after a write, as `wrote` does, but without reference counting."""
    cdef const int32_t *items = (<Code>(<Frame *>r - 1).code).operand_pool + offset
    cdef PyObject *x = counter_of((<IValue *>r)[items[1]].v.o)
    (<Tensor>x).version = (<Tensor>x).version + 1


cdef inline int load_float(char *r, const Instruction *at) noexcept nogil:
    cdef const char *address = element_at(r, at.b, at.c)
    if address == NULL:
        return BAD_ELEMENT
    F(r, at.a)[0] = load_float_of(address, at.c)
    return 0


cdef inline int load_int(char *r, const Instruction *at) noexcept nogil:
    cdef const char *address = element_at(r, at.b, at.c)
    if address == NULL:
        return BAD_ELEMENT
    I(r, at.a)[0] = load_int_of(address, at.c)
    return 0


cdef inline int store_float(char *r, const Instruction *at) noexcept nogil:
    cdef char *address = element_at(r, at.a, at.c)
    if address == NULL or not flags_of(array_in((<IValue *>r)[pool_item(r, at.a)].v.o)) & WRITEABLE_FLAG:
        return BAD_ELEMENT
    store_float_of(address, at.c, F(r, at.b)[0])
    count_write(r, at.a)
    return 0


cdef inline int store_int(char *r, const Instruction *at) noexcept nogil:
    cdef char *address = element_at(r, at.a, at.c)
    if address == NULL or not flags_of(array_in((<IValue *>r)[pool_item(r, at.a)].v.o)) & WRITEABLE_FLAG:
        return BAD_ELEMENT
    store_int_of(address, I(r, at.b)[0])
    count_write(r, at.a)
    return 0


cdef inline int32_t pool_item(char *r, int32_t offset) noexcept nogil:
    """Return the number of the tensor's register, the first item of the register list at `offset` of the
    operand pool.
    """
    return (<Code>(<Frame *>r - 1).code).operand_pool[offset + 1]
