"""The interpreter: one loop over typed instructions, and `Function`, which starts it from Python.

In: a verified `Code` and Python arguments.  Out: a Python value, or the exception that PyTorch raises,
with the stack of the script.

    class ScriptFunction(Function):
        def _prepare(self): return lower(optimised_graph)          # called once, by the first call

    f = ScriptFunction("f", [("x", INT_SPEC), ("y", INT_SPEC, 2)], "f(int x, int y=2) -> int")
    f(1), f(1, y=3)

The loop never recurses: a CALL pushes a frame, a RETURN pops it.  It leaves by a status only, at one
place, and what the status asks for (a look at the meter, a callee that is not compiled yet, an error)
is done in `run`, outside of the hot code.
"""

from cpython.long cimport PyLong_CheckExact
from cpython.pystate cimport PyThreadState
from cpython.ref cimport PyObject
from libc.math cimport fabs
from libc.stdint cimport int32_t, int64_t

from ts._core.code cimport Code, Instruction
from ts._core.container cimport (
    Dict,
    List,
    dict_find,
    dict_recent,
    dict_set,
    list_at,
    list_grow,
    list_size,
    raise_key_error,
    raise_list_index,
    tuple_at,
    value_text,
)
from ts._core.dispatch cimport Operator
from ts._core.failure cimport located, script_stack
from ts._core.frame cimport (
    Frame,
    State,
    enter_chunk,
    frame_registers,
    frame_size,
    give_state,
    pop_frame,
    push_frame,
    take_state,
)
from ts._core.ivalue cimport (
    IValue,
    KIND_INT,
    TAG_NONE,
    TAG_OBJECT,
    TypeSpec,
    box,
    copy_value,
    release,
    retain,
    unbox,
)
from ts._core.making cimport is_instance, make_dict, make_list, make_tuple, print_values
from ts._core.meter cimport charge, look_up, start_meter
from ts._core.opcodes cimport *
from ts._core.scalar cimport (
    DIVISION_BY_ZERO,
    abs_int,
    floordiv_float,
    floordiv_int,
    int_from_float,
    max_float,
    max_int,
    min_float,
    min_int,
    mod_float,
    mod_int,
    raise_status,
    shift_left,
    shift_right,
)

from ts._core.ivalue import argument_error
from ts._core.meter import pop_limits, push_limits
from ts.errors import InternalError, LimitExceeded, ScriptRuntimeError, StackExceeded

cdef extern from "Python.h":
    void PyEval_RestoreThread(PyThreadState *thread) noexcept nogil
    long long PyLong_AsLongLongAndOverflow(object x, int *overflow) except? -1

cdef extern from *:
    """
    #define unreachable() __builtin_unreachable()
    """
    void unreachable() noexcept nogil

# Functions that need the GIL or report by exception, as the loop calls them: it looks at what they
# return, and the exception stays set until the loop is left.
ctypedef int (*KernelCall)(PyObject *op, IValue *r, const int32_t *at) noexcept nogil
ctypedef int (*GrowCall)(PyObject *x, Py_ssize_t size) noexcept nogil
ctypedef int (*SetCall)(PyObject *x, IValue *key, IValue *value) noexcept nogil
ctypedef int (*MakeCall)(PyObject *spec, IValue *r, const int32_t *items, IValue *out) noexcept nogil
ctypedef int (*PrintCall)(IValue *r, const int32_t *items) noexcept nogil

cdef enum Leave:
    """Why the loop was left; numbers below 100 are those of `scalar.Status`."""
    DONE = 100
    FAILED = 101                # an exception is set
    METER_ZERO = 102
    CALL_SLOWLY = 103           # the callee has no code, or its frame no room; run the CALL again
    NEEDS_GIL = 104
    BAD_INDEX = 105
    BAD_KEY = 106               # the key is in r[c]
    BAD_CAST = 107
    BAD_LENGTH = 108
    RAISED = 109                # by the script: message in r[a], class in r[b]


# ---------------------------------------------------------------- registers by operand

cdef inline IValue *R(char *r, int32_t operand) noexcept nogil:
    return <IValue *>(r + operand)

