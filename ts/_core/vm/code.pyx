"""Finished programs: instructions, registers and tables in C arrays, verified against the opcode table.

In: what `ts.bytecode.lower` made of a graph.  Out: a `Code` that the interpreter can trust.

    Code("double", [(ADD_I64, 1, 0, 0), (RETURN, 1, 0, 0)], classes="ii", parameters=1)

The verifier proves that every operand is what its opcode's format says: registers exist and have the
class, constants are not written, jumps stay inside and loop only where it is metered, pool, operator,
function and type numbers exist, and control cannot run over the end.  It does not prove that a
register is written before it is read: that follows from the graph's own verifier.
"""

from cpython.ref cimport PyObject
from libc.stdint cimport int32_t
from libc.stdlib cimport calloc, free, malloc

from ts._core.dispatch.operator cimport Operator
from ts._core.value.ivalue cimport (
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
from ts._core.vm.opcodes cimport LOOP, OPCODE_COUNT, OPCODE_INFO, PAIR_COUNT, PAIR_OF, RAISE, RETURN
from ts.errors import InternalError

cdef dict TAG_OF_CLASS = {"i": TAG_INT, "f": TAG_FLOAT, "b": TAG_BOOL, "o": TAG_OBJECT, "x": TAG_NONE}
cdef str SCALAR_CLASSES = "ifb"


cdef class Code:
    def __init__(
        self,
        str name,
        instructions,
        str classes,
        int parameters,
        constants=(),
        pool=(),
        operators=(),
        functions=(),
        types=(),
        lines=(),
        handlers=(),
    ):
        """`constants` are the values of the last registers; `lines` has one entry per instruction, or none.

        `handlers` are (start, end, register, function), innermost first: if an instruction of the range
        fails, the function is called with the object in the register.
        """
        self.name = name
        self.classes = classes
        self.register_count = len(classes)
        self.parameter_count = parameters
        self.constant_count = len(constants)
        self.operators, self.functions, self.types = tuple(operators), tuple(functions), tuple(types)
        self.rows = tuple(instructions)
        self.lines = tuple(lines)
        self.handlers = tuple(handlers)
        self.size = len(self.rows)
        self.fill_template(tuple(constants))
        self.fill_pool(tuple(pool))
        self.operator_at = borrowed(self.operators)
        self.function_at = borrowed(self.functions)
        self.type_at = borrowed(self.types)
        self.verify()
        self.fill_instructions()

    def __dealloc__(self):
        cdef int i
        if self.template != NULL:
            for i in range(self.register_count - self.constant_count, self.register_count):
                release(&self.template[i])
        free(self.instructions)
        free(self.pool)
        free(self.template)
        free(self.owned)
        free(self.operator_at)
        free(self.function_at)
        free(self.type_at)

    def __repr__(self):
        return f"<code {self.name}: {self.size} instructions, {self.register_count} registers>"

    @property
    def instructions(self):
        """The instructions as (opcode, a, b, c), with register numbers and absolute jump targets."""
        return self.rows

    @property
    def constants(self):
        """The values of the constant registers, containers as they are in the core."""
        cdef int i
        return [box_shallow(&self.template[i]) for i in range(self.first_constant(), self.register_count)]

    @property
    def pool_items(self):
        """The pool as a list of numbers."""
        cdef int i
        return [self.pool[i] for i in range(self.pool_size)]

    def first_constant(self):
        """The number of the first constant register."""
        return self.register_count - self.constant_count

    def fill_template(self, tuple constants):
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
                raise self.fault(f"register {i} has no class {kind!r}")
            if i >= first:
                unbox_shallow(constants[i - first], &self.template[i])
                if kind != "x" and self.template[i].tag != <int>TAG_OF_CLASS[kind]:
                    raise self.fault(f"constant register {i} is not of its class {kind}")
                continue
            self.template[i].tag = TAG_OF_CLASS[kind]
            if kind in "ox":
                self.owned[self.owned_count] = i
                self.owned_count += 1

    def fill_pool(self, tuple pool):
        cdef int i
        self.pool_size = len(pool)
        self.pool = <int32_t *>calloc(self.pool_size + 1, sizeof(int32_t))
        if self.pool == NULL:
            raise MemoryError()
        for i in range(self.pool_size):
            self.pool[i] = pool[i]

    def fill_instructions(self):
        """From the verified rows to what the loop reads."""
        cdef int i
        cdef int32_t words[3]
        self.instructions = <Instruction *>calloc(self.size, sizeof(Instruction))
        if self.instructions == NULL:
            raise MemoryError()
        for i, row in enumerate(self.rows):
            formats = OPCODE_INFO[<int>row[0]].format.decode().split()
            for k in range(3):
                operand, format = row[k + 1], formats[k]
                if format in "<>":
                    operand = (operand - i) * <int>sizeof(Instruction)
                elif format not in ("-", "#", "T", "O", "F", "P"):
                    operand = operand * <int>sizeof(IValue)
                words[k] = operand
            self.instructions[i] = Instruction(row[0], words[0], words[1], words[2])
        for i in range(self.size - 2, -1, -1):
            self.instructions[i].op = pair_of(self.instructions[i].op, self.instructions[i + 1].op)

    def fault(self, message):
        return InternalError(f"code of {self.name}: {message}", "lowering")

    cdef int verify(self) except -1:
        cdef int i, op
        if self.size == 0:
            raise self.fault("no instructions")
        if self.lines and len(self.lines) != self.size:
            raise self.fault("lines and instructions differ in number")
        self.scalar = self.owned_count == 0
        for i, row in enumerate(self.rows):
            op = row[0]
            if not 0 <= op < OPCODE_COUNT:
                raise self.fault(f"instruction {i}: no opcode {op}")
            self.verify_instruction(i, row, OPCODE_INFO[op].name.decode(), OPCODE_INFO[op].format.decode().split())
            self.scalar = self.scalar and OPCODE_INFO[op].scalar
        if self.rows[self.size - 1][0] not in (RETURN, RAISE, LOOP):
            raise self.fault("control runs over the end")
        return 0

    def verify_instruction(self, int i, row, name, formats):
        cdef Operator operator
        shared = ""
        for letter, operand, format in zip("abc", row[1:], formats):
            try:
                if format in "<>":
                    forward = operand > i
                    self.require(0 <= operand < self.size and forward == (format == ">"), "jump target")
                elif format == "O":
                    self.require(0 <= operand < len(self.operators), "operator number")
                elif format == "F":
                    self.require(0 <= operand < len(self.functions), "function number")
                elif format == "T":
                    self.require(0 <= operand < len(self.types), "type number")
                elif format == "P":
                    self.verify_pool(operand)
                elif format != "-" and format != "#":
                    shared = self.verify_register(operand, format, shared)
            except ValueError as error:
                raise self.fault(f"instruction {i}, {name}, operand {letter} = {operand}: {error}") from None
        if name in ("CALL_OPERATOR", "CALL_SCALAR"):
            operator = self.operators[row[1]]
            if self.pool[row[2]] != operator.nargs + operator.nrets:
                raise self.fault(f"instruction {i}: {operator.name} takes {operator.nargs} and gives {operator.nrets}")
            if name == "CALL_SCALAR" and not operator.scalar:
                raise self.fault(f"instruction {i}: {operator.name} is not a scalar operator")
            for k in range(operator.nargs, operator.nargs + operator.nrets):
                if self.pool[row[2] + 1 + k] >= self.first_constant():
                    raise self.fault(f"instruction {i} writes a constant")

    def require(self, bint condition, str what):
        if not condition:
            raise ValueError(f"wrong {what}")

    def verify_pool(self, operand):
        self.require(0 <= operand < self.pool_size, "pool offset")
        n = self.pool[<int>operand]
        self.require(0 <= n < self.pool_size - operand, "pool record")
        for k in range(n):
            self.require(0 <= self.pool[<int>operand + 1 + <int>k] < self.register_count, "register in the pool")

    def verify_register(self, operand, format, shared):
        self.require(0 <= operand < self.register_count, "register number")
        if format[0] in "=+":
            self.require(operand < self.first_constant(), "register: a constant is written")
        kind, wanted = self.classes[operand], format.lstrip("=+")
        if wanted == "s":
            self.require(kind in SCALAR_CLASSES and shared in ("", kind), "register class")
            return kind
        self.require(wanted == "r" or (kind in "ox" if wanted == "v" else kind == wanted), "register class")
        return shared


cdef class Callee:
    def _prepare(self):
        """The Code of the function: asked for once, by the first call."""
        raise NotImplementedError(f"{self.name} has no code")

    cdef int prepare(self) except -1:
        cdef Code code = self._prepare()
        if self.ready == NULL:                    # else another thread was faster
            self.code = code
            self.ready = <PyObject *>code
        return 0


cdef int pair_of(int first, int second) noexcept:
    """The opcode that does both, or else the first."""
    cdef int i
    for i in range(PAIR_COUNT):
        if PAIR_OF[i][0] == first and PAIR_OF[i][1] == second:
            return OPCODE_COUNT + i
    return first


cdef PyObject **borrowed(tuple objects) except NULL:
    cdef Py_ssize_t i
    cdef PyObject **array = <PyObject **>malloc((len(objects) + 1) * sizeof(PyObject *))
    if array == NULL:
        raise MemoryError()
    for i in range(len(objects)):
        array[i] = <PyObject *>objects[i]
    return array


cdef class Method:
    def __init__(self, str name):
        self.name = name

    cdef int resolve(self, ObjectClass cls) except -1:
        """Make it the method of that class."""
        method = cls.type.find_method(self.name)
        if method is None:
            raise RuntimeError(f"an object of class {cls.name} has no method '{self.name}'")
        found = <Callee?>(method if self.twin_of is None else self.twin_of(method))
        self.cls = None  # until they fit together: what is released here may give other threads a turn
        self.callee = found
        self.cls = cls
        return 0
