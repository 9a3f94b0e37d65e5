"""Operands of instructions as the loop reads them: registers by byte offset, jumps by distance.

    r     the registers of the running frame
    R     the register itself        I  F  O     its payload as an int, a float, an object (borrowed)
"""

from cpython.ref cimport PyObject
from libc.stdint cimport int32_t, int64_t

from ts._core.vm.code cimport Instruction
from ts._core.value.tagged cimport IValue


cdef inline IValue *R(char *r, int32_t operand) noexcept nogil:
    return <IValue *>(r + operand)

cdef inline int64_t *I(char *r, int32_t operand) noexcept nogil:
    return <int64_t *>(r + operand)

cdef inline double *F(char *r, int32_t operand) noexcept nogil:
    return <double *>(r + operand)

cdef inline PyObject *O(char *r, int32_t operand) noexcept nogil:
    return (<IValue *>(r + operand)).v.o

cdef inline const Instruction *target(const Instruction *at) noexcept nogil:
    return <const Instruction *>(<const char *>at + at.a)
