"""Operators on dicts: lookup, mutation, and the lists of keys, values and items.

One kernel implements the overloads of all key types. Scripts iterate over the list returned by `keys`, so a
loop may change its dict. For example, the kernel `dict_item` implements this schema:

    aten::__getitem__.Dict_str(Dict(str, t) self, str key) -> t(*)
"""

from cpython.ref cimport PyObject
from libc.stdint cimport int32_t

from ts._core.value.container cimport (
    Dict,
    List,
    TAG_DELETED,
    Tuple,
    dict_clear,
    dict_find,
    dict_get_item,
    dict_new,
    dict_slot,
    dict_pop,
    dict_set,
    list_append,
    list_item,
    list_new,
    raise_key_error,
    tuple_new,
)
from ts._core.dispatch.operator cimport Operator
from ts._core.value.ivalue cimport ANY_SPEC, KIND_DICT, STR_SPEC, TENSOR_SPEC, TypeSpec, list_spec, tuple_spec
from ts._core.builtin_ops.op_table cimport define
from ts._core.value.tagged cimport (
    IValue,
    TAG_NONE,
    copy_value,
    release,
    retain,
    set_bool,
    set_int,
    set_none,
    set_object,
)


cdef inline List list_of(IValue *x):
    return <List>x.v.o


cdef inline Dict dict_of(IValue *x):
    return <Dict>x.v.o


cdef TypeSpec child_spec(TypeSpec spec, Py_ssize_t i):
    """Return element type number `i` of the container type `spec`, or Any if `spec` is None (unknown)."""
    return ANY_SPEC if spec is None else <TypeSpec>spec.children[i]


# ---------------------------------------------------------------- entries

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
    cdef IValue *slot = dict_find(r[at[0]].v.o, &r[at[1]])
    if slot == NULL:
        set_none(&r[at[2]])
    else:
        copy_value(&r[at[2]], slot)
    return 0


cdef int get_or_default(Operator op, IValue *r, const int32_t *at) except -1:
    cdef IValue *slot = dict_find(r[at[0]].v.o, &r[at[1]])
    copy_value(&r[at[3]], slot if slot != NULL else &r[at[2]])
    return 0


cdef int set_default(Operator op, IValue *r, const int32_t *at) except -1:
    cdef bint is_new
    cdef IValue *slot = dict_slot(r[at[0]].v.o, &r[at[1]], &is_new)
    if is_new:
        copy_value(slot, &r[at[2]])
    copy_value(&r[at[3]], slot)
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
    """Remove the oldest entry and return it, as PyTorch's popitem does.

    Python's popitem removes the newest entry.
    """
    cdef Dict x = dict_of(&r[at[0]])
    cdef Tuple result
    cdef IValue value
    cdef Py_ssize_t i = 0
    result = tuple_new(item_spec(x), 2)
    if x.size == 0:
        raise RuntimeError("popitem(): dictionary is empty")
    while x.entries[i].key.tag == TAG_DELETED:
        i += 1
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
    cdef Py_ssize_t i = 0
    if x is other:
        return 0
    # Read `used` again for each entry. Storing an entry releases the replaced value, which can run Python
    # code that adds or removes entries of `other`.
    while i < other.used:
        if other.entries[i].key.tag != TAG_DELETED:
            dict_set(<PyObject *>x, &other.entries[i].key, &other.entries[i].value)
        i += 1
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
    cdef Py_ssize_t i = 0
    if len(spec.children) == 2:
        key, value = spec.children
        spec = TypeSpec(KIND_DICT, (key, value), f"Dict[{key.annotation_str}, {value.annotation_str}]")
    else:
        spec = None
    result = dict_new(spec, items.size)
    while i < items.size:
        item = <Tuple>list_item(<PyObject *>items, i).v.o
        dict_set(<PyObject *>result, &item.items[0], &item.items[1])
        i += 1
    set_object(&r[at[1]], result)
    return 0


