"""Structural equality (deep equality), lexicographic ordering and string conversion of values.

Input: one or two values. Output: the result of the comparison, or the string that `print`, `str()` and
`format` show.
"""

from enum import Enum

from cpython.ref cimport PyObject
from libc.math cimport isnan
from libc.stdint cimport int64_t
from libc.stdio cimport snprintf

from ts._core.late_binding import resolve
from ts._core.thread.allowance cimport TEXT_BYTES, limited, take_text
from ts._core.thread.deadline cimport count_items
from ts._core.value.dicts cimport Dict, TAG_DELETED, dict_find
from ts._core.value.lists cimport List, Tuple, list_item
from ts._core.value.objects cimport Object
from ts._core.value.tagged cimport (
    Py_INCREF,
    Py_LeaveRecursiveCall,
    Py_XDECREF,
    TAG_BOOL,
    TAG_FLOAT,
    TAG_INT,
    TAG_NONE,
    TAG_OBJECT,
    enter_recursion,
    release,
    retain,
)


cdef extern from "Python.h":
    bint PyUnicode_CheckExact(PyObject *o) noexcept nogil
    bint PyComplex_CheckExact(PyObject *o) noexcept nogil
    Py_ssize_t Py_REFCNT(PyObject *o) noexcept
    int PyUnicode_Compare(object a, object b) except? -1


# ---------------------------------------------------------------- comparison

cdef object core_equal(object a, object b):
    """Implement Python's `==` of two core containers."""
    cdef IValue x, y
    if type(a) is not type(b):
        return NotImplemented
    x.tag = y.tag = TAG_OBJECT
    x.v.o = <PyObject *>a
    y.v.o = <PyObject *>b
    return bool(values_equal(&x, &y))


cdef bint lists_equal(List x, List y) except -1:
    cdef Py_ssize_t i = 0
    cdef IValue a, b
    enter_recursion(b" while containers are compared")
    try:
        count_items(x.size)
        while x.size == y.size:
            if i >= x.size:
                return True
            a, b = list_item(<PyObject *>x, i), list_item(<PyObject *>y, i)
            if not values_equal(&a, &b):
                return False
            i += 1
        return False
    finally:
        Py_LeaveRecursiveCall()


cdef bint tuples_equal(Tuple x, Tuple y) except -1:
    cdef Py_ssize_t i
    if x.size != y.size:
        return False
    enter_recursion(b" while containers are compared")
    try:
        count_items(x.size)
        for i in range(x.size):
            if not values_equal(&x.items[i], &y.items[i]):
                return False
        return True
    finally:
        Py_LeaveRecursiveCall()


cdef bint values_equal(IValue *a, IValue *b) except -1:
    if a.tag != TAG_OBJECT or b.tag != TAG_OBJECT:
        if a.tag != b.tag:
            return a.tag == TAG_FLOAT and b.tag == TAG_INT and a.v.f == <double>b.v.i or (
                a.tag == TAG_INT and b.tag == TAG_FLOAT and <double>a.v.i == b.v.f
            )
        if a.tag == TAG_FLOAT:
            return a.v.f == b.v.f
        return a.tag == TAG_NONE or a.v.i == b.v.i
    x, y = <object>a.v.o, <object>b.v.o
    if type(x) is not type(y):
        return False
    if x is y and (type(x) is List or type(x) is Tuple or type(x) is Dict):
        return True  # identical objects are equal, as in Python and PyTorch, even if they contain nan
    if type(x) is List:
        return lists_equal(<List>x, <List>y)
    if type(x) is Tuple:
        return tuples_equal(<Tuple>x, <Tuple>y)
    if type(x) is Dict:
        return dicts_equal(<Dict>x, <Dict>y)
    if PyUnicode_CheckExact(a.v.o) or PyComplex_CheckExact(a.v.o):
        return x == y
    return x is y


cdef bint dicts_equal(Dict x, Dict y) except -1:
    cdef Py_ssize_t i = 0
    cdef IValue *other
    if x.size != y.size:
        return False
    enter_recursion(b" while containers are compared")
    try:
        count_items(x.size)
        while i < x.used:
            if x.entries[i].key.tag != TAG_DELETED:
                other = dict_find(<PyObject *>y, &x.entries[i].key)
                if other == NULL or not values_equal(&x.entries[i].value, other):
                    return False
            i += 1
        return True
    finally:
        Py_LeaveRecursiveCall()


