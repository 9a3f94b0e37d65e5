"""The class Tensor: wrapping of arrays, and performance-critical methods that are not operators.

In: arrays of any backend. Out: tensors.

    x = from_numpy(numpy.ones((2, 3)))      shares memory: x.array is a view of the array
    x.t()                                   a method defined by an operator record and added by install_methods
    x + 1                                   the operator aten::add, through operator_function("add")

Python operators and indexing are defined here, because they are type slots. Every other operator becomes a
method when the registry calls `install_methods`. Other methods are defined in `layout` (storages, strides,
memory formats), `interop` (NumPy, DLPack, pickles, copies) and `tensor_conversion_methods` (dtypes, Python
values, strings).
"""

import operator as python_operator
import warnings
from functools import partial

import numpy as np

cimport cython
cimport numpy as cnp
from cpython.object cimport PyObject, Py_EQ, Py_NE
from cpython.ref cimport Py_INCREF
from cpython.tuple cimport PyTuple_SET_ITEM

from ts._core.tensor.ndarray cimport BOOL, INT64, PyArrayObject, dims_of, ndim_of, size_of
from ts._core.tensor.sparse cimport BACKEND_SPARSE, check_strided
from ts._core.thread.context cimport (
    AS_TENSORS,
    GRADIENTS_REQUIRED,
    attention,
    overriding,
    set_flag,
    tracer,
    tracing,
    set_gradients_required,
    watched,
    watcher,
)
from ts._core.thread.deadline cimport count_items
from ts._core.value.no_python_construction cimport seal

from ts import devices, dtypes
from ts._core.tensor import strides
from ts._core.tensor.size import Size
from ts._core.late_binding import resolve
from ts._core.thread.transform_state import is_transforming, raise_inside_transforms
from ts.errors import missing_attribute

cnp.import_array()

cdef extern from "Python.h":
    ctypedef object (*New "newfunc")(type cls, object args, PyObject *kwargs)
    ctypedef struct PyTypeObject:
        New tp_new
        object (*tp_alloc)(PyTypeObject *, Py_ssize_t)
        PyObject *tp_dict
        const char *tp_name
        unsigned long tp_flags
    const unsigned long Py_TPFLAGS_IMMUTABLETYPE
    void PyType_Modified(type t)
    void Py_SET_TYPE(PyObject *x, PyTypeObject *t) noexcept

cdef extern from "instance_dict.h":
    int hang_attributes(type cls, Py_ssize_t offset) except -1


# ---------------------------------------------------------------- dtype numbers

cdef enum:
    CODES = 48                         # number of ScalarTypes
    # upper limit of the type numbers of NumPy's built-in dtypes. Dtypes that `ml_dtypes` registers have
    # larger numbers.
    NUMBERS = 32
    LATER = -2                         # type number of a dtype of `ml_dtypes`, which is unknown before the import of this package

cdef int SCALAR_TYPE[NUMBERS]        # NumPy type number -> ScalarType
cdef int NUMBER[CODES]               # ScalarType -> NumPy type number
cdef int ml_dtype_codes[CODES]       # ScalarTypes of the dtypes of `ml_dtypes`
cdef int ml_dtype_count = 0
cdef list _dtype_of_code = [None] * CODES


def enter_dtype(dtype, numpy_dtype):
    NUMBER[<int>dtype.code] = numpy_dtype.num
    if numpy_dtype.num < NUMBERS:
        SCALAR_TYPE[<int>numpy_dtype.num] = dtype.code


def _fill_tables():
    global ml_dtype_count
    cdef int i
    for i in range(NUMBERS):
        SCALAR_TYPE[i] = -1
    for i in range(CODES):
        NUMBER[i] = -1
    for d in dtypes.ALL:
        _dtype_of_code[d.code] = d
        if d.is_of_ml_dtypes:
            ml_dtype_codes[ml_dtype_count] = d.code
            ml_dtype_count += 1
            NUMBER[<int>d.code] = LATER
    dtypes.for_each_dtype(enter_dtype)
    # On some platforms, NumPy gives `longlong` and int64 different type numbers, although both have the same
    # layout.
    SCALAR_TYPE[<int>np.dtype(np.longlong).num] = dtypes.int64.code
    SCALAR_TYPE[<int>np.dtype(np.ulonglong).num] = dtypes.uint64.code


_fill_tables()


cdef int scalar_type_of_number(int type_number) noexcept nogil:
    cdef int i
    if 0 <= type_number < NUMBERS:
        return SCALAR_TYPE[type_number]
    for i in range(ml_dtype_count):
        if type_number >= NUMBERS and type_number == number_of_scalar_type(ml_dtype_codes[i]):
            return ml_dtype_codes[i]
    return -1


cdef int number_of_scalar_type(int scalar_type) noexcept nogil:
    if not 0 <= scalar_type < CODES:
        return -1
    if NUMBER[scalar_type] == LATER:
        with gil:
            return _dtype_of_code[scalar_type].numpy_dtype.num
    return NUMBER[scalar_type]


# ---------------------------------------------------------------- wrapping of arrays in tensors

cdef object backends = None          # the package ts.backends


cdef object backend_registry():
    """Return the package `ts.backends`."""
    global backends
    if backends is None:
        backends = resolve("backends")
    return backends


cdef Tensor wrap_cpu(object array, int scalar_type):
    cdef Tensor t = Tensor.__new__(Tensor)
    t.array = array
    t.scalar_type = scalar_type
    t.device_index = -1
    t.of_inference = context_flags() & INFERENCE != 0
    return t


cdef Tensor wrap(object array):
    cdef Tensor t
    cdef int code
    if cnp.PyArray_CheckExact(array):
        code = scalar_type_of_number(cnp.PyArray_TYPE(array))
        if code < 0:
            code = dtypes.from_numpy_dtype(array.dtype).code
        return wrap_cpu(array, code)
    if isinstance(array, (np.generic, bool, int, float, complex)):
        return wrap(np.asarray(array))
    backend = backend_registry().of_array(array)
    if backend.index == BACKEND_CPU:             # neither an ndarray nor an array of another backend
        return wrap(np.asarray(array))
    t = Tensor.__new__(Tensor)
    t.array = array
    t.scalar_type = dtypes.from_numpy_dtype(array.dtype).code
    t.backend = backend.index
    t.device_index = backend.device_of(array)
    t.of_inference = context_flags() & INFERENCE != 0
    return t


def wrap_array(array):
    """Wrap an array of any backend in a tensor that shares its memory."""
    return wrap(array)


cdef int rebind(Tensor t, object array) except -1:
    """Replace the array of `t`, for in-place changes of shape or dtype."""
    cdef Tensor fresh = wrap(array)
    before = t.array  # Keep the old array until all fields of `t` are set, because its release may let other threads run.
    t.array = fresh.array
    t.scalar_type = fresh.scalar_type
    t.backend = fresh.backend
    t.device_index = fresh.device_index
    return 0


