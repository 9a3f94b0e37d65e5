"""Inline functions for instructions on containers, objects and calls.

The interpreter loop and machine code call these functions.

Input: an instruction and the registers of its frame. Output: 0, or an exit status.
"""

from cpython.ref cimport PyObject
from libc.stdint cimport int32_t, int64_t

from ts._core.dispatch.operator cimport Operator, invoke_at
from ts._core.value.container cimport (
    Dict,
    List,
    Object,
    Tuple,
    dict_find,
    dict_recent,
    dict_set,
    list_grow,
    list_index,
    list_item,
    list_number,
    list_replace,
    list_store,
    list_store_number,
    object_slot,
    tuple_at,
)
from ts._core.value.ivalue cimport IValue, TAG_NONE, TAG_OBJECT, copy_value, release, retain
from ts._core.value.texts cimport text_character, text_equal, text_length
from ts._core.vm.debug_asserts cimport CHECKED, require
from ts._core.vm.code cimport Code, Instruction
from ts._core.vm.frame cimport Frame
from ts._core.vm.exit_status cimport BAD_ATTRIBUTE, BAD_CAST, BAD_INDEX, BAD_KEY, FAILED
from ts._core.vm.making cimport is_instance, is_of_type, make_dict, make_list, make_object, make_tuple
from ts._core.vm.operand_macros cimport I, O, R

# Types of functions that need the GIL and may set an exception. They are declared `noexcept nogil`, because
# the loop runs without the GIL and checks return values itself. An exception that is set stays set until the
# loop exits.
ctypedef int (*KernelCall)(PyObject *op, IValue *r, const int32_t *at) noexcept nogil
ctypedef int (*InvokeCall)(PyObject *op, IValue *r, const int32_t *at, PyObject *code, const void *instruction) noexcept nogil
ctypedef int (*GrowCall)(PyObject *x, Py_ssize_t size) noexcept nogil
ctypedef int (*SetCall)(PyObject *x, IValue *key, IValue *value) noexcept nogil
ctypedef int (*MakeCall)(PyObject *spec, IValue *r, const int32_t *items, IValue *out) noexcept nogil
ctypedef int (*NewCall)(PyObject *spec, IValue *out) noexcept nogil
ctypedef int (*CharacterCall)(PyObject *string, int64_t i, IValue *out) noexcept nogil
ctypedef int (*TestCall)(IValue *x, PyObject *spec) noexcept nogil


cdef inline Frame *frame_of(char *r) noexcept nogil:
    """Return the frame to which the registers `r` belong."""
    return <Frame *>r - 1


cdef inline int copy(char *r, const Instruction *at) noexcept nogil:
    copy_value(R(r, at.a), R(r, at.b))
    return 0


cdef inline int take(char *r, const Instruction *at) noexcept nogil:
    cdef IValue value = R(r, at.a)[0]
    R(r, at.a)[0] = R(r, at.b)[0]
    R(r, at.b).v.o = NULL
    R(r, at.b).tag = TAG_OBJECT
    release(&value)
    return 0


cdef inline int drop(char *r, const Instruction *at) noexcept nogil:
    cdef IValue value = R(r, at.a)[0]
    R(r, at.a).v.o = NULL
    R(r, at.a).tag = TAG_OBJECT
    release(&value)
    return 0


cdef inline int cast_object(char *r, const Instruction *at) noexcept nogil:
    if R(r, at.b).tag != TAG_OBJECT:
        return BAD_CAST
    copy_value(R(r, at.a), R(r, at.b))
    return 0


cdef inline int cast_to(char *r, const Instruction *at) noexcept nogil:
    cdef int held = (<TestCall>is_of_type)(R(r, at.b), (<Code>frame_of(r).code).type_at[at.c])
    if held != 1:
        return FAILED if held < 0 else BAD_CAST
    copy_value(R(r, at.a), R(r, at.b))
    return 0


