"""Executable code with instructions, registers, constant pool and tables, verified against the opcode table.

`ts.bytecode.lower` creates the instructions and tables from a graph. The code of a function that doubles an
int:

    Code("double", [(ADD_I64, 1, 0, 0), (RETURN, 1, 0, 0)], classes="ii", parameters=[INT], result=INT)

`verifier` proves all properties that the interpreter loop relies on. Therefore, code from any source is safe
to execute.
"""

from cpython.ref cimport PyObject
from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport calloc, free, malloc

from ts._core.thread.monotonic_clock cimport monotonic_ns
from ts._core.value.fitting cimport SOME_OBJECT, is_subtype
from ts._core.value.ivalue cimport (
    ANY_SPEC,
    TAG_BOOL,
    TAG_FLOAT,
    TAG_INT,
    TAG_NONE,
    TAG_OBJECT,
    TypeSpec,
    box_shallow,
    release,
    unbox_shallow,
)
from ts._core.value.spec cimport KIND_FUTURE, KIND_OBJECT
from ts._core.value.type_of cimport future_type, infer_spec
from ts._core.vm.named cimport BreakpointsBase
from ts._core.vm.specializations cimport Specializations, set_check
from ts._core.vm.opcodes cimport ENTER_NATIVE, ENTER_SPECIALIZATION, OPCODE_COUNT, OPCODE_INFO, PAIR_COUNT, PAIR_OF
from ts._core.vm.verifier cimport Verifier
from ts.errors import InternalError

cdef extern from *:
    """
    /* Make earlier writes visible to threads that read a later write. */
    #define publish() __atomic_thread_fence(__ATOMIC_RELEASE)
    """
    void publish() noexcept nogil

cdef dict TAG_OF_CLASS = {"i": TAG_INT, "f": TAG_FLOAT, "b": TAG_BOOL, "o": TAG_OBJECT, "x": TAG_NONE}
cdef TypeSpec FUTURE = TypeSpec(KIND_FUTURE, (ANY_SPEC,), "Future")


cdef enum:
    JUMP_TARGET = 0                     # value in SCALES of an operand that is a jump target


# For each operand of each opcode, the number of bytes by which the encoding multiplies the operand: the size of a
# register for register numbers, and 1 for other numbers.
cdef int[OPCODE_COUNT][3] SCALES


cdef int fill_scales() except -1:
    cdef int op, i
    for op in range(OPCODE_COUNT):
        for i, format in enumerate(OPCODE_INFO[op].format.decode().split()):
            if format in ("<", ">"):
                SCALES[op][i] = JUMP_TARGET
            else:
                SCALES[op][i] = 1 if format in ("-", "#", "T", "O", "F", "P") else sizeof(IValue)
    return 0


fill_scales()


