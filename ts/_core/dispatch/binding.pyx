"""Argument binding of Python arguments to an operator's parameters, as a list of values or in registers.

Input: a `Binder`, positional and keyword arguments. Output: a list of values, a result, or a mismatch.

`call_directly` accepts tensors, Python numbers, lists and tuples of both, dtypes and defaults. `bind` accepts
all arguments, also NumPy scalars, tensors for numbers, and device names. For x.sum(1), the two functions
give:

    bind             the list [x, [1], False, None]
    call_directly    registers with x, List[1], False and None, and the result of the kernel
"""

import sys

import numpy as np

from cpython.list cimport PyList_GET_ITEM
from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF
from libc.stdint cimport int32_t, int64_t

from ts._core.dispatch.arguments cimport spec_of_text
from ts._core.value.container cimport List, list_new, list_store
from ts._core.dispatch.operator cimport Operator, has_kernel, invoke
from ts._core.value.ivalue cimport (
    IValue,
    TAG_BOOL,
    TAG_FLOAT,
    TAG_INT,
    TAG_NONE,
    TAG_OBJECT,
    TypeSpec,
    box,
    release,
    unbox,
    unbox_shallow,
)
from ts._core.tensor.tensor cimport BACKEND_CPU, Tensor, is_layered
from ts._core.value.no_python_construction cimport seal

from ts import devices, dtypes
from ts._core.dispatch.result_tuples import results_class
from ts._core.tensor.type_names import type_text
from ts._core.tensor.sym_types import SymBool, SymFloat, SymInt, SymNumber
from ts._core.value.int_range import checked_int

cdef extern from "Python.h":
    bint PyLong_CheckExact(object x) noexcept
    bint PyFloat_CheckExact(object x) noexcept
    double PyFloat_AS_DOUBLE(object x) noexcept
    long long PyLong_AsLongLongAndOverflow(object x, int *overflow) except? -1
    Py_ssize_t PyTuple_GET_SIZE(PyObject *x) noexcept
    PyObject *PyTuple_GET_ITEM(PyObject *x, Py_ssize_t i) noexcept
    PyObject **PySequence_Fast_ITEMS(object x) noexcept
    Py_ssize_t PySequence_Fast_GET_SIZE(object x) noexcept

# type in a schema -> (kind of the parameter, name of the type in PyTorch's error messages)
_KINDS = {
    "Tensor": (TENSOR, "Tensor"), "Scalar": (SCALAR, "Number"), "int": (INT, "int"), "float": (FLOAT, "float"),
    "bool": (BOOL, "bool"), "str": (STR, "str"), "int[]": (INT_LIST, "tuple of ints"),
    "float[]": (FLOAT_LIST, "tuple of floats"), "bool[]": (BOOL_LIST, "tuple of bools"),
    "Scalar[]": (SCALAR_LIST, "tuple of Scalars"), "Tensor[]": (TENSOR_LIST, "tuple of Tensors"),
    "Tensor?[]": (OPTIONAL_TENSOR_LIST, "tuple of Tensors"), "ScalarType": (DTYPE, "torch.dtype"),
    "Layout": (LAYOUT, "torch.layout"), "MemoryFormat": (MEMORY_FORMAT, "torch.memory_format"),
    "Device": (DEVICE, "torch.device"), "Generator": (GENERATOR, "torch.Generator"),
    "Storage": (STORAGE, "torch.Storage"),
}
FAILED = object()
UNSURE = object()

_LISTS = {
    INT_LIST: "int[]", FLOAT_LIST: "float[]", BOOL_LIST: "bool[]", SCALAR_LIST: "Scalar[]", TENSOR_LIST: "Tensor[]",
    OPTIONAL_TENSOR_LIST: "Tensor?[]",
}




seal(Slot)
seal(Binder)


