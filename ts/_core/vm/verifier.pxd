"""Bytecode verifier: checks the types of instructions against the opcode table (`verifier.pyx`)."""

from ts._core.value.spec cimport TypeSpec
from ts._core.vm.named cimport CalleeBase


cdef class Verifier:
    cdef str name
    cdef tuple rows                   # instructions (opcode, a, b, c)
    cdef str classes                  # register classes, one letter per register (`fitting.register_class`)
    cdef tuple parameters             # TypeSpecs of the parameters, which are the first registers
    cdef TypeSpec result
    cdef list constants               # TypeSpecs of the constants, which are the last registers
    cdef tuple operand_pool
    cdef tuple operators
    cdef tuple functions
    cdef tuple types
    cdef tuple handlers               # (start, end, register, function) for each `with` statement
    cdef Py_ssize_t size
    cdef Py_ssize_t registers
    cdef Py_ssize_t first_constant
    cdef list object_registers  # numbers of the registers for objects (class o or x), without those of constants

    cdef int run(self) except -1
    cdef object fault(self, Py_ssize_t i, what)
    cdef int verify_tables(self) except -1
    cdef int verify_row(self, Py_ssize_t i) except -1
    cdef int verify_flow(self) except -1
    cdef list first_state(self)
    cdef list state(self, list at)
    cdef int restore(self, list at, list state) except -1
    cdef bint meet(self, list starts, Py_ssize_t i, list at) except -1
    cdef bint step(self, Py_ssize_t i, list at) except -1
    cdef int pass_arguments(self, CalleeBase called, Py_ssize_t items, list at) except -1
    cdef int enter_plan(self, object specializations) except -1
    cdef int verify_element(self, list at, Py_ssize_t items, Py_ssize_t dtype, tuple dtypes) except -1
    cdef int call_operator(self, tuple row, list at) except -1
    cdef TypeSpec read(self, list at, Py_ssize_t register)
    cdef TypeSpec read_as(self, list at, Py_ssize_t register, int kind)
    cdef int fit(self, list at, Py_ssize_t register, TypeSpec expected) except -1
    cdef int write(self, list at, Py_ssize_t register, TypeSpec spec) except -1
    cdef TypeSpec slot(self, list at, Py_ssize_t register, Py_ssize_t index)
    cdef TypeSpec type(self, Py_ssize_t index, int kind)
