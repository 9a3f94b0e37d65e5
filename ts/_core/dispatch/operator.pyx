"""Operators: from schema text and record to something that the interpreter and Python can call.

In: registers or Python arguments; out: results, wrapped as tensors.

    op = Operator("aten::exp(Tensor self) -> Tensor", record)
    op(x)                       called from Python, arguments bound by the schema
    op.kernel(op, r, at)        called by the interpreter, arguments in registers

    choose the backend by the tensor arguments, else by the device argument
      -> the record's kernel bound for that backend:  kernel(xp, *arguments), tensors as arrays
      -> arrays wrapped; a result that the schema says is a written argument is that very tensor

Pointwise operators first try `ts.backends.cpu.kernels.elementwise`.  Only Tensor arguments are looked at on the way:
a number where the schema says Tensor reaches the kernel as a number, and promotes as one.
"""

import warnings

import numpy as np

from cpython.contextvars cimport PyContextVar_Reset, PyContextVar_Set
from cpython.object cimport PyObject
from cpython.ref cimport Py_DECREF, Py_INCREF
from libc.stdint cimport int32_t
from libc.stdlib cimport calloc, free

from ts.backends.cpu.kernels cimport one_thread
from ts._core.dispatch.arguments cimport spec_of_text, unbox_arguments
from ts._core.value.container cimport List
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
    set_object_steal,
    unbox,
    unbox_shallow,
)
from ts._core.tensor.overlap cimport ALLOW, WARN, check_write
from ts.backends.cpu.kernels.elementwise cimport binary, binary_inplace, unary, unary_inplace
from ts.backends.cpu.kernels.matmul cimport matrix_product
from ts._core.tensor.tensor cimport BACKEND_CPU, BACKEND_META, Tensor, follow, rebind, root_of, wrap, wrote

from ts import devices, dtypes
from ts._core.tensor import construct
from ts._core.value import ivalue as ivalue_module
from ts.backends.cpu.kernels.elementwise import ufunc_loops
from ts._core.dispatch.results import results_class
from ts._core.dispatch.signature import arity, signature
from ts._core.dispatch.wording import reworded

ivalue_module.register_tensor_type(Tensor)
ivalue_module.register_device_type(devices.device)
for _enumerated in (dtypes.dtype, dtypes.layout, dtypes.memory_format):
    ivalue_module.register_code_type(_enumerated, lambda x: x.code)


# ---------------------------------------------------------------- floating-point state of kernels

# NumPy's kernels look at the error state in this variable; setting it is what `np.errstate` does, at a tenth of
# the price.  Where a NumPy version hides it elsewhere, errstate itself serves.
cdef object _error_state = getattr(np._core.umath, "_extobj_contextvar", None)
cdef object _ignore = np._core.umath._make_extobj(all="ignore") if _error_state is not None else None


cdef object call_silently(object function, tuple args):
    """function(*args) without NumPy's floating-point warnings: PyTorch has none; linear algebra on one thread."""
    one_thread.begin()
    try:
        if _error_state is None:
            with np.errstate(all="ignore"):
                return function(*args)
        token = PyContextVar_Set(_error_state, _ignore)
        try:
            return function(*args)
        finally:
            PyContextVar_Reset(_error_state, token)
    finally:
        one_thread.end()


# ---------------------------------------------------------------- the operator

cdef object _parse_schema = None


def set_schema_parser(parse):
    """`parse(text)` gives the schema of an operator without a record; the registry sets it."""
    global _parse_schema
    _parse_schema = parse


cdef class Operator:
    """One overload of one operator: `repr` shows its schema, calling it runs it."""

    def __init__(self, str schema_text not None, record=None):
        self.schema_text = schema_text
        self.record = record
        self.name, self.overload, self.nargs, self.nrets = arity(schema_text)
        self.device_at = -1
        self.kernel = run_record
        if record is not None:
            take_ufunc(self, record)

    @property
    def signature(self):
        """The schema as far as calling needs it; see `ts._core.dispatch.signature`."""
        if self.signature_ is None:
            read_signature(self)
        return self.signature_

    @property
    def schema(self):
        """The parsed schema."""
        if self.record is not None:
            return self.record.schema
        if self.schema_ is None:
            self.schema_ = _parse_schema(self.schema_text)
        return self.schema_

    @property
    def key(self):
        """Name and overload: "aten::add.Tensor"."""
        return f"{self.name}.{self.overload}" if self.overload else self.name

    def __repr__(self):
        return f"<operator {self.schema_text}>"

    def __call__(self, *args, **kwargs):
        if self.signature_ is None:
            read_signature(self)
        if self.record is None:
            return call_native(self, args, kwargs)
        return call_bound(self, complete(self, args, kwargs))

    def bind_python(self, tuple args, dict kwargs):
        """One Python value per parameter: arguments, then defaults; TypeError where one is missing."""
        if self.signature_ is None:
            read_signature(self)
        return complete(self, args, kwargs)

    def call_list(self, list args not None):
        """Run on one Python value per parameter, as `bind_python` gives them."""
        if self.signature_ is None:
            read_signature(self)
        if len(args) != self.nargs:
            raise TypeError(f"{self.name}() takes {self.nargs} arguments, not {len(args)}")
        return call_bound(self, args)