cdef Binder binder_of(Operator op):
    cdef Binder b = Binder.__new__(Binder)
    cdef Slot slot
    b.op = op
    b.slots = []
    b.int_list_at = -1
    for p in op.signature.parameters:
        slot = Slot.__new__(Slot)
        slot.name = sys.intern(p.name)
        slot.kind, slot.type_name = _KINDS.get(p.kind, (OTHER, p.kind))
        slot.optional = p.optional
        slot.keyword_only = p.keyword_only
        slot.has_default = p.has_default
        slot.written = p.written
        slot.size = p.size or 0
        slot.default = p.default
        b.slots.append(slot)
        if not p.keyword_only:
            b.positional += 1
        elif b.required is None and not p.has_default and not p.optional:
            b.required = slot.name
    first = 1 if b.positional > 1 and (<Slot>b.slots[0]).kind == TENSOR else 0
    if b.positional == first + 1 and (<Slot>b.slots[first]).kind == INT_LIST:
        b.int_list_at = first
    b.numbers = op.record is not None and op.record.wraps_numbers
    b.gives_dtype = op.schema_text.endswith("-> ScalarType")
    b.direct = op.record is not None and len(b.slots) <= MAX_ARGUMENTS and op.nrets < 3 and has_kernel(op, BACKEND_CPU)
    if b.direct:
        for slot in b.slots:
            prepare_default(slot)
        if op.nrets > 1:
            b.results = results_class(op.name, tuple([r.name for r in op.signature.returns]))
    return b


cdef int prepare_default(Slot slot) except -1:
    """Convert the default of a parameter to an IValue, and store it in `slot.given_none`.

    A default that is a list is never released.
    """
    slot.given_none.tag = TAG_NONE
    if slot.kind in _LISTS:
        slot.spec = spec_of_text(_LISTS[slot.kind])
    if not slot.has_default or slot.default is None:
        return 0
    if slot.spec is not None:
        value = slot.default if isinstance(slot.default, (list, tuple)) else [slot.default] * slot.size
        return unbox(list(value), slot.spec, &slot.given_none)
    return unbox_shallow(slot.default, &slot.given_none)


# ---------------------------------------------------------------- conversion of one argument

cdef bint is_int(object x):
    if isinstance(x, int):
        return not isinstance(x, bool)
    if isinstance(x, SymInt):
        return True
    if isinstance(x, np.integer) or isinstance(x, np.ndarray) and x.ndim == 0 and x.dtype.kind in "iu":
        return True
    return isinstance(x, Tensor) and x.ndim == 0 and 1 <= x.dtype.category <= 1


cdef bint is_number_tensor(object x):
    """Return whether a tensor can stand for a number: it is 0-dim, does not require grad and has no layers."""
    return isinstance(x, Tensor) and x.ndim == 0 and not (<Tensor>x).requires_grad_flag and not is_layered(<Tensor>x)


cdef list sequence(object x, accept):
    """Return the items of a list or tuple if `accept` is true for each item, else None."""
    if not isinstance(x, (list, tuple)):
        return None
    cdef list items = list(x)
    for item in items:
        if not accept(item):
            return None
    return items


def _is_int_item(x):
    """Return whether `x` is a valid first item of an `int[]` argument: an int or a one-element integer tensor."""
    return is_int(x) or isinstance(x, Tensor) and x.dtype.category == 1 and x.numel() == 1


def _is_later_int_item(x):
    """Return whether `x` is a valid item of an `int[]` argument after the first item.

    As in PyTorch, only items after the first may be bools.
    """
    return _is_int_item(x) or isinstance(x, bool)


def _is_real(x):
    return isinstance(x, (int, float, np.number, SymInt, SymFloat)) and not isinstance(x, bool)


def _is_number(x):
    return isinstance(x, (int, float, complex, np.generic, SymNumber))


cdef object as_int(object x):
    return x if isinstance(x, SymInt) else int(x)


def _is_tensor(x):
    return isinstance(x, Tensor)


def _is_optional_tensor(x):
    return x is None or isinstance(x, Tensor)


cdef object checked_scalar(object x):
    """Return the scalar argument `x`. Raise OverflowError for an int that fits in neither int64 nor uint64."""
    return checked_int(x) if isinstance(x, int) else x


