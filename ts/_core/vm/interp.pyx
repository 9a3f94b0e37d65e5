"""Bytecode interpreter loop (dispatch loop) of the register machine: dispatch of typed instructions.

In: a State whose innermost frame is before an instruction.  Out: an exit status, and the updated state.

    ADD_I64  2 0 1        r[2] := r[0] + r[1]
    RETURN   2            pops the frame, and returns DONE if it was the last frame

The loop does not recurse: a CALL pushes a frame, a RETURN pops it.  For everything that is rare (a meter check, a
callee that is not compiled yet, an error), the loop returns a status, which `execution` handles outside of the hot
code.
"""

from cpython.ref cimport PyObject
from libc.math cimport fabs
from libc.stdint cimport int32_t, int64_t

from ts._core.vm.code cimport Callee, Code, Instruction, Method
from ts._core.value.container cimport Object, list_size, object_slot
from ts._core.vm.tensor_element_access cimport has_elements, load_float, load_int, store_float, store_int
from ts._core.vm.frame cimport (
    Frame,
    State,
    exchange_code,
    frame_registers,
    pop_frame,
    push_frame,
    release_registers,
)
from ts._core.value.ivalue cimport (
    IValue,
    TAG_NONE,
    assign,
    move_value,
    retain,
)
from ts._core.vm.exit_status cimport *
from ts._core.vm.making cimport print_values
from ts._core.vm.native cimport NATIVE_TABLE
from ts._core.vm.opcodes cimport *
from ts._core.vm.debug_asserts cimport CHECKED, require
from ts._core.vm.operand_macros cimport F, I, O, R, target
from ts._core.vm.specializations cimport code_for
from ts._core.vm.instruction_helpers cimport (
    append,
    attribute_get,
    attribute_put,
    cast_object,
    cast_to,
    copy,
    dict_get,
    dict_get_number,
    dict_has,
    dict_length,
    dict_lookup,
    dict_put,
    dict_put_number,
    drop,
    list_get,
    list_get_number,
    list_put,
    list_put_number,
    new_dict,
    new_list,
    new_object,
    new_tuple,
    operate,
    operate_scalar,
    str_not_equal,
    str_equal,
    str_get,
    str_length,
    take,
    test_instance,
    tuple_get,
)
from ts._core.value.scalar cimport (
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
    shift_left,
    shift_right,
)

cdef extern from *:
    """
    #define unreachable() __builtin_unreachable()
    /* Makes writes visible that precede the store of the instruction just read (see `publish` in `code.pyx`). */
    #define subscribe() __atomic_thread_fence(__ATOMIC_ACQUIRE)
    """
    void subscribe() noexcept nogil
    void unreachable() noexcept nogil

# Types of functions that may set an exception. They are declared `noexcept` for the same reason as in
# `instruction_helpers`. The exception stays set until the loop exits.
ctypedef int (*PrintCall)(IValue *r, const int32_t *items) noexcept nogil
ctypedef PyObject *(*ChooseCode)(PyObject *plans, const IValue *r) noexcept nogil


# ---------------------------------------------------------------- interpreter loop

