"""Python operators of tensors, evaluated by operators of the registry.

Input: the operands of `x + y`, `x += y` and similar expressions. Output: the result, or NotImplemented for
unsupported types. Examples:

    operator_function("add")(x, y)    calls aten::add
    binary("add", x, 1)               the type slot of `x + 1`: the operator, or a method that overrides it

The class Tensor uses these functions, so this module cannot import the class. `register_tensor_type` sets it.
"""

import numpy as np

from cpython.object cimport PyObject_TypeCheck, PyTypeObject

from ts._core.thread.context cimport AS_TENSORS, context_flags, overriding, tracer, tracing, watched

from ts._core.late_binding import resolve
from ts._core.tensor.sym_types import SymNumber

cdef extern from "Python.h":
    PyTypeObject *type_of "Py_TYPE"(object x) noexcept


cdef PyTypeObject *tensor_type = NULL            # the class Tensor
cdef IsDispatched is_dispatched = NULL
cdef object numpy_number = np.generic
cdef dict _functions = {}                        # operator name -> callable


cdef int register_tensor_type(type cls, IsDispatched predicate) except -1:
    global tensor_type, is_dispatched
    tensor_type, is_dispatched = <PyTypeObject *>cls, predicate
    return 0


cdef inline bint is_tensor(object x) noexcept:
    return PyObject_TypeCheck(x, tensor_type)


cdef bint is_operand(object x) except -1:
    return is_tensor(x) or isinstance(x, (int, float, complex, numpy_number))


cdef inline bint is_dispatched_operand(object x) except -1:
    """Return whether `x` is a tensor whose class defines `__torch_dispatch__`."""
    return type_of(x) != tensor_type and is_tensor(x) and is_dispatched(x)


cdef object operator_function(str name):
    function = _functions.get(name)
    if function is None:
        function = _functions[name] = resolve("overload_set_by_name")(name)
    return function


def operator(str name not None):
    """Return the callable of an operator name such as "add"."""
    return operator_function(name)


cdef bint install_method(str name) except -1:
    """Install the method of an operator. Return whether the class Tensor has the attribute `name`."""
    return resolve("operator_registry").install_method(name)


cdef object method(str name):
    """Return the function that evaluates a Python operator, such as "add".

    The result is the operator of `ts`. If a tracer, function mode or class may override the operator, the
    result is the method of Tensor.
    """
    if not overriding and not watched():
        return operator_function(name)
    function = getattr(<object>tensor_type, name, None)
    if function is None and install_method(name):
        function = getattr(<object>tensor_type, name)
    return function or operator_function(name)


cdef object binary(str name, object a, object b):
    """Evaluate a binary or in-place Python operator, or return NotImplemented if an operand type is unsupported.

    Then no `__torch_function__` handler is called.
    """
    if is_operand(b) and is_operand(a):
        if not overriding or not is_dispatched_operand(a) and not is_dispatched_operand(b) and not has_handler(a, b):
            return method(name)(a, b)
    elif not is_supported(a) or not is_supported(b):
        return NotImplemented
    try:
        return method(name)(a, b)
    except TypeError:  # an operand has a class that the function does not support
        return NotImplemented


cdef object add_in_place(object a, object b):
    """Evaluate `a += b`, where `a` is a tensor.

    CPython returns the result of `+=` unchecked for instances of Python subclasses, also NotImplemented, because they
    inherit the method as the concatenation of sequences, too. The method of a subclass therefore tries `b.__radd__`.
    """
    result = binary("add_", a, b)
    if result is not NotImplemented or type_of(a) == tensor_type:
        return result
    try:
        return a + b
    except TypeError as error:
        text = str(error)
        if not text.startswith("unsupported operand type(s) for +:"):
            raise
        raise TypeError(text.replace("for +:", "for +=:", 1)) from None


cdef object call_reflected(str slot, str name, str direct, object a, object b):
    """Evaluate `b` <operator> `a` for a reflected method of tensor `a`, such as `__radd__`.

    If the class of `b` is Tensor, run the operator `direct`: Python calls the reflected method of a subclass of
    Tensor before the method of Tensor. `slot` is the method that handlers receive, or "" for the operator `name`.
    """
    if type_of(b) == tensor_type:
        return binary(direct, b, a)
    return call_handler(slot, a, b) if slot and has_handler(a, b) else binary(name, a, b)


