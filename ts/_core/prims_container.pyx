"""Operators on lists and dicts: indexing, mutation, search, sorting, slices, sums and conversions.

In: nothing.  Out: `operators()`, the list of Operator records; their kernels work on registers.

    aten::append.t(t[](a!) self, t(c -> *) el) -> t[](a!)          append

Kernels are generic in the element and key type: IValues carry their tags, so one function serves the
overloads of all types.  A list that is returned by an operator that mutates it is the list itself.
"""

from cpython.ref cimport PyObject
from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memmove

from ts._core.container cimport (
    Dict,
    DictEntry,
    List,
    TAG_DELETED,
    Tuple,
    compare_values,
    dict_clear,
    dict_find,
    dict_get_item,
    dict_new,
    dict_place,
    dict_pop,
    dict_set,
    list_append,
    list_at,
    list_get_item,
    list_grow,
    list_new,
    list_remove_at,
    list_set_item,
    raise_key_error,
    raise_list_index,
    tuple_new,
    value_text,
    values_equal,
)
from ts._core.dispatch cimport Kernel, Operator
from ts._core.ivalue cimport (
    ANY_SPEC,
    INT_SPEC,
    KIND_DICT,
    STR_SPEC,
    TENSOR_SPEC,
    TypeSpec,
    box_shallow,
    list_spec,
    tuple_spec,
)
from ts._core.row cimport row
from ts._core.slicing cimport slice_bounds
from ts._core.tagged cimport (
    IValue,
    TAG_BOOL,
    TAG_FLOAT,
    TAG_INT,
    TAG_NONE,
    TAG_OBJECT,
    copy_value,
    release,
    retain,
    set_bool,
    set_float,
    set_int,
    set_none,
    set_object,
)


cdef inline List list_of(IValue *x):
    return <List>x.v.o


cdef inline Dict dict_of(IValue *x):
    return <Dict>x.v.o


cdef TypeSpec child_spec(TypeSpec spec, Py_ssize_t i):
    """An element's spec, where the container knows its own."""
    return ANY_SPEC if spec is None else <TypeSpec>spec.children[i]


# ---------------------------------------------------------------- lists: items

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
    remove_item(list_of(&r[at[0]]), r[at[1]].v.i, &removed)
    release(&removed)
    return 0


cdef int remove_item(List x, int64_t i, IValue *out) except -1:
    if i < 0:
        i += x.size
    if not 0 <= i < x.size:
        return raise_list_index()
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
    i = max(i + n, 0) if i < 0 else min(i, n)
    list_grow(<PyObject *>x, n + 1)
    memmove(x.items + i + 1, x.items + i, (n - i) * sizeof(IValue))
    x.items[i] = r[at[2]]
    retain(&x.items[i])
    x.size = n + 1
    return 0


cdef int extend_with(List x, List other) except -1:
    cdef Py_ssize_t i, n = other.size, m = x.size  # other may be x
    list_grow(<PyObject *>x, m + n)
    memcpy(x.items + m, other.items, n * sizeof(IValue))
    for i in range(n):
        retain(&x.items[m + i])
    x.size = m + n
    return 0


cdef int extend(Operator op, IValue *r, const int32_t *at) except -1:
    return extend_with(list_of(&r[at[0]]), list_of(&r[at[1]]))


cdef int extend_and_return(Operator op, IValue *r, const int32_t *at) except -1:
    extend_with(list_of(&r[at[0]]), list_of(&r[at[1]]))
    copy_value(&r[at[2]], &r[at[0]])
    return 0


cdef int clear_list(Operator op, IValue *r, const int32_t *at) except -1:
    cdef List x = list_of(&r[at[0]])
    cdef Py_ssize_t i, n = x.size
    x.size = 0
    for i in range(n):
        release(&x.items[i])
    return 0