cdef object convert(Slot slot, object x, bint numbers):
    """Convert an argument to the type that the kernel expects, or return FAILED if it does not match."""
    cdef Kind kind = slot.kind
    if kind == TENSOR:
        if isinstance(x, Tensor):
            return x
        if numbers and isinstance(x, (int, float, complex)):
            return checked_scalar(x)
        if numbers and isinstance(x, np.generic):
            return x.item()
        if numbers and isinstance(x, SymNumber):
            return x
        return x if x is None and slot.optional else FAILED
    if x is None:
        # None for a list of dimensions selects all dimensions, like the default `[]`.
        if kind == INT_LIST and slot.has_default and slot.default == []:
            return []
        return None if slot.optional else FAILED
    if kind == SCALAR:
        if isinstance(x, (int, float, complex)):
            return checked_scalar(x)
        if isinstance(x, np.generic) or is_number_tensor(x):
            return x.item()
        return x if isinstance(x, SymNumber) else FAILED
    if kind == INT:
        return as_int(x) if is_int(x) else FAILED
    if kind == INT_LIST:
        items = sequence(x, _is_later_int_item)
        if items is not None and (not items or _is_int_item(items[0])):
            return [as_int(item) for item in items]
        return [as_int(x)] * slot.size if slot.size and is_int(x) else FAILED
    if kind == BOOL:
        return bool(x) if isinstance(x, (bool, np.bool_, SymBool)) else FAILED
    if kind == FLOAT:
        if isinstance(x, (SymInt, SymFloat)):
            return x
        is_numeric = isinstance(x, (float, int, np.floating, np.integer)) or is_number_tensor(x)
        return float(x) if is_numeric else FAILED
    if kind == STR:
        return x if isinstance(x, str) else FAILED
    if kind == DTYPE:
        if isinstance(x, dtypes.dtype):
            return x.code
        return dtypes.as_dtype(x).code if x in (int, float, bool, complex) else FAILED
    if kind == TENSOR_LIST:
        items = sequence(x, _is_tensor)
        return FAILED if items is None else items
    if kind == OPTIONAL_TENSOR_LIST:
        items = sequence(x, _is_optional_tensor)
        return FAILED if items is None else items
    if kind == DEVICE:
        return devices.as_device(x) if isinstance(x, (str, devices.device, int)) else FAILED
    if kind == GENERATOR:
        return x if type(x).__name__ == "Generator" else FAILED
    if kind == STORAGE:
        return x if type(x).__name__ in ("UntypedStorage", "TypedStorage") else FAILED
    if kind == LAYOUT:
        return x.code if isinstance(x, dtypes.layout) else FAILED
    if kind == MEMORY_FORMAT:
        return x.code if isinstance(x, dtypes.memory_format) else FAILED
    if kind == FLOAT_LIST:
        items = sequence(x, _is_real)
        return [float(x)] * slot.size if items is None and slot.size and _is_real(x) else (FAILED if items is None else items)
    if kind == SCALAR_LIST:
        items = sequence(x, _is_number)
        return FAILED if items is None else items
    if kind == BOOL_LIST:
        return list(x) if isinstance(x, (list, tuple)) else FAILED
    return x


# ---------------------------------------------------------------- binding of all arguments of a call

cdef list bind(Binder b, tuple args, dict kwargs, bint numbers, list why):
    """Return one value per parameter, or None if the arguments do not match the parameters.

    For a mismatch, PyTorch's error text is appended to `why`, if `why` is a list.
    """
    cdef Py_ssize_t nargs = len(args), i, n = len(b.slots), used = 0
    cdef list values = []
    cdef Slot slot
    cdef str name
    if nargs > b.positional or (b.int_list_at >= 0 and nargs == b.positional and is_int(args[nargs - 1])):
        if b.int_list_at < 0 or nargs <= b.int_list_at or not is_int(args[b.int_list_at]):
            if why is not None:
                why.append(f"takes {b.positional} positional arguments but {nargs} were given")
            return None
        args = args[:b.int_list_at] + (args[b.int_list_at:],)
        nargs = len(args)
    for i in range(n):
        slot = <Slot>b.slots[i]
        if i < nargs:
            x = args[i]
        elif kwargs and slot.name in kwargs:
            x = kwargs[slot.name]
            used += 1
        elif slot.has_default:
            values.append(slot.default)
            continue
        elif slot.optional and slot.keyword_only:
            values.append(None)
            continue
        else:
            if why is not None:
                why.append(f"missing {slot.name}")
            return None
        x = convert(slot, x, numbers)
        if x is FAILED:
            if why is not None:
                value = args[i] if i < nargs else kwargs[slot.name]
                if slot.kind == TENSOR_LIST and isinstance(value, (list, tuple)):
                    at = next(k for k, item in enumerate(value) if not isinstance(item, Tensor))
                    why.append(f"expected Tensor as element {at} in argument {i}, but got {type_text(value[at])}")
                    return None
                actual = f"not {type_text(value)}"
                if slot.kind == INT_LIST and isinstance(value, (list, tuple)) and value:
                    if _is_int_item(value[0]):
                        at = next(k for k, item in enumerate(value) if not _is_later_int_item(item))
                        why.append(
                            f"argument '{slot.name}' failed to unpack the object at pos {at + 1} with error "
                            f'"type must be tuple of ints,but got {type_text(value[at])}"'
                        )
                        return None
                    actual = f"but found element of type {type_text(value[0])} at pos 0"
                position = f" (position {i + 1})" if i < nargs else ""
                argument_name = "input" if slot.name == "self" else slot.name
                why.append(f"argument '{argument_name}'{position} must be {slot.type_name}, {actual}")
            return None
        values.append(x)
    if kwargs and used != len(kwargs):
        if why is not None:
            names = [(<Slot>s).name for s in b.slots[nargs:]]
            why.append(f"got an unexpected keyword argument '{[k for k in kwargs if k not in names][0]}'")
        return None
    return values


