"""Python kernels of operator records: selection of the device, conversion of the arguments, wrapping of the results.

Input: an operator and Python values (tensors, numbers, lists). Output: tensors, or other Python values. A
call has three steps:

    select the backend: of the argument `device`, else of the tensor arguments
    call the operator's Python kernel for this backend: kernel(xp, *arguments), with arrays for tensors
    wrap the result arrays, or return the argument's Tensor if the result is a written argument

A number for a Tensor parameter is not converted to a tensor. The kernel applies the type promotion of
numbers.
"""

import warnings

import numpy as np

from ts._core.dispatch.operator cimport Operator, call_transform, read_signature
from ts._core.tensor.overlap cimport WARN, check_write
from ts._core.tensor.tensor cimport (
    BACKEND_CPU,
    BACKEND_META,
    BACKEND_SPARSE,
    Tensor,
    backend_registry,
    follow,
    hides_elements,
    mark_one_of_several,
    rebind,
    wrap_array,
    wrote,
)
from ts._core.tensor.tensor_metadata cimport count_together, memory_of
from ts._core.thread.context cimport PROFILING, context_flags, current_transform

from ts import devices, dtypes
from ts._core.dispatch.result_tuples import results_class
from ts._core.late_binding import resolve
from ts._core.tensor import conversions

cdef int (*note_record)(Operator op, int backend) except -1
note_record = NULL


cdef object _apply_layout_rules = None


cdef inline object apply_layout_rules():
    """Return the function that applies layout rules to results.

    Its arguments are (xp, rules, results, arguments).
    """
    global _apply_layout_rules
    if _apply_layout_rules is None:
        _apply_layout_rules = resolve("apply_layout_rules")
    return _apply_layout_rules


cdef object run(Operator op, list args):
    """Run the operator's Python kernel on Python values (tensors, numbers, lists), and return tensors."""
    cdef Py_ssize_t i, n = len(args)
    cdef int backend = -1
    cdef int device = -1
    cdef Tensor t
    if op.signature_ is None:
        read_signature(op)
    if op.tensor_kernel:
        return op.record.kernel(*args)
    for i in range(n):
        x = args[i]
        if isinstance(x, Tensor):
            t = <Tensor>x
            # The tensor has a layer of a function transform that has ended or that runs in another thread.
            # The tensor's own array has no elements.
            if t.backend == BACKEND_META and hides_elements(t):
                return call_transform(op, args)
            if backend < 0:
                backend = t.backend
                device = t.device_index
            if t.backend != backend or t.device_index != device:
                return run_mixed(op, args)
        elif type(x) is list and x and has_other_backend(<list>x, &backend, &device):
            return run_mixed(op, args)
    if backend <= BACKEND_CPU and has_sparse_layout(op, args):
        return run_on(op, args, BACKEND_SPARSE, -1)
    if op.device_at >= 0 and args[op.device_at] is not None:
        target_device = devices.as_device(args[op.device_at])
        target_backend = backend_registry().get(target_device.type)
        if backend == BACKEND_SPARSE and target_backend.index == BACKEND_CPU:
            return run_on(op, args, backend, device)
        elsewhere = target_backend.index != backend or (target_backend.numbered and target_device.index is not None and target_device.index != device)
        # Copy the tensors to the device of the argument `device` if they are on another device, as in
        # x.new_zeros(2, device="cuda").
        if elsewhere and backend >= 0:
            args = [on_device(x, target_backend, target_device) if isinstance(x, Tensor) else x for x in args]
        if target_backend.index != backend:
            backend = target_backend.index
            device = -1
        if target_device.index is not None and target_backend.numbered:
            device = target_device.index
    if backend < 0:
        backend = BACKEND_CPU
    if context_flags() & PROFILING and note_record != NULL:
        note_record(op, backend)
    return run_on(op, args, backend, device)


cdef bint has_sparse_layout(Operator op, list args) except -1:
    """Return whether the call requests a sparse layout. The parameter `layout` precedes `device`."""
    cdef int i = op.device_at - 1
    return i >= 0 and op.parameters[i].kind == "Layout" and bool(args[i])


cdef unsigned long long narrow_dtypes = 0  # bit mask: bit i is set if few operators support the dtype with code i
for _dtype in dtypes.ALL:
    if _dtype.is_narrow:
        narrow_dtypes |= 1ULL << <int>_dtype.code


cdef inline bint is_narrow(int scalar_type) noexcept:
    return scalar_type >= 0 and narrow_dtypes >> scalar_type & 1


cdef int check_narrow(object record, object dtype, list args) except -1:
    """Raise an error if an operator does not support arguments or results of a narrow dtype."""
    resolve("check_narrow_complex" if dtype.is_complex else "check_narrow_float")(record, dtype, args)
    return 0