cdef int loop(State *state) noexcept nogil:
    """Execute instructions from the pc of the innermost frame, up to an instruction that requires the loop's caller.

    Return the exit status.
    """
    cdef Frame *frame = state.frame
    cdef char *r = frame_registers(frame)
    cdef const Instruction *pc = frame.pc
    cdef const Instruction *at
    cdef int32_t *operand_pool = (<Code>frame.code).operand_pool
    cdef int64_t budget = state.budget
    cdef int32_t op
    cdef int status = 0
    cdef IValue value
    cdef IValue *slot
    cdef Frame *callee
    cdef int32_t *args
    cdef int i
    cdef int64_t left

    while True:
        at = pc
        if CHECKED:
            require(0 <= at - (<Code>frame.code).instructions < (<Code>frame.code).size, b"a jump target is outside of the code")
        pc += 1
        op = at.op
        if op == MOVE:
            I(r, at.a)[0] = I(r, at.b)[0]
        elif op == COPY:
            copy(r, at)
        elif op == TAKE:
            take(r, at)
        elif op == DROP:
            drop(r, at)
        elif op == CAST:
            if R(r, at.a).tag != R(r, at.b).tag:
                status = BAD_CAST
                break
            I(r, at.a)[0] = I(r, at.b)[0]
        elif op == CAST_OBJECT:
            status = cast_object(r, at)
            if status:
                break
        elif op == CAST_TO:
            status = cast_to(r, at)
            if status:
                break
        elif op == IS_INSTANCE:
            test_instance(r, at)
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
            status = list_get_number(r, at)
            if status:
                break
        elif op == LIST_GET:
            status = list_get(r, at)
            if status:
                break
        elif op == LIST_SET_SCALAR:
            status = list_put_number(r, at)
            if status:
                break
        elif op == LIST_SET:
            status = list_put(r, at)
            if status:
                break
        elif op == LIST_APPEND:
            status = append(r, at)
            if status:
                break
        elif op == LIST_CHECK_LEN:
            if list_size(O(r, at.a)) != at.b:
                status = BAD_LENGTH
                break
        elif op == LIST_NEW:
            status = new_list(r, at)
            if status:
                break
        elif op == DICT_LEN:
            dict_length(r, at)
        elif op == DICT_GET_SCALAR:
            status = dict_get_number(r, at)
            if status:
                break
        elif op == DICT_GET:
            status = dict_get(r, at)
            if status:
                break
        elif op == DICT_FIND:
            dict_lookup(r, at)
        elif op == DICT_SET_SCALAR:
            status = dict_put_number(r, at)
            if status:
                break
        elif op == DICT_SET:
            status = dict_put(r, at)
            if status:
                break
        elif op == DICT_CONTAINS:
            dict_has(r, at)
        elif op == DICT_NEW:
            status = new_dict(r, at)
            if status:
                break
        elif op == TUPLE_NEW:
            status = new_tuple(r, at)
            if status:
                break
        elif op == TUPLE_GET:
            tuple_get(r, at)
        elif op == STR_LEN:
            str_length(r, at)
        elif op == STR_GET:
            status = str_get(r, at)
            if status:
                break
        elif op == STR_EQ:
            str_equal(r, at)
        elif op == STR_NE:
            str_not_equal(r, at)

        elif op == OBJECT_NEW:
            status = new_object(r, at)
            if status:
                break
        elif op == ATTR_GET_SCALAR:
            if CHECKED:
                require(0 <= at.c < (<Object>O(r, at.b)).size, b"an attribute index is out of range")
            I(r, at.a)[0] = object_slot(O(r, at.b), at.c).v.i
        elif op == ATTR_GET:
            status = attribute_get(r, at)
            if status:
                break
        elif op == ATTR_SET_SCALAR:
            if CHECKED:
                require(0 <= at.b < (<Object>O(r, at.a)).size, b"an attribute index is out of range")
            object_slot(O(r, at.a), at.b).v.i = I(r, at.c)[0]
        elif op == ATTR_SET:
            attribute_put(r, at)

        elif op == HAS_ELEMENTS:
            has_elements(r, at)
        elif op == LOAD_FLOAT:
            status = load_float(r, at)
            if status:
                break
        elif op == LOAD_INT:
            status = load_int(r, at)
            if status:
                break
        elif op == STORE_FLOAT:
            status = store_float(r, at)
            if status:
                break
        elif op == STORE_INT:
            status = store_int(r, at)
            if status:
                break
        elif op == ROUND_F32:
            F(r, at.a)[0] = <double><float>F(r, at.b)[0]

        elif op == CALL_OPERATOR:
            budget -= 16
            status = operate(r, at)
            if status:
                break
            if budget < 0:
                status = METER_ZERO
                break
        elif op == CALL_SCALAR:
            status = operate_scalar(r, at)
            if status:
                break
        elif op == CALL:
            callee = enter((<Code>frame.code).function_at[at.b], state, budget)
            if callee == NULL:
                pc = at
                status = CALL_SLOW_PATH
                break
            budget -= 1
            args = operand_pool + at.c
            for i in range(args[0]):
                slot = <IValue *>frame_registers(callee) + i
                assign(slot, &(<IValue *>r)[args[i + 1]])
                retain(slot)
            callee.result = at.a
            frame.pc = pc
            frame = callee
            r = frame_registers(frame)
            pc = frame.pc
            operand_pool = (<Code>frame.code).operand_pool
        elif op == CALL_METHOD:
            args = operand_pool + at.c
            callee = enter_method((<Code>frame.code).function_at[at.b], (<IValue *>r)[args[1]].v.o, state, budget)
            if callee == NULL:
                pc = at
                status = CALL_SLOW_PATH
                break
            budget -= 1
            for i in range(args[0]):
                slot = <IValue *>frame_registers(callee) + i
                assign(slot, &(<IValue *>r)[args[i + 1]])
                retain(slot)
            callee.result = at.a
            frame.pc = pc
            frame = callee
            r = frame_registers(frame)
            pc = frame.pc
            operand_pool = (<Code>frame.code).operand_pool
        elif op == ENTER_SPECIALIZATION:
            callee = exchange(state, (<Code>frame.code).function_at[at.a])
            if callee == NULL:
                pc = at
                status = CALL_SLOW_PATH
                break
            frame = callee
            r = frame_registers(frame)
            pc = frame.pc
            operand_pool = (<Code>frame.code).operand_pool
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
            operand_pool = (<Code>frame.code).operand_pool
            move_value(R(r, i), &value)
            if state.thread != NULL and not (<Code>frame.code).scalar:
                status = NEEDS_GIL
                break
        elif op == RAISE:
            status = RAISED
            break
        elif op == PRINT:
            if (<PrintCall>print_values)(<IValue *>r, operand_pool + at.a) < 0:
                status = FAILED
                break
        elif op == FORK:
            status = FORKING
            break
        elif op == WAIT:
            status = WAITING
            break
        elif op == BREAK:
            status = BREAKING
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

        elif op == ENTER_NATIVE:
            subscribe()
            state.budget = budget
            left = (<Code>frame.code).native(r, &state.budget, NATIVE_TABLE, (<Code>frame.code).instructions, at)
            budget = state.budget
            pc = (<Code>frame.code).instructions + <int32_t>left
            status = <int>(left >> 32)
            if status:
                break

        # Superinstructions: each executes two consecutive instructions.
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
        elif op == MOD_I64__ADD_I64__LOOP_STEP:
            if I(r, at.c)[0] == 0:
                status = DIVISION_BY_ZERO
                break
            I(r, at.a)[0] = mod_int(I(r, at.b)[0], I(r, at.c)[0])
            at = pc
            pc += 1
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
        elif op == MUL_F64__MUL_F64__ADD_F64:
            F(r, at.a)[0] = F(r, at.b)[0] * F(r, at.c)[0]
            at = pc
            F(r, at.a)[0] = F(r, at.b)[0] * F(r, at.c)[0]
            at = pc + 1
            pc += 2
            F(r, at.a)[0] = F(r, at.b)[0] + F(r, at.c)[0]
        elif op == MUL_F64__MUL_F64__SUB_F64:
            F(r, at.a)[0] = F(r, at.b)[0] * F(r, at.c)[0]
            at = pc
            F(r, at.a)[0] = F(r, at.b)[0] * F(r, at.c)[0]
            at = pc + 1
            pc += 2
            F(r, at.a)[0] = F(r, at.b)[0] - F(r, at.c)[0]
        elif op == LIST_GET_SCALAR__JUMP_IF_NOT:
            status = list_get_number(r, at)
            if status:
                break
            at = pc
            pc += 1
            if not I(r, at.b)[0]:
                pc = target(at)
        elif op == LIST_SET_SCALAR__ADD_I64__LOOP_NE_I64:
            status = list_put_number(r, at)
            if status:
                break
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
            dict_has(r, at)
            at = pc
            pc += 1
            if not I(r, at.b)[0]:
                pc = target(at)
        elif op == LIST_GET__DICT_CONTAINS__JUMP_IF_NOT:
            status = list_get(r, at)
            if status:
                break
            at = pc
            dict_has(r, at)
            at = pc + 1
            pc += 2
            if not I(r, at.b)[0]:
                pc = target(at)
        elif op == ADD_I64__DICT_SET_SCALAR:
            I(r, at.a)[0] = I(r, at.b)[0] + I(r, at.c)[0]
            at = pc
            pc += 1
            status = dict_put_number(r, at)
            if status:
                break
        elif op == DICT_GET_SCALAR__ADD_I64__DICT_SET_SCALAR:
            status = dict_get_number(r, at)
            if status:
                break
            at = pc
            pc += 1
            I(r, at.a)[0] = I(r, at.b)[0] + I(r, at.c)[0]
            at = pc
            pc += 1
            status = dict_put_number(r, at)
            if status:
                break
        else:
            unreachable()

    state.budget = budget
    if frame != NULL:
        frame.pc = pc
    return status


