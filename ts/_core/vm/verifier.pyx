"""Bytecode verifier, which proves operand types by forward data-flow analysis instead of run-time checks.

The verifier raises InternalError with the invalid instruction and the reason.

First, it checks each instruction alone. Registers must exist and have the class of the operand format.
Constants must not be written. Jumps must stay inside of the function, and backward jumps must be metered.
Indices of operators, functions, types and pool entries must be valid.

Then the verifier infers the types of object registers along all control-flow paths:

    0  LIST_NEW        r1, List[int], ()       r1: List[int]
    1  LIST_GET_SCALAR r2, r1, r0              an int, the class of r2
    2  DROP            r1                      r1: unset
    3  LIST_LEN        r2, r1                  error: r1 may be unset

After a merge of paths, a register is unset if it is unset on one path. Otherwise, it has the common supertype
of its types on the paths. A value whose type is known only at run time needs a CAST before typed instructions
read it.
"""

from ts._core.dispatch.operator cimport Operator
from ts._core.dispatch.proving cimport result_specs
from ts._core.thread.allowance cimport limited, take_text
from ts._core.value.fitting cimport is_subtype, common_supertype, present, register_class
from ts._core.value.objects cimport ObjectClass
from ts._core.value.spec cimport (
    ANY_SPEC,
    BOOL_SPEC,
    FLOAT_SPEC,
    INT_SPEC,
    KIND_CLASS,
    KIND_DICT,
    KIND_FUTURE,
    KIND_LIST,
    KIND_OBJECT,
    KIND_STR,
    KIND_TENSOR,
    KIND_TUPLE,
    NONE_SPEC,
    STR_SPEC,
)
from ts._core.vm.named cimport CalleeBase, MethodBase, BreakpointsBase
from ts._core.vm.specializations cimport Specializations
from ts._core.vm.opcodes cimport *

from ts.errors import InternalError

cdef TypeSpec FUTURE = TypeSpec(KIND_FUTURE, (ANY_SPEC,), "Future")
cdef TypeSpec ANY_LIST = TypeSpec(KIND_OBJECT, (), "list")
cdef TypeSpec ANY_CLASS = TypeSpec(KIND_CLASS, (), "object")
cdef dict KIND_OF_FORMAT = {
    "list": KIND_LIST, "dict": KIND_DICT, "tuple": KIND_TUPLE, "object": KIND_CLASS, "future": KIND_FUTURE,
    "str": KIND_STR, "tensor": KIND_TENSOR,
}
cdef dict FORMAT_OF_KIND = {kind: word for word, kind in KIND_OF_FORMAT.items()}
cdef dict SPEC_OF_CLASS = {"i": INT_SPEC, "f": FLOAT_SPEC, "b": BOOL_SPEC}
cdef tuple TERMINATORS = (RETURN, RAISE, ENTER_SPECIALIZATION, JUMP, LOOP)
cdef tuple FLOATS = (6, 7)  # ScalarTypes whose elements can be loaded into float registers: float and double
cdef tuple INTS = (0, 1, 2, 3, 4, 11)
cdef tuple STORED_INTS = (4,)

# Lists with one item for each opcode: its name (NAMES), the formats of its operands (FORMATS), the formats
# without the marks of written registers (CLASSES), whether it jumps (JUMPS), and whether all operands are
# numbers or jump targets (PLAIN).
cdef list NAMES = [OPCODE_INFO[i].name.decode() for i in range(OPCODE_COUNT)]
cdef list FORMATS = [tuple(OPCODE_INFO[i].format.decode().split()) for i in range(OPCODE_COUNT)]
cdef list CLASSES = [tuple([format.lstrip("=+") for format in row]) for row in FORMATS]
cdef list JUMPS = [row[0] in ("<", ">") for row in FORMATS]
cdef list PLAIN = [all([f in ("i", "f", "b", "s", "<", ">", "#", "-") for f in row]) for row in CLASSES]