cdef object kernel_of_narrow(Operator op, object kernel, list args):
    """Return `kernel`, or its variant for narrow dtypes if an argument requires one.

    Raise an error if the operator does not support the narrow dtype of an argument.
    """
    for x in args:
        for y in (<list>x if type(x) is list else (x,)):
            if isinstance(y, Tensor) and is_narrow((<Tensor>y).scalar_type):
                check_narrow(op.record, y.dtype, args)
                is_complex = y.dtype.is_complex
                variant = resolve("narrow_complex_kernel" if is_complex else "narrow_float_kernel")(op.record, kernel, args)
                if is_complex or variant is not kernel:
                    return variant
            elif type(y) is complex:  # with a float16 operand, the result is a narrow complex dtype
                return resolve("narrow_complex_kernel")(op.record, kernel, args)
    return kernel


cdef object on_device(Tensor x, object backend, object device):
    """Return a copy of a tensor on another device. The copy of a meta tensor has uninitialized elements."""
    if x.backend != BACKEND_META:
        return conversions.to_device(x, device)
    return wrap_array(backend.empty(x.array.shape, x.array.dtype, -1 if device.index is None else device.index))


cdef bint has_other_backend(list xs, int *backend, int *device) except -1:
    """Return whether a tensor in the list `xs` has another backend or another device index than the given ones.

    If `backend` is negative, first store the backend and device index of the first tensor in `backend` and
    `device`.
    """
    cdef Tensor t
    for x in xs:
        if isinstance(x, Tensor):
            t = <Tensor>x
            if backend[0] < 0:
                backend[0] = t.backend
                device[0] = t.device_index
            if t.backend != backend[0] or t.device_index != device[0]:
                return True
    return False


cdef object run_mixed(Operator op, list args):
    """Run the operator on tensors of several devices.

    Copy 0-dim CPU tensors to the device of the other tensors. Raise RuntimeError if the other tensors are on
    several devices.
    """
    cdef list tensors = []
    cdef Tensor t, chosen = None
    for x in args:
        if isinstance(x, Tensor):
            tensors.append(x)
        elif type(x) is list:
            tensors.extend([y for y in x if isinstance(y, Tensor)])
    for t in tensors:
        if t.backend == BACKEND_SPARSE:
            return run_sparse(op, args, tensors)
        if chosen is None or (chosen.backend == BACKEND_CPU and chosen.ndim == 0):
            chosen = t
    for t in tensors:
        if (t.backend, t.device_index) == (chosen.backend, chosen.device_index):
            continue
        if t.backend != BACKEND_CPU or t.ndim != 0:
            raise RuntimeError(
                "Expected all tensors to be on the same device, but found at least two devices, "
                f"{chosen.device} and {t.device}!"
            )
    backend = backend_registry().at(chosen.backend)
    moved = [backend.adopt(x, chosen) if isinstance(x, Tensor) else
             [backend.adopt(y, chosen) if isinstance(y, Tensor) else y for y in x] if type(x) is list else x
             for x in args]
    return run_on(op, moved, chosen.backend, chosen.device_index)


cdef object run_sparse(Operator op, list args, list tensors):
    """Run the sparse kernel on sparse and dense tensors, which must all be on the CPU."""
    cdef Tensor t
    for t in tensors:
        if t.backend != BACKEND_SPARSE and t.backend != BACKEND_CPU:
            raise RuntimeError(
                f"Expected all tensors to be on the same device, but found at least two devices, cpu and {t.device}!"
            )
    return run_on(op, args, BACKEND_SPARSE, -1)


cdef tuple bound_kernel(Operator op, int backend):
    """Return the tuple (backend, its array namespace, the operator's Python kernel for the backend).

    The tuple is created once per operator and backend.
    """
    bound = op.implementations[backend]
    if bound is None:
        target = backend_registry().at(backend)
        bound = op.implementations[backend] = (target, target.xp, target.bind(op.record))
    return <tuple>bound


cdef object run_on(Operator op, list args, int backend, int device):
    cdef tuple bound = bound_kernel(op, backend)
    cdef list values = [bound[1]]
    cdef object kernel = bound[2]
    cdef bint narrow = False
    for x in args:
        if isinstance(x, Tensor):
            values.append((<Tensor>x).array)
            narrow |= is_narrow((<Tensor>x).scalar_type)
        elif type(x) is list:
            values.append([(<Tensor>y).array if isinstance(y, Tensor) else y for y in <list>x])
            narrow |= len(<list>x) > 0 and isinstance((<list>x)[0], Tensor)
        else:
            values.append(x)
            narrow |= type(x) is complex
    if narrow and backend != BACKEND_META and backend != BACKEND_SPARSE:
        kernel = kernel_of_narrow(op, kernel, args)
    if op.written and backend != BACKEND_SPARSE:
        check_written(op, values)
    try:
        result = bound[0].run(kernel, values, device)
    except (ValueError, LookupError, TypeError, MemoryError, ArithmeticError) as error:
        from ts._core.dispatch.numpy_error_translation import reworded  # imported here, as few calls fail
        better = reworded(error, op.name)
        if better is None:
            raise
        raise better from error
    if op.layouts and backend != BACKEND_SPARSE:
        if bound[0].numbered:  # copies are allocated on the device of the result
            result = bound[0].run(apply_layout_rules(), [bound[1], op.layouts, result, values[1:]], device)
        else:
            result = apply_layout_rules()(bound[1], op.layouts, result, values[1:])
    return wrap_results(op, result, args)


