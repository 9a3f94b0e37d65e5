"""The type object of Tensor: constructor, metaclass, methods of other modules, and objects of derived classes.

Input: the extension type `Tensor`. Output: the type with all methods and attributes. Examples:

    ts.Tensor(2, 3)                      calls `new_tensor`, the constructor
    define_methods({"tolist": tolist})   adds methods that are Python functions
    add_members(DeviceAttributes)        adds the properties of an extension class
    instance_of(MyTensor, x)             an object of a derived class with the contents of `x`
"""

import numpy as np

from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF

from ts._core.tensor.python_operators cimport operator_function
from ts._core.tensor.tensor cimport Tensor, is_layered, let_go, rebind
from ts._core.thread.context cimport AS_TENSORS, set_flag, tracer, tracing
from ts._core.thread.internal_frames cimport remove_internal_frames
from ts._core.value.no_python_construction cimport seal

from ts import dtypes
from ts._core.late_binding import resolve

cdef extern from "Python.h":
    ctypedef object (*New "newfunc")(type cls, object args, PyObject *kwargs)
    ctypedef struct PyTypeObject:
        New tp_new
        PyObject *tp_dict
        const char *tp_name
        unsigned long tp_flags
    ctypedef struct PyMethodDef
    ctypedef struct PyGetSetDef
    ctypedef struct PyMethodDescrObject:
        PyMethodDef *d_method
    ctypedef struct PyGetSetDescrObject:
        PyGetSetDef *d_getset
    PyTypeObject PyMethodDescr_Type
    PyTypeObject PyGetSetDescr_Type
    const unsigned long Py_TPFLAGS_IMMUTABLETYPE
    object PyDescr_NewMethod(PyTypeObject *t, PyMethodDef *method)
    object PyDescr_NewGetSet(PyTypeObject *t, PyGetSetDef *property)
    PyTypeObject *type_of "Py_TYPE"(object x) noexcept
    void PyType_Modified(PyTypeObject *t) noexcept
    void Py_SET_TYPE(PyObject *x, PyTypeObject *t) noexcept

cdef extern from "instance_dict.h":
    int hang_attributes(PyObject *cls, Py_ssize_t offset) except -1

cdef extern from "type_slots.h":
    int install_slots(PyTypeObject *cls, void (*on_error)() noexcept) except -1

cdef PyTypeObject *TENSOR = <PyTypeObject *>Tensor
cdef dict type_dict = <dict>TENSOR.tp_dict


# ---------------------------------------------------------------- methods of other modules

cdef set _installed = set()          # names of the methods that install_methods has added, and may therefore replace


def install_methods(dict methods not None):
    """Add the functions in `methods` (name -> function) to the class Tensor as methods.

    A name is skipped if the class itself defines it.
    """
    for name, function in methods.items():
        if name not in type_dict or name in _installed:
            type_dict[name] = function
            _installed.add(name)
    PyType_Modified(TENSOR)


def define_methods(dict methods not None):
    """Add methods that are defined in other modules to the class Tensor.

    Existing methods of the same name are replaced.
    """
    type_dict.update(methods)
    PyType_Modified(TENSOR)


cdef int add_members(type cls) except -1:
    for name, member in cls.__dict__.items():
        if type_of(member) == &PyMethodDescr_Type:
            type_dict[name] = PyDescr_NewMethod(TENSOR, (<PyMethodDescrObject *>member).d_method)
        elif type_of(member) == &PyGetSetDescr_Type:
            type_dict[name] = PyDescr_NewGetSet(TENSOR, (<PyGetSetDescrObject *>member).d_getset)
    seal(cls)
    PyType_Modified(TENSOR)
    return 0


cdef class ArrayAttribute:
    """Descriptor of `Tensor.array`. Each access calls the function registered by `watch_memory`."""

    def __get__(self, Tensor x, cls):
        if x is None:
            return self
        if let_go != NULL:
            let_go(<PyObject *>x.array, False)
        return x.array

    def __set__(self, Tensor x, value):
        raise AttributeError("attribute 'array' of 'ts.Tensor' objects is not writable")


# ---------------------------------------------------------------- constructor

cdef New new_unfilled = TENSOR.tp_new


cdef object new_tensor(type cls, object args, PyObject *kwargs):
    """Implement `Tensor(...)` with `factories.legacy`. The result is an object of class `cls`."""
    cdef Tensor t = new_unfilled(cls, (), NULL)
    options = {} if kwargs == NULL else dict(<object>kwargs)
    if not args and not options:
        rebind(t, np.empty(0, dtypes.get_default_dtype().numpy_dtype))
        if cls is not Tensor:
            attach(t)
        return t
    factories = resolve("tensor_factories")
    device = options.pop("device", None)
    if options:
        args = factories.positional_arguments(args, options)
    factories.check_legacy_device(device, "cpu")
    become(t, factories.legacy(args, device, None, "Tensor"))
    if cls is not Tensor:
        attach(t)
    return t