cdef class Code:
    def __cinit__(
        self,
        str name not None,
        instructions,
        str classes not None,
        parameters,
        constants=(),
        operand_pool=(),
        operators=(),
        functions=(),
        types=(),
        lines=(),
        handlers=(),
        TypeSpec result not None=ANY_SPEC,
    ):
        """Create and verify code from instructions (opcode, a, b, c) and tables.

        `parameters` are the types of the first registers, `constants` the values of the last registers.
        `lines` has one item per instruction, or is empty.

        `handlers` are tuples (start, end, register, function), the innermost first. If an instruction in the
        range start to end fails, the function is called with the object in the register.
        """
        self.name = name
        self.classes = classes
        self.register_count = len(classes)
        self.parameters, self.result = tuple(parameters), result
        self.parameter_count = len(self.parameters)
        self.constant_count = len(constants)
        self.operators, self.functions, self.types = tuple(operators), tuple(functions), tuple(types)
        self.rows = tuple([tuple(row) for row in instructions])
        self.lines = tuple(lines)
        self.handlers = tuple(handlers)
        self.size = len(self.rows)
        if self.lines and len(self.lines) != self.size:
            raise self.fault(f"{len(self.lines)} source locations for {self.size} instructions")
        self.fill_template(tuple(constants))
        cdef Verifier verifier = Verifier(
            name, self.rows, classes, self.parameters, result, [spec_of(x) for x in self.constants], tuple(operand_pool),
            self.operators, self.functions, self.types, self.handlers,
        )
        verifier.run()
        for i, function in enumerate(self.functions):
            # the verifier checks only that these are instances of the base classes
            if not isinstance(function, (Callee, Method, BreakpointsBase, Specializations)):
                raise self.fault(f"function {i} is invalid: {type(function).__name__}")
        self.scalar = self.owned_count == 0 and all([OPCODE_INFO[<int>row[0]].scalar for row in self.rows])
        self.fill_operand_pool(tuple(operand_pool))
        self.operator_at = borrow_references(self.operators)
        self.function_at = borrow_references(self.functions)
        self.type_at = borrow_references(self.types)
        self.fill_instructions()

    def __dealloc__(self):
        cdef int i
        if self.template != NULL:
            for i in range(self.register_count - self.constant_count, self.register_count):
                release(&self.template[i])
        free(self.instructions)
        free(self.operand_pool)
        free(self.template)
        free(self.owned)
        free(self.operator_at)
        free(self.function_at)
        free(self.type_at)

    def __repr__(self):
        return f"<code {self.name}: {self.size} instructions, {self.register_count} registers>"

    @property
    def instructions(self):
        """Return the instructions as (opcode, a, b, c), with register numbers and absolute jump targets."""
        return self.rows

    @property
    def plans(self):
        """Return the specializations that run instead of this code, or None for code without specializations."""
        return self.functions[0] if self.rows[0][0] == ENTER_SPECIALIZATION else None

    @property
    def constants(self):
        """Return the values of the constant registers. Core containers are not converted."""
        cdef int i
        return [box_shallow(&self.template[i]) for i in range(self.first_constant(), self.register_count)]

    def operand_pool_list(self, int offset):
        """Return the list of registers at an offset in the pool."""
        cdef int i
        if not (0 <= offset < self.operand_pool_size and 0 <= self.operand_pool[offset] < self.operand_pool_size - offset):
            raise IndexError(f"no register list at offset {offset} of the operand pool")
        return [self.operand_pool[i] for i in range(offset + 1, offset + 1 + self.operand_pool[offset])]

    def number_at(self, size_t address):
        """Return the index of the instruction at a memory address.

        Raise IndexError for addresses outside of this code.
        """
        cdef size_t index = (address - <size_t>self.instructions) // sizeof(Instruction)
        if address < <size_t>self.instructions or index >= <size_t>self.size:
            raise IndexError(f"the address is not in the instructions of {self.name}")
        return index

    def first_constant(self):
        """Return the index of the first constant register."""
        return self.register_count - self.constant_count

    def adopt(self, size_t address, entries, machine_code):
        """Replace the loops that end at the instructions `entries` by the machine code at `address`.

        `machine_code` owns the memory at `address`. Each instruction is replaced atomically, because other threads may
        be executing these loops.
        """
        cdef int i, end
        self.machine_code = machine_code
        self.native = <Native>address
        publish()
        for end in entries:
            if OPCODE_INFO[<int>self.rows[end][0]].format[0] != b"<":
                raise self.fault(f"instruction {end} is not the end of a loop")
            self.instructions[end].op = ENTER_NATIVE
            for i in range(end - 1, max(end - 3, -1), -1):
                if self.instructions[i].op != ENTER_NATIVE:
                    self.instructions[i].op = pair_of(self.rows[i][0], self.instructions[i + 1].op)

    cdef int fill_template(self, tuple constants) except -1:
        cdef int i, first = self.register_count - len(constants)
        if first < self.parameter_count:
            raise self.fault("parameters and constants overlap")
        self.template = <IValue *>calloc(self.register_count + 1, sizeof(IValue))
        self.owned = <int32_t *>calloc(self.register_count + 1, sizeof(int32_t))
        if self.template == NULL or self.owned == NULL:
            raise MemoryError()
        for i in range(self.register_count):
            kind = self.classes[i]
            if kind not in TAG_OF_CLASS:
                raise self.fault(f"register {i} has the unknown class {kind!r}")
            if i >= first:
                unbox_shallow(constants[i - first], &self.template[i])
                if kind != "x" and self.template[i].tag != <int>TAG_OF_CLASS[kind]:
                    raise self.fault(f"the value of constant register {i} does not match its class {kind}")
                continue
            self.template[i].tag = TAG_OF_CLASS[kind]
            if kind in "ox":
                self.owned[self.owned_count] = i
                self.owned_count += 1

    cdef int fill_operand_pool(self, tuple operand_pool) except -1:
        cdef int i
        self.operand_pool_size = len(operand_pool)
        self.operand_pool = <int32_t *>calloc(self.operand_pool_size + 1, sizeof(int32_t))
        if self.operand_pool == NULL:
            raise MemoryError()
        for i in range(self.operand_pool_size):
            self.operand_pool[i] = operand_pool[i]

    cdef int fill_instructions(self) except -1:
        """Encode the verified instructions as the array that the interpreter reads (instruction encoding)."""
        cdef int i, k, op
        cdef int32_t operand
        cdef int32_t operands[3]
        self.instructions = <Instruction *>calloc(self.size, sizeof(Instruction))
        if self.instructions == NULL:
            raise MemoryError()
        for i, row in enumerate(self.rows):
            op = row[0]
            for k in range(3):
                operand = row[k + 1]
                operands[k] = (operand - i) * <int>sizeof(Instruction) if SCALES[op][k] == JUMP_TARGET else operand * SCALES[op][k]
            self.instructions[i] = Instruction(op, operands[0], operands[1], operands[2])
        for i in range(self.size - 2, -1, -1):
            self.instructions[i].op = pair_of(self.instructions[i].op, self.instructions[i + 1].op)

    cdef object fault(self, message):
        return InternalError(f"code of {self.name}: {message}", "lowering")


