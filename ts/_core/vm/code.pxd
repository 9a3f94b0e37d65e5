"""Code: bytecode of one function with its tables.  Verified on construction, immutable afterwards.

    registers    [ parameters | locals | constants ]        template: their initial values with tags

In `instructions` a register operand is a byte offset (16 times its number), and a jump is the distance
in bytes from the instruction itself; `pool` holds register numbers: n, then n registers.
"""

cimport cython
from cpython.ref cimport PyObject
from libc.stdint cimport int32_t, int64_t

from ts._core.value.objects cimport ObjectClass
from ts._core.value.ivalue cimport IValue
from ts._core.value.spec cimport TypeSpec
from ts._core.vm.named cimport CalleeBase, MethodBase


cdef struct Instruction:
    int32_t op
    int32_t a
    int32_t b
    int32_t c


# Machine code of loops: entered at the LOOP instruction `at`.  The upper half of the result is an exit
# status, the lower half the index of the next instruction; registers and remaining `budget` are written back.
ctypedef int64_t (*Native)(
    char *r, int64_t *budget, void **table, const Instruction *instructions, const Instruction *at
) noexcept nogil


@cython.final
cdef class Code:
    cdef readonly str name
    cdef Instruction *instructions
    cdef readonly int size
    cdef int32_t *pool
    cdef int pool_size
    cdef IValue *template             # owns the references of constants
    cdef readonly int register_count
    cdef readonly int parameter_count
    cdef readonly int constant_count
    cdef int32_t *owned               # locals that may hold objects: released when a frame ends
    cdef int owned_count
    cdef readonly bint scalar         # numbers only: may run without the GIL
    cdef readonly str classes         # register classes, one letter each: i f b o x
    cdef readonly tuple operators     # Operator objects
    cdef readonly tuple functions     # Callee, Method, Specializations ... objects
    cdef readonly tuple types         # TypeSpecs
    cdef PyObject **operator_at       # the same objects, borrowed
    cdef PyObject **function_at
    cdef PyObject **type_at
    cdef readonly tuple handlers      # (start, end, register, function) of `with` statements, innermost first
    cdef readonly tuple lines         # per instruction: the call stack of its node, ((function, range), ...)
    cdef readonly tuple parameters    # TypeSpecs
    cdef readonly TypeSpec result
    cdef tuple rows                   # instructions before encoding, for disassembly
    cdef Native native                # entry point of ENTER_NATIVE
    cdef readonly object machine_code # owner of the machine code's memory, or None
    cdef int64_t heat                 # counted backward jumps
    cdef bint offered                 # already offered to the compiler

    cdef int fill_template(self, tuple constants) except -1
    cdef int fill_pool(self, tuple pool) except -1
    cdef int fill_instructions(self) except -1
    cdef object fault(self, message)


cdef class Callee(CalleeBase):
    """Callee of a CALL instruction: a function compiled lazily, by its first call."""
    cdef readonly str name
    cdef Code code                    # None until the first call
    cdef PyObject *ready              # the code for the interpreter loop, borrowed, or NULL

    cdef int prepare(self) except -1


@cython.final
cdef class Method(MethodBase):
    """Callee of a CALL_METHOD instruction: a method looked up by name in the class of the object."""
    cdef readonly str name
    cdef ObjectClass cls              # class of the last receiver (inline cache)
    cdef Callee callee                # the method of that class
    cdef public object twin_of        # function from a method to its replacement, or None

    cdef int resolve(self, ObjectClass cls) except -1
