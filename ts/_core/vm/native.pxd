"""What machine code of hot loops has to do with the machine: when it is asked for, how it is entered, what it calls.

The loop enters it by ENTER_NATIVE, which a finished Code has in the place of the LOOP instructions that have machine
code; see `Native` in `code.pxd`.  It leaves as the loop itself would: with a status, and the next instruction.
"""

from cpython.ref cimport PyObject
from libc.stdint cimport int64_t

from ts._core.vm.code cimport Code

cdef enum:
    FEW_JUMPS = 64                # a call with less is not counted

# What machine code calls: by opcode, and what else it needs behind them.
cdef void **NATIVE_TABLE
# How many backward jumps make a Code hot; the largest number while nobody wants to compile.
cdef int64_t patience

# Ask for machine code, once for a Code: with the GIL.
cdef int offer(Code code) except -1


cdef inline bint warmed(PyObject *code, int64_t jumps) noexcept nogil:
    """Count what a Code has jumped; whether it is to be offered now."""
    (<Code>code).heat = (<Code>code).heat + jumps
    return (<Code>code).heat >= patience and not (<Code>code).offered