cdef TypeSpec spec_of(object x):
    """Return the type of a constant."""
    cdef TypeSpec spec = FUTURE if isinstance(x, future_type) else infer_spec(x)
    return SOME_OBJECT if spec is None else spec


cdef int preparing = 0             # number of compilations that have begun and not ended
cdef int64_t spent_ns = 0


cdef int64_t compilation_ns() noexcept:
    return spent_ns


cdef class Callee:
    @property
    def available_code(self):
        """Return the compiled Code, or None before the first call."""
        return self.code

    def _prepare(self):
        """Compile the function and return its Code.

        Subclasses implement this method, which is called at the first call of the function.
        """
        raise NotImplementedError(f"{self.name} has no code")

    cdef int prepare(self) except -1:
        global preparing, spent_ns
        cdef int64_t begin = monotonic_ns()
        cdef Code code
        preparing += 1
        try:
            code = self._prepare()
        finally:
            preparing -= 1
            if preparing == 0:  # the time of a nested compilation is part of that of the outer one
                spent_ns += monotonic_ns() - begin
        if code is None:
            raise TypeError(f"{self.name} has no code")
        if not has_signature(code.parameters, code.result, self.specs, self.result):
            raise InternalError(f"{self.name}: the signature of the code differs from that of the function", "lowering")
        if self.ready == NULL:  # checked again, because another thread may have compiled the code in the meantime
            self.code = code
            self.ready = <PyObject *>code
        return 0


cdef bint has_signature(tuple parameters, TypeSpec result, tuple expected, TypeSpec expected_result) except -1:
    """Return whether the signature (`parameters`, `result`) is a subtype of the expected signature.

    Parameters are contravariant, and the result is covariant.
    """
    cdef Py_ssize_t i
    if len(parameters) != len(expected):
        return False
    for i in range(len(expected)):
        if not is_subtype(<TypeSpec>expected[i], <TypeSpec>parameters[i]):
            return False
    return is_subtype(result, expected_result)


def check_specialized_code(Code code not None, Specializations specializations not None):
    """Raise InternalError if the signature of specialized code differs from the signature of its function."""
    if not has_signature(code.parameters, code.result, specializations.specs, specializations.result):
        raise InternalError(f"{specializations.name}: the signature of the specialized code differs from that of the function", "lowering")


set_check(check_specialized_code)


cdef int pair_of(int first, int second) noexcept:
    """Return the superinstruction for the opcodes `first` and `second`, or `first` if there is none."""
    cdef int i
    for i in range(PAIR_COUNT):
        if PAIR_OF[i][0] == first and PAIR_OF[i][1] == second:
            return OPCODE_COUNT + i
    return first


cdef PyObject **borrow_references(tuple objects) except NULL:
    cdef Py_ssize_t i
    cdef PyObject **array = <PyObject **>malloc((len(objects) + 1) * sizeof(PyObject *))
    if array == NULL:
        raise MemoryError()
    for i in range(len(objects)):
        array[i] = <PyObject *>objects[i]
    return array


cdef class Method(MethodBase):
    def __cinit__(self, str name not None, tuple specs not None, TypeSpec result not None):
        self.name = name
        self.specs, self.result = specs, result

    cdef int resolve(self, ObjectClass cls) except -1:
        """Look up the method in class `cls`, and store the class and the method in the inline cache."""
        method = cls.type.find_method(self.name)
        if method is None:
            raise RuntimeError(f"an object of class {cls.name} has no method '{self.name}'")
        resolved = <Callee?>(method if self.twin_of is None else self.twin_of(method))
        if resolved.ready == NULL:
            resolved.prepare()
        if not has_signature(resolved.specs, resolved.result, (cls.spec, *self.specs[1:]), self.result):
            raise RuntimeError(f"the signature of method '{self.name}' of class {cls.name} does not match the call")
        # Hold references to the old class and method until both fields are set. Releasing one of them could
        # run another thread, which would read the new class with the old method.
        cls_before, callee_before = self.cls, self.callee
        self.cls = cls
        self.callee = resolved
        return 0
