"""Containers of scripts, which own C arrays of IValues, with accessors by borrowed references.

This module exports `lists`, `dicts` and `objects` for cimport. The containers and their memory are:

    List    items -> [ IValue | IValue | IValue | spare ... ]     size, capacity (unboxed: `lists.pxd`)
    Tuple   items -> [ IValue | IValue ]  in the object up to four   size
    Dict    index -> [ -1 | 0 | -1 | 2 | -2 | 1 ... ]   open addressing: entry number, -1 empty, -2 deleted
            entries -> [ check key value | check key value | ... ]       in insertion order
    Object  slots -> [ IValue | IValue ]                                 attributes of a scripted class

A container owns its IValues. Inline accessors take a borrowed `PyObject *`. The caller holds the GIL, and
guarantees the class of the object. Accessors that return `IValue *` return a borrowed address. For a missing
element, they return NULL, and the caller raises the error by a `raise_` function.

Threads share containers. Another thread can run during any operation that may run Python code:

    releasing a reference
    comparing, hashing or printing a value that is neither a number nor a string
    creating an object that the garbage collector tracks, because a collection may call finalizers

Therefore, code that uses containers must follow these rules:

    an address of an element is valid only until such an operation: copy and retain values for longer use
    remove an element from its container first, and release it when the container is consistent (`copy_value`)
    a loop over a container reads its size and its memory again in each iteration
    assign related fields (an array and its dtype) without such an operation in between
    hold a reference to the old values of these fields during the assignment

Registers belong to one program on one thread. The address of a register is valid as long as its frame.
"""

from ts._core.value.dicts cimport (
    Dict,
    DictEntry,
    TAG_DELETED,
    dict_clear,
    dict_contains,
    dict_find,
    dict_get_item,
    dict_new,
    dict_slot,
    dict_pop,
    dict_recent,
    dict_search,
    dict_set,
    dict_size,
    raise_key_error,
)
from ts._core.value.lists cimport (
    INLINE_ITEMS,
    List,
    Tuple,
    list_append,
    list_clear_items,
    list_fill,
    list_get_item,
    list_grow,
    list_index,
    list_item,
    list_new,
    list_number,
    list_slot,
    list_remove_at,
    list_replace,
    list_reverse,
    list_set_item,
    list_size,
    list_slice,
    list_store,
    list_store_number,
    raise_list_index,
    tuple_at,
    tuple_new,
)
from ts._core.value.objects cimport Object, ObjectClass, object_new, object_slot
from ts._core.value.values cimport compare_values, float_text, type_text, value_text, values_equal