cdef int empty_dict(Operator op, IValue *r, const int32_t *at) except -1:
    set_object(&r[at[0]], dict_new(TypeSpec(KIND_DICT, (STR_SPEC, TENSOR_SPEC), "Dict[str, Tensor]"), 0))
    return 0


# ---------------------------------------------------------------- lists of entries

cdef TypeSpec item_spec(Dict x):
    """Return the TypeSpec of the (key, value) tuples of `x`, which is cached in the TypeSpec of the dict."""
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
    cdef Tuple item = tuple_new(spec, 2)
    cdef IValue boxed
    cdef Py_ssize_t i = 0
    boxed.tag = TAG_NONE
    while i < x.used:
        if x.entries[i].key.tag != TAG_DELETED:
            copy_value(&item.items[0], &x.entries[i].key)
            copy_value(&item.items[1], &x.entries[i].value)
            set_object(&boxed, item)
            list_append(<PyObject *>result, &boxed)
            item = tuple_new(spec, 2)  # This may run the garbage collector, and so finalizers, which may change x.
        i += 1
    release(&boxed)
    set_object(&r[at[1]], result)
    return 0


# ---------------------------------------------------------------- operator table

cdef list dict_operators(str k):
    """Return the operators on dicts with keys of type `k`."""
    return [
        define(f"aten::len.Dict_{k}(Dict({k}, t) self) -> int", len_dict),
        define(f"aten::__getitem__.Dict_{k}(Dict({k}, t) self, {k} key) -> t(*)", dict_item),
        define(f"aten::_set_item.{k}(Dict({k}, t)(a!) l, {k}(b -> *) idx, t(c -> *) v) -> ()", set_dict_item),
        define(f"aten::__contains__.{k}(Dict({k}, t) dict, {k} key) -> bool", has_key),
        define(f"aten::get.{k}(Dict({k}, t) self, {k} key) -> t(*)?", get),
        define(f"aten::get.default_{k}(Dict({k}, t) self, {k} key, t default_value) -> t(*)", get_or_default),
        define(f"aten::setdefault.{k}(Dict({k}, t)(a!) self, {k}(b -> *) key, t(c -> *) default_value) -> t(*)", set_default),
        define(f"aten::Delete.Dict_{k}(Dict({k}, t)(a!) self, {k} key) -> ()", delete_key),
        define(f"aten::pop.Dict_{k}(Dict({k}, t)(a!) self, {k} key) -> t(*)", pop_key),
        define(f"aten::pop.Dict_default_{k}(Dict({k}, t)(a!) self, {k} key, t default_value) -> t(*)", pop_key_or_default),
        define(f"aten::popitem.{k}(Dict({k}, t)(a!) self) -> (({k}, t))", pop_entry),
        define(f"aten::clear.{k}(Dict({k}, t)(a!) self) -> ()", clear),
        define(f"aten::update.{k}(Dict({k}, t)(a!) self, Dict({k}, t)(a!) to_add) -> ()", update),
        define(f"aten::copy.Dict_{k}(Dict({k}, t)(a) self) -> Dict({k}, t)", copy_dict),
        define(f"aten::dict.{k}(({k}, tVal)[] inputs) -> Dict({k}, tVal)", dict_from_items),
        define(f"aten::dict.Dict_{k}(Dict({k}, t)(a) self) -> Dict({k}, t)", copy_dict),
        define(f"aten::keys.{k}(Dict({k}, t) self) -> {k}[](*)", keys),
        define(f"aten::values.{k}(Dict({k}, t) self) -> t[](*)", values),
        define(f"aten::items.{k}(Dict({k}, t) self) -> (({k}, t)[])", items),
    ]


def operators():
    """Return the operators of this module."""
    rows = [define("aten::dict() -> Dict(str, Tensor)", empty_dict)]
    for k in ("str", "int", "bool", "float", "complex", "Tensor"):
        rows += dict_operators(k)
    return rows