cdef int become(Tensor t, Tensor x) except -1:
    """Move the array and the autograd history of the temporary tensor `x` to the new tensor `t`."""
    t.array, t.scalar_type, t.backend, t.device_index = x.array, x.scalar_type, x.backend, x.device_index
    t.requires_grad_flag, t.of_inference, t.history = x.requires_grad_flag, x.of_inference, x.history
    t.version, t.creation, t.owner, t.base = x.version, x.creation, x.owner, x.base
    record_alias(t, x)
    return 0


def record_constructed(Tensor x not None, str function not None):
    """Tell an active tracer that `function` constructed `x` from Python values."""
    if tracing():
        tracer().record_constructed(x, function)


def record_alias(Tensor x not None, Tensor recorded not None):
    """Make an active tracer represent `x` by the graph value of `recorded`, a tensor in the tracer's graph."""
    if tracing():
        tracer().record_alias(x, recorded)


# ---------------------------------------------------------------- derived classes

cdef object disabled_dispatch = None   # `Tensor.__torch_dispatch__`


def _disabled_torch_dispatch_impl(func, types, args=(), kwargs=None):
    """Run an operator without the `__torch_dispatch__` of classes and modes.

    Classes inherit this default handler from `Tensor`.
    """
    return resolve("tensor_subclasses").call_without_dispatch(func, args, kwargs)


def _disabled_torch_function_impl(func, types, args=(), kwargs=None):
    """Call a function with `__torch_function__` disabled. Its results are plain tensors."""
    cdef bint before = set_flag(AS_TENSORS, True)
    try:
        return func(*args, **(kwargs or {}))
    finally:
        set_flag(AS_TENSORS, before)


cdef bint class_dispatches(object cls) except -1:
    """Return whether a tensor class defines `__torch_dispatch__`."""
    handler = cls.__torch_dispatch__
    return handler is not None and handler is not disabled_dispatch


cdef int attach(Tensor t) except -1:
    """Attach a layer to a tensor if its class defines `__torch_dispatch__`."""
    if class_dispatches(type(t)) and not is_layered(t):
        resolve("tensor_subclasses").attach_layer(t)
    return 0


def _derived(cls):
    """Choose the `__torch_function__` of a new class derived from `Tensor`, and make the class's methods call it."""
    function = cls.__torch_function__
    definer = next(c for c in cls.__mro__ if "__torch_function__" in c.__dict__)
    # As in PyTorch, a class with `__torch_dispatch__` does not inherit the `__torch_function__` of `Tensor`.
    if definer is Tensor and class_dispatches(cls):
        cls.__torch_function__ = function = _disabled_torch_function_impl
    if function is not _disabled_torch_function_impl:
        resolve("initialize_subclass")(cls)


cdef int check_derived(object cls) except -1:
    if not isinstance(cls, type) or not issubclass(cls, Tensor):
        raise TypeError("cls must be a type (not an instance) and derive from Tensor")
    return 0


cdef Tensor of_class(type cls, Tensor x):
    """Return a tensor of a derived class that takes over the contents of the temporary tensor `x`."""
    cdef Tensor t = new_unfilled(cls, (), NULL)
    become(t, x)
    attach(t)
    return t


def instance_of(cls, Tensor x not None):
    """Return a tensor of the derived class `cls` with the array and history of the temporary tensor `x`."""
    check_derived(cls)
    return of_class(<type>cls, x)


def as_subclass(Tensor self not None, cls):
    """Implement `Tensor.as_subclass`."""
    cdef bint before
    check_derived(cls)
    before = set_flag(AS_TENSORS, True)
    try:
        return of_class(<type>cls, operator_function("alias")(self))
    finally:
        set_flag(AS_TENSORS, before)


def make_subclass(cls, Tensor data not None, require_grad):
    """Implement `Tensor._make_subclass`."""
    check_derived(cls)
    if not isinstance(require_grad, bool):
        raise TypeError(
            f"_make_subclass(): argument 'require_grad' (position 3) must be bool, not {type(require_grad).__name__}"
        )
    if require_grad and not (data.dtype.is_floating_point or data.dtype.is_complex):
        raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
    view = data.detach() if tracing() else resolve("detached_tensor")(data)
    return of_class(<type>cls, view)._marked(bool(require_grad))


