"""Operators on the items of lists: indexing, mutation, slices and sums.

One kernel implements the overloads of all element types. Operators that mutate a list and return it return
the same object. For example, the kernel `append` implements this schema:

    aten::append.t(t[](a!) self, t(c -> *) el) -> t[](a!)
"""

from cpython.ref cimport PyObject
from libc.stdint cimport int32_t, int64_t
from libc.string cimport memmove, memset

from ts._core.value.container cimport (
    List,
    list_append,
    list_clear_items,
    list_fill,
    list_get_item,
    list_grow,
    list_item,
    list_new,
    list_remove_at,
    list_reverse,
    list_set_item,
    list_slice,
    list_store,
    list_store_number,
)
from ts._core.dispatch.operator cimport Operator
from ts._core.value.ivalue cimport INT_SPEC, list_spec
from ts._core.builtin_ops.op_table cimport define
from ts._core.builtin_ops.slicing cimport slice_bounds
from ts._core.builtin_ops.splitting cimport split_characters
from ts._core.value.lists cimport item_bytes
from ts._core.value.tagged cimport (
    IValue,
    TAG_BOOL,
    TAG_FLOAT,
    TAG_NONE,
    TAG_OBJECT,
    copy_value,
    release,
    retain,
    set_bool,
    set_float,
    set_int,
    set_object,
)


cdef inline List list_of(IValue *x):
    return <List>x.v.o


# ---------------------------------------------------------------- access to items, and mutation

cdef int len_list(Operator op, IValue *r, const int32_t *at) except -1:
    set_int(&r[at[1]], (<List>r[at[0]].v.o).size)
    return 0


cdef int get_item(Operator op, IValue *r, const int32_t *at) except -1:
    return list_get_item(r[at[0]].v.o, r[at[1]].v.i, &r[at[2]])


cdef int set_item(Operator op, IValue *r, const int32_t *at) except -1:
    list_set_item(r[at[0]].v.o, r[at[1]].v.i, &r[at[2]])
    copy_value(&r[at[3]], &r[at[0]])
    return 0


cdef int delete_item(Operator op, IValue *r, const int32_t *at) except -1:
    cdef IValue removed
    if list_of(&r[at[0]]).size == 0:
        raise RuntimeError("pop index out of range")
    remove_item(list_of(&r[at[0]]), r[at[1]].v.i, &removed)
    release(&removed)
    return 0


cdef int remove_item(List x, int64_t i, IValue *out) except -1:
    if i < 0:
        i += x.size
    if not 0 <= i < x.size:
        raise RuntimeError("list index out of range")
    return list_remove_at(<PyObject *>x, i, out)


cdef int pop_item(Operator op, IValue *r, const int32_t *at) except -1:
    cdef IValue removed
    if list_of(&r[at[0]]).size == 0:
        raise RuntimeError("pop from empty list")
    remove_item(list_of(&r[at[0]]), r[at[1]].v.i, &removed)
    copy_value(&r[at[2]], &removed)
    release(&removed)
    return 0


cdef int append(Operator op, IValue *r, const int32_t *at) except -1:
    list_append(r[at[0]].v.o, &r[at[1]])
    copy_value(&r[at[2]], &r[at[0]])
    return 0


cdef int insert(Operator op, IValue *r, const int32_t *at) except -1:
    cdef List x = list_of(&r[at[0]])
    cdef int64_t i = r[at[1]].v.i, n = x.size
    cdef Py_ssize_t bytes = item_bytes(x.item)
    cdef char *slot
    i = max(i + n, 0) if i < 0 else min(i, n)
    list_grow(<PyObject *>x, n + 1)
    slot = <char *>x.items + i * bytes
    memmove(slot + bytes, slot, (n - i) * bytes)
    retain(&r[at[2]])
    list_store(<PyObject *>x, i, &r[at[2]])
    x.size = n + 1
    return 0


cdef int extend_with(List x, List other) except -1:
    cdef Py_ssize_t n = other.size, m = x.size  # read the sizes before x grows, because `other` may be x itself
    if n == 0:
        return 0
    list_grow(<PyObject *>x, m + n)
    list_fill(<PyObject *>x, m, <PyObject *>other, n)
    x.size = m + n
    return 0


cdef int extend(Operator op, IValue *r, const int32_t *at) except -1:
    return extend_with(list_of(&r[at[0]]), list_of(&r[at[1]]))


