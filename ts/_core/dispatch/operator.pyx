"""Operator dispatch (dynamic dispatch by backend): callable operators, created from schemas and operator records.

Input: registers or Python arguments. Output: results, wrapped as tensors.

`invoke` selects the kernel by the backend of the first tensor. If neither a C kernel nor its fallback
supports the arguments, the operator's Python kernel runs. An operator can be called in two ways:

    op = Operator("aten::exp(Tensor self) -> Tensor", record)
    op(x)                       with Python arguments, which are bound by the schema
    invoke(op, r, at)           with arguments in registers
"""

from weakref import WeakSet

import numpy as np

from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF
from libc.stdint cimport int32_t
from libc.stdlib cimport calloc, free

from ts._core.dispatch.arguments cimport spec_of_text, unbox_arguments
from ts._core.value.container cimport List
from ts._core.value.ivalue cimport (
    IValue,
    TAG_NONE,
    TAG_OBJECT,
    TypeSpec,
    box,
    move_value,
    release,
    set_object,
    set_object_steal,
    unbox,
)
from ts._core.dispatch.record_kernels cimport run
from ts._core.tensor.overlap cimport ALLOW, STRICT
from ts._core.tensor.python_operators cimport operator_function
from ts._core.tensor.tensor cimport Tensor, backend_registry

from ts import devices, dtypes
from ts._core.late_binding import resolve
from ts._core.tensor.sym_types import SymNumber
from ts._core.value import ivalue as ivalue_module, type_of
from ts._core.dispatch.result_tuples import results_class
from ts._core.dispatch.signature import arity, signature

type_of.register_tensor_type(Tensor)

type_of.register_device_type(devices.device)
for _enumerated in (dtypes.dtype, dtypes.layout, dtypes.memory_format):
    ivalue_module.register_code_type(_enumerated, lambda x: x.code)


cdef enum:
    BACKEND_UNDEFINED = MAX_BACKENDS - 1

# The undefined tensor represents a missing value of type Tensor, such as a gradient that was not computed.
# Python programs see it as None. No kernels exist for its backend number, BACKEND_UNDEFINED.
cdef Tensor undefined = Tensor.__new__(Tensor)
undefined.array, undefined.scalar_type, undefined.backend = np.empty(0, np.float32), dtypes.float32.code, BACKEND_UNDEFINED
ivalue_module.register_undefined(undefined)


cdef int reject_undefined(Operator op, int i) except -1:
    """Raise RuntimeError for None as argument `i`, unless the schema declares `Tensor?`."""
    if op.signature_.parameters[i].optional:
        return 0
    cdef str name = op.signature_.parameters[i].name
    raise RuntimeError(f"Expected a proper Tensor but got None (or an undefined Tensor in C++) for argument #{i} '{name}'")


# ---------------------------------------------------------------- the operator

cdef class Operator:
    """Callable operator overload. `repr` shows its schema."""

    def __cinit__(self, *_, **__):
        cdef int i
        self.schema_text = self.name = self.overload = ""
        self.tensor_at = self.write_kind = -1
        self.owners = []
        for i in range(MAX_BACKENDS):
            self.kernels[i] = self.fallbacks[i] = run_nothing

    def __init__(self, str schema_text not None, record=None):
        if self.schema_text:
            raise TypeError(f"{self!r} cannot be initialized twice: verified code depends on its schema")
        self.schema_text = schema_text
        self.record = record
        self.name, self.overload, self.nargs, self.nrets = arity(schema_text)
        self.device_at = -1
        if record is None:
            return
        self.tensor_at = first_tensor(schema_text)
        self.tensor_kernel = record.tensor_kernel
        unbind(self)
        live_operators.add(self)

    @property
    def signature(self):
        """Return the signature, a summary of the schema for calls (`ts._core.dispatch.signature`)."""
        if self.signature_ is None:
            read_signature(self)
        return self.signature_

    @property
    def schema(self):
        """Return the schema, which is parsed at the first access."""
        if self.record is not None:
            return self.record.schema
        if self.schema_ is None:
            self.schema_ = resolve("operator_schema")(self.schema_text)
        return self.schema_

    @property
    def key(self):
        """Return the name and overload, such as "aten::add.Tensor"."""
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
        """Return one Python value per parameter, with defaults, or raise TypeError for a missing argument."""
        if self.signature_ is None:
            read_signature(self)
        return complete(self, args, kwargs)

    def call_list(self, list args not None):
        """Call the operator with one Python value per parameter, as returned by `bind_python`."""
        if len(args) != self.nargs:
            raise TypeError(f"{self.name}() takes {self.nargs} arguments, not {len(args)}")
        if self.signature_ is None:
            read_signature(self)
        return call_native(self, tuple(args), {}) if self.record is None else call_bound(self, args)