cdef inline int64_t *I(char *r, int32_t operand) noexcept nogil:
    return <int64_t *>(r + operand)

cdef inline double *F(char *r, int32_t operand) noexcept nogil:
    return <double *>(r + operand)

cdef inline PyObject *O(char *r, int32_t operand) noexcept nogil:
    return (<IValue *>(r + operand)).v.o

cdef inline const Instruction *target(const Instruction *at) noexcept nogil:
    return <const Instruction *>(<const char *>at + at.a)


# ---------------------------------------------------------------- the loop

cdef int loop(State *state) noexcept nogil:
    """Run until something else than an instruction is to be done; which frame and where is in `state`."""
    cdef Frame *frame = state.frame
    cdef char *r = frame_registers(frame)
    cdef const Instruction *pc = frame.pc
    cdef const Instruction *at
    cdef int32_t *pool = (<Code>frame.code).pool
    cdef int64_t budget = state.budget
    cdef int32_t op
    cdef int status = 0
    cdef IValue value
    cdef IValue *place
    cdef Frame *callee
    cdef int32_t *args
    cdef int i

    while True:
        at = pc
        pc += 1
        op = at.op
        if op == MOVE:
            I(r, at.a)[0] = I(r, at.b)[0]
        elif op == COPY:
            copy_value(R(r, at.a), R(r, at.b))
        elif op == TAKE:
            value = R(r, at.a)[0]
            R(r, at.a)[0] = R(r, at.b)[0]
            R(r, at.b).v.o = NULL
            R(r, at.b).tag = TAG_OBJECT
            release(&value)
        elif op == DROP:
            value = R(r, at.a)[0]
            R(r, at.a).v.o = NULL
            R(r, at.a).tag = TAG_OBJECT
            release(&value)
        elif op == CAST:
            if R(r, at.a).tag != R(r, at.b).tag:
                status = BAD_CAST
                break
            I(r, at.a)[0] = I(r, at.b)[0]
        elif op == CAST_OBJECT:
            if R(r, at.b).tag != TAG_OBJECT:
                status = BAD_CAST
                break
            copy_value(R(r, at.a), R(r, at.b))
        elif op == IS_INSTANCE:
            I(r, at.a)[0] = is_instance(R(r, at.b), (<Code>frame.code).type_at[at.c])
        elif op == IS_NONE:
            I(r, at.a)[0] = R(r, at.b).tag == TAG_NONE
        elif op == IS_NOT_NONE:
            I(r, at.a)[0] = R(r, at.b).tag != TAG_NONE

        elif op == ADD_I64:
            I(r, at.a)[0] = I(r, at.b)[0] + I(r, at.c)[0]
        elif op == SUB_I64:
            I(r, at.a)[0] = I(r, at.b)[0] - I(r, at.c)[0]
        elif op == MUL_I64:
            I(r, at.a)[0] = I(r, at.b)[0] * I(r, at.c)[0]
        elif op == FLOORDIV_I64:
            if I(r, at.c)[0] == 0:
                status = DIVISION_BY_ZERO
                break
            I(r, at.a)[0] = floordiv_int(I(r, at.b)[0], I(r, at.c)[0])
        elif op == MOD_I64:
            if I(r, at.c)[0] == 0:
                status = DIVISION_BY_ZERO
                break
            I(r, at.a)[0] = mod_int(I(r, at.b)[0], I(r, at.c)[0])
        elif op == AND_I64:
            I(r, at.a)[0] = I(r, at.b)[0] & I(r, at.c)[0]
        elif op == OR_I64:
            I(r, at.a)[0] = I(r, at.b)[0] | I(r, at.c)[0]
        elif op == XOR_I64:
            I(r, at.a)[0] = I(r, at.b)[0] ^ I(r, at.c)[0]
        elif op == SHL_I64:
            I(r, at.a)[0] = shift_left(I(r, at.b)[0], I(r, at.c)[0])
        elif op == SHR_I64:
            I(r, at.a)[0] = shift_right(I(r, at.b)[0], I(r, at.c)[0])
        elif op == MIN_I64:
            I(r, at.a)[0] = min_int(I(r, at.b)[0], I(r, at.c)[0])
        elif op == MAX_I64:
            I(r, at.a)[0] = max_int(I(r, at.b)[0], I(r, at.c)[0])
        elif op == NEG_I64:
            I(r, at.a)[0] = -I(r, at.b)[0]
        elif op == ABS_I64:
            I(r, at.a)[0] = abs_int(I(r, at.b)[0])
        elif op == EQ_I64:
            I(r, at.a)[0] = I(r, at.b)[0] == I(r, at.c)[0]
        elif op == NE_I64:
            I(r, at.a)[0] = I(r, at.b)[0] != I(r, at.c)[0]
        elif op == LT_I64:
            I(r, at.a)[0] = I(r, at.b)[0] < I(r, at.c)[0]
        elif op == LE_I64:
            I(r, at.a)[0] = I(r, at.b)[0] <= I(r, at.c)[0]
        elif op == GT_I64:
            I(r, at.a)[0] = I(r, at.b)[0] > I(r, at.c)[0]
        elif op == GE_I64:
            I(r, at.a)[0] = I(r, at.b)[0] >= I(r, at.c)[0]
        elif op == DIV_I64:
            F(r, at.a)[0] = <double>I(r, at.b)[0] / <double>I(r, at.c)[0]

        elif op == ADD_F64:
            F(r, at.a)[0] = F(r, at.b)[0] + F(r, at.c)[0]
        elif op == SUB_F64:
            F(r, at.a)[0] = F(r, at.b)[0] - F(r, at.c)[0]
        elif op == MUL_F64:
            F(r, at.a)[0] = F(r, at.b)[0] * F(r, at.c)[0]
        elif op == DIV_F64:
            F(r, at.a)[0] = F(r, at.b)[0] / F(r, at.c)[0]
        elif op == FLOORDIV_F64:
            F(r, at.a)[0] = floordiv_float(F(r, at.b)[0], F(r, at.c)[0])
        elif op == MOD_F64:
            F(r, at.a)[0] = mod_float(F(r, at.b)[0], F(r, at.c)[0])
        elif op == MIN_F64:
            F(r, at.a)[0] = min_float(F(r, at.b)[0], F(r, at.c)[0])
        elif op == MAX_F64:
            F(r, at.a)[0] = max_float(F(r, at.b)[0], F(r, at.c)[0])
        elif op == NEG_F64:
            F(r, at.a)[0] = -F(r, at.b)[0]
        elif op == ABS_F64:
            F(r, at.a)[0] = fabs(F(r, at.b)[0])
        elif op == EQ_F64:
            I(r, at.a)[0] = F(r, at.b)[0] == F(r, at.c)[0]
        elif op == NE_F64:
            I(r, at.a)[0] = F(r, at.b)[0] != F(r, at.c)[0]
        elif op == LT_F64:
            I(r, at.a)[0] = F(r, at.b)[0] < F(r, at.c)[0]
        elif op == LE_F64:
            I(r, at.a)[0] = F(r, at.b)[0] <= F(r, at.c)[0]
        elif op == GT_F64:
            I(r, at.a)[0] = F(r, at.b)[0] > F(r, at.c)[0]
        elif op == GE_F64:
            I(r, at.a)[0] = F(r, at.b)[0] >= F(r, at.c)[0]

        elif op == NOT:
            I(r, at.a)[0] = I(r, at.b)[0] ^ 1
        elif op == AND:
            I(r, at.a)[0] = I(r, at.b)[0] & I(r, at.c)[0]
        elif op == OR:
            I(r, at.a)[0] = I(r, at.b)[0] | I(r, at.c)[0]
        elif op == XOR:
            I(r, at.a)[0] = I(r, at.b)[0] ^ I(r, at.c)[0]
        elif op == EQ_BOOL:
            I(r, at.a)[0] = I(r, at.b)[0] == I(r, at.c)[0]
        elif op == INT_TO_FLOAT:
            F(r, at.a)[0] = <double>I(r, at.b)[0]
        elif op == FLOAT_TO_INT:
            I(r, at.a)[0] = int_from_float(F(r, at.b)[0])
        elif op == BOOL_TO_INT:
            I(r, at.a)[0] = I(r, at.b)[0]
        elif op == INT_TO_BOOL:
            I(r, at.a)[0] = I(r, at.b)[0] != 0
        elif op == FLOAT_TO_BOOL:
            I(r, at.a)[0] = F(r, at.b)[0] != 0.0

        elif op == LIST_LEN:
            I(r, at.a)[0] = list_size(O(r, at.b))
        elif op == LIST_GET_SCALAR:
            place = list_at(O(r, at.b), I(r, at.c)[0])
            if place == NULL:
                status = BAD_INDEX
                break
            I(r, at.a)[0] = place.v.i
        elif op == LIST_GET:
            place = list_at(O(r, at.b), I(r, at.c)[0])
            if place == NULL:
                status = BAD_INDEX
                break
            copy_value(R(r, at.a), place)
        elif op == LIST_SET_SCALAR:
            place = list_at(O(r, at.a), I(r, at.b)[0])
            if place == NULL:
                status = BAD_INDEX
                break
            place.v.i = I(r, at.c)[0]
        elif op == LIST_SET:
            place = list_at(O(r, at.a), I(r, at.b)[0])
            if place == NULL:
                status = BAD_INDEX
                break
            copy_value(place, R(r, at.c))
        elif op == LIST_APPEND:
            if append(O(r, at.a), R(r, at.b)) < 0:
                status = FAILED
                break
        elif op == LIST_CHECK_LEN:
            if list_size(O(r, at.a)) != at.b:
                status = BAD_LENGTH
                break
        elif op == LIST_NEW:
            if (<MakeCall>make_list)((<Code>frame.code).type_at[at.b], <IValue *>r, pool + at.c, R(r, at.a)) < 0:
                status = FAILED
                break
        elif op == DICT_LEN:
            I(r, at.a)[0] = (<Dict>O(r, at.b)).size
        elif op == DICT_GET:
            place = dict_find(O(r, at.b), R(r, at.c))
            if place == NULL:
                status = BAD_KEY
                break
            copy_value(R(r, at.a), place)
        elif op == DICT_SET:
            place = dict_recent(O(r, at.a), R(r, at.b))
            if place != NULL:
                copy_value(place, R(r, at.c))
            elif (<SetCall>dict_set)(O(r, at.a), R(r, at.b), R(r, at.c)) < 0:
                status = FAILED
                break
        elif op == DICT_CONTAINS:
            I(r, at.a)[0] = dict_find(O(r, at.b), R(r, at.c)) != NULL
        elif op == DICT_NEW:
            if (<MakeCall>make_dict)((<Code>frame.code).type_at[at.b], <IValue *>r, pool + at.c, R(r, at.a)) < 0:
                status = FAILED
                break
        elif op == TUPLE_NEW:
            if (<MakeCall>make_tuple)((<Code>frame.code).type_at[at.b], <IValue *>r, pool + at.c, R(r, at.a)) < 0:
                status = FAILED
                break
        elif op == TUPLE_GET:
            copy_value(R(r, at.a), tuple_at(O(r, at.b), at.c))

        elif op == CALL_OPERATOR:
            budget -= 16
            if kernel_of((<Code>frame.code).operator_at[at.a])(
                (<Code>frame.code).operator_at[at.a], <IValue *>r, pool + at.b + 1
            ) < 0:
                status = FAILED
                break
            if budget < 0:
                status = METER_ZERO
                break
        elif op == CALL_SCALAR:
            if kernel_of((<Code>frame.code).operator_at[at.a])(
                (<Code>frame.code).operator_at[at.a], <IValue *>r, pool + at.b + 1
            ) < 0:
                status = FAILED
                break
        elif op == CALL:
            callee = enter((<Code>frame.code).function_at[at.b], state, budget)
            if callee == NULL:
                pc = at
                status = CALL_SLOWLY
                break
            budget -= 1
            args = pool + at.c
            for i in range(args[0]):
                place = <IValue *>frame_registers(callee) + i
                place[0] = (<IValue *>r)[args[i + 1]]
                retain(place)
            callee.result = at.a
            frame.pc = pc
            frame = callee
            r = frame_registers(frame)
            pc = frame.pc
            pool = (<Code>frame.code).pool
        elif op == RETURN:
            value = R(r, at.a)[0]
            retain(&value)
            release_registers(frame)
            i = frame.result
            pop_frame(state)
            frame = state.frame
            if frame == NULL:
                state.result = value
                status = DONE
                break
            r = frame_registers(frame)
            pc = frame.pc
            pool = (<Code>frame.code).pool
            copy_scalar_or_steal(R(r, i), &value)
            if state.thread != NULL and not (<Code>frame.code).scalar:
                status = NEEDS_GIL
                break
        elif op == RAISE:
            status = RAISED
            break
        elif op == PRINT:
            if (<PrintCall>print_values)(<IValue *>r, pool + at.a) < 0:
                status = FAILED
                break

        elif op == JUMP:
            pc = target(at)
        elif op == JUMP_IF:
            if I(r, at.b)[0]:
                pc = target(at)
        elif op == JUMP_IF_NOT:
            if not I(r, at.b)[0]:
                pc = target(at)
        elif op == JUMP_EQ_I64:
            if I(r, at.b)[0] == I(r, at.c)[0]:
                pc = target(at)
        elif op == JUMP_NE_I64:
            if I(r, at.b)[0] != I(r, at.c)[0]:
                pc = target(at)
        elif op == JUMP_LT_I64:
            if I(r, at.b)[0] < I(r, at.c)[0]:
                pc = target(at)
        elif op == JUMP_LE_I64:
            if I(r, at.b)[0] <= I(r, at.c)[0]:
                pc = target(at)
        elif op == JUMP_EQ_F64:
            if F(r, at.b)[0] == F(r, at.c)[0]:
                pc = target(at)
        elif op == JUMP_NE_F64:
            if F(r, at.b)[0] != F(r, at.c)[0]:
                pc = target(at)
        elif op == JUMP_LT_F64:
            if F(r, at.b)[0] < F(r, at.c)[0]:
                pc = target(at)
        elif op == JUMP_LE_F64:
            if F(r, at.b)[0] <= F(r, at.c)[0]:
                pc = target(at)
        elif op == JUMP_NOT_LT_F64:
            if not F(r, at.b)[0] < F(r, at.c)[0]:
                pc = target(at)
        elif op == JUMP_NOT_LE_F64:
            if not F(r, at.b)[0] <= F(r, at.c)[0]:
                pc = target(at)
        elif op == JUMP_NONE:
            if R(r, at.b).tag == TAG_NONE:
                pc = target(at)
        elif op == JUMP_NOT_NONE:
            if R(r, at.b).tag != TAG_NONE:
                pc = target(at)

        elif op == LOOP:
            pc = target(at)
            budget -= 1
            if budget < 0:
                status = METER_ZERO
                break
        elif op == LOOP_IF:
            if I(r, at.b)[0]:
                pc = target(at)
                budget -= 1
                if budget < 0:
                    status = METER_ZERO
                    break
        elif op == LOOP_IF_NOT:
            if not I(r, at.b)[0]:
                pc = target(at)
                budget -= 1
                if budget < 0:
                    status = METER_ZERO
                    break
        elif op == LOOP_EQ_I64:
            if I(r, at.b)[0] == I(r, at.c)[0]:
                pc = target(at)
                budget -= 1
                if budget < 0:
                    status = METER_ZERO
                    break
        elif op == LOOP_NE_I64:
            if I(r, at.b)[0] != I(r, at.c)[0]:
                pc = target(at)
                budget -= 1
                if budget < 0:
                    status = METER_ZERO
                    break
        elif op == LOOP_LT_I64:
            if I(r, at.b)[0] < I(r, at.c)[0]:
                pc = target(at)
                budget -= 1
                if budget < 0:
                    status = METER_ZERO
                    break
        elif op == LOOP_LE_I64:
            if I(r, at.b)[0] <= I(r, at.c)[0]:
                pc = target(at)
                budget -= 1
                if budget < 0:
                    status = METER_ZERO
                    break
        elif op == LOOP_LT_F64:
            if F(r, at.b)[0] < F(r, at.c)[0]:
                pc = target(at)
                budget -= 1
                if budget < 0:
                    status = METER_ZERO
                    break
        elif op == LOOP_LE_F64:
            if F(r, at.b)[0] <= F(r, at.c)[0]:
                pc = target(at)
                budget -= 1
                if budget < 0:
                    status = METER_ZERO
                    break
        elif op == LOOP_STEP:
            I(r, at.b)[0] += 1
            if I(r, at.b)[0] != I(r, at.c)[0]:
                pc = target(at)
                budget -= 1
                if budget < 0:
                    status = METER_ZERO
                    break

        # Pairs: what their two instructions do, one after the other.
        elif op == ADD_I64__LOOP_STEP:
            I(r, at.a)[0] = I(r, at.b)[0] + I(r, at.c)[0]
            at = pc
            pc += 1
            I(r, at.b)[0] += 1
            if I(r, at.b)[0] != I(r, at.c)[0]:
                pc = target(at)
                budget -= 1
                if budget < 0:
                    status = METER_ZERO
                    break
        elif op == ADD_I64__LOOP_NE_I64:
            I(r, at.a)[0] = I(r, at.b)[0] + I(r, at.c)[0]
            at = pc
            pc += 1
            if I(r, at.b)[0] != I(r, at.c)[0]:
                pc = target(at)
                budget -= 1
                if budget < 0:
                    status = METER_ZERO
                    break
        elif op == ADD_I64__LOOP_LT_I64:
            I(r, at.a)[0] = I(r, at.b)[0] + I(r, at.c)[0]
            at = pc
            pc += 1
            if I(r, at.b)[0] < I(r, at.c)[0]:
                pc = target(at)
                budget -= 1
                if budget < 0:
                    status = METER_ZERO
                    break
        elif op == MUL_I64__ADD_I64:
            I(r, at.a)[0] = I(r, at.b)[0] * I(r, at.c)[0]
            at = pc
            pc += 1
            I(r, at.a)[0] = I(r, at.b)[0] + I(r, at.c)[0]
        elif op == AND_I64__JUMP_NE_I64:
            I(r, at.a)[0] = I(r, at.b)[0] & I(r, at.c)[0]
            at = pc
            pc += 1
            if I(r, at.b)[0] != I(r, at.c)[0]:
                pc = target(at)
        elif op == AND_I64__JUMP_EQ_I64:
            I(r, at.a)[0] = I(r, at.b)[0] & I(r, at.c)[0]
            at = pc
            pc += 1
            if I(r, at.b)[0] == I(r, at.c)[0]:
                pc = target(at)
        elif op == MUL_F64__ADD_F64:
            F(r, at.a)[0] = F(r, at.b)[0] * F(r, at.c)[0]
            at = pc
            pc += 1
            F(r, at.a)[0] = F(r, at.b)[0] + F(r, at.c)[0]
        elif op == MUL_F64__SUB_F64:
            F(r, at.a)[0] = F(r, at.b)[0] * F(r, at.c)[0]
            at = pc
            pc += 1
            F(r, at.a)[0] = F(r, at.b)[0] - F(r, at.c)[0]
        elif op == LIST_GET_SCALAR__JUMP_IF_NOT:
            place = list_at(O(r, at.b), I(r, at.c)[0])
            if place == NULL:
                status = BAD_INDEX
                break
            I(r, at.a)[0] = place.v.i
            at = pc
            pc += 1
            if not I(r, at.b)[0]:
                pc = target(at)
        elif op == LIST_SET_SCALAR__ADD_I64__LOOP_NE_I64:
            place = list_at(O(r, at.a), I(r, at.b)[0])
            if place == NULL:
                status = BAD_INDEX
                break
            place.v.i = I(r, at.c)[0]
            at = pc
            pc += 1
            I(r, at.a)[0] = I(r, at.b)[0] + I(r, at.c)[0]
            at = pc
            pc += 1
            if I(r, at.b)[0] != I(r, at.c)[0]:
                pc = target(at)
                budget -= 1
                if budget < 0:
                    status = METER_ZERO
                    break
        elif op == DICT_CONTAINS__JUMP_IF_NOT:
            I(r, at.a)[0] = dict_find(O(r, at.b), R(r, at.c)) != NULL
            at = pc
            pc += 1
            if not I(r, at.b)[0]:
                pc = target(at)
        else:
            unreachable()

    state.budget = budget
    if frame != NULL:
        frame.pc = pc
    return status