cdef dict _kernels = {}              # name in a record, or of an operator with its overload -> address of a kernel in C


cdef int register_kernel(str name, Kernel kernel) except -1:
    _kernels[name] = <size_t><void *>kernel
    return 0


cdef int take_ufunc(Operator op, record) except -1:
    """Choose the kernel in C where the record names one, or a ufunc whose loops can be called directly."""
    op.whole = getattr(record, "whole", False)
    kernel = _kernels.get(getattr(record, "loop", None) or op.key)
    if kernel is not None:
        op.kernel = <Kernel><void *><size_t>kernel
        return 0
    name = getattr(record, "ufunc", None)
    variant = getattr(record, "variant", "")
    if name is None or variant == "out":
        return 0
    op.loops = ufunc_loops(
        name, getattr(record, "promotion", None) or "same", getattr(record, "types", None)
    )
    op.inplace = variant == "inplace"
    if op.loops is None:
        return 0
    with_alpha = op.nargs == 3 and "Scalar alpha=1" in op.schema_text
    if op.loops.arity == op.nargs or (op.loops.arity == 2 and with_alpha):
        op.kernel = run_pointwise
    else:
        op.loops = None
    return 0


cdef tuple POINTWISE = ("unary", "pointwise", "ternary")


cdef int read_signature(Operator op) except -1:
    cdef int i
    found = signature(op.schema_text)
    op.parameters = found.parameters
    op.device_at = -1
    op.written = []
    op.overlap = getattr(op.record, "overlap", 0)
    base = getattr(op.record, "base", None) or op.record
    op.reads = getattr(op.record, "variant", "") == "inplace" and op.overlap != ALLOW
    op.reads = op.reads or getattr(base, "family", "") in POINTWISE
    op.layouts = layouts_of(op)
    for i in range(len(op.parameters)):
        if op.parameters[i].kind == "Device":
            op.device_at = i
        if op.parameters[i].written:
            op.written.append(i)
    op.return_specs = tuple([spec_of_text(r.kind) for r in found.returns])
    op.signature_ = found
    return 0


cdef tuple layouts_of(Operator op):
    """The rules by which the results lie in memory: of results that are neither views nor written arguments."""
    if op.record is None or getattr(op.record, "variant", "") or op.written:
        return ()
    from ts.ops import layouts  # which imports the core
    global arranged
    arranged = layouts.arranged
    return op.record.layout


cdef object arranged = None


cdef object call_bound(Operator op, list args):
    """Run on one Python value per parameter."""
    cdef IValue r[4]
    cdef int32_t at[4]
    cdef int i
    if (op.loops is not None or op.kernel == run_product) and type(args[0]) is Tensor and len(args) < 4:
        # The pointwise kernels look at borrowed registers; the result's is the only one to own.
        for i in range(op.nargs):
            unbox_borrowed(args[i], &r[i])
            at[i] = i
        at[op.nargs] = op.nargs
        r[op.nargs].tag = TAG_NONE
        if op.loops is None:
            if type(args[1]) is Tensor:
                run_product(op, r, at)
        else:
            try_pointwise(op, r, at)
        if r[op.nargs].tag == TAG_OBJECT:
            result = <object>r[op.nargs].v.o
            release(&r[op.nargs])
            return result
        if op.nargs == 3 and op.loops is not None:  # with an alpha that is not 1
            return call_kernel(op, args)
    elif op.kernel != run_record and op.record is not None and 1 <= op.nrets <= 3 and len(args) < 8 and type(args[0]) is Tensor:
        return call_kernel(op, args)
    return run(op, args)


cdef object call_kernel(Operator op, list args):
    """Run a record's kernel in C."""
    cdef IValue r[11]
    cdef int32_t at[11]
    cdef int i, n = op.nargs
    for i in range(n + op.nrets):
        r[i].tag = TAG_NONE
        at[i] = i
    try:
        try:
            unbox_arguments(op.name, op.parameters, tuple(args), r)
        except TypeError:  # lists of several kinds, as of tensors and None
            return run(op, args)
        op.kernel(op, r, at)
        if op.nrets > 1:
            values = [box(&r[n + i]) for i in range(op.nrets)]
            return results_class(op.name, tuple([x.name for x in op.signature_.returns]))(values)
        result = box(&r[n])
    finally:
        for i in range(n + op.nrets):
            release(&r[i])
    return list(result) if type(result) is List else result


