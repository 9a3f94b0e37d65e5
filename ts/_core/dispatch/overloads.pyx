"""Calls of operators by name from Python, with PyTorch's overload resolution.

Input: Python arguments. Output: the result of the first overload in the registry that accepts the arguments.
Examples of calls:

    add = OverloadSet("aten::add")
    add(x, y), add(x, 2, alpha=3), add(input=x, other=y, out=z)
    x.view(2, 3)                 positional ints are collected for the int[] parameter
    add(x, "a")                  TypeError: add(): argument 'other' (position 2) must be Tensor, not str

The same object is the function `ts.add` and, as a descriptor, the method `x.add`.
"""

cimport cython
from cpython.object cimport PyObject

from ts import devices, dtypes
from ts._core.dispatch.binding cimport (
    FAILED,
    FLOAT,
    SCALAR,
    TENSOR,
    TENSOR_LIST,
    UNSURE,
    Binder,
    Slot,
    as_python,
    bind,
    binder_of,
    call_directly,
    is_int,
    lacks_keyword,
)
from ts._core.dispatch.operator cimport Operator
from ts._core.dispatch.overrides cimport any_overrides
from ts._core.late_binding import resolve
from ts._core.tensor.tensor cimport Tensor
from ts._core.thread.context cimport overriding, watched, watcher
from ts._core.thread.internal_frames cimport without_internal_frames

from ts._core.dispatch.overrides import call_overridden, overriding_arguments
from ts._core.tensor.array_coercion import conversion
from ts._core.tensor.type_names import type_text
from ts._core.thread.warnings import warn_once

cdef extern from "Python.h":
    object PyMethod_New(object function, object instance)
    PyObject **PySequence_Fast_ITEMS(object x) noexcept
    Py_ssize_t PyVectorcall_NARGS(size_t count) noexcept
    Py_ssize_t PyTuple_GET_SIZE(PyObject *x) noexcept
    PyObject *PyTuple_GET_ITEM(PyObject *x, Py_ssize_t i) noexcept
    ctypedef struct PyTypeObject:
        Py_ssize_t tp_vectorcall_offset
        unsigned long tp_flags
    unsigned long Py_TPFLAGS_HAVE_VECTORCALL
    unsigned long Py_TPFLAGS_METHOD_DESCRIPTOR
    void PyType_Modified(type t)


# parameter name that PyTorch also accepts -> parameter name in schemas
_ALIASES = {
    "input": "self", "axis": "dim", "keepdims": "keepdim", "x": "self", "x2": "other", "x1": "self",
    "tensor": "self", "split_size_or_sections": "split_size",  # parameter of `split` in Python
}


