"""Access to instruction operands (registers by byte offsets) and to relative jumps (pc-relative jumps).

`r` is the address of the registers of the running frame. `R(r, operand)` returns the register of an operand.
`I`, `F` and `O` return its payload as an int, a float or a borrowed object.
"""

from cpython.ref cimport PyObject
from libc.stdint cimport int32_t, int64_t

from ts._core.value.tagged cimport IValue, TAG_OBJECT
from ts._core.vm.debug_asserts cimport CHECKED, require
from ts._core.vm.code cimport Code, Instruction
from ts._core.vm.frame cimport Frame


cdef inline void require_register(char *r, int32_t operand) noexcept nogil:
    """Abort the process unless `operand` is a valid register offset for the registers `r` of a frame."""
    require(
        0 <= operand < (<Code>(<Frame *>r - 1).code).register_count * <int32_t>sizeof(IValue)
        and operand % <int32_t>sizeof(IValue) == 0, b"an operand is not a register of the frame",
    )

cdef inline IValue *R(char *r, int32_t operand) noexcept nogil:
    if CHECKED:
        require_register(r, operand)
    return <IValue *>(r + operand)

cdef inline int64_t *I(char *r, int32_t operand) noexcept nogil:
    if CHECKED:
        require_register(r, operand)
    return <int64_t *>(r + operand)

cdef inline double *F(char *r, int32_t operand) noexcept nogil:
    if CHECKED:
        require_register(r, operand)
    return <double *>(r + operand)

cdef inline PyObject *O(char *r, int32_t operand) noexcept nogil:
    if CHECKED:
        require_register(r, operand)
        require((<IValue *>(r + operand)).tag == TAG_OBJECT, b"a register does not contain an object")
    return (<IValue *>(r + operand)).v.o

cdef inline const Instruction *target(const Instruction *at) noexcept nogil:
    return <const Instruction *>(<const char *>at + at.a)
