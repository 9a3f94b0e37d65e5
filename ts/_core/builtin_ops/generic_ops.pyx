"""Operators on values of every type, and queries about the program and its environment.

For example, this operator compares numbers and devices by value, and other objects by identity:

    aten::__is__(t1 self, t2 obj) -> bool
"""

import builtins
import time
import warnings

from cpython.ref cimport PyObject
from libc.stdint cimport int32_t, int64_t

from ts._core.value.container cimport Dict, List, Tuple, list_new, list_store_number
from ts._core.dispatch.operator cimport Operator
from ts._core.tensor.tensor cimport BACKEND_CPU, BACKEND_CUDA
from ts._core.vm.future cimport Future
from ts._core.value.ivalue cimport ANY_SPEC, INT_SPEC, TypeSpec, box_shallow, list_spec, unbox_shallow
from ts._core.dispatch import autocast
from ts._core.late_binding import resolve
from ts._core.builtin_ops import stat_counters
from ts._core.builtin_ops.op_table cimport define
from ts._core.value.type_of cimport conforms, device_type
from ts._core.value.values cimport value_text
from ts._core.value.tagged cimport (
    IValue,
    Py_LeaveRecursiveCall,
    TAG_BOOL,
    TAG_FLOAT,
    TAG_INT,
    TAG_NONE,
    TAG_OBJECT,
    copy_value,
    enter_recursion,
    set_bool,
    set_int,
    set_none,
    set_object,
)


# ---------------------------------------------------------------- identity and hash

cdef bint same(IValue *a, IValue *b) except -1:
    """Return `a is b`. Devices and numbers are compared by value, other objects by identity."""
    if a.tag != b.tag:
        return False
    if a.tag == TAG_OBJECT:
        return a.v.o == b.v.o or (type(<object>a.v.o) is device_type and <object>a.v.o == <object>b.v.o)
    if a.tag == TAG_FLOAT:
        return a.v.f == b.v.f
    return a.tag == TAG_NONE or a.v.i == b.v.i


cdef int is_same(Operator op, IValue *r, const int32_t *at) except -1:
    set_bool(&r[at[2]], same(&r[at[0]], &r[at[1]]))
    return 0


cdef int is_not_same(Operator op, IValue *r, const int32_t *at) except -1:
    set_bool(&r[at[2]], not same(&r[at[0]], &r[at[1]]))
    return 0


cdef int identity(Operator op, IValue *r, const int32_t *at) except -1:
    """Return a number that is unique among living objects (`id`), or 0 for None."""
    set_int(&r[at[1]], <int64_t>r[at[0]].v.o if r[at[0]].tag == TAG_OBJECT else 0)
    return 0


cdef object hashable(IValue *x):
    """Convert `x` to a Python value with the same hash. Raise RuntimeError for lists and dicts."""
    cdef Py_ssize_t i
    value = box_shallow(x)
    if isinstance(value, (List, Dict)):
        spec = value.spec
        raise RuntimeError(f"unhashable type: '{type(value).__name__ if spec is None else spec.annotation_str}'")
    if not isinstance(value, Tuple):
        return value
    enter_recursion(b" while a tuple is hashed")
    try:
        return tuple([hashable(&(<Tuple>value).items[i]) for i in range((<Tuple>value).size)])
    finally:
        Py_LeaveRecursiveCall()


cdef int hash_value(Operator op, IValue *r, const int32_t *at) except -1:
    """Return the hash of a value. As in PyTorch, the hash of an int is the int."""
    cdef IValue *x = &r[at[0]]
    set_int(&r[at[1]], x.v.i if x.tag == TAG_INT or x.tag == TAG_BOOL else hash(hashable(x)))
    return 0


# ---------------------------------------------------------------- optionals and casts

cdef int unwrap(Operator op, IValue *r, const int32_t *at) except -1:
    if r[at[0]].tag == TAG_NONE:
        raise RuntimeError("Unwrapping null optional")
    copy_value(&r[at[1]], &r[at[0]])
    return 0


cdef int pass_on(Operator op, IValue *r, const int32_t *at) except -1:
    copy_value(&r[at[1]], &r[at[0]])
    return 0


cdef int choose(Operator op, IValue *r, const int32_t *at) except -1:
    copy_value(&r[at[3]], &r[at[1 if r[at[0]].v.i else 2]])
    return 0