cdef int compare_values(IValue *a, IValue *b) except? -2:
    cdef Py_ssize_t i
    cdef int order
    if a.tag == TAG_FLOAT and b.tag == TAG_FLOAT:
        if isnan(a.v.f) or isnan(b.v.f):
            return <int>isnan(a.v.f) - <int>isnan(b.v.f)
        return (a.v.f > b.v.f) - (a.v.f < b.v.f)
    if a.tag == b.tag and (a.tag == TAG_INT or a.tag == TAG_BOOL):
        return (a.v.i > b.v.i) - (a.v.i < b.v.i)
    if a.tag != TAG_OBJECT or b.tag != TAG_OBJECT:
        return compare_numbers(a, b)
    x, y = <object>a.v.o, <object>b.v.o
    if type(x) is str:
        return PyUnicode_Compare(x, y)
    if type(x) is not type(y):
        raise_different(a, b)
    if type(x) is Tuple:
        return compare_tuples(<Tuple>x, <Tuple>y)
    if type(x) is Object:
        return compare_objects(<Object>x, <Object>y)
    if type(x) in (List, Dict, complex):
        raise TypeError(f"values of type {type_text(a)} cannot be ordered")
    # The operands may be tensors of one element. Their `<` returns a tensor, whose truth value is used here.
    return -1 if x < y else (1 if y < x else 0)


cdef int compare_tuples(Tuple x, Tuple y) except? -2:
    cdef Py_ssize_t i
    cdef int order
    enter_recursion(b" while tuples are compared")
    try:
        count_items(x.size)
        for i in range(min(x.size, y.size)):
            order = compare_values(&x.items[i], &y.items[i])
            if order:
                return order
    finally:
        Py_LeaveRecursiveCall()
    return (x.size > y.size) - (x.size < y.size)


cdef int compare_numbers(IValue *a, IValue *b) except? -2:
    """Compare numbers of different types and return -1, 0 or 1. Raise TypeError for other values."""
    if a.tag == TAG_NONE or b.tag == TAG_NONE or a.tag == TAG_OBJECT or b.tag == TAG_OBJECT:
        raise_different(a, b)
    x = a.v.f if a.tag == TAG_FLOAT else <object>a.v.i
    y = b.v.f if b.tag == TAG_FLOAT else <object>b.v.i
    return (x > y) - (x < y)


cdef int raise_different(IValue *a, IValue *b) except? -2:
    raise TypeError(f"Only values of same type can be compared. Found {type_text(a)} and {type_text(b)}")


cdef enum:
    MAX_TYPE_TEXT_CHARS = 100000


cdef str type_text(IValue *x):
    """Return the type of a value in the syntax of annotations."""
    cdef Py_ssize_t i
    if x.tag != TAG_OBJECT:
        return {TAG_NONE: "NoneType", TAG_INT: "int", TAG_FLOAT: "float"}.get(x.tag, "bool")
    o = <object>x.v.o
    if type(o) is Tuple:
        return tuple_type_text(<Tuple>o)
    if type(o) is Object:
        return (<Object>o).cls.name
    spec = (<List>o).spec if type(o) is List else ((<Dict>o).spec if type(o) is Dict else None)
    return type(o).__name__ if spec is None else spec.annotation_str


cdef str tuple_type_text(Tuple x):
    cdef Py_ssize_t i
    enter_recursion(b" while the type of a tuple is printed")
    try:
        rendered = ""
        for i in range(x.size):
            rendered += (", " if i else "") + type_text(&x.items[i])
            if len(rendered) > MAX_TYPE_TEXT_CHARS:  # shared tuples can make the text exponentially long
                raise RuntimeError("the type of a value is too large to be printed")
        return f"Tuple[{rendered}]"
    finally:
        Py_LeaveRecursiveCall()


def check_object_order(Object x not None):
    """Look up `__lt__` in the class of `x` for `compare_objects`. Raise RuntimeError if it is not defined."""
    if x.cls.less is None:
        x.cls.less = resolve("object_order")(x.cls)


cdef int compare_objects(Object x, Object y) except? -2:
    check_object_order(x)
    if x.cls.less(x, y):
        return -1
    return 1 if x.cls.less(y, x) else 0


# ---------------------------------------------------------------- conversion to strings

cdef str float_text(double x):
    """Format a float like PyTorch, with 17 digits: 0.1 -> "0.10000000000000001", 3.0 -> "3."."""
    cdef char buffer[40]
    if -9223372036854775808.0 <= x < 9223372036854775808.0 and <double>(<int64_t>x) == x:
        return f"{<int64_t>x}."
    if isnan(x):
        return "nan"
    snprintf(buffer, sizeof(buffer), "%.17g", x)
    return buffer.decode("ascii")


cdef str complex_text(object z):
    cdef double imag = z.imag
    sign = "-" if isnan(imag) or imag < 0 else "+"
    return f"{float_text(z.real)}{sign}{float_text(abs(imag))}j"


cdef str core_text(object x):
    cdef IValue value
    value.v.o = <PyObject *>x
    value.tag = TAG_OBJECT
    return value_text(&value)


cdef str list_text(List x):
    cdef Py_ssize_t i = 0
    cdef list texts = []
    cdef IValue value
    enter_recursion(b" while a container is printed")
    try:
        while i < x.size:  # formatting an item may run Python code that shortens x
            value = list_item(<PyObject *>x, i)
            texts.append(text_inside(&value))
            i += 1
        return f"[{join_texts(texts)}]"
    finally:
        Py_LeaveRecursiveCall()


