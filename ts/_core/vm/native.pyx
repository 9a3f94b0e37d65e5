"""Callback table for machine code, and hot-loop detection by back-edge counters, which request compilation.

A registered compiler is called with each Code that has executed many backward jumps:

    register_compiler(request, 65536)

Here, the interpreter calls `request(code)` at the first meter check after 65536 backward jumps.
"""

from cpython.ref cimport PyObject
from libc.stdint cimport INT64_MAX, int64_t

from ts._core.dispatch.operator cimport Operator
from ts._core.value.container cimport List, Object
from ts._core.value.ivalue cimport IValue, TAG_BOOL, TAG_FLOAT, TAG_INT, TAG_NONE
from ts._core.value.scalar cimport mod_float
from ts._core.vm.code cimport Instruction
from ts._core.tensor.tensor cimport Tensor
from ts._core.vm.tensor_element_access cimport WRITEABLE_FLAG, has_elements, load_float, load_int, store_float, store_int
from ts._core.vm.frame cimport Frame
from ts._core.vm.exit_status cimport METER_ZERO
from ts._core.vm.opcodes cimport *
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
    list_put,
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

cdef extern from *:
    """
    /* Attributes that are objects have no address in Cython. */
    #define TENSOR_FIELD(name) offsetof(struct __pyx_obj_2ts_5_core_6tensor_6tensor_Tensor, name)
    #define TENSOR_ARRAY TENSOR_FIELD(array)
    #define TENSOR_OWNER TENSOR_FIELD(owner)
    #define ARRAY_FIELD(name) offsetof(PyArrayObject_fields, name)
    #define ARRAY_BYTES ARRAY_FIELD(data)
    #define ARRAY_NDIM ARRAY_FIELD(nd)
    #define ARRAY_DIMS ARRAY_FIELD(dimensions)
    #define ARRAY_STRIDES ARRAY_FIELD(strides)
    #define ARRAY_FLAGS ARRAY_FIELD(flags)
    """
    enum:
        TENSOR_ARRAY
        TENSOR_OWNER
        ARRAY_BYTES
        ARRAY_NDIM
        ARRAY_DIMS
        ARRAY_STRIDES
        ARRAY_FLAGS

ctypedef int (*Helper)(char *r, const Instruction *at) noexcept nogil

cdef void *table[OPCODE_COUNT + 2]
# For tests: number of instructions after which machine code returns to the interpreter. Negative means never.
cdef int64_t until_exit = -1

NATIVE_TABLE = table
hot_loop_threshold = INT64_MAX
cdef object compiler = None


cdef void *helper_address(Helper function) noexcept:
    return <void *>function


table[<int>COPY] = helper_address(copy)
table[<int>TAKE] = helper_address(take)
table[<int>DROP] = helper_address(drop)
table[<int>CAST_OBJECT] = helper_address(cast_object)
table[<int>CAST_TO] = helper_address(cast_to)
table[<int>IS_INSTANCE] = helper_address(test_instance)
table[<int>LIST_GET] = helper_address(list_get)
table[<int>LIST_SET] = helper_address(list_put)
table[<int>LIST_APPEND] = helper_address(append)
table[<int>LIST_NEW] = helper_address(new_list)
table[<int>DICT_LEN] = helper_address(dict_length)
table[<int>DICT_GET] = helper_address(dict_get)
table[<int>DICT_GET_SCALAR] = helper_address(dict_get_number)
table[<int>DICT_FIND] = helper_address(dict_lookup)
table[<int>DICT_SET] = helper_address(dict_put)
table[<int>DICT_SET_SCALAR] = helper_address(dict_put_number)
table[<int>DICT_CONTAINS] = helper_address(dict_has)
table[<int>DICT_NEW] = helper_address(new_dict)
table[<int>TUPLE_NEW] = helper_address(new_tuple)
table[<int>TUPLE_GET] = helper_address(tuple_get)
table[<int>STR_LEN] = helper_address(str_length)
table[<int>STR_GET] = helper_address(str_get)
table[<int>STR_EQ] = helper_address(str_equal)
table[<int>STR_NE] = helper_address(str_not_equal)
table[<int>OBJECT_NEW] = helper_address(new_object)
table[<int>ATTR_GET] = helper_address(attribute_get)
table[<int>ATTR_SET] = helper_address(attribute_put)
table[<int>HAS_ELEMENTS] = helper_address(has_elements)
table[<int>LOAD_FLOAT] = helper_address(load_float)
table[<int>LOAD_INT] = helper_address(load_int)
table[<int>STORE_FLOAT] = helper_address(store_float)
table[<int>STORE_INT] = helper_address(store_int)
table[<int>CALL_OPERATOR] = helper_address(operate)
table[<int>CALL_SCALAR] = helper_address(operate_scalar)
table[<int>MOD_F64] = <void *>mod_float
table[<int>OPCODE_COUNT] = &until_exit
table[<int>OPCODE_COUNT + 1] = <PyObject *>None


cdef int request_compilation(Code code) except -1:
    code.compilation_requested = True
    if compiler is not None:
        compiler(code)
    return 0


def register_compiler(request, int64_t jumps):
    """Register the function `request(code)` that requests the compilation of a Code to machine code.

    It is called once for each Code, after `jumps` backward jumps in the Code. If `request` is None,
    compilation is disabled.
    """
    global compiler, hot_loop_threshold
    compiler = request
    hot_loop_threshold = INT64_MAX if request is None else jumps


def force_exit(int64_t instructions):
    """Make the machine code of test builds return to the interpreter after `instructions` instructions.

    A negative number means never.  Return the previous number, minus the instructions executed since then.
    """
    global until_exit
    before, until_exit = until_exit, instructions
    return before


def layout():
    """Return the sizes, byte offsets and constants that the machine code generator needs."""
    # The address is arbitrary, because it serves only to compute the offsets of fields
    cdef PyObject *x = <PyObject *>&until_exit
    cdef IValue value
    return {
        "value": sizeof(IValue),
        "tag": <char *>&value.tag - <char *>&value,
        "instruction": sizeof(Instruction),
        "items": <char *>&(<List>x).items - <char *>x,
        "item": <char *>&(<List>x).item - <char *>x,
        "size": <char *>&(<List>x).size - <char *>x,
        "capacity": <char *>&(<List>x).capacity - <char *>x,
        "slots": <char *>&(<Object>x).slots - <char *>x,
        "tag_none": <int>TAG_NONE,
        "tag_i": <int>TAG_INT,
        "tag_f": <int>TAG_FLOAT,
        "tag_b": <int>TAG_BOOL,
        "meter_zero": <int>METER_ZERO,
        "until_exit": <int>OPCODE_COUNT,
        "code": <char *>&(<Frame *>x).code - <char *>x - <int>sizeof(Frame),
        "operators": <char *>&(<Code>x).operator_at - <char *>x,
        "data": <char *>&(<Operator>x).data - <char *>x,
        "array": TENSOR_ARRAY,
        "owner": TENSOR_OWNER,
        "scalar_type": <char *>&(<Tensor>x).scalar_type - <char *>x,
        "backend": <char *>&(<Tensor>x).backend - <char *>x,
        "version": <char *>&(<Tensor>x).version - <char *>x,
        "none": <int>OPCODE_COUNT + 1,
        "bytes": ARRAY_BYTES,
        "ndim": ARRAY_NDIM,
        "dims": ARRAY_DIMS,
        "strides": ARRAY_STRIDES,
        "flags": ARRAY_FLAGS,
        "writeable": <int>WRITEABLE_FLAG,
    }
