"""The containers of scripted programs, over C arrays of IValue: `lists`, `dicts` and `objects` in one place.

    List    items -> [ IValue | IValue | IValue | spare ... ]            size, capacity; numbers: see `lists.pxd`
    Tuple   items -> [ IValue | IValue ]  inside the object up to four   size
    Dict    index -> [ -1 | 0 | -1 | 2 | -2 | 1 ... ]    open addressing, entry numbers
            entries -> [ key value hash | key value hash | ... ]         in insertion order
    Object  slots -> [ IValue | IValue ]                                 attributes of a scripted class

A container owns its IValues.  Inline accessors take a borrowed `PyObject *`, so that the loop passes
a register's payload as it is; the caller has made sure of the class (types are static) and holds the
GIL.  Accessors that return `IValue *` return a borrowed place, valid until the container is next
changed, or NULL when there is no such element; the caller then raises through the `raise_` functions.

Threads share containers, and whatever may run Python code gives the others a turn: to release a reference, to compare, hash
or print what is neither number nor string, to make anything that the garbage collector tracks (a container, a tensor, Python's
lists and tuples: garbage is collected then, and has finalizers).  Therefore

    a place in a container is good until then; what is needed longer is copied, and retained
    what leaves a container is taken out first, and released when the container is whole again (as by `copy_value`)
    who goes through a container asks for its size and its memory again at each step
    two things that belong together (an array and its dtype, a class and its method) are changed with nothing between, while
    what they replace is held

Registers belong to the program, and that to one thread: a place among them is good as long as the frame.
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
    dict_place,
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
    list_place,
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