cdef str tuple_text(Tuple x):
    cdef Py_ssize_t i
    enter_recursion(b" while a container is printed")
    try:
        comma = "," if x.size == 1 else ""
        return f"({join_texts([text_inside(&x.items[i]) for i in range(x.size)])}{comma})"
    finally:
        Py_LeaveRecursiveCall()


cdef str join_texts(list texts):
    """Join the texts of items to one text `a, b, c`, and charge its memory to the memory limit.

    Containers that occur several times can make the text very long.
    """
    count_items(len(texts))
    if limited:
        take_text(sum(map(len, texts)) + TEXT_BYTES * (len(texts) + 1))
    return ", ".join(texts)


cdef str value_text(IValue *x):
    cdef PyObject *sizes = NULL
    if limited and x.tag == TAG_OBJECT and type(<object>x.v.o) in (List, Tuple, Dict):
        try:
            take_text(min_text_size(x, &sizes))
        finally:
            Py_XDECREF(sizes)
    return text_inside(x)


cdef Py_ssize_t MAX_TEXT_CHARS = <Py_ssize_t>1 << 60


cdef Py_ssize_t min_text_size(IValue *x, PyObject **sizes) except -1:
    """Return a lower bound of the length of a value's string.

    Shared containers can make a string exponentially long. With the bound, the caller refuses the string
    before it is built. Each container is visited once. `sizes` maps visited containers to their bounds, or is
    NULL.
    """
    cdef object o, sizes_by_id
    cdef Py_ssize_t size
    if x.tag != TAG_OBJECT or type(<object>x.v.o) not in (List, Tuple, Dict):
        return 1
    o = <object>x.v.o
    if Py_REFCNT(<PyObject *>o) <= 2:  # not shared: only the container and the local variable `o` refer to it
        return min_text_size_inside(o, sizes)
    if sizes[0] == NULL:
        sizes_by_id = {}
        Py_INCREF(<PyObject *>sizes_by_id)
        sizes[0] = <PyObject *>sizes_by_id
    sizes_by_id = (<dict>sizes[0]).get(<size_t><PyObject *>o)
    if sizes_by_id is not None:
        return sizes_by_id
    size = min_text_size_inside(o, sizes)
    (<dict>sizes[0])[<size_t><PyObject *>o] = size
    return size


cdef Py_ssize_t min_text_size_inside(object o, PyObject **sizes) except -1:
    cdef Py_ssize_t i = 0, size = 2, n = len(o)
    cdef IValue value
    count_items(n)
    enter_recursion(b" while a container is printed")
    try:
        if type(o) is List:
            while i < (<List>o).size:
                value = list_item(<PyObject *>o, i)
                size = min(size + min_text_size(&value, sizes), MAX_TEXT_CHARS)
                i += 1
        elif type(o) is Tuple:
            for i in range(n):
                size = min(size + min_text_size(&(<Tuple>o).items[i], sizes), MAX_TEXT_CHARS)
        else:
            while i < (<Dict>o).used:
                if (<Dict>o).entries[i].key.tag != TAG_DELETED:
                    size = min(size + min_text_size(&(<Dict>o).entries[i].value, sizes), MAX_TEXT_CHARS)
                i += 1
    finally:
        Py_LeaveRecursiveCall()
    return size


cdef str text_inside(IValue *x):
    if x.tag == TAG_FLOAT:
        return float_text(x.v.f)
    if x.tag == TAG_INT:
        return str(x.v.i)
    if x.tag != TAG_OBJECT:
        return "None" if x.tag == TAG_NONE else ("True" if x.v.i else "False")
    o = <object>x.v.o
    if type(o) is str:
        return o
    if type(o) is List:
        return list_text(<List>o)
    if type(o) is Tuple:
        return tuple_text(<Tuple>o)
    if type(o) is Dict:
        return dict_text(<Dict>o)
    if type(o) is complex:
        return complex_text(o)
    if isinstance(o, Enum):
        return f"Enum<{type(o).__name__}.{o.name}>"
    return resolve("script_text")(o)


cdef str dict_text(Dict d):
    cdef Py_ssize_t i = 0
    cdef list texts = []
    cdef IValue value
    enter_recursion(b" while a container is printed")
    try:
        # checked in each iteration, because formatting a value may run Python code that removes entries
        while i < d.used:
            if d.entries[i].key.tag != TAG_DELETED:
                value = d.entries[i].value
                retain(&value)
                try:
                    key = text_inside(&d.entries[i].key)
                    texts.append(f"{key}: {text_inside(&value)}")
                finally:
                    release(&value)
            i += 1
        return f"{{{join_texts(texts)}}}"
    finally:
        Py_LeaveRecursiveCall()


import ts._core.value.gc_traverse  # noqa: E402, F401 -- the containers are complete: show them to the garbage collector
