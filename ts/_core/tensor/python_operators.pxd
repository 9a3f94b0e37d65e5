"""Evaluation of Python operators of tensors, and the callables of operators (`python_operators.pyx`)."""

# Set the class Tensor, and the function that returns whether the class of a tensor defines `__torch_dispatch__`.
ctypedef bint (*IsDispatched)(object tensor) except -1
cdef int register_tensor_type(type cls, IsDispatched predicate) except -1

# Return the function that calls the operator `name` of the registry, such as "add". Raise an error if there
# is no such operator.
cdef object operator_function(str name)
# Install the method of an operator. Return whether the class Tensor has the attribute `name`.
cdef bint install_method(str name) except -1
# Return the function for a Python operator, such as "add", which a tracer, function mode or class may override.
cdef object method(str name)

# Evaluate `a += b`, where `a` is a tensor.
cdef object add_in_place(object a, object b)
# Evaluate a binary or in-place operator, or return NotImplemented if an operand type is unsupported.
cdef object binary(str name, object a, object b)
# Evaluate `b` <operator> `a` for a reflected method such as `__radd__` of tensor `a`.
cdef object call_reflected(str slot, str name, str direct, object a, object b)
cdef object call_exchanged(str slot, str direct_slot, str name, object a, object b)
# Evaluate `a` <operator> `b` for a method whose handlers receive the method.
cdef object call_slot(str slot, str name, object a, object b)
# Evaluate a bitwise operator. A tracer records the method `slot`, such as `__and__`.
cdef object bitwise(str slot, str name, object a, object b)
# Evaluate `b` <operator> `a` for a reflected method such as `__rand__` of tensor `a`.
cdef object reflected_bitwise(str slot, str name, object a, object b)
# Evaluate `other / x` for the reflected method of tensor `x`.
cdef object divide_reflected(object x, object other)
# Return whether `a` or `b` has a `__torch_function__` handler.
cdef bint has_handler(object a, object b) except -1
# Return whether `x` is a tensor or a number.
cdef bint is_operand(object x) except -1
# Return whether the class of `x`, a tensor or another object, defines `__torch_function__`.
cdef bint overrides(object x) except -1
# Return a copy of the tensor `x`, by the operator `aten::_to_copy`.
cpdef object to_copy(object x, object dtype=*, object device=*, object non_blocking=*, object memory_format=*)