def backend_of(str device_type not None):
    """Return the backend of a device type such as "cpu"."""
    return backend_registry().get(device_type)


def rebind_array(Tensor t not None, array):
    """Replace the array of `t`, for in-place changes of shape or dtype."""
    rebind(t, array)


# ---------------------------------------------------------------- memory exposed to other code

cdef LetGo let_go = NULL


cdef int watch_memory(LetGo function) except -1:
    global let_go
    let_go = function
    return 0


def report_exposed_array(array):
    """Call the function registered by `watch_memory` for an array whose memory address the program gets."""
    if let_go != NULL:
        let_go(<PyObject *>array, True)


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


# ---------------------------------------------------------------- operators of the registry

cdef dict _functions = {}            # operator name -> callable
cdef set _installed = set()          # names of the methods that install_methods has added, and may therefore replace


cdef object operator_function(str name):
    function = _functions.get(name)
    if function is None:
        function = _functions[name] = resolve("overload_set_by_name")(name)
    return function


def install_methods(dict methods not None):
    """Add the functions in `methods` (name -> function) to the class Tensor as methods.

    A name is skipped if the class itself defines it.
    """
    cdef dict type_dict = <dict>(<PyTypeObject *>Tensor).tp_dict
    for name, function in methods.items():
        if name not in type_dict or name in _installed:
            type_dict[name] = function
            _installed.add(name)
    PyType_Modified(Tensor)


def define_methods(dict methods not None):
    """Add methods that are defined in other modules to the class Tensor.

    Existing methods of the same name are replaced.
    """
    cdef dict type_dict = <dict>(<PyTypeObject *>Tensor).tp_dict
    type_dict.update(methods)
    PyType_Modified(Tensor)


def operator(str name not None):
    """Return the callable of an operator name such as "add"."""
    return operator_function(name)


cdef bint _methods_loaded = False


cdef bint load_methods() except -1:
    """Install the methods of all operator records. Return False if they were already installed."""
    global _methods_loaded
    if _methods_loaded:
        return False
    resolve("operator_registry").load()
    _methods_loaded = True
    return True


cdef object method(str name):
    """Return the function that evaluates a Python operator, such as "add".

    The result is the operator of `ts`. If a tracer, function mode or class may override the operator, the
    result is the method of Tensor.
    """
    if not overriding and not watched():
        return operator_function(name)
    load_methods()
    return getattr(Tensor, name, None) or operator_function(name)


cdef object binary(str name, object a, object b):
    """Evaluate a binary Python operator, or return NotImplemented if an operand type is unsupported."""
    if is_operand(b) and is_operand(a):
        if not is_dispatched_operand(a) and not is_dispatched_operand(b):
            return method(name)(a, b)
    elif not overrides(a) and not overrides(b):
        return NotImplemented
    try:
        return method(name)(a, b)
    except TypeError:  # an operand has a class that the function does not support
        return NotImplemented


cdef bint overrides(object x) except -1:
    """Return whether the class of `x`, a tensor or another object, defines `__torch_function__`."""
    return hasattr(type(x), "__torch_function__")


cdef object numpy_number = np.generic
cdef object bool_type = bool           # alias for code in the class Tensor, where `bool` is a method


cdef inline bint is_operand(object x):
    return isinstance(x, Tensor) or isinstance(x, (int, float, complex, numpy_number))


cdef object as_operand(object x):
    """Convert a number to a 0-dim tensor, for operators that need a tensor as the first argument."""
    return factories.tensor(x) if isinstance(x, (int, float, complex, np.generic)) else x


cdef object compare(Tensor x, object other, int op):
    """Evaluate a rich comparison. For `==` and `!=`, a numeric NumPy array is converted to a tensor."""
    if (op == Py_EQ or op == Py_NE) and isinstance(other, np.ndarray) and other.dtype.kind in "biufcV":
        try:
            other = factories.tensor(np.asarray(other))
        except TypeError:  # the dtype of the array is unsupported
            return NotImplemented
    return binary(COMPARISONS[op], x, other)


cdef object call_reflected(str name, str direct, object a, object b):
    """Evaluate `b` <operator> `a` for a reflected method of tensor `a`, such as `__radd__`.

    If `b` is a tensor too, run the operator `direct`. Python calls the reflected method of `a` for two
    tensors if the class of `a` is a subclass of the class of `b`.
    """
    return binary(direct, b, a) if isinstance(b, Tensor) else binary(name, a, b)


cdef object bitwise(str slot, str name, object a, object b):
    """Run the bitwise operator `name`. As in PyTorch, a tracer records the operator `slot` (such as
    `__and__`) instead.
    """
    if tracing() and isinstance(b, (Tensor, int, float)) and tracer().records_slots:
        return operator_function(slot)(a, b)
    return inplace(name, a, b) if name.endswith("_") else binary(name, a, b)


cdef object inplace(str name, object a, object b):
    if not is_operand(b) and not overrides(b):
        return NotImplemented
    if not is_dispatched_operand(a) and not is_dispatched_operand(b):
        return method(name)(a, b)
    try:
        return method(name)(a, b)
    except TypeError:
        return NotImplemented


# ---------------------------------------------------------------- subclasses of Tensor

cdef object disabled_dispatch = None   # `Tensor.__torch_dispatch__`


def _disabled_torch_dispatch_impl(func, types, args=(), kwargs=None):
    """Run an operator without the `__torch_dispatch__` of classes and modes.

    Classes inherit this default handler from `Tensor`.
    """
    return resolve("tensor_subclasses").call_without_dispatch(func, args, kwargs)


cdef bint class_dispatches(object cls) except -1:
    """Return whether a tensor class defines `__torch_dispatch__`."""
    handler = cls.__torch_dispatch__
    return handler is not None and handler is not disabled_dispatch


cdef int attach(Tensor t) except -1:
    """Attach a layer to a tensor if its class defines `__torch_dispatch__`."""
    if class_dispatches(type(t)) and not is_layered(t):
        resolve("tensor_subclasses").attach_layer(t)
    return 0


cdef inline bint is_dispatched_operand(object x) except -1:
    return type(x) is not Tensor and isinstance(x, Tensor) and is_dispatched(<Tensor>x)


def _disabled_torch_function_impl(func, types, args=(), kwargs=None):
    """Call a function with `__torch_function__` disabled. Its results are plain tensors."""
    cdef bint before = set_flag(AS_TENSORS, True)
    try:
        return func(*args, **(kwargs or {}))
    finally:
        set_flag(AS_TENSORS, before)


