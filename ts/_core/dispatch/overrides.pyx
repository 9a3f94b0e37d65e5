"""Function overrides by argument classes, with PyTorch's `__torch_function__` protocol.

Input: a function and the arguments of a call. Output: the first result of a handler that is not
NotImplemented. In this example, operators on a `Logged` print their names:

    class Logged(ts.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            print(func.__name__)
            return super().__torch_function__(func, types, args, kwargs)

    x = ts.ones(2).as_subclass(Logged)
    x + 1                                           # prints "add", and the sum is also a Logged

Classes can override operators, and functions and methods wrapped in `Overridable`. Arguments of classes that
do not derive from `Tensor` are considered only if the arguments match no overload.
"""

from cpython.object cimport PyObject

from ts._core.tensor.tensor cimport Tensor
from ts._core.thread.context cimport AS_TENSORS, MODES, context_flags, watcher
from ts._core.thread.internal_frames cimport without_internal_frames

from ts._core.tensor.tensor_type import _disabled_torch_function_impl
from ts.module_names import is_own, own_name

cdef extern from "Python.h":
    bint PyLong_CheckExact(object x) noexcept
    bint PyFloat_CheckExact(object x) noexcept
    bint PyBool_Check(object x) noexcept
    bint PyUnicode_CheckExact(object x) noexcept
    Py_ssize_t PyVectorcall_NARGS(size_t count) noexcept
    Py_ssize_t PyTuple_GET_SIZE(PyObject *x) noexcept
    PyObject *PyTuple_GET_ITEM(PyObject *x, Py_ssize_t i) noexcept
    object vectorcall "PyVectorcall_Call"(object function, tuple args, dict kwargs)
    object PyObject_Vectorcall(object function, PyObject *const *args, size_t count, PyObject *names)
    object PyMethod_New(object function, object instance)
    ctypedef struct Callable "PyTypeObject":
        Py_ssize_t tp_vectorcall_offset
        unsigned long tp_flags
    unsigned long Py_TPFLAGS_HAVE_VECTORCALL
    unsigned long Py_TPFLAGS_METHOD_DESCRIPTOR
    void PyType_Modified(type t)


# ---------------------------------------------------------------- arguments with overrides

cpdef bint class_overrides(object cls) except -1:
    handler = getattr(cls, "__torch_function__", None)
    return handler is not None and handler is not _disabled_torch_function_impl


cdef inline bint overrides(object x) except -1:
    if type(x) is Tensor or x is None or PyLong_CheckExact(x) or PyFloat_CheckExact(x) or PyBool_Check(x) or PyUnicode_CheckExact(x):
        return False
    return class_overrides(type(x))


cdef bint any_overrides(PyObject *const *args, Py_ssize_t count) except -1:
    cdef Py_ssize_t i, k
    cdef object x
    if context_flags() & AS_TENSORS:
        return False
    for i in range(count):
        x = <object>args[i]
        if type(x) is list or type(x) is tuple:
            for item in tuple(x):
                if overrides(item):
                    return True
        elif overrides(x):
            return True
    return False


def overriding_arguments(list args not None, bint with_tensors=False):
    """Return the arguments whose classes define `__torch_function__`, one argument per class.

    Their order is the order in which handlers are called: from left to right, but a subclass before its
    bases. Items of list and tuple arguments count as arguments. With `with_tensors`, the class Tensor counts as a
    class that defines `__torch_function__`.
    """
    cdef list result = []
    if context_flags() & AS_TENSORS:
        return result
    for x in args:
        for item in (x if type(x) is list or type(x) is tuple else (x,)):
            is_candidate = overrides(item) or with_tensors and type(item) is Tensor
            if not is_candidate or any([type(item) is type(y) for y in result]):
                continue
            at = len(result)
            for i, y in enumerate(result):
                if isinstance(item, type(y)):
                    at = i
                    break
            result.insert(at, item)
    return result


# ---------------------------------------------------------------- calls of handlers

def call_overridden(function, list overriding not None, args, kwargs, bint is_python=False):
    """Return the result of the first `__torch_function__` handler of `overriding` that supports the call.

    Raise TypeError if all handlers return NotImplemented. `is_python` is True if PyTorch implements the function in
    Python.
    """
    cdef tuple types = tuple([type(x) for x in overriding])
    for x in overriding:
        result = x.__torch_function__(function, types, args, kwargs)
        if result is not NotImplemented:
            return result
    raise no_implementation_error(function, types, is_python)