def swap_contents(Tensor t not None, Tensor other not None):
    """Exchange class, attributes, array, history and layer of two tensors. References to the tensors stay valid.

    Raise RuntimeError if an autograd graph refers to one of the tensors, or the classes have objects of different size.
    """
    cdef type cls = type(t), other_cls = type(other)
    cdef PyObject *attributes = t.attributes
    for x in (t, other):
        if (<Tensor>x).history is not None and (<Tensor>x).history.accumulator != NULL:
            raise RuntimeError("Expected single reference to a's Tensor object but got 2: a graph of autograd holds the tensor")
    if cls.__basicsize__ != other_cls.__basicsize__:
        raise RuntimeError("Cannot swap t1 and t2 if they have different slots")
    t.attributes, other.attributes = other.attributes, attributes
    t.array, other.array = other.array, t.array
    t.scalar_type, other.scalar_type = other.scalar_type, t.scalar_type
    t.backend, other.backend = other.backend, t.backend
    t.device_index, other.device_index = other.device_index, t.device_index
    t.requires_grad_flag, other.requires_grad_flag = other.requires_grad_flag, t.requires_grad_flag
    t.of_inference, other.of_inference = other.of_inference, t.of_inference
    t.history, other.history = other.history, t.history
    t.version, other.version = other.version, t.version
    t.creation, other.creation = other.creation, t.creation
    t.owner, other.owner = other.owner, t.owner
    t.base, other.base = other.base, t.base
    # An instance of a Python class owns a reference to its class. The two tensors exchange their types and
    # thus these references, so the reference counts need no change.
    Py_SET_TYPE(<PyObject *>t, <PyTypeObject *>other_cls)
    Py_SET_TYPE(<PyObject *>other, <PyTypeObject *>cls)


# ---------------------------------------------------------------- metaclass

class TensorMeta(type):
    """Metaclass of `Tensor` and its subclasses. It lets programs replace methods of `Tensor`, which is an extension type.

        Tensor.matmul = counted_matmul

    Attributes that CPython keeps in the type's structure (`__name__`, `__bases__`) stay read-only for `Tensor`.
    """

    def __setattr__(cls, name, value):
        """Assign an attribute of the class."""
        replaced = cls.__dict__.get(name)  # keep the old value, whose destructor may run any code, until the class is immutable again
        was_immutable = allow_assignment(cls, name)
        try:
            type.__setattr__(cls, name, value)
        finally:
            if was_immutable:
                (<PyTypeObject *>cls).tp_flags |= Py_TPFLAGS_IMMUTABLETYPE

    def __delattr__(cls, name):
        """Delete an attribute of the class."""
        deleted = cls.__dict__.get(name)
        was_immutable = allow_assignment(cls, name)
        try:
            type.__delattr__(cls, name)
        finally:
            if was_immutable:
                (<PyTypeObject *>cls).tp_flags |= Py_TPFLAGS_IMMUTABLETYPE


cdef bint allow_assignment(object cls, object name) except -1:
    """Clear the immutability flag of the class `Tensor`, so that its attribute `name` can be set or deleted.

    Return whether the flag was cleared. It is not cleared for attributes that `type` itself sets, and for
    other classes.
    """
    if cls is not Tensor or hasattr(type(type.__dict__.get(name)), "__set__"):
        return False
    (<PyTypeObject *>cls).tp_flags &= ~Py_TPFLAGS_IMMUTABLETYPE
    return True


# ---------------------------------------------------------------- setup of the type

cdef int hang_attributes_on_tensors() except -1:
    cdef Tensor t = Tensor.__new__(Tensor)
    return hang_attributes(<PyObject *>Tensor, <char *>&t.attributes - <char *><PyObject *>t)


hang_attributes_on_tensors()
install_slots(TENSOR, remove_internal_frames)
# Calls of `Tensor.__new__(cls)`, where `cls` is `Tensor` or a subclass, use this slot. `wrap_array` does not use
# it, because it calls Cython's C function for new objects directly.
TENSOR.tp_new = new_tensor
disabled_dispatch = staticmethod(_disabled_torch_dispatch_impl)
define_methods({"array": ArrayAttribute(), "__init_subclass__": classmethod(_derived), "__torch_dispatch__": disabled_dispatch})
disabled_dispatch = Tensor.__torch_dispatch__
TENSOR.tp_name = "ts.Tensor"  # the name in Python's error messages
# This entry sets `Tensor.__module__`. Without the entry, attribute lookup would return the `__module__` of
# the metaclass.
type_dict["__module__"] = "ts"
PyType_Modified(TENSOR)
Py_INCREF(TensorMeta)
Py_SET_TYPE(<PyObject *>Tensor, <PyTypeObject *>TensorMeta)