cdef int extend_and_return(Operator op, IValue *r, const int32_t *at) except -1:
    extend_with(list_of(&r[at[0]]), list_of(&r[at[1]]))
    copy_value(&r[at[2]], &r[at[0]])
    return 0


cdef int clear_list(Operator op, IValue *r, const int32_t *at) except -1:
    return list_clear_items(r[at[0]].v.o)


cdef int reverse(Operator op, IValue *r, const int32_t *at) except -1:
    list_reverse(r[at[0]].v.o)
    return 0


# ---------------------------------------------------------------- new lists

cdef int copy_list(Operator op, IValue *r, const int32_t *at) except -1:
    cdef List x = list_of(&r[at[0]])
    set_object(&r[at[1]], list_slice(x, 0, 1, x.size))
    return 0


cdef int slice_list(Operator op, IValue *r, const int32_t *at) except -1:
    cdef List x = list_of(&r[at[0]])
    cdef int64_t start, step = r[at[3]].v.i
    cdef Py_ssize_t n
    n = slice_bounds(x.size, &r[at[1]], &r[at[2]], step, &start)
    set_object(&r[at[4]], list_slice(x, start, step, n))
    return 0


cdef int concatenate(Operator op, IValue *r, const int32_t *at) except -1:
    cdef List a = list_of(&r[at[0]]), b = list_of(&r[at[1]])
    cdef List result = list_new(a.spec, a.size + b.size)
    extend_with(result, a)
    extend_with(result, b)
    set_object(&r[at[2]], result)
    return 0


cdef List repeat(List x, int64_t n):
    cdef List result
    cdef IValue only
    cdef int64_t i
    if n > 0 and x.size > (<int64_t>1 << 57) // n:
        raise MemoryError()
    if x.size == 1 and list_item(<PyObject *>x, 0).tag != TAG_OBJECT:  # fast path for lists of one number, such as [0] * n
        only = list_item(<PyObject *>x, 0)
        result = list_new(x.spec, max(n, 0))
        if n <= 0:
            return result
        if x.item == TAG_BOOL:
            memset(result.items, <int>only.v.i, n)
        elif x.item == TAG_NONE:
            for i in range(n):
                (<IValue *>result.items)[i] = only
        else:
            for i in range(n):
                (<int64_t *>result.items)[i] = only.v.i
        result.size = n
        return result
    result = list_new(x.spec, x.size * max(n, 0))
    for i in range(n):
        extend_with(result, x)
    return result


cdef int repeat_left(Operator op, IValue *r, const int32_t *at) except -1:
    set_object(&r[at[2]], repeat(list_of(&r[at[0]]), r[at[1]].v.i))
    return 0


cdef int repeat_right(Operator op, IValue *r, const int32_t *at) except -1:
    set_object(&r[at[2]], repeat(list_of(&r[at[1]]), r[at[0]].v.i))
    return 0


cdef int repeat_in_place(Operator op, IValue *r, const int32_t *at) except -1:
    cdef List x = list_of(&r[at[0]]), repeated = repeat(x, r[at[1]].v.i)
    x.items, repeated.items = repeated.items, x.items
    x.size, repeated.size = repeated.size, x.size
    x.capacity, repeated.capacity = repeated.capacity, x.capacity
    copy_value(&r[at[2]], &r[at[0]])
    return 0


cdef int range_list(Operator op, IValue *r, const int32_t *at) except -1:
    cdef int64_t i, n = max(r[at[0]].v.i, 0)
    cdef List result = list_new(list_spec(INT_SPEC), n)
    for i in range(n):
        list_store_number(<PyObject *>result, i, i)
    result.size = n
    set_object(&r[at[1]], result)
    return 0


cdef int characters(Operator op, IValue *r, const int32_t *at) except -1:
    set_object(&r[at[1]], split_characters(<str>r[at[0]].v.o))
    return 0


# ---------------------------------------------------------------- reductions

cdef int sum_ints(Operator op, IValue *r, const int32_t *at) except -1:
    cdef List x = list_of(&r[at[0]])
    cdef int64_t total = 0
    cdef Py_ssize_t i
    if x.item == TAG_BOOL:
        for i in range(x.size):
            total += (<char *>x.items)[i]
    else:
        for i in range(x.size):
            total += (<int64_t *>x.items)[i]
    set_int(&r[at[1]], total)
    return 0