# ---------------------------------------------------------------- tracing

def record_constructed(Tensor x not None, str function not None):
    """Tell an active tracer that `function` constructed `x` from Python values."""
    if tracing():
        tracer().record_constructed(x, function)


def record_alias(Tensor x not None, Tensor recorded not None):
    """Make an active tracer represent `x` by the graph value of `recorded`, a tensor in the tracer's graph."""
    if tracing():
        tracer().record_alias(x, recorded)


cdef object only_element(Tensor x):
    """Return the only element as a Python number, without notifying an active tracer."""
    if x.array.size != 1:
        raise RuntimeError(f"a Tensor with {x.array.size} elements cannot be converted to Scalar")
    if calls_handler(x):
        return x.history.layer.element(x)
    if x.backend == BACKEND_META:
        if hides_elements(x):
            x.history.layer.check_elements()
            return only_element(x.history.layer.inner)
        if is_layered(x):
            return x.history.layer.element(x)
        raise RuntimeError("Tensor.item() cannot be called on meta tensors")
    if x.backend == BACKEND_SPARSE:
        return operator_function("to_dense")(x).item()
    value = x._host().item()
    # If NumPy itself does not define the dtype, `item` of an array returns an object that is not a Python
    # number.
    if NUMBER[x.scalar_type] >= NUMBERS:
        return complex(value) if x.scalar_type == 8 else float(value)
    return value


cdef int check_elements(Tensor x) except -1:
    """Raise an error if a dispatch layer forbids direct access to elements."""
    if is_layered(x):
        x.history.layer.check_elements()
    return 0


cdef dict in_format(object memory_format):
    return {} if memory_format is None else {"memory_format": memory_format}


cdef object convert_dtype(Tensor x, object dtype, object memory_format):
    """Return `x.to(dtype, memory_format=memory_format)`."""
    return cast(x, dtype) if memory_format is None else x.to(dtype, memory_format=memory_format)


cdef object cast(Tensor x, object dtype):
    """Return `x` converted to a dtype."""
    if watched():
        return watcher().to(x, (dtype,), {})
    return x if x.scalar_type == dtype.code else to_copy(x, dtype.code)


cdef object _to_copy = None


def to_copy(Tensor x not None, dtype=None, device=None, non_blocking=False, memory_format=None):
    """Return a copy of `x` with another dtype, device or memory format, by the operator `aten::_to_copy`.

    `dtype` and `memory_format` are PyTorch's integer codes.
    """
    global _to_copy
    if _to_copy is None:
        _to_copy = operator_function("_to_copy").operators()[0]
    return _to_copy.call_list([x, dtype, None, device, None, non_blocking, memory_format])


cdef object node_behind(Tensor x):
    """Return the backward node of `x`, or None without autograd history."""
    if x.base is not None and x.version != version_of(x):
        return node_of_view(x)
    return None if x.history is None else x.history.node


cdef inline bint has_node(Tensor x) noexcept:
    """Return whether `x` has a backward node, which may be invalid after a write to the base of `x`."""
    return x.history is not None and x.history.node is not None


cdef NodeOf node_of_view = NULL


cdef int set_node_of_view(NodeOf function) except -1:
    global node_of_view
    node_of_view = function
    return 0


cdef bint retains(Tensor x) except -1:
    return x.history is not None and x.history.retained


cdef int check_gradient(Tensor x, object value) except -1:
    """Raise an error if `value` is not a valid gradient of `x`."""
    if not isinstance(value, Tensor):
        raise TypeError(f"assigned grad expected to be a Tensor or None but got grad of type {type(value)}")
    if value is x:
        raise RuntimeError("can't assign Variable as its own grad")
    if value.dtype is not x.dtype:
        raise RuntimeError(
            f"attempting to assign a gradient with dtype '{value.dtype.type_name.lower()}' to a tensor with dtype "
            f"'{x.dtype.type_name.lower()}'. Please ensure that the gradient and the tensor have the same dtype"
        )
    if (<Tensor>value).backend != x.backend and value.device != x.device:
        raise RuntimeError(
            f"attempting to assign a gradient with device type '{value.device.type}' to a tensor with device type "
            f"'{x.device.type}'. Please ensure that the gradient and the tensor are on the same device"
        )
    if shape_of(value) != shape_of(x):
        raise RuntimeError(
            f"attempting to assign a gradient of size '{list(shape_of(value))}' to a tensor of size '{list(shape_of(x))}'. "
            "Please ensure that the gradient and the tensor are the same size"
        )
    return 0


cdef Tensor alias_detached(Tensor x):
    """Return a tensor that shares the memory of `x` and does not require grad."""
    cdef Tensor t = Tensor.__new__(Tensor)
    t.array = x.array.view() if x.backend == BACKEND_CPU else x.array[...]
    t.scalar_type = x.scalar_type
    t.backend = x.backend
    t.device_index = x.device_index
    t.of_inference = x.of_inference
    return t


cdef Tensor detached_from(Tensor x):
    return count_together(x.history.layer.detach(x) if calls_handler(x) else alias_detached(x), x)


def detached_array(Tensor x not None):
    """Return a tensor of class Tensor without autograd history that shares the array of `x`.

    `x` may have any class derived from Tensor.
    """
    return count_together(alias_detached(x), x)


cdef Tensor count_together(Tensor t, Tensor x):
    """Make the new tensor `t`, which is not a view, share the version counter of `x`."""
    cdef Tensor counter = <Tensor>counter_of(<PyObject *>x)
    if is_layered(t):                  # The class of `t` defines `__torch_dispatch__`: keep its flags and layer.
        follow(t, x)
        if counter.requires_grad_flag or counter.history is not None:
            t.owner = counter_apart(x)
        t.base = None
        return t
    follow(t, x)
    if counter.requires_grad_flag or counter.history is not None:
        t.owner = counter_apart(x)
    t.base, t.requires_grad_flag = None, False
    if is_layered(x) and not is_dispatched(x):
        history_of(t).layer = x.history.layer
    return t


@cython.final
cdef class VersionCounter(Tensor):
    """A tensor object that is only the version counter of memory: it has no array and no autograd metadata."""


cdef Tensor counter_apart(Tensor t):
    cdef Tensor result, counter = <Tensor>counter_of(<PyObject *>t)
    if type(counter) is VersionCounter:
        return counter
    result = VersionCounter.__new__(VersionCounter)  # it has no array, so it does not keep the memory alive
    result.version = counter.version
    counter.owner = result
    return result


cdef inline bint calls_handler(Tensor t) except -1:
    """Return whether operators on `t` in this thread call `__torch_dispatch__`.

    The class of `t` must define `__torch_dispatch__`, and layers must be enabled in this thread.
    """
    return is_layered(t) and context_flags() & LAYERED != 0 and is_dispatched(t)