cdef object call_exchanged(str slot, str direct_slot, str name, object a, object b):
    """Evaluate `b` <operator> `a` for a reflected method of tensor `a`, by the operator `name` on `b` and `a`.

    Handlers receive the method `slot`. If the class of `b` is Tensor, they receive `direct_slot`, or the operator if it
    is "", because Python calls the reflected method of a subclass of Tensor before the method of Tensor.
    """
    if type_of(b) == tensor_type:
        return call_slot(direct_slot, name, b, a) if direct_slot else binary(name, b, a)
    return call_handler(slot, a, b) if has_handler(a, b) else binary(name, b, a)


cdef object divide_reflected(object x, object other):
    """Evaluate `other / x` for the reflected method of tensor `x`."""
    if type_of(other) == tensor_type:
        return binary("div", other, x)
    if has_handler(x, other):
        return call_handler("__rdiv__", x, other)
    if isinstance(other, np.ndarray):
        # `binary` does not accept an array as `other`. The operator `*` does, because it calls the method
        # `__rmul__` of the NumPy array.
        return operator_function("reciprocal")(x) * other
    return binary("mul", operator_function("reciprocal")(x), other)


cdef object call_slot(str slot, str name, object a, object b):
    return call_handler(slot, a, b) if has_handler(a, b) else binary(name, a, b)


cdef object class_overrides = None


cdef bint is_overriding(object x) except -1:
    if type(x) is tuple or type(x) is list:  # a subscript
        for item in tuple(x):
            if type_of(item) != tensor_type and class_overrides(type(item)):
                return True
        return False
    return type_of(x) != tensor_type and class_overrides(type(x))


cdef bint has_handler(object a, object b) except -1:
    """Return whether the class of an operand or of an item of a subscript defines `__torch_function__`.

    Return False if the calls of handlers are disabled.
    """
    global class_overrides
    if not overriding or context_flags() & AS_TENSORS:
        return False
    if class_overrides is None:
        class_overrides = resolve("function_overrides").class_overrides
    return is_overriding(a) or is_overriding(b)


cdef object call_handler(str slot, object a, object b):
    """Call the `__torch_function__` handler of an operand for the method `slot` of Tensor, such as `__rsub__`.

    A TypeError means that the operands are unsupported, as in PyTorch.
    """
    try:
        return resolve("function_overrides").overridable_slot(slot)(a, b)
    except TypeError:
        return NotImplemented


cdef object bitwise(str slot, str name, object a, object b):
    """Run the bitwise operator `name`. As in PyTorch, a tracer records the operator `slot` (such as
    `__and__`) instead.
    """
    if tracing() and (is_tensor(b) or isinstance(b, (int, float))) and tracer().records_slots:
        return operator_function(slot)(a, b)
    if (is_operand(b) or overrides(b)) and has_handler(a, b):
        return call_handler(slot, a, b)
    return binary(name, a, b)


cdef object reflected_bitwise(str slot, str name, object a, object b):
    return bitwise(slot, name, b, a) if type_of(b) == tensor_type else binary(name, a, b)


cdef bint is_supported(object x) except -1:
    return is_operand(x) or overrides(x) or isinstance(x, SymNumber)


cdef bint overrides(object x) except -1:
    """Return whether the class of `x`, a tensor or another object, defines `__torch_function__`."""
    return hasattr(type(x), "__torch_function__")


cdef object _to_copy = None


cpdef object to_copy(object x, object dtype=None, object device=None, object non_blocking=False, object memory_format=None):
    """Return a copy of the tensor `x` with another dtype, device or memory format, by the operator `aten::_to_copy`.

    `dtype` and `memory_format` are PyTorch's integer codes.
    """
    global _to_copy
    if _to_copy is None:
        _to_copy = operator_function("_to_copy").operators()[0]
    return _to_copy.call_list([x, dtype, None, device, None, non_blocking, memory_format])
