"""Interface between the interpreter and machine code of hot loops (on-stack replacement).

The interface contains compilation requests, the entry to machine code, and callbacks from machine code.

In a compiled loop, the instruction ENTER_NATIVE replaces LOOP. It enters the machine code. Machine code
returns a status and the next instruction, as the interpreter loop does.
"""

from cpython.ref cimport PyObject
from libc.stdint cimport int64_t

from ts._core.vm.code cimport Code

cdef enum:
    # Minimal number of backward jumps that a call must execute, so that they are counted
    MIN_COUNTED_JUMPS = 64

# Table of addresses that machine code uses. Entry number `op` is the address of the function that executes
# one instruction with opcode `op`. The entries after the functions are addresses of data.
cdef void **NATIVE_TABLE
# Minimal number of counted backward jumps for the compilation of a Code to machine code. It is INT64_MAX if
# no compiler is registered.
cdef int64_t hot_loop_threshold

# Queue a Code for compilation to machine code, at most once per Code.  Requires the GIL.
cdef int request_compilation(Code code) except -1


cdef inline bint count_backward_jumps(PyObject *code, int64_t jumps) noexcept nogil:
    """Add `jumps` to the number of backward jumps of `code`, and return whether `code` must be compiled now.

    Code with a hot loop is compiled once, when the number reaches the threshold.
    """
    (<Code>code).hotness_counter = (<Code>code).hotness_counter + jumps
    return (<Code>code).hotness_counter >= hot_loop_threshold and not (<Code>code).compilation_requested
