"""Operators that compare the items of lists, such as search, equality, sorting (merge sort) and minimum.

Sorting is stable. Tensors are compared by `bool(x == y)` and `bool(x < y)`, which requires tensors of one
element. For example, the kernel `index` implements this schema:

    aten::index.list_int(int[] self, int el) -> int
"""

from cpython.ref cimport PyObject
from libc.stdint cimport int32_t, int64_t
from libc.math cimport isnan
from libc.stdlib cimport free, malloc
from libc.string cimport memchr, memcmp, memcpy, memset

from ts._core.thread.allowance cimport credit_bytes, limited
from ts._core.value.container cimport (
    Dict,
    List,
    Tuple,
    compare_values,
    list_item,
    list_remove_at,
    list_slice,
    type_text,
    value_text,
    values_equal,
)
from ts._core.dispatch.operator cimport Operator
from ts._core.builtin_ops.op_table cimport define
from ts._core.value.objects cimport Object
from ts._core.value.spec cimport KIND_DICT, KIND_LIST, KIND_OPTIONAL, KIND_TUPLE, TypeSpec
from ts._core.value.type_of cimport device_type
from ts._core.value.values import check_object_order
from ts._core.value.lists cimport item_bytes, raise_list_index, release_items
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
    release,
    set_bool,
    set_int,
    set_object,
)

ctypedef fused Number:
    int64_t
    double

cdef int tensor_mark
cdef void *of_tensors = &tensor_mark  # value of `Operator.data` that marks operators on lists of tensors


cdef inline List list_of(IValue *x):
    return <List>x.v.o


# ---------------------------------------------------------------- search

cdef bint items_match(Operator op, IValue *a, IValue *b) except -1:
    """Return whether two items are equal.

    Tensors are compared by bool(a == b). The conversion to bool raises for tensors with several elements.
    """
    if op.data == of_tensors:
        # Hold references to the tensors during the comparison. The comparison may run code that removes them
        # from the list.
        x, y = <object>a.v.o, <object>b.v.o
        return bool(x == y)
    return values_equal(a, b)


cdef Py_ssize_t find(Operator op, List x, IValue *value) except -2:
    """Return the index of the first item equal to `value`, or -1."""
    return find_from(op, x, 0, value)


cdef Py_ssize_t find_from(Operator op, List x, Py_ssize_t i, IValue *value) except -2:
    cdef IValue item
    if x.item == value.tag == TAG_BOOL:
        return find_byte(x, i, <char>value.v.i)
    if x.item == value.tag == TAG_INT:
        return find_number[int64_t](<int64_t *>x.items, i, x.size, value.v.i)
    if x.item == value.tag == TAG_FLOAT:
        return find_number[double](<double *>x.items, i, x.size, value.v.f)
    while i < x.size:  # The size is read again for each item, because other threads may shorten x during a comparison of tensors.
        item = list_item(<PyObject *>x, i)
        if items_match(op, &item, value):
            return i
        i += 1
    return -1


cdef Py_ssize_t find_byte(List x, Py_ssize_t i, char value) noexcept:
    cdef const char *match
    if i == x.size:
        return -1
    match = <const char *>memchr(<char *>x.items + i, value, x.size - i)
    return -1 if match == NULL else match - <char *>x.items


cdef Py_ssize_t find_number(const Number *items, Py_ssize_t i, Py_ssize_t n, Number value) noexcept:
    while i < n:
        if items[i] == value:
            return i
        i += 1
    return -1


cdef int contains(Operator op, IValue *r, const int32_t *at) except -1:
    set_bool(&r[at[2]], find(op, list_of(&r[at[0]]), &r[at[1]]) >= 0)
    return 0


cdef int index(Operator op, IValue *r, const int32_t *at) except -1:
    cdef Py_ssize_t i = find(op, list_of(&r[at[0]]), &r[at[1]])
    if i < 0:
        raise RuntimeError(f"'{value_text(&r[at[1]])}' is not in list")
    set_int(&r[at[2]], i)
    return 0


cdef int count(Operator op, IValue *r, const int32_t *at) except -1:
    cdef List x = list_of(&r[at[0]])
    cdef Py_ssize_t i = find(op, x, &r[at[1]]), n = 0
    while i >= 0:
        n += 1
        i = find_from(op, x, i + 1, &r[at[1]])
    set_int(&r[at[2]], n)
    return 0