cdef int reverse(Operator op, IValue *r, const int32_t *at) except -1:
    cdef List x = list_of(&r[at[0]])
    cdef Py_ssize_t i, n = x.size
    for i in range(n // 2):
        x.items[i], x.items[n - 1 - i] = x.items[n - 1 - i], x.items[i]
    return 0


# ---------------------------------------------------------------- lists: search

cdef Py_ssize_t find(List x, IValue *value) except -2:
    """The index of the first item that equals `value`, or -1."""
    cdef Py_ssize_t i
    for i in range(x.size):
        if values_equal(&x.items[i], value):
            return i
    return -1


cdef int contains(Operator op, IValue *r, const int32_t *at) except -1:
    set_bool(&r[at[2]], find(list_of(&r[at[0]]), &r[at[1]]) >= 0)
    return 0


cdef int index(Operator op, IValue *r, const int32_t *at) except -1:
    cdef Py_ssize_t i = find(list_of(&r[at[0]]), &r[at[1]])
    if i < 0:
        raise RuntimeError(f"'{value_text(&r[at[1]])}' is not in list")
    set_int(&r[at[2]], i)
    return 0


cdef int count(Operator op, IValue *r, const int32_t *at) except -1:
    cdef List x = list_of(&r[at[0]])
    cdef Py_ssize_t i, n = 0
    for i in range(x.size):
        n += values_equal(&x.items[i], &r[at[1]])
    set_int(&r[at[2]], n)
    return 0


cdef int remove(Operator op, IValue *r, const int32_t *at) except -1:
    cdef List x = list_of(&r[at[0]])
    cdef Py_ssize_t i = find(x, &r[at[1]])
    cdef IValue removed
    if i < 0:
        raise RuntimeError("list.remove(x): x not in list")
    remove_item(x, i, &removed)
    release(&removed)
    return 0


cdef int equal(Operator op, IValue *r, const int32_t *at) except -1:
    set_bool(&r[at[2]], values_equal(&r[at[0]], &r[at[1]]))
    return 0


cdef int not_equal(Operator op, IValue *r, const int32_t *at) except -1:
    set_bool(&r[at[2]], not values_equal(&r[at[0]], &r[at[1]]))
    return 0


# ---------------------------------------------------------------- lists: new lists

cdef List copy_items(List x, int64_t start, int64_t step, Py_ssize_t n):
    """The `n` items from `start` on, every `step`-th."""
    cdef List result = list_new(x.spec, n)
    cdef Py_ssize_t i
    for i in range(n):
        result.items[i] = x.items[start + i * step]
        retain(&result.items[i])
    result.size = n
    return result


cdef int copy_list(Operator op, IValue *r, const int32_t *at) except -1:
    cdef List x = list_of(&r[at[0]])
    set_object(&r[at[1]], copy_items(x, 0, 1, x.size))
    return 0


cdef int slice_list(Operator op, IValue *r, const int32_t *at) except -1:
    cdef List x = list_of(&r[at[0]])
    cdef int64_t start, step = r[at[3]].v.i
    cdef Py_ssize_t n
    if step == 0:
        raise RuntimeError("List slice should have non-zero step")
    n = slice_bounds(x.size, &r[at[1]], &r[at[2]], step, &start)
    set_object(&r[at[4]], copy_items(x, start, step, n))
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
    cdef int64_t i
    if n > 0 and x.size > (<int64_t>1 << 57) // n:
        raise MemoryError()
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
        result.items[i].v.i = i
        result.items[i].tag = TAG_INT
    result.size = n
    set_object(&r[at[1]], result)
    return 0


cdef int characters(Operator op, IValue *r, const int32_t *at) except -1:
    cdef str text = <str>r[at[0]].v.o
    cdef List result = list_new(list_spec(STR_SPEC), len(text))
    cdef Py_ssize_t i
    for i in range(len(text)):
        result.items[i].tag = TAG_NONE
        set_object(&result.items[i], text[i])
        result.size = i + 1
    set_object(&r[at[1]], result)
    return 0


# ---------------------------------------------------------------- lists: order

cdef int merge_sort(IValue *items, IValue *scratch, Py_ssize_t n, int sign) except -1:
    """Sort stably, ascending for sign 1, descending for -1."""
    cdef Py_ssize_t i, j, k, half = n // 2
    cdef IValue item
    if n <= 16:
        for i in range(1, n):
            item = items[i]
            j = i
            while j > 0 and sign * compare_values(&items[j - 1], &item) > 0:
                items[j] = items[j - 1]
                j -= 1
            items[j] = item
        return 0
    merge_sort(items, scratch, half, sign)
    merge_sort(items + half, scratch, n - half, sign)
    memcpy(scratch, items, half * sizeof(IValue))
    i, j, k = 0, half, 0
    while i < half and j < n:
        if sign * compare_values(&scratch[i], &items[j]) <= 0:
            items[k] = scratch[i]
            i += 1
        else:
            items[k] = items[j]
            j += 1
        k += 1
    memcpy(items + k, scratch + i, (half - i) * sizeof(IValue))
    return 0


cdef int sort_items(List x, bint descending) except -1:
    cdef IValue *scratch
    cdef Py_ssize_t i
    for i in range(1, x.size):  # refuse before anything moves: an error may not lose items
        compare_values(&x.items[i - 1], &x.items[i])
    scratch = <IValue *>malloc((x.size + 1) * sizeof(IValue))
    if scratch == NULL:
        raise MemoryError()
    try:
        return merge_sort(x.items, scratch, x.size, -1 if descending else 1)
    finally:
        free(scratch)


cdef int sort(Operator op, IValue *r, const int32_t *at) except -1:
    return sort_items(list_of(&r[at[0]]), r[at[1]].v.i != 0)


cdef int sorted_list(Operator op, IValue *r, const int32_t *at) except -1:
    cdef List x = list_of(&r[at[0]]), result = copy_items(x, 0, 1, x.size)
    sort_items(result, False)
    set_object(&r[at[1]], result)
    return 0


cdef int extreme(List x, int sign, IValue *out, str name) except -1:
    """The first item that none of the others is above (sign 1) or below (sign -1), by `<` of its kind."""
    cdef Py_ssize_t i, best = 0
    if x.size == 0:
        raise RuntimeError(f"{name}() arg is an empty sequence")
    for i in range(1, x.size):
        if x.items[0].tag == TAG_FLOAT:
            if sign * x.items[i].v.f > sign * x.items[best].v.f:
                best = i
        elif sign * compare_values(&x.items[i], &x.items[best]) > 0:
            best = i
    copy_value(out, &x.items[best])
    return 0


cdef int min_item(Operator op, IValue *r, const int32_t *at) except -1:
    return extreme(list_of(&r[at[0]]), -1, &r[at[1]], "min")


cdef int max_item(Operator op, IValue *r, const int32_t *at) except -1:
    return extreme(list_of(&r[at[0]]), 1, &r[at[1]], "max")


cdef int compare_lists(List a, List b) except? -2:
    cdef Py_ssize_t i
    cdef int order
    for i in range(min(a.size, b.size)):
        order = compare_values(&a.items[i], &b.items[i])
        if order:
            return order
    return (a.size > b.size) - (a.size < b.size)


cdef int min_list(Operator op, IValue *r, const int32_t *at) except -1:
    copy_value(&r[at[2]], &r[at[0 if compare_lists(list_of(&r[at[0]]), list_of(&r[at[1]])) <= 0 else 1]])
    return 0


cdef int max_list(Operator op, IValue *r, const int32_t *at) except -1:
    copy_value(&r[at[2]], &r[at[0 if compare_lists(list_of(&r[at[0]]), list_of(&r[at[1]])) > 0 else 1]])
    return 0


# ---------------------------------------------------------------- lists: reductions

cdef int sum_ints(Operator op, IValue *r, const int32_t *at) except -1:
    cdef List x = list_of(&r[at[0]])
    cdef int64_t total = 0
    cdef Py_ssize_t i
    for i in range(x.size):
        total += x.items[i].v.i
    set_int(&r[at[1]], total)
    return 0


cdef int sum_floats(Operator op, IValue *r, const int32_t *at) except -1:
    cdef List x = list_of(&r[at[0]])
    cdef double total = 0
    cdef Py_ssize_t i
    for i in range(x.size):
        total += x.items[i].v.f
    set_float(&r[at[1]], total)
    return 0


cdef int sum_complex(Operator op, IValue *r, const int32_t *at) except -1:
    set_object(&r[at[1]], sum([box_shallow(&list_of(&r[at[0]]).items[i]) for i in range(list_of(&r[at[0]]).size)], 0j))
    return 0


cdef inline bint is_true(IValue *x) except -1:
    if x.tag == TAG_FLOAT:
        return x.v.f != 0
    if x.tag == TAG_OBJECT:
        return len(<str>x.v.o) != 0
    return x.v.i != 0


cdef int all_true(Operator op, IValue *r, const int32_t *at) except -1:
    cdef List x = list_of(&r[at[0]])
    cdef Py_ssize_t i
    cdef bint result = True
    for i in range(x.size):
        result = result and is_true(&x.items[i])
    set_bool(&r[at[1]], result)
    return 0


cdef int any_true(Operator op, IValue *r, const int32_t *at) except -1:
    cdef List x = list_of(&r[at[0]])
    cdef Py_ssize_t i
    cdef bint result = False
    for i in range(x.size):
        result = result or is_true(&x.items[i])
    set_bool(&r[at[1]], result)
    return 0


# ---------------------------------------------------------------- dicts: entries

cdef int len_dict(Operator op, IValue *r, const int32_t *at) except -1:
    set_int(&r[at[1]], (<Dict>r[at[0]].v.o).size)
    return 0


cdef int dict_item(Operator op, IValue *r, const int32_t *at) except -1:
    return dict_get_item(r[at[0]].v.o, &r[at[1]], &r[at[2]])


cdef int set_dict_item(Operator op, IValue *r, const int32_t *at) except -1:
    return dict_set(r[at[0]].v.o, &r[at[1]], &r[at[2]])


cdef int has_key(Operator op, IValue *r, const int32_t *at) except -1:
    set_bool(&r[at[2]], dict_find(r[at[0]].v.o, &r[at[1]]) != NULL)
    return 0


cdef int get(Operator op, IValue *r, const int32_t *at) except -1:
    cdef IValue *place = dict_find(r[at[0]].v.o, &r[at[1]])
    if place == NULL:
        set_none(&r[at[2]])
    else:
        copy_value(&r[at[2]], place)
    return 0


cdef int get_or_default(Operator op, IValue *r, const int32_t *at) except -1:
    cdef IValue *place = dict_find(r[at[0]].v.o, &r[at[1]])
    copy_value(&r[at[3]], place if place != NULL else &r[at[2]])
    return 0


cdef int set_default(Operator op, IValue *r, const int32_t *at) except -1:
    cdef bint is_new
    cdef IValue *place = dict_place(r[at[0]].v.o, &r[at[1]], &is_new)
    if is_new:
        copy_value(place, &r[at[2]])
    copy_value(&r[at[3]], place)
    return 0


cdef int delete_key(Operator op, IValue *r, const int32_t *at) except -1:
    cdef IValue removed
    if not dict_pop(r[at[0]].v.o, &r[at[1]], &removed):
        return raise_key_error(&r[at[1]])
    release(&removed)
    return 0


cdef int pop_key(Operator op, IValue *r, const int32_t *at) except -1:
    cdef IValue removed
    if not dict_pop(r[at[0]].v.o, &r[at[1]], &removed):
        return raise_key_error(&r[at[1]])
    copy_value(&r[at[2]], &removed)
    release(&removed)
    return 0


cdef int pop_key_or_default(Operator op, IValue *r, const int32_t *at) except -1:
    cdef IValue removed
    if not dict_pop(r[at[0]].v.o, &r[at[1]], &removed):
        removed = r[at[2]]
        retain(&removed)
    copy_value(&r[at[3]], &removed)
    release(&removed)
    return 0


cdef int pop_entry(Operator op, IValue *r, const int32_t *at) except -1:
    """Python's popitem takes the newest entry; PyTorch's takes the oldest, and so does this."""
    cdef Dict x = dict_of(&r[at[0]])
    cdef Tuple result
    cdef IValue value
    cdef Py_ssize_t i = 0
    if x.size == 0:
        raise RuntimeError("popitem(): dictionary is empty")
    while x.entries[i].key.tag == TAG_DELETED:
        i += 1
    result = tuple_new(item_spec(x), 2)
    copy_value(&result.items[0], &x.entries[i].key)
    dict_pop(<PyObject *>x, &result.items[0], &value)
    copy_value(&result.items[1], &value)
    release(&value)
    set_object(&r[at[1]], result)
    return 0


cdef int clear(Operator op, IValue *r, const int32_t *at) except -1:
    dict_clear(r[at[0]].v.o)
    return 0


cdef int update_with(Dict x, Dict other) except -1:
    cdef Py_ssize_t i
    if x is other:
        return 0
    for i in range(other.used):
        if other.entries[i].key.tag != TAG_DELETED:
            dict_set(<PyObject *>x, &other.entries[i].key, &other.entries[i].value)
    return 0


cdef int update(Operator op, IValue *r, const int32_t *at) except -1:
    return update_with(dict_of(&r[at[0]]), dict_of(&r[at[1]]))


cdef int copy_dict(Operator op, IValue *r, const int32_t *at) except -1:
    cdef Dict x = dict_of(&r[at[0]])
    cdef Dict result = dict_new(x.spec, x.size)
    update_with(result, x)
    set_object(&r[at[1]], result)
    return 0


cdef int dict_from_items(Operator op, IValue *r, const int32_t *at) except -1:
    cdef List items = list_of(&r[at[0]])
    cdef TypeSpec spec = child_spec(items.spec, 0)
    cdef Tuple item
    cdef Dict result
    cdef Py_ssize_t i
    if len(spec.children) == 2:
        key, value = spec.children
        spec = TypeSpec(KIND_DICT, (key, value), f"Dict[{key.text}, {value.text}]")
    else:
        spec = None
    result = dict_new(spec, items.size)
    for i in range(items.size):
        item = <Tuple>items.items[i].v.o
        dict_set(<PyObject *>result, &item.items[0], &item.items[1])
    set_object(&r[at[1]], result)
    return 0


cdef int empty_dict(Operator op, IValue *r, const int32_t *at) except -1:
    set_object(&r[at[0]], dict_new(TypeSpec(KIND_DICT, (STR_SPEC, TENSOR_SPEC), "Dict[str, Tensor]"), 0))
    return 0


# ---------------------------------------------------------------- dicts: lists of entries

cdef TypeSpec item_spec(Dict x):
    """The spec of (key, value); remembered in the dict's own."""
    if x.spec is None:
        return None
    if x.spec.item is None:
        x.spec.item = tuple_spec(x.spec.children)
    return x.spec.item


cdef int keys(Operator op, IValue *r, const int32_t *at) except -1:
    cdef Dict x = dict_of(&r[at[0]])
    cdef List result = list_new(list_spec(child_spec(x.spec, 0)), x.size)
    cdef Py_ssize_t i
    for i in range(x.used):
        if x.entries[i].key.tag != TAG_DELETED:
            list_append(<PyObject *>result, &x.entries[i].key)
    set_object(&r[at[1]], result)
    return 0


cdef int values(Operator op, IValue *r, const int32_t *at) except -1:
    cdef Dict x = dict_of(&r[at[0]])
    cdef List result = list_new(list_spec(child_spec(x.spec, 1)), x.size)
    cdef Py_ssize_t i
    for i in range(x.used):
        if x.entries[i].key.tag != TAG_DELETED:
            list_append(<PyObject *>result, &x.entries[i].value)
    set_object(&r[at[1]], result)
    return 0


cdef int items(Operator op, IValue *r, const int32_t *at) except -1:
    cdef Dict x = dict_of(&r[at[0]])
    cdef TypeSpec spec = item_spec(x)
    cdef List result = list_new(None if spec is None else list_spec(spec), x.size)
    cdef Tuple item
    cdef Py_ssize_t i
    for i in range(x.used):
        if x.entries[i].key.tag == TAG_DELETED:
            continue
        item = tuple_new(spec, 2)
        copy_value(&item.items[0], &x.entries[i].key)
        copy_value(&item.items[1], &x.entries[i].value)
        result.items[result.size].tag = TAG_NONE
        set_object(&result.items[result.size], item)
        result.size += 1
    set_object(&r[at[1]], result)
    return 0


# ---------------------------------------------------------------- the table

cdef list list_rows():
    """Operators on lists of every type."""
    return [
        row("aten::len.t(t[] a) -> int", len_list),
        row("aten::__getitem__.t(t[](a) list, int idx) -> t(*)", get_item),
        row("aten::select.t(t[](a) list, int idx) -> t(*)", get_item),
        row("aten::_set_item.t(t[](a!) l, int idx, t(b -> *) el) -> t[](a!)", set_item),
        row("aten::Delete.t(t[](a!) self, int idx) -> ()", delete_item),
        row("aten::append.t(t[](a!) self, t(c -> *) el) -> t[](a!)", append),
        row("aten::insert.t(t[](a!) self, int idx, t(b -> *) el) -> ()", insert),
        row("aten::extend.t(t[](a!) self, t[] other) -> ()", extend),
        row("aten::pop.t(t[](a!) self, int idx=-1) -> t(*)", pop_item),
        row("aten::clear.t(t[](a!) self) -> ()", clear_list),
        row("aten::reverse.t(t[](a!) self) -> ()", reverse),
        row("aten::copy.t(t[](a) self) -> t[]", copy_list),
        row("aten::list(str t) -> str[]", characters),
        row("aten::list.t(t[] l) -> t[]", copy_list),
        row("aten::slice.t(t[] l, int? start=None, int? end=None, int step=1) -> t[]", slice_list),
        row("aten::add.t(t[] a, t[] b) -> t[]", concatenate),
        row("aten::add_.t(t[](a!) self, t[] b) -> t[]", extend_and_return),
        row("aten::mul.left_t(t[] l, int n) -> t[]", repeat_left),
        row("aten::mul.right_(int n, t[] l) -> t[]", repeat_right),
        row("aten::mul_.t(t[](a!) l, int n) -> t[](a!)", repeat_in_place),
        row("aten::Size(int[] sizes) -> int[]", copy_list),
        row("prim::rangelist(int n) -> int[]", range_list),
        row("aten::sum.int(int[] self) -> int", sum_ints),
        row("aten::sum.float(float[] self) -> float", sum_floats),
        row("aten::sum.complex(complex[] self) -> complex", sum_complex),
        row("aten::sum.bool(bool[] self) -> int", sum_ints),
        row("aten::__contains__.int_list(int[] l, int item) -> bool", contains),
        row("aten::__contains__.str_list(str[] l, str item) -> bool", contains),
        row("aten::any.str(str[] self) -> bool", any_true),
    ]


cdef list element_rows(str t):
    """Operators that have an overload for each element type that can be compared."""
    rows = [
        row(f"aten::index.list_{t}({t}[] self, {t} el) -> int", index),
        row(f"aten::count.{t}({t}[] self, {t} el) -> int", count),
        row(f"aten::remove.{t}({t}[](a!) self, {t} el) -> ()", remove),
        row(f"aten::eq.{t}_list({t}[] a, {t}[] b) -> bool", equal),
        row(f"aten::ne.{t}_list({t}[] a, {t}[] b) -> bool", not_equal),
        row(f"aten::sort.{t}({t}[](a!) self, bool reverse=False) -> ()", sort),
        row(f"aten::sorted.{t}({t}[](a) input) -> {t}[]", sorted_list),
    ]
    if t != "str":
        rows += [
            row(f"aten::all.{t}({t}[] self) -> bool", all_true),
            row(f"aten::any.{t}({t}[] self) -> bool", any_true),
            row(f"prim::min.{t}_list({t}[] l, {t}[] r) -> {t}[]", min_list),
            row(f"prim::min.self_{t}({t}[] self) -> {t}", min_item),
            row(f"prim::max.{t}_list({t}[] l, {t}[] r) -> {t}[]", max_list),
            row(f"prim::max.self_{t}({t}[] self) -> {t}", max_item),
        ]
    return rows


cdef list dict_rows(str k):
    """Operators on dicts with keys of type `k`."""
    return [
        row(f"aten::len.Dict_{k}(Dict({k}, t) self) -> int", len_dict),
        row(f"aten::__getitem__.Dict_{k}(Dict({k}, t) self, {k} key) -> t(*)", dict_item),
        row(f"aten::_set_item.{k}(Dict({k}, t)(a!) l, {k}(b -> *) idx, t(c -> *) v) -> ()", set_dict_item),
        row(f"aten::__contains__.{k}(Dict({k}, t) dict, {k} key) -> bool", has_key),
        row(f"aten::get.{k}(Dict({k}, t) self, {k} key) -> t(*)?", get),
        row(f"aten::get.default_{k}(Dict({k}, t) self, {k} key, t default_value) -> t(*)", get_or_default),
        row(f"aten::setdefault.{k}(Dict({k}, t)(a!) self, {k}(b -> *) key, t(c -> *) default_value) -> t(*)", set_default),
        row(f"aten::Delete.Dict_{k}(Dict({k}, t)(a!) self, {k} key) -> ()", delete_key),
        row(f"aten::pop.Dict_{k}(Dict({k}, t)(a!) self, {k} key) -> t(*)", pop_key),
        row(f"aten::pop.Dict_default_{k}(Dict({k}, t)(a!) self, {k} key, t default_value) -> t(*)", pop_key_or_default),
        row(f"aten::popitem.{k}(Dict({k}, t)(a!) self) -> (({k}, t))", pop_entry),
        row(f"aten::clear.{k}(Dict({k}, t)(a!) self) -> ()", clear),
        row(f"aten::update.{k}(Dict({k}, t)(a!) self, Dict({k}, t)(a!) to_add) -> ()", update),
        row(f"aten::copy.Dict_{k}(Dict({k}, t)(a) self) -> Dict({k}, t)", copy_dict),
        row(f"aten::dict.{k}(({k}, tVal)[] inputs) -> Dict({k}, tVal)", dict_from_items),
        row(f"aten::dict.Dict_{k}(Dict({k}, t)(a) self) -> Dict({k}, t)", copy_dict),
        row(f"aten::keys.{k}(Dict({k}, t) self) -> {k}[](*)", keys),
        row(f"aten::values.{k}(Dict({k}, t) self) -> t[](*)", values),
        row(f"aten::items.{k}(Dict({k}, t) self) -> (({k}, t)[])", items),
    ]


def operators():
    """The operators of this file."""
    rows = list_rows()
    rows.append(row("aten::dict() -> Dict(str, Tensor)", empty_dict))
    for t in ("int", "float", "bool", "str"):
        rows += element_rows(t)
    for k in ("str", "int", "bool", "float", "complex", "Tensor"):
        rows += dict_rows(k)
    return rows + [
        row("aten::sort.any(t[](a!) self, bool reverse=False) -> ()", sort),
        row("aten::sorted.any(t[](a) self) -> t[]", sorted_list),
        row("aten::len.any(Any[] a) -> int", len_list),
        row("aten::__contains__.float_list(float[] l, float item) -> bool", contains),
    ]