cdef int tuple_item(Operator op, IValue *r, const int32_t *at) except -1:
    """Return the tuple item at an index that is computed at run time.

    The instruction TUPLE_GET requires an index that is known at compile time.
    """
    cdef Tuple x
    cdef int64_t i = r[at[1]].v.i
    if r[at[0]].tag != TAG_OBJECT or type(<object>r[at[0]].v.o) is not Tuple:
        # The schema declares the type Any for this argument. Therefore, the bytecode verifier does not ensure
        # that the argument is a tuple.
        raise TypeError("prim::TupleIndex() takes a tuple")
    x = <Tuple>r[at[0]].v.o
    if i < 0:
        i += x.size
    if not 0 <= i < x.size:
        raise RuntimeError("Tuple list index out of range")
    copy_value(&r[at[2]], &x.items[i])
    return 0


cdef int tuple_unpack(Operator op, IValue *r, const int32_t *at) except -1:
    """Return the tuple argument itself.

    `prim::TupleUnpack` has several results, which are passed as one tuple in one register.
    """
    if r[at[0]].tag != TAG_OBJECT or type(<object>r[at[0]].v.o) is not Tuple:
        # The schema declares type Any for the argument, so the bytecode verifier does not check that it is a
        # tuple.
        raise TypeError("prim::TupleUnpack() takes a tuple")
    copy_value(&r[at[1]], &r[at[0]])
    return 0


cdef int blank(Operator op, IValue *r, const int32_t *at) except -1:
    """Write None, as the value of a variable that is never read."""
    set_none(&r[at[0]])
    return 0


# ---------------------------------------------------------------- shapes

cdef TypeSpec INTS_SPEC = list_spec(INT_SPEC)


cdef List ints_list(object values):
    cdef List result = list_new(list_spec(INT_SPEC), len(values))
    for value in values:
        list_store_number(<PyObject *>result, result.size, value)
        result.size += 1
    return result


cdef list ints_of(IValue *x):
    return list(<List>x.v.o)


cdef list broadcast(list a, list b):
    """Return the broadcast shape of two shapes, or raise RuntimeError if they do not broadcast."""
    rank = max(len(a), len(b))
    a, b = [1] * (rank - len(a)) + a, [1] * (rank - len(b)) + b
    result = []
    for i, (m, n) in enumerate(zip(a, b)):
        if m != n and m != 1 and n != 1:
            raise RuntimeError(
                f"The size of tensor a ({m}) must match the size of tensor b ({n}) at non-singleton dimension {i}"
            )
        result.append(n if m == 1 else m)
    return result


cdef int broadcast_shapes(Operator op, IValue *r, const int32_t *at) except -1:
    set_object(&r[at[2]], ints_list(broadcast(ints_of(&r[at[0]]), ints_of(&r[at[1]]))))
    return 0


cdef int broadcast_all(Operator op, IValue *r, const int32_t *at) except -1:
    """Compute the broadcast shape of several shapes."""
    cdef Tuple shapes = <Tuple>r[at[0]].v.o
    cdef list shape = []
    cdef Py_ssize_t i
    for i in range(shapes.size):
        if not conforms(&shapes.items[i], INTS_SPEC):
            raise TypeError("prim::BroadcastSizes() takes lists of ints")
        shape = broadcast(shape, ints_of(&shapes.items[i]))
    set_object(&r[at[1]], ints_list(shape))
    return 0


cdef int size_if_not_equal(Operator op, IValue *r, const int32_t *at) except -1:
    if ints_of(&r[at[0]]) == ints_of(&r[at[1]]):
        set_none(&r[at[2]])
    else:
        copy_value(&r[at[2]], &r[at[0]])
    return 0


cdef int reduction_sizes(Operator op, IValue *r, const int32_t *at) except -1:
    sizes, axes = ints_of(&r[at[0]]), ints_of(&r[at[1]])
    axes = {axis % len(sizes) for axis in axes}
    keep = r[at[2]].v.i != 0
    set_object(&r[at[3]], ints_list([1 if i in axes else n for i, n in enumerate(sizes) if keep or i not in axes]))
    return 0


# ---------------------------------------------------------------- gradients (None is a zero gradient)

cdef int all_not_none(Operator op, IValue *r, const int32_t *at) except -1:
    cdef Tuple args = <Tuple>r[at[0]].v.o
    set_bool(&r[at[1]], all([args.items[i].tag != TAG_NONE for i in range(args.size)]))
    return 0


cdef int any_not_none(Operator op, IValue *r, const int32_t *at) except -1:
    cdef Tuple args = <Tuple>r[at[0]].v.o
    set_bool(&r[at[1]], any([args.items[i].tag != TAG_NONE for i in range(args.size)]))
    return 0