# ---------------------------------------------------------------- parts of instructions

cdef inline KernelCall kernel_of(PyObject *operator) noexcept nogil:
    return <KernelCall>(<Operator>operator).kernel


cdef inline Frame *enter(PyObject *function, State *state, int64_t budget) noexcept nogil:
    """The callee's frame; NULL when the call needs more than a push."""
    cdef PyObject *code = (<Function>function).ready
    if code == NULL or budget <= 0 or state.depth >= state.depth_limit:
        return NULL
    if state.thread != NULL and not (<Code>code).scalar:
        return NULL
    return push_frame(state, <Code>code)


cdef inline void release_registers(Frame *frame) noexcept nogil:
    """Give back what the locals of a frame own."""
    cdef int32_t *owned = (<Code>frame.code).owned
    cdef int i
    for i in range((<Code>frame.code).owned_count):
        release(<IValue *>frame_registers(frame) + owned[i])


cdef inline void copy_scalar_or_steal(IValue *dst, IValue *src) noexcept nogil:
    cdef IValue old = dst[0]
    dst[0] = src[0]
    release(&old)


cdef inline int append(PyObject *x, IValue *value) noexcept nogil:
    cdef Py_ssize_t n = (<List>x).size
    if n == (<List>x).capacity and (<GrowCall>list_grow)(x, n + 1) < 0:
        return -1
    retain(value)
    (<List>x).items[n] = value[0]
    (<List>x).size = n + 1
    return 0