cdef list complete(Operator op, tuple args, dict kwargs):
    cdef Py_ssize_t i, given = len(args), used = 0
    cdef list values = list(args)
    if given > len(op.parameters):
        raise TypeError(f"{op.name} takes {len(op.parameters)} arguments but {given} were given")
    for i in range(given, len(op.parameters)):
        parameter = op.parameters[i]
        if parameter.name in kwargs:
            values.append(kwargs[parameter.name])
            used += 1
        elif parameter.has_default:
            values.append(parameter.default)
        else:
            raise TypeError(f"{op.name}() is missing value for argument '{parameter.name}'")
    if used != len(kwargs):
        unknown = [k for k in kwargs if k not in [p.name for p in op.parameters[given:]]]
        raise TypeError(f"{op.name}() got an unexpected keyword argument '{unknown[0]}'")
    return values


cdef inline int unbox_borrowed(object x, IValue *out) except -1:
    """Like unbox_shallow, but without a reference of its own to an object."""
    unbox_shallow(x, out)
    release(out)
    return 0


cdef object call_native(Operator op, tuple args, dict kwargs):
    """Run a kernel written in C on Python arguments: check, unbox, run, box."""
    cdef int n = op.nargs, total = n + op.nrets, i
    cdef IValue *r
    cdef int32_t *at
    if "..." in op.schema_text:                # what stands for the dots is one Tuple
        rest = args[n - 1:]
        args = (*args[:n - 1], ivalue_module.to_core(rest, ivalue_module.infer_spec(rest)))
    elif kwargs or len(args) < n:
        args = tuple(complete(op, args, kwargs))
    if len(args) != n:
        raise TypeError(f"{op.name} takes {n} arguments but {len(args)} were given")
    r = <IValue *>calloc(total + 1, sizeof(IValue) + sizeof(int32_t))
    if r == NULL:
        raise MemoryError()
    at = <int32_t *>(r + total + 1)
    try:
        unbox_arguments(op.name, op.parameters, args, r)
        for i in range(total):
            at[i] = i
        op.kernel(op, r, at)
        results = tuple([box(&r[i]) for i in range(n, total)])
        return results[0] if op.nrets == 1 else (results or None)
    finally:
        for i in range(total):
            release(&r[i])
        free(r)


# ---------------------------------------------------------------- running a record

cdef object run(Operator op, list args):
    """Run the record's kernel on Python values: tensors, numbers, lists ... ; tensors come out."""
    cdef Py_ssize_t i, n = len(args)
    cdef int backend = -1
    cdef int device = -1
    cdef Tensor t
    if op.signature_ is None:
        read_signature(op)
    if op.whole:
        return op.record.kernel(*args)
    for i in range(n):
        x = args[i]
        if isinstance(x, Tensor):
            t = <Tensor>x
            if backend < 0:
                backend = t.backend
                device = t.device_index
            if t.backend != backend or t.device_index != device:
                return run_mixed(op, args)
        elif type(x) is list and x and has_other_backend(<list>x, &backend, &device):
            return run_mixed(op, args)
    if op.device_at >= 0 and args[op.device_at] is not None:
        place = devices.as_device(args[op.device_at])
        found = backend_registry().get(place.type)
        elsewhere = found.index != backend or (found.numbered and place.index is not None and place.index != device)
        if elsewhere and backend >= 0:  # x.new_zeros(2, device="cuda"): its tensors come along
            args = [on_device(x, found, place) if isinstance(x, Tensor) else x for x in args]
        if found.index != backend:
            backend = found.index
            device = -1
        if place.index is not None and found.numbered:
            device = place.index
    if backend < 0:
        backend = BACKEND_CPU
    return run_on(op, args, backend, device)


cdef object on_device(Tensor x, object backend, object place):
    """A tensor on another device; one without elements gets undefined ones."""
    if x.backend != BACKEND_META:
        return construct.moved(x, place)
    return wrap(backend.empty(x.array.shape, x.array.dtype, -1 if place.index is None else place.index))