cdef int check_written(Operator op, list values) except -1:
    """Raise an error if a written tensor has overlapping elements, or overlaps an input."""
    cdef Py_ssize_t i
    for i in op.written:
        if type(values[i + 1]) is list:
            for x in values[i + 1]:
                check_write(x, [], op.overlap)
            continue
        if not hasattr(values[i + 1], "strides"):  # a Generator, which is a written argument but no tensor
            continue
        read = [x for j, x in enumerate(values) if j and j != i + 1 and hasattr(x, "strides")] if op.checks_overlap else []
        if check_write(values[i + 1], read, op.overlap) and op.overlap == WARN:
            warnings.warn(
                f"Use of {op.name[6:]} on expanded tensors is deprecated. Please clone() the tensor before "
                "performing this operation. This also applies to advanced indexing e.g. "
                + (op.record.base or op.record).assignment,
                stacklevel=2,
            )
    return 0


cdef object wrap_results(Operator op, object result, list args):
    """Wrap the arrays that a kernel returned in tensors, as the results of the schema require."""
    cdef Py_ssize_t i
    cdef tuple returns = op.signature_.returns
    if op.nrets == 0:
        if op.written and result is not None:
            settle_all(args[op.written[0]], result)
        return None
    if op.nrets == 1:
        return wrapped_one(op, returns[0], result, args)
    if len(result) != op.nrets:
        raise RuntimeError(f"kernel of {op.key} returned {len(result)} results, but its schema declares {op.nrets}")
    values = [wrapped_one(op, returns[i], result[i], args) for i in range(op.nrets)]
    return results_class(op.name, tuple([r.name for r in returns]))(values)


cdef object wrapped_one(Operator op, object declared, object result, list args):
    cdef Tensor tensor
    cdef int alias = declared.alias_of
    cdef str kind = declared.kind
    if alias >= 0:
        target = args[alias]
        if isinstance(target, Tensor):
            return settle(<Tensor>target, result)
        return target
    if kind == "Tensor":
        if isinstance(result, Tensor):
            return result
        for x in args:  # If the kernel returned the array of an argument, the result is this argument.
            if isinstance(x, Tensor) and (<Tensor>x).array is result:
                return x
        tensor = wrap_array(result)
        if is_narrow(tensor.scalar_type) and tensor.backend != BACKEND_META and tensor.backend != BACKEND_SPARSE:
            check_narrow(op.record, tensor.dtype, args)
        if declared.view_of >= 0:
            source = args[declared.view_of]
            if not op.record.detaches_view:
                return mark_as_view(tensor, source)
            in_inference = tensor.of_inference
            count_together(tensor, source)
            tensor.of_inference, tensor.transform = in_inference, current_transform()
            return tensor
        return mark_as_view_of_any(tensor, args) if op.record.composes_views else tensor
    if kind == "Tensor[]":
        tensors = [x if isinstance(x, Tensor) else wrap_array(x) for x in result]
        if declared.view_of >= 0:
            for x in tensors:
                mark_as_view(x, args[declared.view_of])
                if not op.record.composes_views:
                    mark_one_of_several(x)
        elif op.record.composes_views:
            tensors = [mark_as_view_of_any(x, args) for x in tensors]
        return tensors
    if kind == "Tensor?":
        return None if result is None else wrap_array(result)
    if isinstance(result, np.generic):
        return result.item()
    return result


cdef Tensor mark_as_view_of_any(Tensor result, list args):
    """Return `result` as a view of the argument tensor with the same memory, if any.

    Return the argument itself if the kernel returned its array.
    """
    for x in args:
        for y in (<list>x if type(x) is list else (x,)):
            if not isinstance(y, Tensor):
                continue
            if (<Tensor>y).array is result.array:
                return y
            if memory_of(result) is memory_of(<Tensor>y):
                return mark_as_view(result, y)
    return result


cpdef Tensor mark_as_view(Tensor result, object source):
    """Make `result` a view of `source` if both share memory, and return `result`.

    A view has the version counter and the base of `source`.
    """
    if isinstance(source, Tensor) and result is not source and (
        memory_of(result) is memory_of(<Tensor>source) or result.array.size == 0
    ):
        follow(result, <Tensor>source)
    return result


cdef object settle(Tensor target, object result):
    """Store the result of an in-place kernel in `target`, and increment the version counter of `target`."""
    if result is not None and result is not target.array and not isinstance(result, Tensor):
        rebind(target, result)
    if result is not None:
        wrote(target)
    return target


cdef int settle_all(object target, object result) except -1:
    """Store `result` in the written argument `target`.

    If `target` is a list of tensors, `result` is a list with one result per tensor.
    """
    if isinstance(target, Tensor):
        settle(<Tensor>target, result)
    elif type(target) is list:
        for one, written in zip(target, result, strict=True):
            settle(<Tensor>one, written)
    return 0