cdef int remove(Operator op, IValue *r, const int32_t *at) except -1:
    cdef List x = list_of(&r[at[0]])
    cdef Py_ssize_t i = find(op, x, &r[at[1]])
    cdef IValue removed
    if not 0 <= i < x.size:
        raise RuntimeError("list.remove(x): x not in list")
    list_remove_at(<PyObject *>x, i, &removed)
    release(&removed)
    return 0


cdef bint lists_match(Operator op, List a, List b) except -1:
    cdef Py_ssize_t i = 0
    cdef IValue x, y
    if a.item == b.item != TAG_NONE and a.item != TAG_FLOAT:
        return a.size == b.size and (a.size == 0 or memcmp(a.items, b.items, a.size * item_bytes(a.item)) == 0)
    while a.size == b.size:
        if i >= a.size:
            return True
        x, y = list_item(<PyObject *>a, i), list_item(<PyObject *>b, i)
        if not items_match(op, &x, &y):
            return False
        i += 1
    return False


cdef int equal(Operator op, IValue *r, const int32_t *at) except -1:
    set_bool(&r[at[2]], lists_match(op, list_of(&r[at[0]]), list_of(&r[at[1]])))
    return 0


cdef int not_equal(Operator op, IValue *r, const int32_t *at) except -1:
    set_bool(&r[at[2]], not lists_match(op, list_of(&r[at[0]]), list_of(&r[at[1]])))
    return 0


# ---------------------------------------------------------------- sorting, minimum and maximum

cdef int merge_sort(IValue *items, IValue *scratch, Py_ssize_t n, int sign) except -1:
    """Sort `n` items stably, ascending for `sign` 1, descending for -1.

    After an error in a comparison, `items` is still a permutation of the original items.
    """
    cdef Py_ssize_t i, j, k, half = n // 2
    cdef IValue item
    if n <= 16:
        for i in range(1, n):
            item = items[i]
            j = i
            try:
                while j > 0 and sign * compare_values(&items[j - 1], &item) > 0:
                    items[j] = items[j - 1]
                    j -= 1
            finally:
                items[j] = item
        return 0
    merge_sort(items, scratch, half, sign)
    merge_sort(items + half, scratch, n - half, sign)
    memcpy(scratch, items, half * sizeof(IValue))
    i, j, k = 0, half, 0
    try:
        while i < half and j < n:
            if sign * compare_values(&scratch[i], &items[j]) <= 0:
                items[k] = scratch[i]
                i += 1
            else:
                items[k] = items[j]
                j += 1
            k += 1
    finally:
        memcpy(items + k, scratch + i, (half - i) * sizeof(IValue))
    return 0


cdef bint is_sortable(IValue *x) except -1:
    """Return whether values of the type of `x` can be sorted.

    Raise RuntimeError for a tuple with an unsortable element, and for a class without `__lt__`.
    """
    cdef Py_ssize_t i
    if x.tag != TAG_OBJECT:
        return x.tag != TAG_NONE
    if type(<object>x.v.o) is Object:
        check_object_order(<object>x.v.o)
    if type(<object>x.v.o) is Tuple:
        enter_recursion(b" while a tuple is sorted")
        try:
            for i in range((<Tuple>x.v.o).size):
                if not is_sortable(&(<Tuple>x.v.o).items[i]):
                    raise RuntimeError(
                        f"Contained elements in {schema_type_text(x)} are not sortable. Only Int, Bool, Float, String, "
                        "Tensor, a User Defined Class with __lt__ method defined or Tuples of aforementioned types can "
                        "be sorted."
                    )
        finally:
            Py_LeaveRecursiveCall()
        return True
    return type(<object>x.v.o) not in (List, Dict, complex, device_type)


cdef int check_sortable(IValue *x) except -1:
    if is_sortable(x):
        return 0
    kinds = "ints, floats, bools, strs, a User Defined Class that defines the __lt__ compare method or Tuples of aforementioned types"
    kind = "Device" if x.tag == TAG_OBJECT and type(<object>x.v.o) is device_type else type_text(x)
    raise RuntimeError(f"Only list of Tensors, {kinds} can be sorted, got list of {kind}")


cdef str schema_type_text(IValue *x):
    """Return the type of a value in the syntax of schemas, such as `(int, Dict(str, int))`."""
    cdef Py_ssize_t i
    if x.tag != TAG_OBJECT:
        return type_text(x)
    o = <object>x.v.o
    if type(o) is Tuple:
        enter_recursion(b" while the type of a tuple is printed")
        try:
            return f"({', '.join([schema_type_text(&(<Tuple>o).items[i]) for i in range((<Tuple>o).size)])})"
        finally:
            Py_LeaveRecursiveCall()
    spec = (<List>o).spec if type(o) is List else (<Dict>o).spec if type(o) is Dict else None
    return type_text(x) if spec is None else schema_text_of_spec(spec)