cdef bint has_other_backend(list xs, int *backend, int *device) except -1:
    """Whether the tensors of a list are on another device than what was seen; notes the first."""
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
    """Tensors on several devices: 0-dim CPU tensors move to where the others are; anything else is an error."""
    cdef list tensors = []
    cdef Tensor t, chosen = None
    for x in args:
        if isinstance(x, Tensor):
            tensors.append(x)
        elif type(x) is list:
            tensors.extend([y for y in x if isinstance(y, Tensor)])
    for t in tensors:
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


cdef object bound_kernel(Operator op, int backend):
    """The record's kernel, or the backend's own, for this backend; found once."""
    if op.implementations is None:
        op.implementations = []
    while len(op.implementations) <= backend:
        op.implementations.append(None)
    if op.implementations[backend] is None:
        place = backend_registry().at(backend)
        kernel = place.bind(op.record)
        if backend == BACKEND_CPU:
            kernel = op.record.guarded(kernel)
        op.implementations[backend] = (kernel, place.xp)
    return op.implementations[backend]


cdef object run_on(Operator op, list args, int backend, int device):
    cdef tuple bound = <tuple>bound_kernel(op, backend)
    cdef list values = [bound[1]]
    for x in args:
        if isinstance(x, Tensor):
            values.append((<Tensor>x).array)
        elif type(x) is list:
            values.append([(<Tensor>y).array if isinstance(y, Tensor) else y for y in <list>x])
        else:
            values.append(x)
    if op.written:
        check_written(op, values)
    try:
        if backend == BACKEND_CPU:
            result = call_silently(bound[0], tuple(values))
        else:
            with backend_registry().at(backend).on(device):
                result = bound[0](*values)
    except (ValueError, IndexError, TypeError, MemoryError, OverflowError) as error:
        better = reworded(error, op.name)
        if better is None:
            raise
        raise better from error
    if op.layouts:
        result = arranged(bound[1], op.layouts, result, values[1:])
    return wrapped(op, result, args)


cdef int check_written(Operator op, list values) except -1:
    """Refuse targets whose elements share places, among themselves or with what is read."""
    cdef Py_ssize_t i
    for i in op.written:
        if not hasattr(values[i + 1], "strides"):  # a list, a generator
            continue
        read = [x for j, x in enumerate(values) if j and j != i + 1 and hasattr(x, "strides")] if op.reads else []
        if check_write(values[i + 1], read, op.overlap) and op.overlap == WARN:
            warnings.warn(
                f"Use of {op.name[6:]} on expanded tensors is deprecated. Please clone() the tensor before "
                "performing this operation. This also applies to advanced indexing e.g. "
                + ("tensor[mask] = scalar" if op.name == "aten::masked_fill_" else "tensor[indices] = tensor"),
                stacklevel=2,
            )
    return 0


cdef object wrapped(Operator op, object result, list args):
    """The kernel's arrays as tensors, by the schema's results."""
    cdef Py_ssize_t i
    cdef tuple returns = op.signature_.returns
    if op.nrets == 0:
        if op.parameters and op.parameters[0].written and result is not None and isinstance(args[0], Tensor):
            settle(<Tensor>args[0], result)
        return None
    if op.nrets == 1:
        return wrapped_one(returns[0], result, args)
    if len(result) != op.nrets:
        raise RuntimeError(f"kernel of {op.key} gave {len(result)} results, its schema says {op.nrets}")
    values = [wrapped_one(returns[i], result[i], args) for i in range(op.nrets)]
    return results_class(op.name, tuple([r.name for r in returns]))(values)


cdef object wrapped_one(object declared, object result, list args):
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
        for x in args:  # a kernel that gives an argument back unchanged gives back the tensor
            if isinstance(x, Tensor) and (<Tensor>x).array is result:
                return x
        return wrap(result) if declared.view_of < 0 else counted(wrap(result), args[declared.view_of])
    if kind == "Tensor[]":
        parts = [x if isinstance(x, Tensor) else wrap(x) for x in result]
        if declared.view_of >= 0:
            for x in parts:
                counted(x, args[declared.view_of])
        return parts
    if kind == "Tensor?":
        return None if result is None else wrap(result)
    if isinstance(result, np.generic):
        return result.item()
    return result


cdef Tensor counted(Tensor made, object source):
    """Count writes to `made` with those to `source`, where it is a view of that."""
    if isinstance(source, Tensor) and made is not source and (
        root_of(made.array) is root_of((<Tensor>source).array) or made.array.size == 0
    ):
        follow(made, <Tensor>source)
    return made


cdef object settle(Tensor target, object result):
    """What was written in place: a kernel that gives another array than the target's changes its shape."""
    if result is not None and result is not target.array and not isinstance(result, Tensor):
        rebind(target, result)
    if result is not None:
        wrote(target)
    return target


# ---------------------------------------------------------------- kernels in registers