cdef inline int test_instance(char *r, const Instruction *at) noexcept nogil:
    I(r, at.a)[0] = is_instance(R(r, at.b), (<Code>frame_of(r).code).type_at[at.c])
    return 0


# ---------------------------------------------------------------- containers

cdef inline int list_get(char *r, const Instruction *at) noexcept nogil:
    cdef PyObject *x = O(r, at.b)
    cdef Py_ssize_t i = list_index(x, I(r, at.c)[0])
    cdef IValue value
    if i < 0:
        return BAD_INDEX
    value = list_item(x, i)
    copy_value(R(r, at.a), &value)
    return 0


cdef inline int list_get_number(char *r, const Instruction *at) noexcept nogil:
    cdef PyObject *x = O(r, at.b)
    cdef Py_ssize_t i = list_index(x, I(r, at.c)[0])
    if i < 0:
        return BAD_INDEX
    if CHECKED:
        require((<List>x).item != TAG_NONE, b"a value is not a list of numbers")
    I(r, at.a)[0] = list_number(x, i)
    return 0


cdef inline int list_put(char *r, const Instruction *at) noexcept nogil:
    cdef PyObject *x = O(r, at.a)
    cdef Py_ssize_t i = list_index(x, I(r, at.b)[0])
    if i < 0:
        return BAD_INDEX
    list_replace(x, i, R(r, at.c))
    return 0


cdef inline int list_put_number(char *r, const Instruction *at) noexcept nogil:
    cdef PyObject *x = O(r, at.a)
    cdef Py_ssize_t i = list_index(x, I(r, at.b)[0])
    if i < 0:
        return BAD_INDEX
    if CHECKED:
        require((<List>x).item != TAG_NONE, b"a value is not a list of numbers")
    list_store_number(x, i, I(r, at.c)[0])
    return 0


cdef inline int append(char *r, const Instruction *at) noexcept nogil:
    cdef PyObject *x = O(r, at.a)
    cdef Py_ssize_t n = (<List>x).size
    if n == (<List>x).capacity and (<GrowCall>list_grow)(x, n + 1) < 0:
        return FAILED
    retain(R(r, at.b))
    list_store(x, n, R(r, at.b))
    (<List>x).size = n + 1
    return 0


cdef inline int new_list(char *r, const Instruction *at) noexcept nogil:
    return store_new(r, at, <MakeCall>make_list)


cdef inline int dict_length(char *r, const Instruction *at) noexcept nogil:
    I(r, at.a)[0] = (<Dict>O(r, at.b)).size
    return 0


cdef inline int dict_get(char *r, const Instruction *at) noexcept nogil:
    cdef IValue *value = dict_find(O(r, at.b), R(r, at.c))
    if value == NULL:
        return BAD_KEY
    copy_value(R(r, at.a), value)
    return 0


cdef inline int dict_get_number(char *r, const Instruction *at) noexcept nogil:
    cdef IValue *value = dict_find(O(r, at.b), R(r, at.c))
    if value == NULL:
        return BAD_KEY
    if CHECKED:
        require(value.tag == R(r, at.a).tag, b"a value is not a dict of numbers")
    I(r, at.a)[0] = value.v.i
    return 0


cdef inline int dict_lookup(char *r, const Instruction *at) noexcept nogil:
    cdef IValue *value = dict_find(O(r, at.b), R(r, at.c))
    if value != NULL:
        copy_value(R(r, at.a), value)
    return 0


cdef inline int dict_put_number(char *r, const Instruction *at) noexcept nogil:
    cdef IValue *value = dict_recent(O(r, at.a), R(r, at.b))
    if value == NULL:
        return dict_put(r, at)
    if CHECKED:
        require(value.tag == R(r, at.c).tag, b"a value is not a dict of numbers")
    value.v.i = I(r, at.c)[0]
    return 0