@cython.final
cdef class OverloadSet:
    """All overloads of an operator as one Python callable, or only the given overloads."""
    cdef readonly str name             # qualified name, such as "aten::add"
    cdef readonly str __name__
    cdef tuple only                    # the given overloads, or None for all overloads in the registry
    cdef list binders                  # overloads in the order of overload resolution
    cdef bint has_out_variants         # True if `binders` includes the `out=` variants
    cdef bint any_numbers
    cdef set names                     # parameter names that any overload has, except `out`
    cdef void *vectorcall              # address of `call`, for the vectorcall protocol

    def __cinit__(self, str name not None, tuple overloads=None):
        self.name = name
        self.only = overloads
        self.__name__ = name.rpartition("::")[2]
        self.vectorcall = <void *>call

    @property
    def __doc__(self):
        return resolve("operator_documentation")(self.name, self.operators())

    def operators(self):
        """Return the overloads in the order of overload resolution."""
        self.load_out_variants()
        return [(<Binder>b).op for b in self.binders]

    def __repr__(self):
        return f"<operator {self.name}: {len(self.operators())} overloads>"

    def __reduce__(self):
        from ts._core.dispatch.overloads import overloads
        return overloads, (self.name,)

    def __get__(self, instance, owner):
        return self if instance is None else PyMethod_New(self, instance)

    def __call__(self, *args, **kwargs):
        return self.run(args, kwargs)

    cdef object run(self, tuple args, dict kwargs):
        """Run the first overload that accepts the arguments, with the arguments as Python values."""
        cdef Binder b
        cdef list values
        if watched():
            return watcher().operator(self, args, kwargs)
        if self.binders is None:
            self.load()
        if kwargs:
            # The schemas of factories lack the parameter `requires_grad`, so this option is applied to the
            # result.
            if kwargs.get("requires_grad") is True and "requires_grad" not in self.names:
                return self.run(args, {k: v for k, v in kwargs.items() if k != "requires_grad"})._marked(True)
            if not self.has_out_variants and self.has_unknown_name(kwargs):
                self.load_out_variants()
            kwargs = self.renamed(kwargs)
            if "out" in kwargs and not self.names.isdisjoint(_OPTIONS):
                kwargs = suited_to_output(kwargs, self.binders)
        for b in self.binders:
            values = bind(b, args, kwargs, False, None)
            if values is not None:
                return as_python(b, b.op.call_list(values))
        if self.any_numbers:
            for b in self.binders:
                values = bind(b, args, kwargs, True, None)
                if values is not None:
                    return as_python(b, b.op.call_list(convert_first_number(values)))
        if not self.has_out_variants:
            self.load_out_variants()
            return self.run(args, kwargs)
        factors = by_name(self.binders, args, kwargs)
        if factors is not None:
            return self.run(factors[0], factors[1])
        overriding = overriding_arguments([*args, *kwargs.values()])
        if overriding:
            return call_overridden(self, overriding, args, kwargs or None)
        raise self.error(args, kwargs)

    def resolve(self, tuple args not None, dict kwargs not None):
        """Return (overload for the call, converted arguments, original arguments)."""
        cdef Binder b
        cdef list values
        self.load_out_variants()
        kwargs = self.renamed(kwargs)
        for numbers in range(2 if self.any_numbers else 1):
            for b in self.binders:
                values = bind(b, args, kwargs, numbers == 1, None)
                if values is not None:
                    return b.op, convert_first_number(values) if numbers else values, unconverted_arguments(b, args, kwargs, values)
        raise self.error(args, kwargs)

    def for_python(self, Operator op not None, result):
        """Convert a result of overload `op` for Python (lists to tuples, dtype codes to dtype objects)."""
        cdef Binder b
        for b in self.binders:
            if b.op is op:
                return as_python(b, result)
        return result

    cdef bint knows(self, PyObject *names):
        """Return whether every name in `names` is a parameter of some overload."""
        cdef Py_ssize_t i
        if names != NULL:
            for i in range(PyTuple_GET_SIZE(names)):
                if <object>PyTuple_GET_ITEM(names, i) not in self.names:
                    return False
        return True

    cdef bint has_unknown_name(self, dict kwargs) except -1:
        """Return whether no overload in `binders` has one of the keyword arguments."""
        return any([name not in self.names and _ALIASES.get(name) not in self.names for name in kwargs])

    def load(self):
        """Look up the overloads except the `out=` variants, unless this was done before.

        An `out=` variant has a required keyword argument. Most programs never call it, so `load_out_variants` looks it
        up at the first call with an unknown keyword argument.
        """
        if self.binders is None:
            self.read_overloads(self.only or resolve("operators_for_python")(self.name))

    cdef int load_out_variants(self) except -1:
        """Look up all overloads, unless this was done before."""
        if not self.has_out_variants:
            self.read_overloads(self.only or resolve("operator_overloads")(self.name))
            self.has_out_variants = True
        return 0

    cdef int read_overloads(self, operators) except -1:
        """Set the binders. If any overload has an operator record, ignore overloads without one."""
        if not operators:
            raise AttributeError(f"unknown operator {self.name}")
        chosen = [op for op in operators if op.record is not None] or list(operators)
        # The sort is stable: overloads with equal numbers of Scalar parameters keep their order in the
        # registry.
        binders = sorted([binder_of(op) for op in chosen], key=count_of_scalars)
        binders = [b for b in binders if not is_scripts_only(b)] or binders
        self.any_numbers = any([(<Binder>b).numbers for b in binders])
        self.names = {(<Slot>s).name for b in binders for s in (<Binder>b).slots} - {"out"}
        self.binders = binders
        return 0

    def renamed(self, dict kwargs not None):
        """Return the keyword arguments under the parameter names of the schemas.

        `out=None` is removed, and a tuple of outputs is replaced by one argument for each output.
        """
        cdef dict result = {}
        cdef Slot slot
        cdef Binder b
        names = {(<Slot>s).name for b in self.binders for s in b.slots}
        for name, value in kwargs.items():
            if name == "out":
                if value is None:
                    continue
                if isinstance(value, (tuple, list)) and not self.takes_list_of_outputs():
                    for b in self.binders:
                        outputs = [(<Slot>s).name for s in b.slots if (<Slot>s).written and (<Slot>s).keyword_only]
                        if len(outputs) == len(value):
                            result.update(zip(outputs, value))
                            break
                    continue
            result[name if name in names else _ALIASES.get(name, name)] = value
        result.pop("requires_grad", None) if "requires_grad" not in names else None
        return result

    cdef bint takes_list_of_outputs(self) except -1:
        """Return whether the parameter `out` of an overload is a list of tensors."""
        cdef Binder b
        return any([(<Slot>s).name == "out" and (<Slot>s).kind == TENSOR_LIST for b in self.binders for s in b.slots])

    def error(self, tuple args, dict kwargs):
        """Return the TypeError for a call that no overload accepts."""
        cdef Binder b
        cdef list why
        candidates = [b for b in self.binders if not any([(<Slot>s).written and (<Slot>s).keyword_only for s in b.slots])]
        for b in candidates:  # Prefer the message of the first overload that accepts the first item of a list but rejects a later item.
            why = []
            bind(b, args, kwargs, False, why)
            if why and "failed to unpack the object" in why[0]:
                return TypeError(f"{self.__name__}(): {why[0]}{of_others(args, kwargs)}")
        tensors_only = [b for b in candidates if b.op.overload != "Scalar"] or candidates
        if len(tensors_only) == 1 and tensors_only[0] is not None:
            why = []
            bind(tensors_only[0], args, kwargs, False, why)
            if why and not why[0].startswith("missing"):
                if why[0].startswith("expected"):
                    return TypeError(why[0])
                joint = ": " if why[0].startswith("argument") else " "
                return TypeError(f"{self.__name__}(){joint}{why[0]}{of_others(args, kwargs)}")
        argument_types = ", ".join([type_text(x) for x in args] + [f"{k}={type_text(v)}" for k, v in kwargs.items()])
        lines = [f" * ({', '.join([describe_slot(s) for s in b.slots])})" for b in candidates]
        if len(lines) == 1:
            return TypeError(
                f"{self.__name__}() received an invalid combination of arguments - got ({argument_types}), "
                f"but expected {lines[0][3:]}{of_others(args, kwargs)}"
            )
        listed = "\n".join(lines)
        return TypeError(
            f"{self.__name__}() received an invalid combination of arguments - got ({argument_types}), "
            f"but expected one of:\n{listed}{of_others(args, kwargs) or chr(10)}"
        )