# ---------------------------------------------------------------- kernels by backend

cdef int run_nothing(Operator op, IValue *r, const int32_t *at) except -1:
    raise TypeError("the operator has no kernel because it was not initialized")



cdef inline bint concerns_tape(Tensor t) noexcept:
    """Return whether a tensor requires grad. For a view, also return True if the base of the view requires grad."""
    return t.requires_grad_flag or (t.base is not None and t.base.requires_grad_flag)


cdef bint requires_gradient(Operator op, IValue *r, const int32_t *at) noexcept:
    """Return whether a tensor argument, or a tensor in a list argument, requires grad.

    For a view, the flag of its base is checked too.
    """
    cdef PyObject *x
    cdef IValue *items
    cdef Py_ssize_t k
    cdef int i
    for i in range(op.nargs):
        x = r[at[i]].v.o
        if r[at[i]].tag != TAG_OBJECT or x == NULL:
            continue
        if isinstance(<object>x, Tensor):
            if concerns_tape(<Tensor>x):
                return True
        elif type(<object>x) is List and (<List>x).item == TAG_NONE:
            items = <IValue *>(<List>x).items
            for k in range((<List>x).size):
                x = items[k].v.o
                if items[k].tag == TAG_OBJECT and x != NULL and isinstance(<object>x, Tensor) and concerns_tape(<Tensor>x):
                    return True
    return False


cdef bint any_requires_grad(list args) except -1:
    """Return whether a tensor in `args`, or in a list in `args`, requires grad."""
    for x in args:
        if isinstance(x, Tensor):
            if concerns_tape(<Tensor>x):
                return True
        elif type(x) is list:
            for y in <list>x:
                if isinstance(y, Tensor) and concerns_tape(<Tensor>y):
                    return True
    return False


cdef struct KeyHandler:
    unsigned int flag                  # The key is active in threads with this context flag.
    KeyKernel invoke
    BoxedKeyKernel call

cdef KeyHandler handlers[KEY_COUNT]


cdef int register_key(DispatchKey key, unsigned int flag, KeyKernel invoke, BoxedKeyKernel call) except -1:
    handlers[<int>key].flag, handlers[<int>key].invoke, handlers[<int>key].call = flag, invoke, call
    return 0


cdef int invoke_attended(Operator op, IValue *r, const int32_t *at, PyObject *code, const void *instruction) except -1:
    cdef unsigned int flags = context_flags()
    if flags & WATCHED:
        return invoke_from(0, op, r, at, code, instruction)
    if differentiating(flags) and requires_gradient(op, r, at) and op.record is not None:
        return handlers[<int>AUTOGRAD_KEY].invoke(op, r, at, code, instruction)
    return run_kernel(op, r, at)


cdef int invoke_from(int key, Operator op, IValue *r, const int32_t *at, PyObject *code, const void *instruction) except -1:
    """Call the handler of the first active dispatch key, beginning with `key`. If no key is active, run the kernel."""
    cdef unsigned int flags = context_flags()
    if op.record is None and key < LOG_KEY:
        key = LOG_KEY
    while key < KEY_COUNT:
        if handlers[key].invoke != NULL and (
            flags & handlers[key].flag
            or key == AUTOGRAD_KEY and differentiating(flags) and requires_gradient(op, r, at)
        ):
            return handlers[key].invoke(op, r, at, code, instruction)
        key += 1
    return run_kernel(op, r, at)


cdef int invoke_after(
    DispatchKey key, Operator op, IValue *r, const int32_t *at, PyObject *code, const void *instruction
) except -1:
    if key >= AUTOGRAD_KEY and not context_flags() & WATCHED:
        return run_kernel(op, r, at)
    return invoke_from(<int>key + 1, op, r, at, code, instruction)


cdef object call_from(int key, Operator op, list args):
    """Call the operator with Python values, by the handler of the first active dispatch key from `key` on.

    If no key is active, run the operator's Python kernel.
    """
    cdef unsigned int flags = context_flags()
    while key < KEY_COUNT:
        if handlers[key].call != NULL and flags & handlers[key].flag:
            return handlers[key].call(op, args)
        key += 1
    return run(op, args)


cdef object call_after(DispatchKey key, Operator op, list args):
    return call_from(<int>key + 1, op, args)


cdef object call_transform(Operator op, list args):
    return handlers[<int>TRANSFORM_KEY].call(op, args)


cdef int first_tensor(str schema_text) except -2:
    """Return the index of the first tensor or tensor-list parameter, or -1 without tensor parameters."""
    cdef int i
    arguments = schema_text.partition("(")[2].replace("*, ", "")
    for i, parameter in enumerate(arguments.rpartition(") -> ")[0].split(", ")):
        kind = parameter.partition(" ")[0]
        if kind == "Tensor" or kind.startswith(("Tensor(", "Tensor[")) and not kind.endswith("?"):
            return i
    return -1