class VerificationError(Exception):
    """Exception for a failed check inside of the verifier.

    `Verifier.fault` converts the exception to an InternalError that names the instruction.
    """


cdef class Verifier:
    def __cinit__(self, str name, tuple rows, str classes, tuple parameters, TypeSpec result, list constants, tuple operand_pool,
                  tuple operators, tuple functions, tuple types, tuple handlers):
        self.name, self.rows, self.classes = name, rows, classes
        self.parameters, self.result, self.constants = parameters, result, constants
        self.operand_pool, self.operators, self.functions = operand_pool, operators, functions
        self.types, self.handlers = types, handlers
        self.size, self.registers = len(rows), len(classes)
        self.first_constant = self.registers - len(constants)
        self.object_registers = [r for r in range(self.first_constant) if classes[r] in "ox"]

    cdef int run(self) except -1:
        cdef Py_ssize_t i = -1
        try:
            self.verify_tables()
            for i in range(self.size):
                self.verify_row(i)
        except VerificationError as error:
            raise self.fault(i, error) from None
        if self.rows[self.size - 1][0] not in (RETURN, RAISE, ENTER_SPECIALIZATION, LOOP):
            raise self.fault(-1, "control flow reaches the end of the code")
        return self.verify_flow()

    cdef object fault(self, Py_ssize_t i, what):
        where = f"instruction {i}, {NAMES[self.rows[i][0]]}: " if i >= 0 and 0 <= self.rows[i][0] < OPCODE_COUNT else ""
        return InternalError(f"code of {self.name}: {where}{what}", "lowering")

    # ---- single instructions ---------------------------------------------------------------------------

    cdef int verify_tables(self) except -1:
        if self.size == 0:
            raise VerificationError("no instructions")
        for row in self.rows:
            if len(row) != 4:
                raise VerificationError(f"expected an instruction of four numbers, got {len(row)}")
        for i, spec in enumerate(self.parameters):
            kind = register_class(<TypeSpec?>spec)
            if self.classes[i] not in ("ox" if kind == "o" else kind):
                raise VerificationError(f"parameter {i} of class {self.classes[i]} cannot hold a value of type {spec.annotation_str}")
        for each, table, what in (
            (Operator, self.operators, "operator"), (TypeSpec, self.types, "type"), ((CalleeBase, BreakpointsBase, Specializations), self.functions, "function")
        ):
            for i, x in enumerate(table):
                if not isinstance(x, each):
                    raise VerificationError(f"{what} {i} is invalid: {type(x).__name__}")
        for start, end, register, _ in self.handlers:
            if not (0 <= start <= end <= self.size and 0 <= register < self.registers):
                raise VerificationError("invalid range or register of an exception handler")
        return 0

    cdef int verify_row(self, Py_ssize_t i) except -1:
        cdef tuple row = self.rows[i]
        cdef int op = row[0], k
        cdef Py_ssize_t operand
        cdef str format, operand_format, kind, shared = ""
        if not 0 <= op < OPCODE_COUNT:
            raise VerificationError(f"instruction {i}: unknown opcode {op}")
        for k in range(3):
            format, operand = (<tuple>FORMATS[op])[k], row[k + 1]
            operand_format = (<tuple>CLASSES[op])[k]
            what = ""
            if format == "-" or format == "#":
                continue
            if format == "<" or format == ">":
                if not 0 <= operand < self.size or (operand > i) != (format == ">"):
                    what = "jump target"
            elif format == "O":
                what = "" if 0 <= operand < len(self.operators) else "operator number"
            elif format == "F":
                what = "" if 0 <= operand < len(self.functions) else "function number"
            elif format == "T":
                what = "" if 0 <= operand < len(self.types) else "type number"
            elif format == "P":
                what = self.operand_pool_error(operand)
            elif not 0 <= operand < self.registers:
                what = "register number"
            elif operand_format is not format and operand >= self.first_constant:
                what = "register: it is constant, and cannot be written"
            else:
                kind = self.classes[operand]
                if operand_format == "s":
                    if kind not in "ifb" or shared not in ("", kind):
                        what = "register class"
                    shared = kind
                elif operand_format == "v":
                    what = "" if kind in "ox" else "register class"
                elif operand_format != "r" and kind != ("o" if operand_format in KIND_OF_FORMAT else operand_format):
                    what = "register class"
            if what:
                raise VerificationError(f"operand {'abc'[k]} = {operand}: wrong {what}")
        return 0

    def operand_pool_error(self, Py_ssize_t offset):
        """Return the name of the invalid part of the register list at `offset` of the pool, or ""."""
        cdef Py_ssize_t n
        if not 0 <= offset < len(self.operand_pool):
            return "pool offset"
        n = self.operand_pool[offset]
        if not 0 <= n < len(self.operand_pool) - offset:
            return "pool record"
        for k in range(offset + 1, offset + 1 + n):
            if not 0 <= self.operand_pool[k] < self.registers:
                return "register in the pool"
        return ""

    # ---- control flow ----------------------------------------------------------------------------------

    cdef int verify_flow(self) except -1:
        """Propagate the types of registers along control flow until they no longer change."""
        # For each instruction: None if it is no jump target. For a jump target: () if the analysis has not
        # reached it yet, else the types of the registers `object_registers` before the instruction.
        cdef list starts = [None] * self.size
        # current types of all registers. The types of registers that are not in `object_registers` never change.
        cdef list at = self.first_state()
        cdef Py_ssize_t i
        cdef int op
        cdef set changed = {0}
        for row in self.rows:
            if JUMPS[row[0]]:
                starts[row[1]] = ()
        starts[0] = self.state(at)
        while changed:
            i = min(changed)
            changed.discard(i)
            self.restore(at, starts[i])
            while True:
                op = self.rows[i][0]
                if not PLAIN[op]:
                    try:
                        if not self.step(i, at):
                            break
                    except VerificationError as error:
                        raise self.fault(i, error) from None
                if JUMPS[op] and self.meet(starts, self.rows[i][1], at):
                    changed.add(self.rows[i][1])
                if op in TERMINATORS:
                    break
                i += 1
                if starts[i] is None:
                    continue
                if not self.meet(starts, i, at):
                    break
                changed.discard(i)
                self.restore(at, starts[i])
        return 0

    cdef list state(self, list at):
        """Return the types of the registers in `object_registers`, to be saved at a jump target."""
        if limited:
            take_text(8 * len(self.object_registers))
        return [at[r] for r in self.object_registers]

    cdef int restore(self, list at, list state) except -1:
        for k, r in enumerate(self.object_registers):
            at[r] = state[k]
        return 0

    cdef list first_state(self):
        """Return the register types when the function starts, with None for unset object registers."""
        cdef Py_ssize_t i
        cdef list at = list(self.parameters)
        for i in range(len(at), self.first_constant):
            at.append(SPEC_OF_CLASS.get(self.classes[i], NONE_SPEC if self.classes[i] == "x" else None))
        return at + self.constants

    cdef bint meet(self, list starts, Py_ssize_t i, list at) except -1:
        """Merge the register types `at` into the types of jump target `i`.

        Return whether the types of the target changed.
        """
        cdef bint changed = False
        cdef list state
        cdef TypeSpec before, now
        if type(starts[i]) is tuple:
            starts[i] = self.state(at)
            return True
        state = starts[i]
        for k, r in enumerate(self.object_registers):
            before, now = state[k], at[r]
            if before is now or before is None:
                continue
            if now is not None:
                if is_subtype(now, before):
                    continue
                now = common_supertype(before, now)
            state[k] = now
            changed = True
        return changed

    cdef bint step(self, Py_ssize_t i, list at) except -1:
        """Check the operand types of instruction `i`, and apply the effect of the instruction to the types `at`.

        Return False if the instruction always fails.
        """
        cdef tuple row = self.rows[i]
        cdef int op = row[0]
        cdef Py_ssize_t a = row[1], b = row[2], c = row[3], k, n
        cdef TypeSpec spec
        for start, end, register, _ in self.handlers:
            if start <= i < end:
                self.read(at, register)
        if op == COPY:
            self.write(at, a, self.read(at, b))
        elif op == TAKE:
            self.write(at, a, self.read(at, b))
            at[b] = None
        elif op == DROP:
            at[a] = None
        elif op in (CAST, IS_INSTANCE, IS_NONE, IS_NOT_NONE, JUMP_NONE, JUMP_NOT_NONE):
            self.read(at, b)
        elif op == CAST_OBJECT:
            spec = present(self.read(at, b))
            if spec is None:
                return False
            self.write(at, a, spec)
        elif op == CAST_TO:
            self.read(at, b)
            self.write(at, a, <TypeSpec>self.types[c])

        elif op == LIST_LEN or op == LIST_CHECK_LEN:
            k = b if op == LIST_LEN else a
            if not is_subtype(self.read(at, k), ANY_LIST):
                self.read_as(at, k, KIND_LIST)
        elif op == LIST_GET or op == LIST_GET_SCALAR:
            self.write(at, a, <TypeSpec>self.read_as(at, b, KIND_LIST).children[0])
        elif op == LIST_SET or op == LIST_SET_SCALAR:
            self.fit(at, c, <TypeSpec>self.read_as(at, a, KIND_LIST).children[0])
        elif op == LIST_APPEND:
            self.fit(at, b, <TypeSpec>self.read_as(at, a, KIND_LIST).children[0])
        elif op == LIST_NEW:
            spec = self.type(b, KIND_LIST)
            for k in range(c + 1, c + 1 + <Py_ssize_t>self.operand_pool[c]):
                self.fit(at, self.operand_pool[k], <TypeSpec>spec.children[0])
            self.write(at, a, spec)
        elif op == DICT_LEN:
            self.read_as(at, b, KIND_DICT)
        elif op in (DICT_GET, DICT_GET_SCALAR, DICT_FIND, DICT_CONTAINS):
            spec = self.read_as(at, b, KIND_DICT)
            self.fit(at, c, <TypeSpec>spec.children[0])
            if op == DICT_FIND:  # if the key is missing, register `a` keeps its value, so both types are possible
                self.write(at, a, common_supertype(self.read(at, a), <TypeSpec>spec.children[1]))
            elif op != DICT_CONTAINS:
                self.write(at, a, <TypeSpec>spec.children[1])
        elif op == DICT_SET or op == DICT_SET_SCALAR:
            spec = self.read_as(at, a, KIND_DICT)
            self.fit(at, b, <TypeSpec>spec.children[0])
            self.fit(at, c, <TypeSpec>spec.children[1])
        elif op == DICT_NEW:
            spec = self.type(b, KIND_DICT)
            n = self.operand_pool[c]
            if n % 2:
                raise VerificationError("a key without a value")
            for k in range(n):
                self.fit(at, self.operand_pool[c + 1 + k], <TypeSpec>spec.children[k % 2])
            self.write(at, a, spec)
        elif op == TUPLE_NEW:
            spec = self.type(b, KIND_TUPLE)
            if self.operand_pool[c] != len(spec.children):
                raise VerificationError(f"{self.operand_pool[c]} elements for a {spec.annotation_str}")
            for k in range(len(spec.children)):
                self.fit(at, self.operand_pool[c + 1 + k], <TypeSpec>spec.children[k])
            self.write(at, a, spec)
        elif op == TUPLE_GET:
            spec = self.read_as(at, b, KIND_TUPLE)
            if not 0 <= c < len(spec.children):
                raise VerificationError(f"{spec.annotation_str} has no element {c}")
            self.write(at, a, <TypeSpec>spec.children[c])
        elif op == STR_LEN or op == STR_GET:
            self.read_as(at, b, KIND_STR)
            if op == STR_GET:
                self.write(at, a, STR_SPEC)
        elif op == STR_EQ or op == STR_NE:
            self.read_as(at, b, KIND_STR)
            self.read_as(at, c, KIND_STR)

        elif op == OBJECT_NEW:
            spec = self.type(b, KIND_CLASS)
            if not isinstance(spec.detail, ObjectClass):
                raise VerificationError(f"{spec.annotation_str} is not a class that can be instantiated")
            self.write(at, a, spec)
        elif op == ATTR_GET or op == ATTR_GET_SCALAR:
            self.write(at, a, self.slot(at, b, c))
        elif op == ATTR_SET or op == ATTR_SET_SCALAR:
            self.fit(at, c, self.slot(at, a, b))

        elif op == HAS_ELEMENTS:
            self.read_as(at, b, KIND_TENSOR)
        elif op == LOAD_FLOAT or op == LOAD_INT:
            self.verify_element(at, b, c, FLOATS if op == LOAD_FLOAT else INTS)
        elif op == STORE_FLOAT or op == STORE_INT:
            self.verify_element(at, a, c, FLOATS if op == STORE_FLOAT else STORED_INTS)

        elif op == CALL_OPERATOR or op == CALL_SCALAR:
            self.call_operator(row, at)
        elif op == CALL or op == CALL_METHOD or op == FORK:
            called = self.functions[b]
            if not isinstance(called, CalleeBase) or isinstance(called, MethodBase) != (op == CALL_METHOD):
                raise VerificationError(f"function {b} cannot be called by this opcode")
            self.pass_arguments(<CalleeBase>called, c, at)
            if op == CALL_METHOD and not is_subtype(self.read(at, self.operand_pool[c + 1]), ANY_CLASS):
                raise VerificationError("a method call on a value that is not an object")
            self.write(at, a, FUTURE if op == FORK else (<CalleeBase>called).result)
        elif op == RETURN:
            self.fit(at, a, self.result)
        elif op == RAISE:
            self.read(at, a)
            self.read(at, b)
        elif op == PRINT:
            for k in range(a + 1, a + 1 + <Py_ssize_t>self.operand_pool[a]):
                self.read(at, self.operand_pool[k])
        elif op == WAIT:
            self.read_as(at, b, KIND_FUTURE)
            self.write(at, a, <TypeSpec>self.types[c])
        elif op == BREAK:
            if not isinstance(self.functions[a], BreakpointsBase) or not 0 <= b < len((<BreakpointsBase>self.functions[a]).flags):
                raise VerificationError("unknown stop point")
        elif op == ENTER_SPECIALIZATION:
            self.enter_plan(self.functions[a])
        else:
            raise VerificationError("the verifier does not support the opcode")
        return True

    cdef int pass_arguments(self, CalleeBase called, Py_ssize_t items, list at) except -1:
        cdef Py_ssize_t k
        if self.operand_pool[items] != len(called.specs):
            raise VerificationError(f"{self.operand_pool[items]} arguments for a function with {len(called.specs)} parameters")
        for k in range(len(called.specs)):
            self.fit(at, self.operand_pool[items + 1 + k], <TypeSpec>called.specs[k])
        return 0

    cdef int enter_plan(self, object specializations) except -1:
        """Check that ENTER_SPECIALIZATION is the only instruction, and that the specializations fit the parameters."""
        cdef Py_ssize_t i
        if not isinstance(specializations, Specializations) or self.size != 1 or self.registers != len(self.parameters):
            raise VerificationError("ENTER_SPECIALIZATION must be the only instruction of its code")
        specs = (<Specializations>specializations).specs
        if len(specs) != len(self.parameters) or not is_subtype((<Specializations>specializations).result, self.result):
            raise VerificationError("the specializations belong to another function")
        for i in range(len(specs)):
            if not is_subtype(<TypeSpec>self.parameters[i], <TypeSpec>specs[i]):
                raise VerificationError(f"the type of argument {i} differs from that in the specializations")
        return 0

    cdef int verify_element(self, list at, Py_ssize_t items, Py_ssize_t dtype, tuple dtypes) except -1:
        """Check the operands of an access to a tensor element: a tensor, then int indices."""
        cdef Py_ssize_t k
        if dtype not in dtypes:
            raise VerificationError(f"elements of dtype {dtype} have no register class")
        if self.operand_pool[items] == 0:
            raise VerificationError("an element access without a tensor")
        self.read_as(at, self.operand_pool[items + 1], KIND_TENSOR)
        for k in range(items + 2, items + 1 + <Py_ssize_t>self.operand_pool[items]):
            if self.classes[self.operand_pool[k]] != "i":
                raise VerificationError(f"r{self.operand_pool[k]} is not an int, and cannot be an index")
        return 0

    cdef int call_operator(self, tuple row, list at) except -1:
        cdef Operator op = self.operators[row[1]]
        cdef Py_ssize_t items = row[2], k
        if self.operand_pool[items] != op.nargs + op.nrets:
            raise VerificationError(f"{self.operand_pool[items]} operands for {op.name}, which has {op.nargs} arguments and {op.nrets} results")
        if row[0] == CALL_SCALAR and not op.scalar:
            raise VerificationError(f"{op.name} is not a scalar operator")
        actual = [self.read(at, self.operand_pool[items + 1 + k]) for k in range(op.nargs)]
        try:
            result_types = result_specs(op, actual)
        except TypeError as error:
            raise VerificationError(str(error)) from None
        for k in range(op.nrets):
            register = self.operand_pool[items + 1 + op.nargs + k]
            if register >= self.first_constant:
                raise VerificationError("a constant register is written")
            self.write(at, register, <TypeSpec>result_types[k])
        return 0

    # ---- registers -------------------------------------------------------------------------------------

    cdef TypeSpec read(self, list at, Py_ssize_t register):
        cdef TypeSpec spec = at[register]
        if spec is None:
            raise VerificationError(f"r{register} may be read before it is written")
        return spec

    cdef TypeSpec read_as(self, list at, Py_ssize_t register, int kind):
        cdef TypeSpec spec = self.read(at, register)
        if spec.kind != kind:
            raise VerificationError(f"r{register} has type {spec.annotation_str}, expected {FORMAT_OF_KIND[kind]}")
        return spec

    cdef int fit(self, list at, Py_ssize_t register, TypeSpec expected) except -1:
        cdef TypeSpec spec = self.read(at, register)
        if not is_subtype(spec, expected):
            raise VerificationError(f"r{register} has type {spec.annotation_str}, expected {expected.annotation_str}")
        return 0

    cdef int write(self, list at, Py_ssize_t register, TypeSpec spec) except -1:
        kind = self.classes[register]
        if kind != "x" and register_class(spec) != kind:
            raise VerificationError(f"r{register} of class {kind} cannot hold a value of type {spec.annotation_str}")
        at[register] = spec
        return 0

    cdef TypeSpec slot(self, list at, Py_ssize_t register, Py_ssize_t index):
        """Return the type of attribute `index` of the object in a register."""
        cdef TypeSpec spec = self.read_as(at, register, KIND_CLASS)
        cdef ObjectClass cls
        if not isinstance(spec.detail, ObjectClass):
            raise VerificationError(f"the attributes of {spec.annotation_str} are unknown")
        cls = spec.detail
        cls.settle()
        if not 0 <= index < cls.size:
            raise VerificationError(f"{spec.annotation_str} has no attribute {index}")
        return <TypeSpec>cls.specs[index]

    cdef TypeSpec type(self, Py_ssize_t index, int kind):
        cdef TypeSpec spec = self.types[index]
        if spec.kind != kind:
            raise VerificationError(f"expected a type of kind {FORMAT_OF_KIND[kind]}, got {spec.annotation_str}")
        return spec