cdef bint is_dispatched(Tensor t) except -1:
    return is_layered(t) and t.history.layer.dispatches


cdef bint hides_elements(Tensor t) except -1:
    return t.backend == BACKEND_META and is_layered(t) and t.history.layer.hides_elements


def has_hidden_elements(Tensor x not None):
    """Return whether the array of `x` has no elements, because they are in the inner tensor of its layer."""
    return bool(hides_elements(x))


def check_storage(Tensor x not None):
    """Raise NotImplementedError if `x` is a tensor of a function transform, because such a tensor has no storage."""
    if hides_elements(x):
        raise NotImplementedError(f"Cannot access storage of {implementation_of(x)}")


cdef str implementation_of(Tensor x):
    """Return PyTorch's name of the implementation of `x`, a tensor of a function transform, such as "TensorWrapper"."""
    return "TensorWrapper" if needs_grad(x) else x.history.layer.implementation


def tensor_with_memory(Tensor x not None):
    """Return the innermost tensor, which has storage, if function transforms have wrapped `x`, else `x`.

    Raise RuntimeError if a transform is active and forbids access to the memory.
    """
    while hides_elements(x):
        x.history.layer.check_memory()
        x = x.history.layer.inner
    return x


cdef object meta_array = None          # array class of the meta backend


cdef object array_without_elements(Tensor x, bint of_batch):
    """Return a meta array with the shape, dtype and strides of `x`.

    If `of_batch`, the array lacks the first dimension of `x`.
    """
    global meta_array
    cdef Py_ssize_t itemsize = x.array.dtype.itemsize
    if meta_array is None:
        meta_array = backend_registry().get("meta").array_type
    shape, steps = x.array.shape, [step * itemsize for step in x.stride()]
    if x.backend == BACKEND_META:
        offset = x.array.offset
    elif x.backend == BACKEND_CPU:
        owner = root_of(x.array)
        offset = 0
        if isinstance(owner, cnp.ndarray):
            offset = (<size_t>cnp.PyArray_DATA(x.array) - <size_t>cnp.PyArray_DATA(owner)) // itemsize
    else:
        offset = x.storage_offset()
    return meta_array(shape[1:], x.array.dtype, steps[1:], offset) if of_batch else meta_array(shape, x.array.dtype, steps, offset)


def hide_elements(Tensor x not None, Tensor inner not None, bint of_batch):
    """Replace the array of `x` by a meta array with the shape of `inner`.

    If `of_batch`, the array lacks the first dimension of `inner`.
    """
    array = array_without_elements(inner, of_batch)
    before = x.array  # Keep the old array until all fields of `x` are set, because its release may let other threads run.
    x.array, x.scalar_type, x.backend, x.device_index = array, inner.scalar_type, BACKEND_META, inner.device_index


def layer_of(Tensor x not None):
    """Return the dispatch layer (`ts._core.dispatch_layers.layer.Layer`) of a tensor, or None without one."""
    return None if x.history is None else x.history.layer


def instance_of(cls, Tensor x not None):
    """Return a tensor of the derived class `cls` with the array and history of the temporary tensor `x`."""
    check_derived(cls)
    return of_class(<type>cls, x)


def follow_view(Tensor view not None, Tensor x not None):
    """Make `view` a view of `x` for autograd: it gets the base and the version counter of `x`."""
    follow(view, x)


def share_version(Tensor t not None, Tensor x not None):
    """Make the new layered tensor `t` share the version counter of `x`.

    Do nothing if `t` already shares a version counter, or if `t` has a backward node.
    """
    if t.owner is None and t.history is not None and t.history.node is None:
        count_together(t, x)


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


def set_layer(Tensor x not None, layer):
    """Set the dispatch layer of a tensor."""
    history_of(x).layer = layer


def sunk(Tensor x not None, Tensor base):
    """Move the autograd history and the layer of `x` to a new tensor, and return the new tensor.

    The new tensor shares the memory of `x` and has the base `base`.
    """
    cdef Tensor t = alias_detached(x)
    follow(t, x)
    t.base, t.requires_grad_flag, t.history = base, x.requires_grad_flag, x.history
    x.requires_grad_flag, x.history = False, None
    return t


def detached(Tensor x not None):
    """Return a tensor that shares the memory and the version counter of `x` and does not require grad."""
    return detached_from(x)


cdef AutogradMeta history_of(Tensor t):
    if t.history is None:
        t.history = AutogradMeta.__new__(AutogradMeta)
    return t.history


cdef Tensor view_on(Tensor x, object array):
    """Wrap `array`, a view of the memory of `x`, in a tensor."""
    cdef Tensor t = wrap(array)
    follow(t, x)
    return t


cdef int mark_one_of_several(Tensor view) except -1:
    if not context_flags() & (INFERENCE | GRAD_DISABLED):
        view.creation = ONE_OF_SEVERAL
    return 0


cdef object root_of(object array):
    cdef PyObject *base
    while isinstance(array, cnp.ndarray):
        base = cnp.PyArray_BASE(array)
        if base == NULL:
            return array
        if not isinstance(<object>base, cnp.ndarray):
            # The base may be the intermediate object that NumPy's `as_strided` creates between a view and the
            # array with the memory.
            inner = getattr(<object>base, "base", None)
            if not isinstance(inner, cnp.ndarray):
                return array
            array = inner
        else:
            array = <object>base
    base_array = getattr(array, "base", None)
    return array if base_array is None else base_array


cdef object memory_of(Tensor t):
    while hides_elements(t):
        t = t.history.layer.inner
    return root_of(t.array)


def share_memory(Tensor x not None, Tensor y not None):
    """Return whether the memory of two tensors belongs to one array."""
    return memory_of(x) is memory_of(y)


def view_of(Tensor x not None, array):
    """Wrap `array`, a view of the memory of `x`, in a tensor that shares the version counter of `x`."""
    return view_on(x, array)


def written(Tensor x not None):
    """Increment the version counter of the memory of `x`."""
    wrote(x)


cdef int check_write_of_inference() except -1:
    if context_flags() & INFERENCE:
        return 0
    raise RuntimeError(
        "Inplace update to inference tensor outside InferenceMode is not allowed.You can make a clone to get a normal tensor before "
        "doing inplace update.See https://github.com/pytorch/rfcs/pull/17 for more details."
    )


def is_inference(Tensor x not None):
    """Return whether a tensor, or the base of a view, was created in inference mode."""
    return bool(x.of_inference)


def version(Tensor x not None):
    """Return the version counter of `x`: the number of writes to the memory of `x`.

    Raise RuntimeError for inference tensors.
    """
    if x.of_inference:
        raise RuntimeError("Inference tensors do not track version counter.")
    return version_of(x)


