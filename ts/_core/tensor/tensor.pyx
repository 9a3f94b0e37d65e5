"""The class Tensor: wrapping of arrays, and performance-critical methods that are not operators.

Only the class itself can define Python operators and indexing, as type slots. Other operators become methods
by `install_methods`. Further modules add attributes, and `tensor_type` the constructor. Examples:

    x = from_numpy(numpy.ones((2, 3)))      shares memory: x.array is a view of the array
    x.t()                                   a method that `install_methods` adds from an operator record
    x + 1                                   the operator aten::add, through operator_function("add")
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

from ts._core.tensor.ndarray cimport PyArrayObject, dims_of, ndim_of, size_of
from ts._core.tensor.python_operators cimport (
    add_in_place, binary, bitwise, call_exchanged, call_reflected, call_slot, divide_reflected, has_handler,
    install_method, is_operand, method, operator_function, overrides, reflected_bitwise, register_tensor_type,
    to_copy,
)
from ts._core.tensor.scalar_types cimport dtype_of_scalar_type, is_registered_dtype, scalar_type_of_number
from ts._core.thread.context cimport MODES, tracer, tracing, watched, watcher
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
    ctypedef struct PyTypeObject:
        object (*tp_alloc)(PyTypeObject *, Py_ssize_t)
    object PyObject_GenericGetAttr(object x, object name)

# ---------------------------------------------------------------- wrapping of arrays in tensors

cdef object backends = None          # the package ts.backends


def attribute_names(Tensor x not None):
    """Return the names of all attributes of a tensor, also of methods that are not installed yet."""
    resolve("announce_methods")()
    return dir(x)


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
    t.transform = current_transform()
    return t


cpdef Tensor wrap_array(object array):
    """Wrap an array of any backend in a tensor that shares its memory."""
    cdef Tensor t
    cdef int code
    if cnp.PyArray_CheckExact(array):
        code = scalar_type_of_number(cnp.PyArray_TYPE(array))
        if code < 0:
            code = dtypes.from_numpy_dtype(array.dtype).code
        return wrap_cpu(array, code)
    if isinstance(array, (np.generic, bool, int, float, complex)):
        return wrap_array(np.asarray(array))
    backend = backend_registry().of_array(array)
    if backend.index == BACKEND_CPU:             # neither an ndarray nor an array of another backend
        return wrap_array(np.asarray(array))
    t = Tensor.__new__(Tensor)
    t.array = array
    t.scalar_type = dtypes.from_numpy_dtype(array.dtype).code
    t.backend = backend.index
    t.device_index = backend.device_of(array)
    t.of_inference = context_flags() & INFERENCE != 0
    t.transform = current_transform()
    return t


cdef int rebind(Tensor t, object array) except -1:
    """Replace the array of `t`. Another tensor may have the same array, and writes through either of them."""
    cdef Tensor fresh = wrap_array(array)
    if let_go != NULL:
        let_go(<PyObject *>array, False)
    before = t.array  # Keep the old array until all fields of `t` are set, because its release may let other threads run.
    t.array, t.scalar_type = fresh.array, fresh.scalar_type
    t.backend, t.device_index = fresh.backend, fresh.device_index
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


# ---------------------------------------------------------------- functions that use the class

# Functions of modules that import the class: `basic_indexing.get` and `set_item`, `indexing.get` and `put`,
# `conversions.to` and `factories.tensor`.
cdef object _basic_get, _basic_put, _advanced_get, _advanced_put, _convert, _new_tensor


def register_functions(*, basic_get, basic_put, advanced_get, advanced_put, convert, new_tensor):
    """Set the functions of this package that methods of Tensor call. Their modules import the class."""
    global _basic_get, _basic_put, _advanced_get, _advanced_put, _convert, _new_tensor
    _basic_get, _basic_put = basic_get, basic_put
    _advanced_get, _advanced_put = advanced_get, advanced_put
    _convert, _new_tensor = convert, new_tensor


# ---------------------------------------------------------------- operands

cdef object as_operand(object x):
    """Convert a number to a 0-dim tensor, for operators that need a tensor as the first argument."""
    return _new_tensor(x) if isinstance(x, (int, float, complex, np.generic)) else x


cdef object compare(Tensor x, object other, int op):
    """Evaluate a rich comparison. For `==` and `!=`, a numeric NumPy array is converted to a tensor."""
    if (op == Py_EQ or op == Py_NE) and isinstance(other, np.ndarray) and other.dtype.kind in "biufcV":
        try:
            other = _new_tensor(np.asarray(other))
        except TypeError:  # the dtype of the array is unsupported
            return NotImplemented
    if op == Py_EQ and has_handler(x, None):  # In PyTorch, the method `__eq__` ignores the class of `other`.
        try:
            return resolve("function_overrides").call_overridden(Tensor.__eq__, [x], (x, other), None)
        except TypeError:
            return NotImplemented
    return binary(COMPARISONS[op], x, other)


# ---------------------------------------------------------------- elements and conversions

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
    if is_registered_dtype(x.scalar_type):
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
        return convert(x, (dtype,), {})
    return x if x.scalar_type == dtype.code else to_copy(x, dtype.code)


cdef object convert(Tensor x, tuple args, dict kwargs):
    """Return `x.to(*args, **kwargs)`. Function modes and tracers intercept the call."""
    if context_flags() & MODES:
        return watcher().operator(Tensor.to, (x, *args), kwargs)
    return _convert(x, args, kwargs)


cdef Tensor alias_detached(Tensor x):
    """Return a tensor that shares the memory of `x` and does not require grad."""
    cdef Tensor t = Tensor.__new__(Tensor)
    t.array = x.array.view() if x.backend == BACKEND_CPU else x.array[...]
    t.scalar_type = x.scalar_type
    t.backend = x.backend
    t.device_index = x.device_index
    t.of_inference = x.of_inference
    t.transform = x.transform
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


cdef AutogradMeta history_of(Tensor t):
    if t.history is None:
        t.history = AutogradMeta.__new__(AutogradMeta)
    return t.history


cdef Tensor view_on(Tensor x, object array):
    """Wrap `array`, a view of the memory of `x`, in a tensor."""
    cdef Tensor t = wrap_array(array)
    follow(t, x)
    return t


cdef int mark_one_of_several(Tensor view) except -1:
    if not context_flags() & (INFERENCE | GRAD_DISABLED):
        view.creation = ONE_OF_SEVERAL
    return 0


cdef int check_write_of_inference() except -1:
    if context_flags() & INFERENCE:
        return 0
    raise RuntimeError(
        "Inplace update to inference tensor outside InferenceMode is not allowed.You can make a clone to get a normal tensor before "
        "doing inplace update.See https://github.com/pytorch/rfcs/pull/17 for more details."
    )



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

    def as_subclass(self, cls):
        """Return a differentiable view of the tensor as an object of a derived class."""
        return resolve("tensor_type").as_subclass(self, cls)

    @staticmethod
    def _make_subclass(cls, Tensor data not None, require_grad=False):
        """Return a leaf tensor of a derived class that shares the memory of `data`."""
        return resolve("tensor_type").make_subclass(cls, data, require_grad)

    @staticmethod
    def _make_wrapper_subclass(*args, **kwargs):
        """Return a tensor without elements of a class that defines `__torch_dispatch__`.

        _make_wrapper_subclass(cls, size, *, strides=None, storage_offset=None, memory_format=None, dtype=None,
                               layout=strided, device=None, pin_memory=False, requires_grad=False, ...)
        """
        return resolve("tensor_subclasses").make_wrapper(*args, **kwargs)

    def __getattr__(self, name):
        """Install the method of an operator at its first lookup, because `import ts` installs no methods."""
        if not name.startswith("__") and install_method(name):
            # This function does not call `__getattr__` again if a property raises AttributeError.
            try:
                return PyObject_GenericGetAttr(self, name)
            except AttributeError:
                pass
        if name == "__cuda_array_interface__":
            return resolve("cuda_array_interface")(self)
        if name.startswith("__"):
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")
        raise missing_attribute(f"'{type(self).__name__}' object", name, partial(attribute_names, self))

    # ---- properties

    @property
    def shape(self):
        return watcher().shape(self) if watched() else shape_of(self)

    @property
    def dtype(self):
        return dtype_of_scalar_type[self.scalar_type]

    @property
    def ndim(self):
        return self.array.ndim

    def requires_grad_(self, requires_grad=True):
        """Set `requires_grad` in place, and return the tensor."""
        if is_transforming():
            raise_inside_transforms("requires_grad_", "(or perhaps using torch.autograd.functional.* APIs) ")
        return self._marked(requires_grad)

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
        # NumPy sets the strides of a new empty array to zero, and views of it have zero strides, too. Return the
        # row-major strides that a new tensor has in PyTorch. Symbolic sizes are not compared, because this would
        # add a guard.
        if all([type(s) is int for s in steps]) and not any(steps) and strides.is_view_of_empty_array(self.array):
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
        if self.backend == BACKEND_SPARSE:
            raise RuntimeError("Cannot access data pointer of Tensor that doesn't have storage")
        if hides_elements(self):
            self.history.layer.check_memory()
            return self.history.layer.inner.data_ptr()
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
        if has_handler(self, None) and self.dim():  # As in PyTorch, handlers receive both calls.
            return iter(self.unbind(0))
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
        if not kwargs and len(args) == 1 and type(args[0]) is dtypes.dtype:
            return cast(self, args[0])
        return convert(self, args, kwargs)

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
        if has_handler(index, None):
            return resolve("function_overrides").overridable_slot("__getitem__")(self, index)
        result = _basic_get(self, index)
        return _advanced_get(self, index) if result is None else result

    def __setitem__(self, index, value):
        if watched():
            watcher().put(self, index, value)
        elif has_handler(index, value):
            resolve("function_overrides").overridable_slot("__setitem__")(self, index, value)
        elif not _basic_put(self, index, value):
            _advanced_put(self, index, value)

    # ---- Python operators: type slots that call operators

    def __add__(self, other): return binary("add", self, other)
    def __radd__(self, other): return call_reflected("", "add", "add", self, other)
    def __sub__(self, other): return binary("sub", self, other)
    def __rsub__(self, other): return call_reflected("__rsub__", "rsub", "sub", self, other)
    def __mul__(self, other): return binary("mul", self, other)
    def __rmul__(self, other): return call_reflected("", "mul", "mul", self, other)
    def __truediv__(self, other): return binary("div", self, other)
    def __rtruediv__(self, other): return divide_reflected(self, other)

    def __floordiv__(self, other): return call_slot("__floordiv__", "floor_divide", self, other)
    def __rfloordiv__(self, other): return call_exchanged("__rfloordiv__", "__floordiv__", "floor_divide", self, other)
    def __mod__(self, other): return binary("remainder", self, other)
    def __rmod__(self, other): return call_exchanged("__rmod__", "", "remainder", self, other)
    def __pow__(self, other, modulo): return call_slot("pow", "pow", self, other)
    def __rpow__(self, other, modulo): return call_exchanged("__rpow__", "", "pow", self, other)
    def __and__(self, other): return bitwise("__and__", "bitwise_and", self, other)
    def __rand__(self, other): return reflected_bitwise("__and__", "bitwise_and", self, other)
    def __or__(self, other): return bitwise("__or__", "bitwise_or", self, other)
    def __ror__(self, other): return reflected_bitwise("__or__", "bitwise_or", self, other)
    def __xor__(self, other): return bitwise("__xor__", "bitwise_xor", self, other)
    def __rxor__(self, other): return reflected_bitwise("__xor__", "bitwise_xor", self, other)
    def __lshift__(self, other): return bitwise("__lshift__", "bitwise_left_shift", self, other)
    def __rlshift__(self, other):
        other = other if has_handler(self, other) else as_operand(other)
        return call_exchanged("__rlshift__", "__lshift__", "bitwise_left_shift", self, other)

    def __rshift__(self, other): return bitwise("__rshift__", "bitwise_right_shift", self, other)
    def __rrshift__(self, other):
        other = other if has_handler(self, other) else as_operand(other)
        return call_exchanged("__rrshift__", "__rshift__", "bitwise_right_shift", self, other)

    def __neg__(self): return method("neg")(self)
    def __pos__(self): return method("positive")(self)
    def __abs__(self): return method("abs")(self)

    def __matmul__(self, other):
        return binary("matmul", self, other) if isinstance(other, Tensor) or overrides(other) else NotImplemented

    def __rmatmul__(self, other):
        if isinstance(other, Tensor) or has_handler(self, other):
            return call_exchanged("__rmatmul__", "", "matmul", self, other)
        return NotImplemented

    def __invert__(self):
        if has_handler(self, self):
            return resolve("function_overrides").overridable_slot("__invert__")(self)
        if self.dtype.category > dtypes.INTEGRAL:
            raise TypeError("~ (operator.invert) is only implemented on integer and Boolean-type tensors")
        return method("bitwise_not")(self)

    def __iadd__(self, other): return add_in_place(self, other)
    def __isub__(self, other): return binary("sub_", self, other)
    def __imul__(self, other): return binary("mul_", self, other)
    def __itruediv__(self, other): return binary("div_", self, other)
    def __ifloordiv__(self, other): return binary("floor_divide_", self, other)
    def __imod__(self, other): return binary("remainder_", self, other)
    def __ipow__(self, other): return call_slot("pow_", "pow_", self, other)
    def __iand__(self, other): return bitwise("__iand__", "bitwise_and_", self, other)
    def __ior__(self, other): return bitwise("__ior__", "bitwise_or_", self, other)
    def __ixor__(self, other): return bitwise("__ixor__", "bitwise_xor_", self, other)
    def __ilshift__(self, other): return bitwise("__ilshift__", "bitwise_left_shift_", self, other)
    def __irshift__(self, other): return bitwise("__irshift__", "bitwise_right_shift_", self, other)

    def __richcmp__(self, other, int op): return compare(self, other, op)


cdef bint is_dispatched_tensor(object x) except -1:
    return is_dispatched(<Tensor?>x)


register_tensor_type(Tensor, is_dispatched_tensor)
seal(AutogradMeta)
seal(VersionCounter)