cdef int all_none(Operator op, IValue *r, const int32_t *at) except -1:
    cdef Tuple args = <Tuple>r[at[0]].v.o
    set_bool(&r[at[1]], all([args.items[i].tag == TAG_NONE for i in range(args.size)]))
    return 0


# ---------------------------------------------------------------- environment

cdef int scripting(Operator op, IValue *r, const int32_t *at) except -1:
    set_bool(&r[at[0]], True)
    return 0


cdef int not_any(Operator op, IValue *r, const int32_t *at) except -1:
    set_bool(&r[at[1]], False)
    return 0


cdef int not_here(Operator op, IValue *r, const int32_t *at) except -1:
    set_bool(&r[at[0]], False)
    return 0


cdef int autocast_on_cpu(Operator op, IValue *r, const int32_t *at) except -1:
    set_bool(&r[at[0]], autocast.is_enabled(BACKEND_CPU))
    return 0


cdef int autocast_on_cuda(Operator op, IValue *r, const int32_t *at) except -1:
    set_bool(&r[at[0]], autocast.is_enabled(BACKEND_CUDA))
    return 0


cdef int time_point(Operator op, IValue *r, const int32_t *at) except -1:
    set_int(&r[at[0]], time.perf_counter_ns())
    return 0


cdef int add_stat_value(Operator op, IValue *r, const int32_t *at) except -1:
    stat_counters.logger().add_stat_value(<str>r[at[0]].v.o, r[at[1]].v.i)
    return 0


cdef int warn(Operator op, IValue *r, const int32_t *at) except -1:
    warnings.warn(<str>r[at[0]].v.o, UserWarning, stacklevel=r[at[1]].v.i)
    return 0


cdef int print_text(Operator op, IValue *r, const int32_t *at) except -1:
    print(<str>r[at[0]].v.o)
    return 0


cdef int print_all(Operator op, IValue *r, const int32_t *at) except -1:
    cdef Tuple args = <Tuple>r[at[0]].v.o
    print(*[value_text(&args.items[i]) for i in range(args.size)])
    return 0


cdef int raise_exception(Operator op, IValue *r, const int32_t *at) except -1:
    """Raise the built-in exception named by the second argument, or RuntimeError if there is no such
    exception.
    """
    name = "" if r[at[1]].tag == TAG_NONE else <str>r[at[1]].v.o
    kind = getattr(builtins, name.rpartition(".")[2], None)
    raise (kind if isinstance(kind, type) and issubclass(kind, Exception) else RuntimeError)(<str>r[at[0]].v.o)


cdef int assert_number(Operator op, IValue *r, const int32_t *at) except -1:
    cdef IValue *x = &r[at[0]]
    if not box_shallow(x):
        raise RuntimeError(<str>r[at[1]].v.o)
    return 0


# ---------------------------------------------------------------- futures

cdef int wait(Operator op, IValue *r, const int32_t *at) except -1:
    """Block until the future completes, and return its value. (In bytecode, the instruction WAIT does this.)"""
    set_none(&r[at[1]])
    (<Future>r[at[0]].v.o).block()
    (<Future>r[at[0]].v.o).take(ANY_SPEC, &r[at[1]])
    return 0


# ---------------------------------------------------------------- enums

cdef int enum_name(Operator op, IValue *r, const int32_t *at) except -1:
    set_object(&r[at[1]], (<object>r[at[0]].v.o).name)
    return 0


cdef int enum_value(Operator op, IValue *r, const int32_t *at) except -1:
    cdef object value = (<object>r[at[0]].v.o).value
    if type(value).__name__ != op.overload:
        raise TypeError(f"prim::EnumValue: the value of {<object>r[at[0]].v.o} is no {op.overload}")
    # The result register may also be the register of the enum value. It is therefore overwritten only after
    # the value has been read for the last time.
    set_none(&r[at[1]])
    unbox_shallow(value, &r[at[1]])
    return 0


cdef int enums_equal(Operator op, IValue *r, const int32_t *at) except -1:
    set_bool(&r[at[2]], r[at[0]].v.o == r[at[1]].v.o)
    return 0


cdef int enums_differ(Operator op, IValue *r, const int32_t *at) except -1:
    set_bool(&r[at[2]], r[at[0]].v.o != r[at[1]].v.o)
    return 0


# ---------------------------------------------------------------- devices

cdef int devices_equal(Operator op, IValue *r, const int32_t *at) except -1:
    set_bool(&r[at[2]], <object>r[at[0]].v.o == <object>r[at[1]].v.o)
    return 0


cdef int devices_differ(Operator op, IValue *r, const int32_t *at) except -1:
    set_bool(&r[at[2]], <object>r[at[0]].v.o != <object>r[at[1]].v.o)
    return 0


