"""Code object, the bytecode of one function with its constant pool, line table and exception table.

A Code is verified when it is created, and never changes later. The registers of a frame have this order:

    parameters | locals | constants

`template` contains the initial value and the tag of each register. In `instructions`, a register operand is a
byte offset: 16 times the register number. A jump operand is the distance in bytes from the jump instruction.
In `operand_pool`, a list of registers is its length, followed by the register numbers.
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


# Machine code of the loops of a scripted function. Execution enters it at the LOOP instruction `at`. The
# upper 32 bits of the result are an exit status, and the lower 32 bits are the index of the next instruction.
# The machine code writes the registers and the remaining `budget` back to memory before it returns.
ctypedef int64_t (*Native)(
    char *r, int64_t *budget, void **table, const Instruction *instructions, const Instruction *at
) noexcept nogil


@cython.final
cdef class Code:
    cdef readonly str name
    cdef Instruction *instructions
    cdef readonly int size
    cdef int32_t *operand_pool
    cdef int operand_pool_size
    cdef IValue *template             # initial values of all registers, which own references to the constants
    cdef readonly int register_count
    cdef readonly int parameter_count
    cdef readonly int constant_count
    # numbers of the local registers that may contain objects, which are released when a frame ends
    cdef int32_t *owned
    cdef int owned_count
    cdef readonly bint scalar         # True if all registers are numbers, so that the code may run without the GIL
    cdef readonly str classes         # class of each register: i (int), f (float), b (bool), o (object), x (any value)
    cdef readonly tuple operators     # Operators, to which instructions refer by index
    # Objects that instructions refer to by index in calls: Callee, Method, Specializations and Breakpoints
    # objects
    cdef readonly tuple functions
    cdef readonly tuple types         # TypeSpecs, to which instructions refer by index
    cdef PyObject **operator_at       # the objects of `operators`, as borrowed references
    cdef PyObject **function_at
    cdef PyObject **type_at
    # (start, end, register, function) for each `with` statement, innermost first. If an instruction fails
    # whose index is in [start, end), `function` calls the `__exit__` of the object in `register`.
    cdef readonly tuple handlers
    # For each instruction, source locations: that of its graph node, and those of the inlined calls that
    # contain the node. Format: ((function, range), ...)
    cdef readonly tuple lines
    cdef readonly tuple parameters    # TypeSpecs of the parameters
    cdef readonly TypeSpec result
    cdef tuple rows                   # instructions (opcode, a, b, c) before encoding, for disassembly
    cdef Native native                # machine code that ENTER_NATIVE calls
    cdef readonly object machine_code # owner of the memory of the machine code, or None
    cdef int64_t hotness_counter      # number of backward jumps in calls that execute at least MIN_COUNTED_JUMPS
    cdef bint compilation_requested   # True after the code was queued for compilation to machine code

    cdef int fill_template(self, tuple constants) except -1
    cdef int fill_operand_pool(self, tuple operand_pool) except -1
    cdef int fill_instructions(self) except -1
    cdef object fault(self, message)


cdef class Callee(CalleeBase):
    """Callee of a CALL instruction: a function that is compiled at its first call."""
    cdef readonly str name
    cdef Code code                    # None before the first call
    cdef PyObject *ready              # borrowed reference to `code` after it was compiled and checked, else NULL

    cdef int prepare(self) except -1

# Nanoseconds that this process has spent in `Callee.prepare`.
cdef int64_t compilation_ns() noexcept


@cython.final
cdef class Method(MethodBase):
    """Callee of CALL_METHOD: a method looked up by name in the class of the object (polymorphic dispatch)."""
    cdef readonly str name
    cdef ObjectClass cls              # class of the object of the last call (inline cache)
    cdef Callee callee                # method of `cls` with this name (inline cache)
    # Python function that receives the method found. It returns the Callee to run instead, such as a debug
    # version, or None to run the method itself.
    cdef public object twin_of

    cdef int resolve(self, ObjectClass cls) except -1