# ---------------------------------------------------------------- around the loop

cdef int execute(State *state) except -1:
    """Run to the end.  The GIL is held before and after; frames are gone after an error."""
    cdef int status
    state.thread = NULL
    start_meter(state)
    while True:
        status = loop(state)
        if status == METER_ZERO:
            if look_up(state, (<Code>state.frame.code).scalar) == 0:
                continue
            status = FAILED
        if state.thread != NULL:
            PyEval_RestoreThread(state.thread)
            state.thread = NULL
        if status == DONE:
            charge(state)
            return 0
        try:
            if status == CALL_SLOWLY:
                call_slowly(state)
            elif status != NEEDS_GIL:
                raise_failure(state, status)
        except BaseException as error:
            charge(state)
            stack = script_stack(state)
            release_frames(state)
            raise located(error, stack)


cdef int call_slowly(State *state) except -1:
    """What keeps the CALL at the frame's pc from a plain push is put right; the loop runs it again."""
    cdef Code code = <Code>state.frame.code
    cdef Function callee = <Function>code.function_at[state.frame.pc.b]
    if state.depth >= state.depth_limit:
        raise StackExceeded(f"more than {state.depth_limit} nested calls: endless recursion? (calls of {callee.name})")
    if callee.ready == NULL:
        callee.prepare()
        if code.pool[state.frame.pc.c] != callee.code.parameter_count:
            raise InternalError(f"{callee.name} is called with {code.pool[state.frame.pc.c]} arguments")
    if state.budget <= 0:
        if look_up(state, False) < 0:
            raise_set_error()
    elif frame_size(callee.code) > <size_t>(state.end - state.top):
        enter_chunk(state, frame_size(callee.code))
    return 0