cdef str of_others(tuple args, dict kwargs):
    """Return a hint for the error message if an argument is an array of another library, else ""."""
    for x in (*args, *(kwargs or {}).values()):
        hint = conversion(x, "Tensor")
        if hint:
            cls = type(x)
            return f"\n(of {cls.__module__}.{cls.__qualname__} x, {hint})"
    return ""


cdef frozenset _OPTIONS = frozenset(("dtype", "layout", "device", "pin_memory"))


cdef dict suited_to_output(dict kwargs, list binders):
    """Return `kwargs` without factory options (dtype, device, ...) that the `out=` overload does not accept.

    Raise RuntimeError if the dtype or device of `out` differs from the option.
    """
    cdef Binder b
    out, dtype, device = kwargs["out"], kwargs.get("dtype"), kwargs.get("device")
    if not isinstance(out, Tensor):
        return kwargs
    if dtype is not None and dtypes.as_dtype(dtype) is not out.dtype:
        raise RuntimeError(
            f"dtype {dtypes.as_dtype(dtype).type_name} does not match dtype of out parameter ({out.dtype.type_name})"
        )
    if device is not None and devices.as_device(device).type != out.device.type:
        raise RuntimeError(
            f"device type {devices.as_device(device).type} does not match device type of out parameter "
            f"({out.device.type})"
        )
    forms = [{(<Slot>s).name for s in b.slots} for b in binders]
    accepted_names = {name for names in forms if "out" in names for name in names}
    return {name: value for name, value in kwargs.items() if name not in _OPTIONS or name in accepted_names}


cdef tuple by_name(list binders, tuple args, dict kwargs):
    """Convert deprecated positional scale factors to keyword arguments, and return (args, kwargs).

    add(x, 2, y) becomes add(x, y, alpha=2), and addmm(3, x, 2, a, b) becomes addmm(x, a, b, beta=3, alpha=2).
    Return None if the arguments have no such factors.
    """
    cdef Binder b
    numbers = [x for x in args if isinstance(x, (int, float, complex))]
    tensors = tuple([x for x in args if isinstance(x, Tensor)])
    if not numbers or len(numbers) + len(tensors) < len(args) or isinstance(args[len(args) - 1], (int, float, complex)):
        return None
    for b in binders:
        if any([(<Slot>s).kind != TENSOR for s in b.slots[:b.positional]]) or b.positional != len(tensors):
            continue
        names = [(<Slot>s).name for s in b.slots[b.positional:] if (<Slot>s).kind == SCALAR]
        if len(numbers) <= len(names) and not set(names) & set(kwargs or ()):
            warn_of_deprecation(b.op.name)
            return tensors, {**(kwargs or {}), **dict(zip(names, numbers))}
    return None