cdef bint selects_alone(Tensor x, Tensor index):
    """Return whether a single operator computes x[index].

    `index` must be an int64 tensor or a mask, on the device of `x`.
    """
    if index.backend != x.backend or index.device_index != x.device_index or rank_of(index) == 0:
        return False
    return rank_of(index) <= rank_of(x) if index.scalar_type == BOOL else index.scalar_type == INT64 and rank_of(x) > 0


cdef bint select_together(Tensor x, tuple indices):
    """Return whether a single operator computes x[i, j, ...], where `indices` is the tuple (i, j, ...).

    All indices must be int64 tensors, at most one per dimension.
    """
    for index in indices:
        if type(index) is not Tensor or (<Tensor>index).scalar_type != INT64 or not selects_alone(x, <Tensor>index):
            return False
    return 0 < len(indices) <= rank_of(x)


cdef int rank_of(Tensor x) except -1:
    return ndim_of(<PyArrayObject *>x.array) if x.backend == BACKEND_CPU else x.array.ndim


# size_of_shape(Size, shape) creates a `Size` without the checks of its constructor, because the shape of an
# array is valid.
cdef object size_of_shape = tuple.__new__


cdef object shape_of(Tensor x):
    """Return the shape as a `Size`, created directly from the dimensions of a NumPy array."""
    cdef PyArrayObject *a = <PyArrayObject *>x.array
    cdef int i
    if x.backend != BACKEND_CPU:
        return size_of_shape(Size, x.array.shape)
    result = (<PyTypeObject *>Size).tp_alloc(<PyTypeObject *>Size, ndim_of(a))
    for i in range(ndim_of(a)):
        n = <object>dims_of(a)[i]
        Py_INCREF(n)
        PyTuple_SET_ITEM(result, i, n)
    return result


# ---------------------------------------------------------------- class Tensor


@cython.freelist(128)
cdef class AutogradMeta:
    pass


cdef tuple COMPARISONS = ("lt", "le", "eq", "ne", "gt", "ge")  # indexed by Py_LT .. Py_GE