cdef int type_of_device(Operator op, IValue *r, const int32_t *at) except -1:
    set_object(&r[at[1]], (<object>r[at[0]].v.o).type)
    return 0


cdef int device_index(Operator op, IValue *r, const int32_t *at) except -1:
    index = (<object>r[at[0]].v.o).index
    if index is None:
        set_none(&r[at[1]])
    else:
        set_int(&r[at[1]], index)
    return 0


# ---------------------------------------------------------------- files

cdef int save(Operator op, IValue *r, const int32_t *at) except -1:
    """Write a value to a file (`torch.save`)."""
    resolve("save_script_value")(box_shallow(&r[at[0]]), <object>r[at[1]].v.o)
    return 0


def operators():
    """Return the operators of this module."""
    return [
        define("aten::__is__(t1 self, t2 obj) -> bool", is_same),
        define("aten::__isnot__(t1 self, t2 obj) -> bool", is_not_same),
        define("prim::id(AnyClassType? x) -> int", identity),
        define("aten::hash.generic(t value) -> int", hash_value),
        define("aten::_unwrap_optional(t(a)? optional) -> t(a)", unwrap),
        define("prim::unchecked_unwrap_optional(t(a)? optional) -> t(a)", pass_on),
        define("prim::unchecked_cast(t x) -> t", pass_on),
        define("prim::IfThenElse(bool cond, Any(a) x, Any(b) y) -> Any(b|a)", choose),
        define("prim::TupleIndex(Any tup, int i) -> Any", tuple_item),
        define("prim::TupleUnpack(Any tup) -> ...", tuple_unpack),
        define("prim::Uninitialized() -> Any", blank),
        # shapes
        define("aten::broadcast_shapes(int[] a, int[] b) -> int[]", broadcast_shapes),
        define("aten::_infer_size(int[] a, int[] b) -> int[]", broadcast_shapes),
        define("aten::_size_if_not_equal(int[] self_size, int[] other_size) -> int[]?", size_if_not_equal),
        define("prim::BroadcastSizes(...) -> int[]", broadcast_all),
        define("prim::ReductionSizes(int[] size, int[] red_axes, bool keepdim=False) -> int[]", reduction_sizes),
        # gradients
        define("prim::AutogradAllNonZero(...) -> bool", all_not_none),
        define("prim::AutogradAnyNonZero(...) -> bool", any_not_none),
        define("prim::AutogradAllZero(...) -> bool", all_none),
        # environment
        define("aten::has_torch_function(...) -> bool", not_any),
        define("aten::is_scripting() -> bool", scripting),
        define("aten::_get_tracing_state() -> bool", not_here),
        define("aten::is_vulkan_available() -> bool", not_here),
        define("aten::_nnpack_available() -> bool", not_here),
        define("aten::_use_cudnn_rnn_flatten_weight() -> bool", not_here),
        define("aten::is_autocast_enabled() -> bool", autocast_on_cuda),
        define("aten::is_autocast_cpu_enabled() -> bool", autocast_on_cpu),
        define("prim::TimePoint() -> int", time_point),
        define("prim::AddStatValue(str key, int val) -> ()", add_stat_value),
        define("aten::warn(str message, int stacklevel=2) -> ()", warn),
        define("aten::_print(str s) -> ()", print_text),
        define("aten::save(t item, str filename) -> ()", save),
        define("prim::Print(...) -> ()", print_all),
        define("prim::RaiseException(str msg, str? cls=None) -> ()", raise_exception),
        define("aten::_assert_scalar(Scalar self, str assert_msg) -> ()", assert_number),
        define("aten::wait(Future(t) self) -> t", wait),
        # devices
        define("aten::eq.device(Device a, Device b) -> bool", devices_equal),
        define("aten::ne.device(Device a, Device b) -> bool", devices_differ),
        define("prim::type(Device self) -> str", type_of_device),
        define("prim::index(Device self) -> int?", device_index),
        # enums
        define("prim::EnumName(AnyEnumType enum) -> str", enum_name),
        define("prim::EnumValue.int(AnyEnumType enum) -> int", enum_value),
        define("prim::EnumValue.float(AnyEnumType enum) -> float", enum_value),
        define("prim::EnumValue.str(AnyEnumType enum) -> str", enum_value),
        define("aten::eq.enum(AnyEnumType a, AnyEnumType b) -> bool", enums_equal),
        define("aten::ne.enum(AnyEnumType a, AnyEnumType b) -> bool", enums_differ),
    ]