cdef object live_operators = WeakSet()           # operators with bound kernels, which `forget_kernels` must reset


def forget_kernels():
    """Reset the kernels of all operators, after a backend has changed its kernels."""
    # Iterate over a copy, because other threads may add operators to the set.
    for op in [reference() for reference in list(live_operators.data)]:
        if op is not None:
            unbind(op)


cdef int unbind(Operator op) except -1:
    """Reset the kernels of an operator. They are set again at the next call."""
    cdef int i
    for i in range(MAX_BACKENDS):
        op.kernels[i] = bind_and_run
        op.fallbacks[i] = call_python_kernel
    op.implementations = [None] * MAX_BACKENDS
    return 0


cdef int bind_and_run(Operator op, IValue *r, const int32_t *at) except -1:
    """Bind the operator's kernel for the backend of the arguments, then run this kernel.

    Before the first call for a backend, this function stands for the kernel.
    """
    cdef int backend = backend_at(op, r, at)
    if backend == BACKEND_UNDEFINED:
        return call_python_kernel(op, r, at)
    bind_kernel(op, backend)
    return op.kernels[backend](op, r, at)


cdef int bind_kernel(Operator op, int backend) except -1:
    if op.kernels[backend] == bind_and_run:
        backend_registry().at(backend).bind_kernel(op)
        if op.kernels[backend] == bind_and_run:
            op.kernels[backend] = call_python_kernel
    return 0


cdef int set_kernel(
    Operator op, int backend, Kernel kernel, object owner, Kernel fallback=call_python_kernel
) except -1:
    for before in op.owners:
        if before is owner:
            break
    else:
        op.owners.append(owner)
    op.state[backend] = <PyObject *>owner
    op.fallbacks[backend] = fallback
    op.kernels[backend] = kernel
    return 0


cdef bint has_kernel(Operator op, int backend) except -1:
    bind_kernel(op, backend)
    return op.kernels[backend] != call_python_kernel


cdef int read_signature(Operator op) except -1:
    """Parse the schema and set the fields of the operator. Each field is assigned once, for thread safety."""
    cdef int i
    parsed = signature(op.schema_text)
    record = op.record
    if record is not None:
        op.overlap = record.overlap
        op.checks_overlap = record.variant == "inplace" and record.overlap != ALLOW or record.overlap == STRICT or record.elementwise
    op.layouts = layouts_of(op)
    op.parameters = parsed.parameters
    for i, parameter in enumerate(parsed.parameters):
        if parameter.kind == "Device":
            op.device_at = i
    op.written = [i for i, parameter in enumerate(parsed.parameters) if parameter.written]
    op.return_specs = tuple([spec_of_text(r.kind) for r in parsed.returns])
    op.signature_ = parsed
    return 0


cdef tuple layouts_of(Operator op):
    """Return the layout rules for the operator's results, or () for in-place and `out=` variants."""
    if op.record is None or op.record.variant:
        return ()
    return op.record.layout


cdef object call_bound(Operator op, list args):
    """Run the operator with `args`, one Python value per parameter.

    Registers are used only if the backend has a C kernel, a context flag is set, or an argument requires grad.
    """
    cdef int backend = 0
    if symbolic and any_symbols(args):
        return run_at_once(op, args)
    if len(args) + op.nrets <= MAX_REGISTERS:
        if op.tensor_at >= 0 and isinstance(args[op.tensor_at], Tensor):
            backend = (<Tensor>args[op.tensor_at]).backend
        if context_flags() & WATCHED or has_kernel(op, backend) or differentiating(context_flags()) and any_requires_grad(args):
            return call_in_registers(op, args)
    return run_at_once(op, args)


cdef bint symbolic = False             # True if arguments of operators may be symbolic sizes (see `expect_symbols`)


def expect_symbols():
    """Allow symbolic sizes as arguments of operators from now on.

    Calls with symbolic sizes use no registers, because registers cannot hold symbolic sizes.
    """
    global symbolic
    symbolic = True


cdef bint any_symbols(list args):
    for x in args:
        if isinstance(x, SymNumber) or type(x) is list and any_symbols(<list>x):
            return True
    return False


cdef enum:
    MAX_REGISTERS = 32                # maximal number of arguments and results of a call from Python that uses registers