cdef int warn_of_deprecation(str name) except -1:
    warn_once("overload", f"This overload of {name[6:]} is deprecated:\n\tgive its factors by name")
    return 0


cdef bint is_scripts_only(Binder b) except -1:
    """Return whether `b` is an `out=` overload with a required number parameter. Only scripts can call it.

    In calls from Python, a tensor is passed in place of the number, so another overload is called.
    """
    if not b.numbers or b.op.record.variant != "out":
        return False
    return any([(<Slot>s).kind == SCALAR and not (<Slot>s).has_default for s in b.slots])


cdef object call_vector(OverloadSet self, PyObject *const *args, size_t count, PyObject *names):
    """Call the operator by the vectorcall protocol. A C kernel is called directly if possible."""
    cdef Py_ssize_t nargs = PyVectorcall_NARGS(count), i
    cdef Binder b
    cdef object result
    cdef dict kwargs
    if self.binders is None:
        self.load()
    cdef bint others = overriding and any_overrides(args, nargs + (0 if names == NULL else PyTuple_GET_SIZE(names)))
    if not others and not watched() and self.knows(names):
        for b in self.binders:
            if not b.direct:
                if nargs > b.positional and b.int_list_at < 0 or lacks_keyword(b, args, nargs, names):
                    continue
                break
            result = call_directly(b, args, nargs, names)
            if result is UNSURE:
                break
            if result is not FAILED:
                return result
    kwargs = {}
    if names != NULL:
        for i in range(PyTuple_GET_SIZE(names)):
            kwargs[<object>PyTuple_GET_ITEM(names, i)] = <object>args[nargs + i]
    values = tuple([<object>args[i] for i in range(nargs)])
    if others and not watched():
        return call_overridden(self, overriding_arguments([*values, *kwargs.values()]), values, kwargs or None)
    return self.run(values, kwargs)


ctypedef PyObject *(*VectorCall)(OverloadSet, PyObject *const *, size_t, PyObject *) noexcept


cdef PyObject *call(OverloadSet self, PyObject *const *args, size_t count, PyObject *names) noexcept:
    return without_internal_frames((<VectorCall>call_vector)(self, args, count, names))


def _install_vectorcall():
    """Enable the vectorcall and method-descriptor protocols for OverloadSet."""
    cdef OverloadSet probe = OverloadSet("")
    cdef PyTypeObject *cls = <PyTypeObject *>OverloadSet
    cls.tp_vectorcall_offset = <char *>&probe.vectorcall - <char *><void *>probe
    cls.tp_flags |= Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_METHOD_DESCRIPTOR
    PyType_Modified(OverloadSet)


_install_vectorcall()


def count_of_scalars(Binder b not None):
    """Return the number of scalar parameters of an overload.

    Overloads with fewer scalar parameters are tried first.
    """
    cdef Slot slot
    count = 0
    for slot in b.slots:
        count += slot.kind == FLOAT or slot.kind == SCALAR and not slot.keyword_only
    return count


cdef str describe_slot(Slot slot):
    name = "input" if slot.name == "self" else slot.name
    return f"{slot.type_name} {name}" + (f" = {slot.default}" if slot.has_default else "")


cdef list unconverted_arguments(Binder b, tuple args, dict kwargs, list values):
    """Return the arguments without conversions, one per parameter.

    For an argument that the caller did not pass, the default is taken from `values`.
    """
    cdef Py_ssize_t nargs = len(args)
    if nargs > b.positional or (b.int_list_at >= 0 and nargs == b.positional and is_int(args[nargs - 1])):
        args = args[:b.int_list_at] + (args[b.int_list_at:],)
        nargs = len(args)
    return [
        args[i] if i < nargs else kwargs.get((<Slot>b.slots[i]).name, values[i]) for i in range(len(b.slots))
    ]


cdef list convert_first_number(list values):
    """Return `values` with the first value converted to a tensor, unless `values` contains a tensor."""
    for x in values:
        if isinstance(x, Tensor):
            return values
    from ts._core.tensor import factories
    return [factories.tensor(values[0]), *values[1:]]


# ---------------------------------------------------------------- overload sets by name

cdef dict _sets = {}


def overloads(str name not None):
    """Return the callable of an operator name, with or without `aten::`, or raise AttributeError if it is
    unknown.
    """
    if "::" not in name:
        name = f"aten::{name}"
    result = _sets.get(name)
    if result is None:
        result = OverloadSet(name)
        result.load()
        result = _sets.setdefault(name, result)
    return result