cdef int sum_floats(Operator op, IValue *r, const int32_t *at) except -1:
    cdef List x = list_of(&r[at[0]])
    cdef double total = 0
    cdef Py_ssize_t i
    for i in range(x.size):
        total += (<double *>x.items)[i]
    set_float(&r[at[1]], total)
    return 0


cdef int sum_complex(Operator op, IValue *r, const int32_t *at) except -1:
    set_object(&r[at[1]], sum(list_of(&r[at[0]]), 0j))
    return 0


cdef inline bint is_true(IValue *x) except -1:
    if x.tag == TAG_FLOAT:
        return x.v.f != 0
    if x.tag == TAG_OBJECT:
        return len(<str>x.v.o) != 0
    return x.v.i != 0


cdef Py_ssize_t first_of_truth(List x, bint truth) except -2:
    """Return the index of the first item with truth value `truth`, or -1."""
    cdef Py_ssize_t i
    cdef IValue value
    for i in range(x.size):
        value = list_item(<PyObject *>x, i)
        if is_true(&value) == truth:
            return i
    return -1


cdef int all_true(Operator op, IValue *r, const int32_t *at) except -1:
    set_bool(&r[at[1]], first_of_truth(list_of(&r[at[0]]), False) < 0)
    return 0


cdef int any_true(Operator op, IValue *r, const int32_t *at) except -1:
    set_bool(&r[at[1]], first_of_truth(list_of(&r[at[0]]), True) >= 0)
    return 0


# ---------------------------------------------------------------- operator table

cdef list list_operators():
    """Return the operators on lists of every type."""
    return [
        define("aten::len.t(t[] a) -> int", len_list),
        define("aten::__getitem__.t(t[](a) list, int idx) -> t(*)", get_item),
        define("aten::select.t(t[](a) list, int idx) -> t(*)", get_item),
        define("aten::_set_item.t(t[](a!) l, int idx, t(b -> *) el) -> t[](a!)", set_item),
        define("aten::Delete.t(t[](a!) self, int idx) -> ()", delete_item),
        define("aten::append.t(t[](a!) self, t(c -> *) el) -> t[](a!)", append),
        define("aten::insert.t(t[](a!) self, int idx, t(b -> *) el) -> ()", insert),
        define("aten::extend.t(t[](a!) self, t[] other) -> ()", extend),
        define("aten::pop.t(t[](a!) self, int idx=-1) -> t(*)", pop_item),
        define("aten::clear.t(t[](a!) self) -> ()", clear_list),
        define("aten::reverse.t(t[](a!) self) -> ()", reverse),
        define("aten::copy.t(t[](a) self) -> t[]", copy_list),
        define("aten::list(str t) -> str[]", characters),
        define("aten::list.t(t[] l) -> t[]", copy_list),
        define("aten::slice.t(t[] l, int? start=None, int? end=None, int step=1) -> t[]", slice_list),
        define("aten::add.t(t[] a, t[] b) -> t[]", concatenate),
        define("aten::add_.t(t[](a!) self, t[] b) -> t[]", extend_and_return),
        define("aten::mul.left_t(t[] l, int n) -> t[]", repeat_left),
        define("aten::mul.right_(int n, t[] l) -> t[]", repeat_right),
        define("aten::mul_.t(t[](a!) l, int n) -> t[](a!)", repeat_in_place),
        define("aten::Size(int[] sizes) -> int[]", copy_list),
        define("prim::rangelist(int n) -> int[]", range_list),
        define("aten::sum.int(int[] self) -> int", sum_ints),
        define("aten::sum.float(float[] self) -> float", sum_floats),
        define("aten::sum.complex(complex[] self) -> complex", sum_complex),
        define("aten::sum.bool(bool[] self) -> int", sum_ints),
        define("aten::any.str(str[] self) -> bool", any_true),
    ]


cdef list number_operators(str t):
    """Return the operators on lists of numbers of type `t`."""
    return [
        define(f"aten::all.{t}({t}[] self) -> bool", all_true),
        define(f"aten::any.{t}({t}[] self) -> bool", any_true),
    ]


def operators():
    """Return the operators of this module."""
    return [
        *list_operators(),
        *number_operators("int"),
        *number_operators("float"),
        *number_operators("bool"),
        define("aten::len.any(Any[] a) -> int", len_list),
    ]