cdef object as_python(Binder b, object result):
    """Convert a result for Python: lists become tuples, dtype codes become dtype objects."""
    if type(result) is list:
        return tuple(result)
    if type(result) is int and b.gives_dtype:
        return dtypes.BY_CODE[result]
    return result

# ---------------------------------------------------------------- direct calls through registers

cdef enum UnboxResult:
    NO                                 # the argument does not match
    MAYBE                              # `bind` must decide whether the argument matches
    BORROWED                           # the register has a borrowed reference to the argument
    # The register owns a reference, either to the argument or to a value that was converted from the argument
    OWNED


cdef inline UnboxResult unbox_int(object x, IValue *out) except *:
    cdef int overflow = 0
    out.v.i = PyLong_AsLongLongAndOverflow(x, &overflow)
    out.tag = TAG_INT
    return MAYBE if overflow else BORROWED


cdef UnboxResult unbox_items(Slot slot, List result, PyObject **items, Py_ssize_t n, IValue *out) except *:
    """Unbox `n` items into the List `result`.

    The caller allocates `result`, because an allocation in this function could run code that changes `items`.
    """
    cdef Py_ssize_t i
    cdef IValue item
    cdef object x
    for i in range(n):
        x = <object>items[i]
        if slot.kind == INT_LIST:
            if not PyLong_CheckExact(x) or unbox_int(x, &item) != BORROWED:
                return MAYBE
        elif isinstance(x, Tensor):
            Py_INCREF(x)
            item.v.o = <PyObject *>x
            item.tag = TAG_OBJECT
        elif x is None and slot.kind == OPTIONAL_TENSOR_LIST:
            item.tag = TAG_NONE
        else:
            return MAYBE
        list_store(<PyObject *>result, i, &item)
        result.size = i + 1
    Py_INCREF(result)
    out.v.o = <PyObject *>result
    out.tag = TAG_OBJECT
    return OWNED


cdef UnboxResult unbox_list(Slot slot, object x, IValue *out) except *:
    cdef PyObject *items[8]
    cdef Py_ssize_t i
    cdef List result
    if slot.kind not in (INT_LIST, TENSOR_LIST, OPTIONAL_TENSOR_LIST):
        return MAYBE
    if isinstance(x, (list, tuple)):
        result = list_new(slot.spec, PySequence_Fast_GET_SIZE(x))
        i = min(result.capacity, PySequence_Fast_GET_SIZE(x))
        return unbox_items(slot, result, PySequence_Fast_ITEMS(x), i, out)
    if slot.kind == INT_LIST and PyLong_CheckExact(x) and 0 < slot.size <= 8:
        for i in range(slot.size):
            items[i] = <PyObject *>x
        return unbox_items(slot, list_new(slot.spec, slot.size), items, slot.size, out)
    return NO if isinstance(x, Tensor) and slot.kind != INT_LIST else MAYBE