cdef int run_record(Operator op, IValue *r, const int32_t *at) except -1:
    """The general kernel of record operators."""
    cdef list args = []
    cdef int i
    cdef PyObject *o
    for i in range(op.nargs):
        args.append(box(&r[at[i]]))
    result = run(op, args)
    if op.nrets == 1:
        return put(op, 0, result, &r[at[op.nargs]])
    for i in range(op.nrets):
        put(op, i, (<tuple>result)[i], &r[at[op.nargs + i]])
    return 0


cdef int put(Operator op, int i, object result, IValue *out) except -1:
    cdef IValue new
    if isinstance(result, Tensor):
        Py_INCREF(result)
        set_object_steal(out, <PyObject *>result)
        return 0
    unbox(result, <TypeSpec>op.return_specs[i], &new)
    release(out)
    out[0] = new
    return 0


cdef bint try_pointwise(Operator op, IValue *r, const int32_t *at) except -1:
    """Run the ufunc's loop where the operands allow it; whether it was done."""
    cdef IValue *x = &r[at[0]]
    cdef IValue *alpha
    cdef PyObject *result
    if x.tag != TAG_OBJECT or not isinstance(<object>x.v.o, Tensor) or (op.inplace and (<Tensor>x.v.o).wants_grad):
        return False
    if op.loops.arity == 1:
        result = (unary_inplace if op.inplace else unary)(op.loops, <Tensor>x.v.o)
    else:
        if op.nargs == 3:
            alpha = &r[at[2]]
            if not ((alpha.tag == TAG_INT and alpha.v.i == 1) or (alpha.tag == TAG_FLOAT and alpha.v.f == 1)):
                return False
        if op.inplace:
            result = binary_inplace(op.loops, <Tensor>x.v.o, &r[at[1]])
        else:
            result = binary(op.loops, <Tensor>x.v.o, &r[at[1]])
    if result == NULL:
        return False
    set_object_steal(&r[at[op.nargs]], result)
    return True


cdef int run_pointwise(Operator op, IValue *r, const int32_t *at) except -1:
    if try_pointwise(op, r, at):
        return 0
    if op.nargs == 3 and not op.inplace and op.loops.name == "add":
        return (<Kernel><void *><size_t>_kernels["scaled_sum"])(op, r, at)
    return run_record(op, r, at)


cdef int run_product(Operator op, IValue *r, const int32_t *at) except -1:
    """Products of two matrices; those of stacks are `bmm`'s, which leaves what it cannot do to the record."""
    cdef PyObject *x = r[at[0]].v.o
    cdef PyObject *y = r[at[1]].v.o
    cdef PyObject *result = NULL
    if type(<object>x) is Tensor and type(<object>y) is Tensor:
        result = matrix_product(<Tensor>x, <Tensor>y, False)
    if result == NULL:
        return (<Kernel><void *><size_t>_kernels["aten::bmm"])(op, r, at)
    set_object_steal(&r[at[2]], result)
    return 0


cdef Loops _add = ufunc_loops("add")


cdef int run_linear(Operator op, IValue *r, const int32_t *at) except -1:
    """x @ weight.T + bias for a matrix x: two loops, the second on the first's result."""
    cdef PyObject *x = r[at[0]].v.o
    cdef PyObject *weight = r[at[1]].v.o
    cdef IValue *bias = &r[at[2]]
    cdef PyObject *result = NULL
    cdef PyObject *summed = NULL
    if type(<object>x) is Tensor and type(<object>weight) is Tensor:
        if bias.tag == TAG_NONE or (
            type(<object>bias.v.o) is Tensor and (<Tensor>bias.v.o).scalar_type == (<Tensor>x).scalar_type
        ):
            result = matrix_product(<Tensor>x, <Tensor>weight, True)
    if result == NULL:
        return run_record(op, r, at)
    if bias.tag != TAG_NONE:
        try:
            summed = binary_inplace(_add, <Tensor>result, bias)
        finally:
            if summed == NULL:
                Py_DECREF(<object>result)
        if summed == NULL:
            return run_record(op, r, at)
        Py_DECREF(<object>summed)  # the same tensor, counted twice
    set_object_steal(&r[at[3]], result)
    return 0


register_kernel("product", run_product)
register_kernel("linear", run_linear)


# ---------------------------------------------------------------- backends

cdef object _backends = None


cdef object backend_registry():
    global _backends
    if _backends is None:
        import ts.backends
        _backends = ts.backends
    return _backends


from ts.backends.cpu.kernels import addmm, arithmetic, create, element, gather, norm, reduce, view  # noqa: E402, F401 -- they register their kernels