cdef str schema_text_of_spec(TypeSpec spec):
    children = [schema_text_of_spec(child) for child in spec.children]
    if spec.kind == KIND_LIST and children:
        return f"{children[0]}[]"
    if spec.kind == KIND_OPTIONAL:
        return f"{children[0]}?"
    if spec.kind == KIND_DICT and children:
        return f"Dict({', '.join(children)})"
    if spec.kind == KIND_TUPLE and spec.detail is None:
        return f"({', '.join(children)})"
    return spec.annotation_str


cdef int sort_items(List x, bint descending) except -1:
    if x.item == TAG_NONE:
        return sort_tagged(x, descending)
    return sort_numbers(x, descending)


cdef int sort_tagged(List x, bint descending) except -1:
    """Sort a list in place. Raise RuntimeError if scripts that run during comparisons change the list.

    As in Python, the list is empty for these scripts during the sort.
    """
    cdef Py_ssize_t size = x.size, capacity = x.capacity
    cdef void *items = x.items
    cdef bint changed
    x.items = NULL
    x.size = x.capacity = 0
    try:
        sort_values(<IValue *>items, size, descending)
    finally:
        changed = x.items != NULL
        x.items, items = items, x.items
        x.size, size = size, x.size
        x.capacity, capacity = capacity, x.capacity
        release_items(<IValue *>items, size)  # Release the items that `__lt__` methods have appended to the list during the sort.
        free(items)
        if limited:
            credit_bytes(capacity * sizeof(IValue))
    if changed:
        raise RuntimeError("list modified during sort")
    return 0


cdef int sort_values(IValue *items, Py_ssize_t n, bint descending) except -1:
    cdef IValue *scratch
    cdef Py_ssize_t i
    if n:
        check_sortable(&items[0])
    for i in range(1, n):  # Compare all neighbors first, so that errors for incomparable items occur before an item is moved.
        compare_values(&items[i - 1], &items[i])
    scratch = <IValue *>malloc((n + 1) * sizeof(IValue))
    if scratch == NULL:
        raise MemoryError()
    try:
        return merge_sort(items, scratch, n, -1 if descending else 1)
    finally:
        free(scratch)


cdef int sort_numbers(List x, bint descending) except -1:
    cdef Py_ssize_t i, first = 0
    cdef void *scratch
    if x.size < 2:
        return 0
    if x.item == TAG_BOOL:
        for i in range(x.size):
            first += (<char *>x.items)[i] == descending
        memset(x.items, descending, first)
        memset(<char *>x.items + first, not descending, x.size - first)
        return 0
    scratch = malloc((x.size + 1) * item_bytes(x.item))
    if scratch == NULL:
        raise MemoryError()
    if x.item == TAG_INT:
        merge_numbers[int64_t](<int64_t *>x.items, <int64_t *>scratch, x.size, descending)
    else:
        merge_numbers[double](<double *>x.items, <double *>scratch, x.size, descending)
    free(scratch)
    return 0


cdef inline bint is_behind(Number x, Number y, bint descending) noexcept:
    """Return whether `x` must come after `y` in the sorted list. NaN is greater than all numbers."""
    if descending:
        x, y = y, x
    if Number is double:
        return x > y or (isnan(x) and not isnan(y))
    else:
        return x > y


cdef void merge_numbers(Number *items, Number *scratch, Py_ssize_t n, bint descending) noexcept:
    """Sort numbers by a stable merge sort, like `merge_sort` for other items."""
    cdef Py_ssize_t i, j, k, half = n // 2
    cdef Number item
    if n <= 16:
        for i in range(1, n):
            item = items[i]
            j = i
            while j > 0 and is_behind(items[j - 1], item, descending):
                items[j] = items[j - 1]
                j -= 1
            items[j] = item
        return
    merge_numbers(items, scratch, half, descending)
    merge_numbers(items + half, scratch, n - half, descending)
    memcpy(scratch, items, half * sizeof(Number))
    i, j, k = 0, half, 0
    while i < half and j < n:
        if is_behind(scratch[i], items[j], descending):
            items[k] = items[j]
            j += 1
        else:
            items[k] = scratch[i]
            i += 1
        k += 1
    memcpy(items + k, scratch + i, (half - i) * sizeof(Number))


cdef int sort(Operator op, IValue *r, const int32_t *at) except -1:
    return sort_items(list_of(&r[at[0]]), r[at[1]].v.i != 0)


