"""Interface between the interpreter and machine code of hot loops (on-stack replacement): requests, entry,
callbacks.

The interpreter enters machine code by ENTER_NATIVE, which replaces the LOOP instructions of compiled loops (`Native`
in `code.pxd`).  Like the interpreter loop, machine code returns a status and the next instruction.
"""

from cpython.ref cimport PyObject
from libc.stdint cimport int64_t

from ts._core.vm.code cimport Code

cdef enum:
    # the backward jumps of a call are counted only if the call executes at least this many
    MIN_COUNTED_JUMPS = 64

# Addresses that machine code uses. Entry `op` is the function that executes a single instruction of opcode `op`. Data
# addresses follow.
cdef void **NATIVE_TABLE
# Number of counted backward jumps after which a Code is compiled to machine code, or INT64_MAX if no compiler is
# registered.
cdef int64_t hot_loop_threshold

# Queue a Code for compilation to machine code, at most once per Code.  Requires the GIL.
cdef int request_compilation(Code code) except -1


cdef inline bint count_backward_jumps(PyObject *code, int64_t jumps) noexcept nogil:
    """Count executed backward jumps (back edges) of `code`, and return whether it must be compiled (hot loop)."""
    (<Code>code).hotness_counter = (<Code>code).hotness_counter + jumps
    return (<Code>code).hotness_counter >= hot_loop_threshold and not (<Code>code).compilation_requested
