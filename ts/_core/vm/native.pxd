"""Interface of the interpreter to machine code of hot loops: requests, entry and callbacks.

The interpreter enters machine code by ENTER_NATIVE, which replaces the LOOP instructions of compiled loops; see
`Native` in `code.pxd`.  Machine code returns like the interpreter: with a status and the next instruction.
"""

from cpython.ref cimport PyObject
from libc.stdint cimport int64_t

from ts._core.vm.code cimport Code

cdef enum:
    FEW_JUMPS = 64                # calls with fewer jumps are not counted

# Callback addresses for machine code: by opcode, then other addresses.
cdef void **NATIVE_TABLE
# The number of backward jumps that makes a Code hot; INT64_MAX without a registered compiler.
cdef int64_t patience

# Request machine code for a Code, at most once.  Requires the GIL.
cdef int offer(Code code) except -1


cdef inline bint warmed(PyObject *code, int64_t jumps) noexcept nogil:
    """Add backward jumps to a Code's counter; return whether it should be offered to the compiler."""
    (<Code>code).heat = (<Code>code).heat + jumps
    return (<Code>code).heat >= patience and not (<Code>code).offered