cdef extern from *:
    """
    /* An exception is set already: tell Cython so. */
    static int raise_set_error(void) { return -1; }
    """
    int raise_set_error() except -1


cdef int raise_failure(State *state, int status) except -1:
    """Raise what the status of the loop stands for; the instruction is the one before the frame's pc."""
    cdef const Instruction *at = state.frame.pc - 1
    cdef char *r = frame_registers(state.frame)
    if status == FAILED:
        return raise_set_error()
    if status == BAD_INDEX:
        return raise_list_index()
    if status == BAD_KEY:
        return raise_key_error(R(r, at.c))
    if status == BAD_CAST:
        raise RuntimeError(f"Unexpected value {value_text(R(r, at.b))}: another type was expected here")
    if status == BAD_LENGTH:
        raise RuntimeError(f"Expected {at.b} elements in a list but found {list_size(O(r, at.a))}")
    if status == RAISED:
        message = box(R(r, at.a))
        raise ScriptRuntimeError("" if message is None else str(message), class_name=box(R(r, at.b)) or "RuntimeError")
    return raise_status(status)


cdef void release_frames(State *state) noexcept:
    while state.frame != NULL:
        release_registers(state.frame)
        pop_frame(state)


# ---------------------------------------------------------------- from Python

cdef class Function:
    def __init__(self, str name, arguments=(), str declaration=""):
        self.name = name
        self.declaration = declaration or f"{name}(...)"
        self.arguments = tuple(arguments)
        self.argument_count = len(self.arguments)
        self.names = tuple([argument[0] for argument in self.arguments])
        self.specs = tuple([argument[1] for argument in self.arguments])
        self.defaults = {argument[0]: argument[2] for argument in self.arguments if len(argument) > 2}

    def __repr__(self):
        return f"<{type(self).__name__} {self.name}>"

    def __call__(self, *args, **kwargs):
        return self.call(args, kwargs)

    def _prepare(self):
        """The Code of the function: asked for once, by the first call."""
        raise NotImplementedError(f"{self.name} has no code")

    @property
    def compiled_code(self):
        """The verified Code, made now if there was no call yet."""
        if self.ready == NULL:
            self.prepare()
        return self.code

    cdef int prepare(self) except -1:
        cdef Code code = self._prepare()
        if self.ready == NULL:                    # else another thread was faster
            self.code = code
            self.ready = <PyObject *>code
        return 0

    cdef object call(self, tuple args, dict kwargs):
        cdef State *state
        cdef Frame *frame
        cdef IValue *r
        cdef int i = 0, overflow = 0
        if self.ready == NULL:
            self.prepare()
        if kwargs or len(args) != self.argument_count:
            args = self.bind(args, kwargs)
        state = take_state()
        try:
            frame = push_frame(state, self.code)
            if frame == NULL:
                enter_chunk(state, frame_size(self.code))
                frame = push_frame(state, self.code)
            frame.result = 0
            r = <IValue *>frame_registers(frame)
            try:
                for i in range(self.argument_count):
                    x = args[i]
                    if PyLong_CheckExact(x) and (<TypeSpec>self.specs[i]).kind == KIND_INT:
                        r[i].v.i = PyLong_AsLongLongAndOverflow(x, &overflow)
                        if overflow == 0:
                            continue
                    unbox(x, <TypeSpec>self.specs[i], &r[i])
            except (TypeError, ValueError, OverflowError, RuntimeError) as error:
                release_frames(state)
                raise argument_error(
                    self.name, self.names[i], <TypeSpec>self.specs[i], i, args[i], self.declaration, error
                ) from None
            execute(state)
        finally:
            give_state(state)
        try:
            return box(&state.result)
        finally:
            release(&state.result)

    def bind(self, tuple args, dict kwargs):
        """All arguments by position; the errors are PyTorch's."""
        if len(args) > self.argument_count:
            raise RuntimeError(
                f"{self.name}() expected at most {self.argument_count} argument(s) but received {len(args)}"
                f" argument(s). Declaration: {self.declaration}"
            )
        values = list(args)
        unused = dict(kwargs)
        for name in self.names[:len(args)]:
            if name in unused:
                raise RuntimeError(
                    f"Argument '{name}' specified both as positional and keyword argument. Schema: {self.declaration}"
                )
        for name in self.names[len(args):]:
            if name in unused:
                values.append(unused.pop(name))
            elif name in self.defaults:
                values.append(self.defaults[name])
            else:
                raise RuntimeError(f"{self.name}() is missing value for argument '{name}'. Declaration: {self.declaration}")
        for name in unused:
            raise RuntimeError(f"Unknown keyword argument '{name}' for operator '{self.name}'. Schema: {self.declaration}")
        return tuple(values)