cdef int sorted_list(Operator op, IValue *r, const int32_t *at) except -1:
    cdef List x = list_of(&r[at[0]]), result = list_slice(x, 0, 1, x.size)
    sort_items(result, False)
    set_object(&r[at[1]], result)
    return 0


cdef int extreme(List x, int sign, IValue *out, str name) except -1:
    """Write the first maximum (`sign` 1) or minimum (`sign` -1) of a list to `out`.

    Raise RuntimeError for an empty list.
    """
    cdef Py_ssize_t i = 1, best = 0
    cdef IValue item, other
    if x.size == 0:
        raise RuntimeError(f"{name}() arg is an empty sequence")
    while i < x.size:  # The size is read again for each item, because comparisons of objects run scripts, which may shorten x.
        item, other = list_item(<PyObject *>x, i), list_item(<PyObject *>x, best)
        if x.item == TAG_FLOAT:
            if sign * item.v.f > sign * other.v.f:
                best = i
        elif sign * compare_values(&item, &other) > 0:
            best = i
        i += 1
    if best >= x.size:
        return raise_list_index()
    other = list_item(<PyObject *>x, best)
    copy_value(out, &other)
    return 0


cdef int min_item(Operator op, IValue *r, const int32_t *at) except -1:
    return extreme(list_of(&r[at[0]]), -1, &r[at[1]], "min")


cdef int max_item(Operator op, IValue *r, const int32_t *at) except -1:
    return extreme(list_of(&r[at[0]]), 1, &r[at[1]], "max")


cdef int compare_lists(List a, List b) except? -2:
    cdef Py_ssize_t i
    cdef int order
    cdef IValue x, y
    for i in range(min(a.size, b.size)):
        x, y = list_item(<PyObject *>a, i), list_item(<PyObject *>b, i)
        order = compare_values(&x, &y)
        if order:
            return order
    return (a.size > b.size) - (a.size < b.size)


cdef int min_list(Operator op, IValue *r, const int32_t *at) except -1:
    copy_value(&r[at[2]], &r[at[0 if compare_lists(list_of(&r[at[0]]), list_of(&r[at[1]])) <= 0 else 1]])
    return 0


cdef int max_list(Operator op, IValue *r, const int32_t *at) except -1:
    copy_value(&r[at[2]], &r[at[0 if compare_lists(list_of(&r[at[0]]), list_of(&r[at[1]])) > 0 else 1]])
    return 0


# ---------------------------------------------------------------- operator table

cdef list element_operators(str t):
    """Return the operators index, count, remove, eq, ne, sort and sorted for lists with element type `t`."""
    cdef void *data = of_tensors if t == "Tensor" else NULL
    search = "index.list_Tensor" if t == "Tensor" else f"index.list_{t}"
    return [
        define(f"aten::{search}({t}[] self, {t} el) -> int", index, data),
        define(f"aten::count.{t}({t}[] self, {t} el) -> int", count, data),
        define(f"aten::remove.{t}({t}[](a!) self, {t} el) -> ()", remove, data),
        define(f"aten::eq.{t}_list({t}[] a, {t}[] b) -> bool", equal, data),
        define(f"aten::ne.{t}_list({t}[] a, {t}[] b) -> bool", not_equal, data),
        define(f"aten::sort.{t}({t}[](a!) self, bool reverse=False) -> ()", sort),
        define(f"aten::sorted.{t}({t}[](a) input) -> {t}[]", sorted_list),
    ]


cdef list number_operators(str t):
    """Return the operators min and max for lists of numbers of type `t`."""
    return [
        define(f"prim::min.{t}_list({t}[] l, {t}[] r) -> {t}[]", min_list),
        define(f"prim::min.self_{t}({t}[] self) -> {t}", min_item),
        define(f"prim::max.{t}_list({t}[] l, {t}[] r) -> {t}[]", max_list),
        define(f"prim::max.self_{t}({t}[] self) -> {t}", max_item),
    ]


def operators():
    """Return the operators of this module."""
    rows = []
    for t in ("int", "float", "bool", "Tensor", "str"):
        rows += element_operators(t)
    for t in ("int", "float", "bool"):
        rows += number_operators(t)
    return rows + [
        define("aten::__contains__.int_list(int[] l, int item) -> bool", contains),
        define("aten::__contains__.str_list(str[] l, str item) -> bool", contains),
        define("aten::__contains__.float_list(float[] l, float item) -> bool", contains),
        define("aten::sort.any(t[](a!) self, bool reverse=False) -> ()", sort),
        define("aten::sorted.any(t[](a) self) -> t[]", sorted_list),
    ]