cdef inline int dict_put(char *r, const Instruction *at) noexcept nogil:
    cdef IValue *value = dict_recent(O(r, at.a), R(r, at.b))
    if value != NULL:
        copy_value(value, R(r, at.c))
    elif (<SetCall>dict_set)(O(r, at.a), R(r, at.b), R(r, at.c)) < 0:
        return FAILED
    return 0


cdef inline int dict_has(char *r, const Instruction *at) noexcept nogil:
    I(r, at.a)[0] = dict_find(O(r, at.b), R(r, at.c)) != NULL
    return 0


cdef inline int new_dict(char *r, const Instruction *at) noexcept nogil:
    return store_new(r, at, <MakeCall>make_dict)


cdef inline int new_tuple(char *r, const Instruction *at) noexcept nogil:
    return store_new(r, at, <MakeCall>make_tuple)


cdef inline int tuple_get(char *r, const Instruction *at) noexcept nogil:
    if CHECKED:
        require(0 <= at.c < (<Tuple>O(r, at.b)).size, b"a tuple has fewer elements than its type")
    copy_value(R(r, at.a), tuple_at(O(r, at.b), at.c))
    return 0


cdef inline int store_new(char *r, const Instruction *at, MakeCall make) noexcept nogil:
    cdef PyObject *code = frame_of(r).code
    return FAILED if make((<Code>code).type_at[at.b], <IValue *>r, (<Code>code).operand_pool + at.c, R(r, at.a)) < 0 else 0


cdef inline int str_length(char *r, const Instruction *at) noexcept nogil:
    I(r, at.a)[0] = text_length(O(r, at.b))
    return 0


cdef inline int str_get(char *r, const Instruction *at) noexcept nogil:
    cdef int status = (<CharacterCall>text_character)(O(r, at.b), I(r, at.c)[0], R(r, at.a))
    return 0 if status > 0 else FAILED if status < 0 else BAD_INDEX


cdef inline int str_equal(char *r, const Instruction *at) noexcept nogil:
    I(r, at.a)[0] = text_equal(O(r, at.b), O(r, at.c))
    return 0


cdef inline int str_not_equal(char *r, const Instruction *at) noexcept nogil:
    I(r, at.a)[0] = not text_equal(O(r, at.b), O(r, at.c))
    return 0


# ---------------------------------------------------------------- objects

cdef inline int new_object(char *r, const Instruction *at) noexcept nogil:
    return FAILED if (<NewCall>make_object)((<Code>frame_of(r).code).type_at[at.b], R(r, at.a)) < 0 else 0


cdef inline int attribute_get(char *r, const Instruction *at) noexcept nogil:
    if CHECKED:
        require(0 <= at.c < (<Object>O(r, at.b)).size, b"an attribute index is out of range")
    cdef IValue *value = object_slot(O(r, at.b), at.c)
    if value.tag == TAG_OBJECT and value.v.o == NULL:
        return BAD_ATTRIBUTE
    copy_value(R(r, at.a), value)
    return 0


cdef inline int attribute_put(char *r, const Instruction *at) noexcept nogil:
    if CHECKED:
        require(0 <= at.b < (<Object>O(r, at.a)).size, b"an attribute index is out of range")
    copy_value(object_slot(O(r, at.a), at.b), R(r, at.c))
    return 0


# ---------------------------------------------------------------- operators

cdef inline int operate(char *r, const Instruction *at) noexcept nogil:
    cdef PyObject *code = frame_of(r).code
    cdef PyObject *op = (<Code>code).operator_at[at.a]
    if (<InvokeCall>invoke_at)(op, <IValue *>r, (<Code>code).operand_pool + at.b + 1, code, at) < 0:
        return FAILED
    return 0


cdef inline int operate_scalar(char *r, const Instruction *at) noexcept nogil:
    cdef PyObject *code = frame_of(r).code
    cdef PyObject *op = (<Code>code).operator_at[at.a]
    if (<KernelCall>(<Operator>op).kernels[0])(op, <IValue *>r, (<Code>code).operand_pool + at.b + 1) < 0:
        return FAILED
    return 0