cdef object no_implementation_error(object function, tuple types, bint is_python):
    """Return PyTorch's TypeError for a call that no handler supports."""
    name = name_of(function)
    if getattr(function, "__objclass__", None) is Tensor:
        name = f"torch._tensor.{function.__name__}" if is_python else f"torch.Tensor.{function.__name__}"
    if is_python:
        return TypeError(f"no implementation found for '{name}' on types that implement __torch_function__: {list(types)}")
    listed = "".join([f"\n\n  - tensor subclass {cls}" for cls in types])
    return TypeError(
        f"Multiple dispatch failed for '{name}'; all __torch_function__ handlers returned NotImplemented:"
        f"{listed}\n\nFor more information, try re-running with TORCH_LOGS=not_implemented"
    )


def name_of(function):
    """Return the public name of a function in PyTorch."""
    name = getattr(function, "__name__", type(function).__name__)
    module = getattr(function, "__module__", None) or "torch"
    if is_own(module):
        module = "torch.nn.functional" if own_name(module).startswith("ts.nn.functional") else "torch"
    return f"{module}.{name}"


cdef class Overridable:
    """Callable that wraps a Python function. Argument classes and function modes can override the function.

    __wrapped__      the function
    reported_as      the function that handlers receive, where None stands for this object
    is_python        True if PyTorch implements the function in Python. Then handlers receive the keyword arguments as
                     a dictionary, never None, and their argument `types` also contains the class Tensor, if an
                     argument has this class.
    """
    cdef readonly object __wrapped__
    cdef object reported_as
    cdef bint is_python
    cdef void *vectorcall              # address of `call`, for the vectorcall protocol
    cdef dict __dict__
    cdef object __weakref__

    def __cinit__(self, *args, **kwargs):
        self.vectorcall = <void *>call

    def __init__(self, function, reported_as=None, bint is_python=True):
        self.__wrapped__ = function
        self.reported_as = reported_as
        self.is_python = is_python

    def __getattr__(self, name):
        return getattr(self.__wrapped__, name)

    @property
    def __doc__(self):
        return self.__wrapped__.__doc__

    @property
    def __module__(self):
        return self.__wrapped__.__module__

    def __repr__(self):
        return repr(self.__wrapped__)

    def __reduce__(self):
        return self.__wrapped__.__qualname__  # Pickle stores the function by this name.

    def __get__(self, instance, owner):
        return self if instance is None else PyMethod_New(self, instance)

    def __call__(self, *args, **kwargs):
        return vectorcall(self, args, kwargs)

    cdef object reported_function(self):
        return self if self.reported_as is None else self.reported_as


cdef object call_vector(Overridable self, PyObject *const *args, size_t count, PyObject *names):
    """Call the function by the vectorcall protocol, or its override if an argument class or mode has one."""
    cdef Py_ssize_t i, nargs = PyVectorcall_NARGS(count), nkwargs = 0 if names == NULL else PyTuple_GET_SIZE(names)
    cdef bint by_mode = context_flags() & MODES != 0
    if not by_mode and not any_overrides(args, nargs + nkwargs):
        return PyObject_Vectorcall(self.__wrapped__, args, count, names)
    values = tuple([<object>args[i] for i in range(nargs)])
    kwargs = {<object>PyTuple_GET_ITEM(names, i): <object>args[nargs + i] for i in range(nkwargs)}
    if by_mode:
        return watcher().operator(self.reported_function(), values, kwargs)
    overriding = overriding_arguments([*values, *kwargs.values()], self.is_python)
    return call_overridden(
        self.reported_function(), overriding, values, kwargs if self.is_python else kwargs or None, self.is_python
    )


ctypedef PyObject *(*VectorCall)(Overridable, PyObject *const *, size_t, PyObject *) noexcept


cdef PyObject *call(Overridable self, PyObject *const *args, size_t count, PyObject *names) noexcept:
    return without_internal_frames((<VectorCall>call_vector)(self, args, count, names))


# Special methods of Tensor that PyTorch implements in C++.
cdef object NATIVE_SLOTS = frozenset(
    f"__{prefix}{name}__" for name in ("and", "or", "xor", "lshift", "rshift", "eq", "invert", "getitem", "setitem") for prefix in ("", "i")
)
cdef dict overridable_slots = {}


def overridable_slot(str name not None):
    """Return the method `name` of Tensor that implements a Python operator, such as `__rsub__`, as an `Overridable`."""
    slot = overridable_slots.get(name)
    if slot is None:
        method = getattr(Tensor, name)
        slot = overridable_slots[name] = Overridable(method, method, name not in NATIVE_SLOTS)
    return slot


def _install_vectorcall():
    """Enable the vectorcall and method-descriptor protocols for Overridable."""
    cdef Overridable probe = Overridable(None)
    cdef Callable *cls = <Callable *>Overridable
    cls.tp_vectorcall_offset = <char *>&probe.vectorcall - <char *><void *>probe
    cls.tp_flags |= Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_METHOD_DESCRIPTOR
    PyType_Modified(Overridable)


_install_vectorcall()