# ---------------------------------------------------------------- calls

cdef inline Frame *enter(PyObject *function, State *state, int64_t budget) noexcept nogil:
    """Push a frame for the callee and return it, or return NULL if the call needs `call_slow_path`."""
    cdef PyObject *code = (<Callee>function).ready
    if code == NULL or budget <= 0 or state.depth >= state.depth_limit:
        return NULL
    if state.thread != NULL and not (<Code>code).scalar:
        return NULL
    return push_frame(state, <Code>code)


cdef inline Frame *exchange(State *state, PyObject *specializations) noexcept nogil:
    """Turn the innermost frame into a frame of the specialized code for its arguments.

    Return NULL if the slow path is needed.
    """
    cdef PyObject *code = (<ChooseCode>code_for)(specializations, <IValue *>frame_registers(state.frame))
    return NULL if code == NULL else exchange_code(state, <Code>code)


cdef inline Frame *enter_method(PyObject *method, PyObject *x, State *state, int64_t budget) noexcept nogil:
    """If the object's class is the class in the inline cache of the call, push a frame for the cached method.

    Otherwise return NULL.
    """
    if <PyObject *>(<Object>x).cls != <PyObject *>(<Method>method).cls:
        return NULL
    return enter(<PyObject *>(<Method>method).callee, state, budget)