cdef object call_in_registers(Operator op, list args):
    cdef IValue r[MAX_REGISTERS]
    cdef int32_t at[MAX_REGISTERS]
    cdef int i, n = op.nargs
    for i in range(n + op.nrets):
        r[i].tag = TAG_NONE
        at[i] = i
    try:
        try:
            unbox_arguments(op.name, op.parameters, tuple(args), r)
        except TypeError:  # Registers cannot contain one of the arguments, such as a list of tensors and None.
            if not (differentiating(context_flags()) and any_requires_grad(args)):
                return run_at_once(op, args)
            tensors = numbers_as_tensors(op, args)
            if tensors is None:
                raise
            return call_in_registers(op, tensors)
        invoke(op, r, at)
        if op.nrets != 1:
            values = [box(&r[n + i]) for i in range(op.nrets)]
            return results_class(op.name, tuple([x.name for x in op.signature_.returns]))(values) if values else None
        result = box(&r[n])
    finally:
        for i in range(n + op.nrets):
            release(&r[i])
    return list(result) if type(result) is List else result


cdef list numbers_as_tensors(Operator op, list args):
    """Return a copy of `args` in which numbers for Tensor parameters are converted to 0-dim tensors.

    The copy uses the device of the first tensor in `args`. The dtype follows from type promotion of this
    tensor and the number. Return None if `args` has no tensor or no such number.
    """
    cdef list tensors = [x for x in args if isinstance(x, Tensor)]
    cdef list indices = [
        i for i, parameter in enumerate(op.parameters[:len(args)])
        if parameter.kind == "Tensor" and isinstance(args[i], (bool, int, float, complex))
    ]
    if not tensors or not indices:
        return None
    first, result = tensors[0], list(args)
    for i in indices:
        dtype = operator_function("result_type")(args[i], first)
        result[i] = operator_function("full")([], args[i], dtype=dtype, device=first.device)
    return result


cdef object run_at_once(Operator op, list args):
    """Run the operator on Python values, without registers."""
    return call_from(0, op, args)


cdef list complete(Operator op, tuple args, dict kwargs):
    cdef Py_ssize_t i, nargs = len(args), used = 0
    cdef list values = list(args)
    if nargs > len(op.parameters):
        raise TypeError(f"{op.name} takes {len(op.parameters)} arguments but {nargs} were given")
    for i in range(nargs, len(op.parameters)):
        parameter = op.parameters[i]
        if parameter.name in kwargs:
            values.append(kwargs[parameter.name])
            used += 1
        elif parameter.has_default:
            values.append(parameter.default)
        else:
            raise TypeError(f"{op.name}() is missing value for argument '{parameter.name}'")
    if used != len(kwargs):
        unknown = [k for k in kwargs if k not in [p.name for p in op.parameters[nargs:]]]
        raise TypeError(f"{op.name}() got an unexpected keyword argument '{unknown[0]}'")
    return values


cdef object call_native(Operator op, tuple args, dict kwargs):
    """Call a C kernel with Python arguments: check, unbox, run the kernel, box."""
    cdef int n = op.nargs, total = n + op.nrets, i
    cdef IValue *r
    cdef int32_t *at
    if "...) -> " in op.schema_text:           # pack the variadic arguments into one Tuple
        rest = args[n - 1:]
        args = (*args[:n - 1], ivalue_module.to_core(rest, type_of.infer_spec(rest)))
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
        invoke(op, r, at)
        results = tuple([box(&r[i]) for i in range(n, total)])
        return results[0] if op.nrets == 1 else (results or None)
    finally:
        for i in range(total):
            release(&r[i])
        free(r)


# ---------------------------------------------------------------- Python kernels on registers

cdef int call_python_kernel(Operator op, IValue *r, const int32_t *at) except -1:
    """Run the Python kernel of the operator's record on registers."""
    return run_in_python(op, run, r, at)


cdef int run_in_python(Operator op, object (*function)(Operator op, list args), IValue *r, const int32_t *at) except -1:
    cdef list args = []
    cdef int i
    if op.signature_ is None:
        read_signature(op)
    for i in range(op.nargs):
        args.append(box(&r[at[i]]))
        if r[at[i]].tag == TAG_OBJECT and r[at[i]].v.o == <PyObject *>undefined:
            reject_undefined(op, i)
    result = function(op, args)
    if op.nrets == 1:
        return put(op, 0, result, &r[at[op.nargs]])
    if op.nrets and not isinstance(result, tuple):
        raise TypeError(f"{op.name} returned a {type(result).__name__} instead of {op.nrets} results")
    for i in range(op.nrets):
        put(op, i, (<tuple>result)[i], &r[at[op.nargs + i]])
    return 0


cdef int put(Operator op, int i, object result, IValue *out) except -1:
    cdef IValue new
    if isinstance(result, Tensor):
        Py_INCREF(result)
        set_object_steal(out, <PyObject *>result)
        return 0
    if result is None and op.tensor_kernel and op.signature_.returns[i].kind == "Tensor":
        set_object(out, undefined)
        return 0
    unbox(result, <TypeSpec>op.return_specs[i], &new)
    move_value(out, &new)
    return 0