@cython.freelist(128)
cdef class Tensor:
    """A multi-dimensional array of one dtype on one device."""

    __array_priority__ = 1000

    def __init__(self, *args, **kwargs):
        """Ignore all arguments, because `__new__` creates the tensor.

        Subclasses may override either method.
        """

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        """Call a function with tensors of a derived class, and convert its results to this class."""
        return resolve("call_torch_function")(cls, func, types, args, kwargs)

    @staticmethod
    def _make_wrapper_subclass(*args, **kwargs):
        """Return a tensor without elements of a class that defines `__torch_dispatch__`.

        _make_wrapper_subclass(cls, size, *, strides=None, storage_offset=None, memory_format=None, dtype=None,
                               layout=strided, device=None, pin_memory=False, requires_grad=False, ...)
        """
        return resolve("tensor_subclasses").make_wrapper(*args, **kwargs)

    def as_subclass(self, cls):
        """Return a differentiable view of the tensor as an object of a derived class."""
        cdef bint before
        check_derived(cls)
        before = set_flag(AS_TENSORS, True)
        try:
            return of_class(<type>cls, operator_function("alias")(self))
        finally:
            set_flag(AS_TENSORS, before)

    @staticmethod
    def _make_subclass(cls, Tensor data not None, require_grad=False):
        """Return a leaf tensor of a derived class that shares the memory of `data`."""
        check_derived(cls)
        if not isinstance(require_grad, bool_type):
            raise TypeError(
                f"_make_subclass(): argument 'require_grad' (position 3) must be bool, not {type(require_grad).__name__}"
            )
        if require_grad and not (data.dtype.is_floating_point or data.dtype.is_complex):
            raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
        view = data.detach() if tracing() else detached_from(data)
        return of_class(<type>cls, view)._marked(bool(require_grad))

    def __getattr__(self, name):
        """Load the methods of operators at the first missing attribute, then look the attribute up again.

        Loading them in `import ts` would be slow.
        """
        if not name.startswith("__") and load_methods():
            return getattr(self, name)
        if name == "__cuda_array_interface__":
            return resolve("cuda_array_interface")(self)
        if name.startswith("__"):
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")
        raise missing_attribute(f"'{type(self).__name__}' object", name, partial(dir, self))

    # ---- properties

    @property
    def shape(self):
        return watcher().shape(self) if watched() else shape_of(self)

    @property
    def dtype(self):
        return _dtype_of_code[self.scalar_type]

    @property
    def device(self):
        if self.backend == BACKEND_CPU or self.backend == BACKEND_SPARSE:
            return devices.CPU
        if self.backend == BACKEND_META and is_layered(self):
            return self.history.layer.device
        backend = backend_registry().at(self.backend)
        return devices.device(backend.name, self.device_index if backend.numbered else None)

    @property
    def layout(self):
        if self.backend == BACKEND_META and is_layered(self):
            return self.history.layer.layout
        return self.array.layout if self.backend == BACKEND_SPARSE else dtypes.strided

    @property
    def is_sparse(self):
        """True if the layout is COO (`torch.sparse_coo`)."""
        return self.backend == BACKEND_SPARSE and self.array.layout is dtypes.sparse_coo

    @property
    def is_sparse_csr(self):
        """True if the layout is CSR (`torch.sparse_csr`)."""
        return self.backend == BACKEND_SPARSE and self.array.layout is dtypes.sparse_csr

    @property
    def ndim(self):
        return self.array.ndim

    @property
    def itemsize(self):
        return self.array.dtype.itemsize

    @property
    def nbytes(self):
        return self.array.nbytes

    @property
    def is_cuda(self):
        return self.backend == BACKEND_CUDA or self.backend == BACKEND_META and self.device.type == "cuda"

    @property
    def is_cpu(self):
        return (
            self.backend == BACKEND_CPU
            or self.backend == BACKEND_SPARSE
            or self.backend == BACKEND_META and self.device.type == "cpu"
        )

    @property
    def is_meta(self):
        if self.backend != BACKEND_META:
            return False
        if is_dispatched(self):
            return self.history.layer.device.type == "meta"
        return self.history.layer.inner.is_meta if hides_elements(self) else True

    @property
    def is_leaf(self):
        """True if no recorded operator computed the tensor."""
        return not needs_grad(self) or node_behind(self) is None

    @property
    def grad_fn(self):
        """Backward node that computed the tensor, or None for a leaf."""
        return node_behind(self) if needs_grad(self) else None

    @property
    def grad(self):
        """Gradient that backward has accumulated in a leaf, or in a tensor with `retain_grad()`.

        It is None before.
        """
        cdef AutogradMeta history = self.history
        if history is None or history.grad is None:
            if needs_grad(self) and has_node(self) and not retains(self):
                warnings.warn(
                    "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad attribute won't "
                    "be populated during autograd.backward(). If you indeed want the .grad field to be populated for a "
                    "non-leaf Tensor, use .retain_grad() on the non-leaf Tensor. If you access the non-leaf Tensor by "
                    "mistake, make sure you access the leaf Tensor instead.",
                    stacklevel=2,
                )
            return None
        return history.grad

    @grad.setter
    def grad(self, value):
        if value is None:
            if self.history is not None:
                self.history.grad = None
            return
        check_gradient(self, value)
        history_of(self).grad = value

    @grad.deleter
    def grad(self):
        self.grad = None

    @property
    def _base(self):
        """Base tensor of a view, or None."""
        return self.base

    def _is_view(self):
        return self.base is not None

    @property
    def requires_grad(self):
        return bool(needs_grad(self))

    @requires_grad.setter
    def requires_grad(self, bint value):
        self._marked(bool(value))

    def requires_grad_(self, requires_grad=True):
        """Set `requires_grad` in place, and return the tensor."""
        if is_transforming():
            raise_inside_transforms("requires_grad_", "(or perhaps using torch.autograd.functional.* APIs) ")
        return self._marked(requires_grad)

    def _marked(self, requires_grad):
        """Set `requires_grad` on the tensor, even inside of function transforms."""
        if requires_grad is not True and requires_grad is not False:
            raise TypeError(
                "requires_grad_(): argument 'requires_grad' (position 1) must be bool, "
                f"not {type(requires_grad).__name__}"
            )
        if requires_grad and not (self.dtype.is_floating_point or self.dtype.is_complex):
            raise RuntimeError("only Tensors of floating point dtype can require gradients")
        if needs_grad(self) and has_node(self):
            if not requires_grad:
                raise RuntimeError(
                    "you can only change requires_grad flags of leaf variables. If you want to use a computed variable in a "
                    "subgraph that doesn't require differentiation use var_no_grad = var.detach()."
                )
            return self
        if requires_grad and self.of_inference and not context_flags() & INFERENCE:
            raise RuntimeError("Setting requires_grad=True on inference tensor outside InferenceMode is not allowed.")
        if requires_grad and not attention & GRADIENTS_REQUIRED:
            resolve("tape")  # The import registers the function that records operators for autograd.
            set_gradients_required()
        self.requires_grad_flag = requires_grad
        return self

    @property
    def data(self):
        if calls_handler(self):
            result = self.history.layer.detach(self)
            (<Tensor>result).owner = None  # Unlike `detach`, `data` has its own version counter.
            (<Tensor>result).version = 0
            return result
        if is_layered(self) and not needs_grad(self):
            self.history.layer.check_data()
        if let_go != NULL:
            let_go(<PyObject *>self.array, False)
        return detached_from(self) if is_layered(self) else alias_detached(self)

    @data.setter
    def data(self, Tensor other not None):
        for x in (self, other):
            if hides_elements(x):
                where = "under vmap" if implementation_of(x) == "BatchedTensorImpl" else "inside functorch"
                raise RuntimeError(f"mutating directly with `.data` {where} transform is not allowed.")
        if is_dispatched(other) and not is_dispatched(self):
            raise RuntimeError(
                "Attempted to call `variable.set_data(tensor)`, but `variable` and `tensor` have incompatible tensor type."
            )
        fake = other.backend == BACKEND_META and is_layered(other) and other.history.layer.level == 0
        if fake and self.backend != BACKEND_META:
            raise RuntimeError("a tensor with elements cannot become a tensor without elements")
        rebind(self, other.array)
        if fake:
            # `other` is a fake tensor. Its layer makes this tensor a fake tensor, too.
            history_of(self).layer = other.history.layer
        elif is_dispatched(self):
            resolve("tensor_subclasses").replace_data(self, other)

    @property
    def T(self):
        if watched() or is_recorded(self) or self.backend == BACKEND_SPARSE:
            return operator_function("numpy_T")(self)
        if self.array.ndim not in (0, 2):
            warnings.warn(
                "The use of `x.T` on tensors of dimension other than 2 to reverse their shape is deprecated and it will "
                "throw an error in a future release. Consider `x.mT` to transpose batches of matrices or `x.permute("
                "*torch.arange(x.ndim - 1, -1, -1))` to reverse the dimensions of a tensor."
            )
        return view_on(self, self.array.T)

    def size(self, dim=None):
        """Return the shape, or the size of dimension `dim`."""
        if watched():
            return watcher().size(self, dim)
        if dim is None:
            return shape_of(self)
        if self.backend == BACKEND_CPU:
            return dims_of(<PyArrayObject *>self.array)[<Py_ssize_t>self._dimension(dim)]
        return self.array.shape[self._dimension(dim)]

    def stride(self, dim=None):
        """Return the strides in elements, or the stride of dimension `dim`."""
        itemsize = self.array.dtype.itemsize
        steps = tuple([s // itemsize for s in self.array.strides])
        # NumPy sets the strides of a new empty array to zero. Return the strides that the array would have in
        # PyTorch.
        if self.array.size == 0 and self.array.base is None and not any(steps):
            steps = strides.contiguous(self.array.shape)
        return steps if dim is None else steps[self._dimension(dim)]

    def _dimension(self, dim):
        cdef Py_ssize_t i = dim if type(dim) is int else python_operator.index(dim), nd = rank_of(self)
        cdef Py_ssize_t n = max(nd, <Py_ssize_t>1)
        if not -n <= i < n:
            raise IndexError(f"Dimension out of range (expected to be in range of [{-n}, {n - 1}], but got {i})")
        if nd == 0:
            raise IndexError(f"Dimension specified as {i} but tensor has no dimensions")
        return i + n if i < 0 else i

    def dim(self):
        """Return the number of dimensions."""
        return rank_of(self)

    ndimension = dim

    def numel(self):
        """Return the number of elements."""
        if watched():
            return watcher().numel(self)
        return size_of(<PyArrayObject *>self.array) if self.backend == BACKEND_CPU else self.array.size

    nelement = numel

    def element_size(self):
        """Return the size of an element in bytes."""
        return self.array.dtype.itemsize

    def is_floating_point(self):
        return self.dtype.is_floating_point

    def is_complex(self):
        return self.dtype.is_complex

    def is_signed(self):
        return self.dtype.is_signed

    def get_device(self):
        """Return the device index, which is -1 on the CPU."""
        return self.device_index

    def data_ptr(self):
        """Return the address of the first element."""
        check_strided(self, "Cannot access data pointer of Tensor that doesn't have storage")
        if hides_elements(self):
            return tensor_with_memory(self).data_ptr()
        if let_go != NULL:
            let_go(<PyObject *>self.array, True)
        if self.backend == BACKEND_CPU:
            return <size_t>cnp.PyArray_DATA(<cnp.ndarray>self.array)
        return 0 if self.backend == BACKEND_META else self.array.data.ptr

    # ---- access to elements

    def item(self):
        """Return the only element as a Python number."""
        value = only_element(self)
        if tracing():
            tracer().record_escape(self, "number", value)
        return value

    def _host(self):
        """Return the elements as a NumPy array. On the CPU, the array shares memory with the tensor."""
        if hides_elements(self):
            self.history.layer.check_copy_to_host()
            return self.history.layer.inner._host()
        check_elements(self)
        if self.backend == BACKEND_CPU:
            return self.array
        if self.backend == BACKEND_META:
            raise NotImplementedError("Cannot copy out of meta tensor; no data!")
        return backend_registry().at(self.backend).to_host(self.array)

    def __bool__(self):
        size = self.array.size
        if size != 1:
            values = "more than one value" if size else "no values"
            raise RuntimeError(f"Boolean value of Tensor with {values} is ambiguous")
        if hides_elements(self):
            self.history.layer.check_condition()
        value = bool(only_element(self))
        if tracing():
            tracer().record_escape(self, "boolean", value)
        return value

    def __int__(self):
        value = int(self._number(int))
        if tracing():
            tracer().record_escape(self, "integer", value)
        return value

    def __float__(self):
        value = float(self._number(float))
        if tracing():
            tracer().record_escape(self, "float", value)
        return value

    def __complex__(self):
        value = complex(self._number(complex))
        if tracing():
            tracer().record_escape(self, "complex", value)
        return value

    def _number(self, to):
        if self.array.size != 1:
            raise ValueError("only one element tensors can be converted to Python scalars")
        value = only_element(self)
        if isinstance(value, complex) and to is not complex:
            if value.imag:
                name = "double" if to is float else "int64_t"
                raise RuntimeError(f"value cannot be converted to type {name} without overflow")
            value = value.real
        return value

    def __index__(self):
        if self.array.size != 1 or self.dtype.category > dtypes.INTEGRAL:
            raise TypeError("only integer tensors of a single element can be converted to an index")
        value = int(only_element(self))
        if tracing():
            tracer().record_escape(self, "index", value)
        return value

    def __len__(self):
        if self.array.ndim == 0:
            raise TypeError("len() of a 0-d tensor")
        if tracing():
            tracer().record_escape(self, "length", self.array.shape[0])
        return self.array.shape[0]

    def __iter__(self):
        if self.array.ndim == 0:
            raise TypeError("iteration over a 0-d tensor")
        if watched():
            return watcher().iterate(self)
        if is_recorded(self) or self.backend == BACKEND_SPARSE:
            return iter(operator_function("unbind")(self, 0))
        array = self.array
        rows = []
        for i in range(array.shape[0]):
            count_items(0)
            row = view_on(self, array[i, ...])
            mark_one_of_several(row)
            rows.append(row)
        return iter(rows)

    def __reversed__(self):
        return operator_function("flip")(self, [0]) if self.array.ndim else self

    def __contains__(self, x):
        if not is_operand(x):
            raise RuntimeError(
                f"Tensor.__contains__ only supports Tensor or scalar, but you passed in a {type(x)}."
            )
        return (self == x).any().item()

    def __repr__(self):
        if watched():
            return watcher().unrecorded(resolve("tensor_text"), self)
        return resolve("tensor_text")(self)

    def _element(self):
        return only_element(self)

    def __hash__(self):
        return <Py_ssize_t><void *>self >> 4

    # ---- copies and conversions

    def to(self, *args, **kwargs):
        """Return the tensor converted to another dtype, device or memory format, or `self` if nothing changes."""
        if watched():
            return watcher().to(self, args, kwargs)
        if not kwargs and len(args) == 1 and type(args[0]) is dtypes.dtype:
            return cast(self, args[0])
        return conversions.to(self, args, kwargs)

    def cpu(self, memory_format=None):
        return self.to(devices.CPU, **in_format(memory_format))

    def cuda(self, device=None, non_blocking=False, memory_format=None):
        target = devices.device("cuda" if device is None else device)
        return self.to(target, non_blocking=non_blocking, **in_format(memory_format))

    def float(self, memory_format=None): return convert_dtype(self, dtypes.float32, memory_format)
    def double(self, memory_format=None): return convert_dtype(self, dtypes.float64, memory_format)
    def half(self, memory_format=None): return convert_dtype(self, dtypes.float16, memory_format)
    def bfloat16(self, memory_format=None): return convert_dtype(self, dtypes.bfloat16, memory_format)
    def int(self, memory_format=None): return convert_dtype(self, dtypes.int32, memory_format)
    def long(self, memory_format=None): return convert_dtype(self, dtypes.int64, memory_format)
    def short(self, memory_format=None): return convert_dtype(self, dtypes.int16, memory_format)
    def char(self, memory_format=None): return convert_dtype(self, dtypes.int8, memory_format)
    def byte(self, memory_format=None): return convert_dtype(self, dtypes.uint8, memory_format)
    def bool(self, memory_format=None): return convert_dtype(self, dtypes.bool_, memory_format)
    def cfloat(self, memory_format=None): return convert_dtype(self, dtypes.complex64, memory_format)
    def chalf(self, memory_format=None): return convert_dtype(self, dtypes.complex32, memory_format)
    def cdouble(self, memory_format=None): return convert_dtype(self, dtypes.complex128, memory_format)

    # ---- indexing

    def __getitem__(self, index):
        if watched():
            return watcher().get(self, index)
        result = basic_indexing.get_view(self, index)
        if result is not None:
            return result
        if type(index) is Tensor and selects_alone(self, <Tensor>index):
            return operator_function("index")(self, [index])
        if type(index) is tuple and select_together(self, <tuple>index):
            return operator_function("index")(self, list(<tuple>index))
        return indexing.get(self, index)

    def __setitem__(self, index, value):
        if watched():
            watcher().put(self, index, value)
        elif not basic_indexing.set_item(self, index, value):
            indexing.put(self, index, value)

    # ---- Python operators: type slots that call operators

    def __add__(self, other): return binary("add", self, other)
    def __radd__(self, other): return call_reflected("add", "add", self, other)
    def __sub__(self, other): return binary("sub", self, other)
    def __rsub__(self, other): return call_reflected("rsub", "sub", self, other)
    def __mul__(self, other): return binary("mul", self, other)
    def __rmul__(self, other): return call_reflected("mul", "mul", self, other)
    def __truediv__(self, other): return binary("div", self, other)
    def __rtruediv__(self, other):
        if isinstance(other, Tensor):
            return binary("div", other, self)
        if isinstance(other, np.ndarray):
            # `binary` does not accept an array as `other`. The operator `*` does, because it calls the method
            # `__rmul__` of the NumPy array.
            return operator_function("reciprocal")(self) * other
        return binary("mul", operator_function("reciprocal")(self), other)

    def __floordiv__(self, other): return binary("floor_divide", self, other)
    def __rfloordiv__(self, other): return binary("floor_divide", other, self)
    def __mod__(self, other): return binary("remainder", self, other)
    def __rmod__(self, other): return binary("remainder", other, self)
    def __pow__(self, other, modulo): return binary("pow", self, other)
    def __rpow__(self, other, modulo): return binary("pow", other, self)
    def __and__(self, other): return bitwise("__and__", "bitwise_and", self, other)
    def __rand__(self, other): return call_reflected("bitwise_and", "bitwise_and", self, other)
    def __or__(self, other): return bitwise("__or__", "bitwise_or", self, other)
    def __ror__(self, other): return call_reflected("bitwise_or", "bitwise_or", self, other)
    def __xor__(self, other): return bitwise("__xor__", "bitwise_xor", self, other)
    def __rxor__(self, other): return call_reflected("bitwise_xor", "bitwise_xor", self, other)
    def __lshift__(self, other): return bitwise("__lshift__", "bitwise_left_shift", self, other)
    def __rlshift__(self, other): return binary("bitwise_left_shift", as_operand(other), self)
    def __rshift__(self, other): return bitwise("__rshift__", "bitwise_right_shift", self, other)
    def __rrshift__(self, other): return binary("bitwise_right_shift", as_operand(other), self)
    def __neg__(self): return method("neg")(self)
    def __pos__(self): return method("positive")(self)
    def __abs__(self): return method("abs")(self)

    def __matmul__(self, other):
        return binary("matmul", self, other) if isinstance(other, Tensor) or overrides(other) else NotImplemented

    def __invert__(self):
        if self.dtype.category > dtypes.INTEGRAL:
            raise TypeError("~ (operator.invert) is only implemented on integer and Boolean-type tensors")
        return method("bitwise_not")(self)

    def __iadd__(self, other): return inplace("add_", self, other)
    def __isub__(self, other): return inplace("sub_", self, other)
    def __imul__(self, other): return inplace("mul_", self, other)
    def __itruediv__(self, other): return inplace("div_", self, other)
    def __ifloordiv__(self, other): return inplace("floor_divide_", self, other)
    def __imod__(self, other): return inplace("remainder_", self, other)
    def __ipow__(self, other): return inplace("pow_", self, other)
    def __iand__(self, other): return bitwise("__iand__", "bitwise_and_", self, other)
    def __ior__(self, other): return bitwise("__ior__", "bitwise_or_", self, other)
    def __ixor__(self, other): return bitwise("__ixor__", "bitwise_xor_", self, other)
    def __ilshift__(self, other): return bitwise("__ilshift__", "bitwise_left_shift_", self, other)
    def __irshift__(self, other): return bitwise("__irshift__", "bitwise_right_shift_", self, other)

    def __richcmp__(self, other, int op): return compare(self, other, op)


def _derived(cls):
    """Choose the `__torch_function__` of a new class derived from `Tensor`, and make the class's methods call it."""
    function = cls.__torch_function__
    definer = next(c for c in cls.__mro__ if "__torch_function__" in c.__dict__)
    # As in PyTorch, a class with `__torch_dispatch__` does not inherit the `__torch_function__` of `Tensor`.
    if definer is Tensor and class_dispatches(cls):
        cls.__torch_function__ = function = _disabled_torch_function_impl
    if function is not _disabled_torch_function_impl:
        resolve("initialize_subclass")(cls)


disabled_dispatch = staticmethod(_disabled_torch_dispatch_impl)
define_methods({"array": ArrayAttribute(), "__init_subclass__": classmethod(_derived), "__torch_dispatch__": disabled_dispatch})
disabled_dispatch = Tensor.__torch_dispatch__
seal(AutogradMeta)
seal(VersionCounter)
(<PyTypeObject *>Tensor).tp_name = "ts.Tensor"  # the name in Python's error messages


cdef New new_unfilled = (<PyTypeObject *>Tensor).tp_new


cdef object new_tensor(type cls, object args, PyObject *kwargs):
    """Implement `Tensor(...)` with `factories.legacy`. The result is an object of class `cls`."""
    cdef Tensor t = new_unfilled(cls, (), NULL)
    options = {} if kwargs == NULL else dict(<object>kwargs)
    if not args and not options:
        rebind(t, np.empty(0, np.float32 if factories is None else dtypes.get_default_dtype().numpy_dtype))
        if cls is not Tensor:
            attach(t)
        return t
    device = options.pop("device", None)
    if options:
        args = factories.positional_arguments(args, options)
    factories.check_legacy_device(device, "cpu")
    become(t, factories.legacy(args, device, None, "Tensor"))
    if cls is not Tensor:
        attach(t)
    return t


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


cdef int become(Tensor t, Tensor x) except -1:
    """Move the array and the autograd history of the temporary tensor `x` to the new tensor `t`."""
    t.array, t.scalar_type, t.backend, t.device_index = x.array, x.scalar_type, x.backend, x.device_index
    t.requires_grad_flag, t.of_inference, t.history = x.requires_grad_flag, x.of_inference, x.history
    t.version, t.creation, t.owner, t.base = x.version, x.creation, x.owner, x.base
    record_alias(t, x)
    return 0


cdef int hang_attributes_on_tensors() except -1:
    cdef Tensor t = Tensor.__new__(Tensor)
    return hang_attributes(Tensor, <char *>&t.attributes - <char *><PyObject *>t)


hang_attributes_on_tensors()
# Calls of `Tensor.__new__(cls)`, where `cls` is `Tensor` or a subclass, use this slot. `wrap` does not use
# it, because it calls Cython's C function for new objects directly.
(<PyTypeObject *>Tensor).tp_new = new_tensor
PyType_Modified(Tensor)


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


# This entry sets `Tensor.__module__`. Without the entry, attribute lookup would return the `__module__` of
# the metaclass.
(<dict>(<PyTypeObject *>Tensor).tp_dict)["__module__"] = "ts"
PyType_Modified(Tensor)
Py_INCREF(TensorMeta)
Py_SET_TYPE(<PyObject *>Tensor, <PyTypeObject *>TensorMeta)

# These modules use the class Tensor, so they are imported after its definition.
from ts._core.tensor import conversions, factories, indexing, basic_indexing
# The modules resolved here add methods to the class Tensor.
resolve("conversion_methods")
resolve("interoperability_methods")
resolve("layout_methods")