cdef inline UnboxResult unbox_slot(Slot slot, object x, IValue *out) except *:
    """Write an argument to its register if its type matches the slot."""
    cdef Kind kind = slot.kind
    if isinstance(x, Tensor):
        if kind == TENSOR:
            out.v.o = <PyObject *>x
            out.tag = TAG_OBJECT
            return BORROWED
        return MAYBE
    if x is None:
        out.tag = TAG_NONE
        return BORROWED if slot.optional else MAYBE
    if kind == SCALAR or kind == INT:
        if PyLong_CheckExact(x):
            return unbox_int(x, out)
        if kind == SCALAR and PyFloat_CheckExact(x):
            out.v.f = PyFloat_AS_DOUBLE(x)
            out.tag = TAG_FLOAT
            return BORROWED
        if kind == SCALAR and (x is True or x is False):
            out.v.i = x is True
            out.tag = TAG_BOOL
            return BORROWED
        return MAYBE
    if kind == TENSOR:
        return NO if PyLong_CheckExact(x) or PyFloat_CheckExact(x) or x is True or x is False else MAYBE
    if kind == BOOL:
        out.v.i = x is True
        out.tag = TAG_BOOL
        return BORROWED if x is True or x is False else MAYBE
    if kind == FLOAT:
        if PyFloat_CheckExact(x):
            out.v.f = PyFloat_AS_DOUBLE(x)
        elif PyLong_CheckExact(x) and unbox_int(x, out) == BORROWED:
            out.v.f = <double>out.v.i
        else:
            return MAYBE
        out.tag = TAG_FLOAT
        return BORROWED
    if kind == DTYPE:
        if type(x) is not dtypes.dtype:
            return MAYBE
        out.v.i = x.code
        out.tag = TAG_INT
        return BORROWED
    if kind == STR:
        out.v.o = <PyObject *>x
        out.tag = TAG_OBJECT
        return BORROWED if type(x) is str else MAYBE
    if kind == DEVICE:
        out.v.o = <PyObject *>x
        out.tag = TAG_OBJECT
        return BORROWED if type(x) is devices.device else MAYBE
    if slot.spec is not None:
        return unbox_list(slot, x, out)
    return MAYBE


cdef PyObject *find_keyword(PyObject *const *args, Py_ssize_t nargs, PyObject *names, str name) noexcept:
    """Return the value of the keyword argument `name`, or NULL if the call has no such argument.

    Keyword names are interned strings, so they are compared by address.
    """
    cdef Py_ssize_t i
    for i in range(PyTuple_GET_SIZE(names)):
        if PyTuple_GET_ITEM(names, i) == <PyObject *>name:
            return args[nargs + i]
    return NULL


cdef bint lacks_keyword(Binder b, PyObject *const *args, Py_ssize_t nargs, PyObject *names) noexcept:
    return b.required is not None and (names == NULL or find_keyword(args, nargs, names, b.required) == NULL)


cdef object call_directly(Binder b, PyObject *const *args, Py_ssize_t nargs, PyObject *names):
    cdef IValue r[MAX_ARGUMENTS + 2]
    cdef int32_t at[MAX_ARGUMENTS + 2]
    cdef bint owned[MAX_ARGUMENTS]
    cdef Py_ssize_t i, n = len(b.slots), used = 0, total = n + b.op.nrets, filled = 0, gathered = nargs
    cdef bint in_a_row = False
    cdef PyObject *x
    cdef Slot slot
    cdef UnboxResult status
    cdef object outcome = FAILED
    if nargs > b.positional or (
        b.int_list_at >= 0 and nargs == b.positional and PyLong_CheckExact(<object>args[nargs - 1])
    ):
        if b.int_list_at < 0 or nargs <= b.int_list_at:
            return FAILED
        if not PyLong_CheckExact(<object>args[b.int_list_at]):
            return UNSURE
        gathered = b.int_list_at + 1
        in_a_row = True
    try:
        for i in range(n):
            slot = <Slot>PyList_GET_ITEM(b.slots, i)
            owned[i] = False
            x = NULL
            if i < gathered:
                x = args[i]
            elif names != NULL:
                x = find_keyword(args, nargs, names, slot.name)
                used += x != NULL
            if in_a_row and i == b.int_list_at:
                status = unbox_items(slot, list_new(slot.spec, nargs - i), <PyObject **>args + i, nargs - i, &r[i])
            elif x != NULL:
                status = unbox_slot(slot, <object>x, &r[i])
            elif slot.has_default or (slot.optional and slot.keyword_only):
                r[i] = slot.given_none
                status = BORROWED
            else:
                return FAILED
            if status < BORROWED:
                return FAILED if status == NO else UNSURE
            owned[i] = status == OWNED
            filled = i + 1
        if names != NULL and used != PyTuple_GET_SIZE(names):
            return UNSURE
        for i in range(total):
            at[i] = <int32_t>i
        r[n].tag = r[n + 1].tag = TAG_NONE
        invoke(b.op, r, at)
        if b.op.nrets == 1:
            if r[n].tag == TAG_OBJECT and isinstance(<object>r[n].v.o, Tensor):
                outcome = <object>r[n].v.o
            else:
                outcome = as_python(b, box(&r[n]))
            release(&r[n])
        elif b.op.nrets == 2:
            outcome = b.results((box(&r[n]), box(&r[n + 1])))
            release(&r[n])
            release(&r[n + 1])
        else:
            outcome = None
    finally:
        for i in range(filled):
            if owned[i]:
                release(&r[i])
    return outcome
