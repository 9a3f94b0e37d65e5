"""Calling an operator by name from Python: overload resolution as PyTorch's.

In: Python arguments; out: the first overload, in the registry's order, that accepts them, run.

    add = OverloadSet("aten::add", registry.lookup)
    add(x, y);  add(x, 2, alpha=3);  add(input=x, other=y, out=z)
    x.view(2, 3)                 integers in a row become the one int[] parameter
    add(x, "a")                  TypeError: add(): argument 'other' (position 2) must be Tensor, not str

The same object is `ts.add` and, through the descriptor protocol, the method `x.add`.
"""

import numpy as np

from cpython.object cimport PyObject

from ts._core.dispatch cimport Operator
from ts._core.tensor cimport Tensor, wrap

from ts import devices, dtypes

cdef extern from "Python.h":
    unsigned long PyThread_get_thread_ident()
    object PyMethod_New(object function, object instance)


cdef enum Kind:
    TENSOR
    SCALAR
    INT
    FLOAT
    BOOL
    STR
    INT_LIST
    FLOAT_LIST
    BOOL_LIST
    SCALAR_LIST
    TENSOR_LIST
    OPTIONAL_TENSOR_LIST
    DTYPE
    LAYOUT
    MEMORY_FORMAT
    DEVICE
    GENERATOR
    OTHER

# Kind and the words that PyTorch's messages have for it.
_KINDS = {
    "Tensor": (TENSOR, "Tensor"), "Scalar": (SCALAR, "Number"), "int": (INT, "int"), "float": (FLOAT, "float"),
    "bool": (BOOL, "bool"), "str": (STR, "str"), "int[]": (INT_LIST, "tuple of ints"),
    "float[]": (FLOAT_LIST, "tuple of floats"), "bool[]": (BOOL_LIST, "tuple of bools"),
    "Scalar[]": (SCALAR_LIST, "tuple of Scalars"), "Tensor[]": (TENSOR_LIST, "tuple of Tensors"),
    "Tensor?[]": (OPTIONAL_TENSOR_LIST, "tuple of Tensors"), "ScalarType": (DTYPE, "torch.dtype"),
    "Layout": (LAYOUT, "torch.layout"), "MemoryFormat": (MEMORY_FORMAT, "torch.memory_format"),
    "Device": (DEVICE, "torch.device"), "Generator": (GENERATOR, "torch.Generator"),
}
# Other names under which PyTorch takes a parameter.
_ALIASES = {"input": "self", "axis": "dim", "keepdims": "keepdim", "x": "self", "x2": "other", "x1": "self"}
# Operators that take a number where their schema says Tensor.
_NUMBERS_AS_TENSORS = {
    f"aten::{name}{end}"
    for name in ("add", "sub", "subtract", "mul", "multiply", "div", "divide", "true_divide", "floor_divide", "copy")
    for end in ("", "_")
}

cdef object FAILED = object()


cdef class Slot:
    """A parameter, prepared for binding."""
    cdef str name
    cdef Kind kind
    cdef bint optional
    cdef bint keyword_only
    cdef bint has_default
    cdef bint written
    cdef int size                      # of a fixed-size list, or 0
    cdef object default
    cdef str words


cdef class Binder:
    """An operator with its slots."""
    cdef Operator op
    cdef list slots
    cdef int positional                # how many may be given by position
    cdef int int_list_at               # the int[] that integers in a row make up, or -1
    cdef bint numbers                  # takes numbers for tensors
    cdef bint gives_dtype              # the result is the number of a dtype


cdef Binder binder_of(Operator op):
    cdef Binder b = Binder()
    cdef Slot slot
    b.op = op
    b.slots = []
    b.int_list_at = -1
    for p in op.signature.parameters:
        slot = Slot()
        slot.name = p.name
        slot.kind, slot.words = _KINDS.get(p.kind, (OTHER, p.kind))
        slot.optional = p.optional
        slot.keyword_only = p.keyword_only
        slot.has_default = p.has_default
        slot.written = p.written
        slot.size = p.size or 0
        slot.default = p.default
        b.slots.append(slot)
        if not p.keyword_only:
            b.positional += 1
    first = 1 if b.positional > 1 and (<Slot>b.slots[0]).kind == TENSOR else 0
    if b.positional == first + 1 and (<Slot>b.slots[first]).kind == INT_LIST:
        b.int_list_at = first
    b.numbers = op.name in _NUMBERS_AS_TENSORS
    b.gives_dtype = op.schema_text.endswith("-> ScalarType")
    return b


# ---------------------------------------------------------------- tracing

cdef object tracer = None            # who records the calling thread's operators, or None
cdef unsigned long tracer_thread = 0


def set_tracer(recorder):
    """Let `recorder` make the calls of this thread; None ends that.  See `ts._core.tracing`."""
    global tracer, tracer_thread
    tracer = recorder
    tracer_thread = PyThread_get_thread_ident()


# ---------------------------------------------------------------- one argument

cdef inline bint is_int(object x):
    if isinstance(x, int):
        return not isinstance(x, bool)
    if isinstance(x, np.integer):
        return True
    return isinstance(x, Tensor) and x.ndim == 0 and 1 <= x.dtype.category <= 1


cdef list sequence(object x, accept):
    """The items of a list or tuple that `accept` all, or None."""
    if not isinstance(x, (list, tuple)):
        return None
    cdef list items = list(x)
    for item in items:
        if not accept(item):
            return None
    return items


def _is_int(x):
    return is_int(x)


def _is_real(x):
    return isinstance(x, (int, float, np.number)) and not isinstance(x, bool)


def _is_number(x):
    return isinstance(x, (int, float, complex, np.generic))


def _is_tensor(x):
    return isinstance(x, Tensor)


def _is_optional_tensor(x):
    return x is None or isinstance(x, Tensor)


cdef object convert(Slot slot, object x, bint numbers):
    """`x` as the kernel wants it, or FAILED."""
    cdef Kind kind = slot.kind
    if kind == TENSOR:
        if isinstance(x, Tensor):
            return x
        if numbers and isinstance(x, (int, float, complex)):
            return x
        if numbers and isinstance(x, np.generic):
            return x.item()
        return x if x is None and slot.optional else FAILED
    if x is None:
        return None if slot.optional else FAILED
    if kind == SCALAR:
        if isinstance(x, (int, float, complex)):
            return x
        if isinstance(x, np.generic) or (isinstance(x, Tensor) and x.ndim == 0):
            return x.item()
        return FAILED
    if kind == INT:
        return int(x) if is_int(x) else FAILED
    if kind == INT_LIST:
        items = sequence(x, _is_int)
        if items is not None:
            return [int(item) for item in items]
        return [int(x)] * slot.size if slot.size and is_int(x) else FAILED
    if kind == BOOL:
        return bool(x) if isinstance(x, (bool, np.bool_)) else FAILED
    if kind == FLOAT:
        return float(x) if isinstance(x, (float, int, np.floating, np.integer)) else FAILED
    if kind == STR:
        return x if isinstance(x, str) else FAILED
    if kind == DTYPE:
        if isinstance(x, dtypes.dtype):
            return x.code
        return dtypes.as_dtype(x).code if x in (int, float, bool, complex) else FAILED
    if kind == TENSOR_LIST:
        items = sequence(x, _is_tensor)
        return FAILED if items is None else items
    if kind == OPTIONAL_TENSOR_LIST:
        items = sequence(x, _is_optional_tensor)
        return FAILED if items is None else items
    if kind == DEVICE:
        return devices.as_device(x) if isinstance(x, (str, devices.device, int)) else FAILED
    if kind == GENERATOR:
        return x if type(x).__name__ == "Generator" else FAILED
    if kind == LAYOUT:
        return x.code if isinstance(x, dtypes.layout) else FAILED
    if kind == MEMORY_FORMAT:
        return x.code if isinstance(x, dtypes.memory_format) else FAILED
    if kind == FLOAT_LIST:
        items = sequence(x, _is_real)
        return [float(x)] * slot.size if items is None and slot.size and _is_real(x) else (FAILED if items is None else items)
    if kind == SCALAR_LIST:
        items = sequence(x, _is_number)
        return FAILED if items is None else items
    if kind == BOOL_LIST:
        return list(x) if isinstance(x, (list, tuple)) else FAILED
    return x


# ---------------------------------------------------------------- all arguments

cdef list bind(Binder b, tuple args, dict kwargs, bint numbers, list why):
    """One value per parameter, or None; `why`, where given, gets the reason in PyTorch's words."""
    cdef Py_ssize_t given = len(args), i, n = len(b.slots), used = 0
    cdef list values = []
    cdef Slot slot
    cdef str name
    if given > b.positional or (b.int_list_at >= 0 and given == b.positional and is_int(args[given - 1])):
        if b.int_list_at < 0 or given <= b.int_list_at or not is_int(args[b.int_list_at]):
            if why is not None:
                why.append(f"takes {b.positional} positional arguments but {given} were given")
            return None
        args = args[:b.int_list_at] + (args[b.int_list_at:],)
        given = len(args)
    for i in range(n):
        slot = <Slot>b.slots[i]
        if i < given:
            x = args[i]
        elif kwargs and slot.name in kwargs:
            x = kwargs[slot.name]
            used += 1
        elif slot.has_default:
            values.append(slot.default)
            continue
        elif slot.optional and slot.keyword_only:
            values.append(None)
            continue
        else:
            if why is not None:
                why.append(f"missing {slot.name}")
            return None
        x = convert(slot, x, numbers)
        if x is FAILED:
            if why is not None:
                value = args[i] if i < given else kwargs[slot.name]
                if slot.kind == TENSOR_LIST and isinstance(value, (list, tuple)):
                    at = next(k for k, item in enumerate(value) if not isinstance(item, Tensor))
                    why.append(f"expected Tensor as element {at} in argument {i}, but got {type(value[at]).__name__}")
                    return None
                got = type(value).__name__
                place = f" (position {i + 1})" if i < given else ""
                shown = "input" if slot.name == "self" else slot.name
                why.append(f"argument '{shown}'{place} must be {slot.words}, not {got}")
            return None
        values.append(x)
    if kwargs and used != len(kwargs):
        if why is not None:
            names = [(<Slot>s).name for s in b.slots[given:]]
            why.append(f"got an unexpected keyword argument '{[k for k in kwargs if k not in names][0]}'")
        return None
    return values


cdef class OverloadSet:
    """All overloads of an operator as one Python callable."""
    cdef readonly str name             # "aten::add"
    cdef readonly str __name__
    cdef object lookup
    cdef list binders
    cdef bint any_numbers

    def __init__(self, str name not None, lookup):
        self.name = name
        self.__name__ = name.rpartition("::")[2]
        self.lookup = lookup

    @property
    def __doc__(self):
        return "\n".join([op.schema_text for op in self.operators()])

    def operators(self):
        """The overloads, in the order in which they are tried."""
        self.load()
        return [(<Binder>b).op for b in self.binders]

    def __repr__(self):
        return f"<operator {self.name}: {len(self.operators())} overloads>"

    def __reduce__(self):
        from ts._core.overload import overloads
        return overloads, (self.name,)

    def __get__(self, instance, owner):
        return self if instance is None else PyMethod_New(self, instance)

    def __call__(self, *args, **kwargs):
        cdef Binder b
        cdef list values
        if tracer is not None and PyThread_get_thread_ident() == tracer_thread:
            return tracer.operator(self, args, kwargs)
        if self.binders is None:
            self.load()
        if kwargs:
            kwargs = self.renamed(kwargs)
        for b in self.binders:
            values = bind(b, args, kwargs, False, None)
            if values is not None:
                return as_python(b, b.op.call_list(values))
        if self.any_numbers:
            for b in self.binders:
                values = bind(b, args, kwargs, True, None)
                if values is not None:
                    return as_python(b, b.op.call_list(settled(values)))
        raise self.error(args, kwargs)

    def resolve(self, tuple args not None, dict kwargs not None):
        """What a call would run: the overload, its arguments converted, and as they were given."""
        cdef Binder b
        cdef list values
        self.load()
        kwargs = self.renamed(kwargs)
        for numbers in range(2 if self.any_numbers else 1):
            for b in self.binders:
                values = bind(b, args, kwargs, numbers == 1, None)
                if values is not None:
                    return b.op, settled(values) if numbers else values, as_given(b, args, kwargs, values)
        raise self.error(args, kwargs)

    def for_python(self, Operator op not None, result):
        """What Python sees of a result of one of the overloads."""
        cdef Binder b
        for b in self.binders:
            if b.op is op:
                return as_python(b, result)
        return result

    def load(self):
        """Look the overloads up; operators without a record only where there is no other."""
        if self.binders is not None:
            return
        found = self.lookup(self.name)
        if not found:
            raise AttributeError(f"there is no operator {self.name}")
        chosen = [op for op in found if op.record is not None] or list(found)
        binders = sorted([binder_of(op) for op in chosen], key=count_of_scalars)  # stable
        self.any_numbers = any([(<Binder>b).numbers for b in binders])
        self.binders = binders

    def renamed(self, dict kwargs not None):
        """Keyword arguments under the schema's names; `out=None` is dropped, a tuple of outputs spread."""
        cdef dict result = {}
        cdef Slot slot
        cdef Binder b
        names = {(<Slot>s).name for b in self.binders for s in b.slots}
        for name, value in kwargs.items():
            if name == "out":
                if value is None:
                    continue
                if isinstance(value, (tuple, list)):
                    for b in self.binders:
                        outputs = [(<Slot>s).name for s in b.slots if (<Slot>s).written and (<Slot>s).keyword_only]
                        if len(outputs) == len(value):
                            result.update(zip(outputs, value))
                            break
                    continue
            result[name if name in names else _ALIASES.get(name, name)] = value
        result.pop("requires_grad", None) if "requires_grad" not in names else None
        return result

    def error(self, tuple args, dict kwargs):
        """The TypeError that says why no overload fits."""
        cdef Binder b
        cdef list why
        shown = [b for b in self.binders if not any([(<Slot>s).written and (<Slot>s).keyword_only for s in b.slots])]
        tensors_only = [b for b in shown if b.op.overload != "Scalar"] or shown
        if len(tensors_only) == 1 and tensors_only[0] is not None:
            why = []
            bind(tensors_only[0], args, kwargs, False, why)
            if why and not why[0].startswith("missing"):
                if why[0].startswith("expected"):
                    return TypeError(why[0])
                joint = ": " if why[0].startswith("argument") else " "
                return TypeError(f"{self.__name__}(){joint}{why[0]}")
        got = ", ".join([type(x).__name__ for x in args] + [f"{k}={type(v).__name__}" for k, v in kwargs.items()])
        lines = [f" * ({', '.join([shown_slot(s) for s in b.slots])})" for b in shown]
        if len(lines) == 1:
            return TypeError(
                f"{self.__name__}() received an invalid combination of arguments - got ({got}), "
                f"but expected {lines[0][3:]}"
            )
        listed = "\n".join(lines)
        return TypeError(
            f"{self.__name__}() received an invalid combination of arguments - got ({got}), "
            f"but expected one of:\n{listed}\n"
        )


def count_of_scalars(Binder b not None):
    """Python tries tensors before numbers, or a tensor of no dimensions would be taken for a number."""
    return len([s for s in b.slots if (<Slot>s).kind == SCALAR and not (<Slot>s).keyword_only])


cdef str shown_slot(Slot slot):
    name = "input" if slot.name == "self" else slot.name
    return f"{slot.words} {name}" + (f" = {slot.default}" if slot.has_default else "")


cdef inline object as_python(Binder b, object result):
    """What Python sees of a result: PyTorch's lists of tensors are tuples there, and dtypes are objects."""
    if type(result) is list:
        return tuple(result)
    if type(result) is int and b.gives_dtype:
        return dtypes.BY_CODE[result]
    return result


cdef list as_given(Binder b, tuple args, dict kwargs, list values):
    """The arguments before conversion, one per parameter; defaults as in `values`."""
    cdef Py_ssize_t given = len(args)
    if given > b.positional or (b.int_list_at >= 0 and given == b.positional and is_int(args[given - 1])):
        args = args[:b.int_list_at] + (args[b.int_list_at:],)
        given = len(args)
    return [
        args[i] if i < given else kwargs.get((<Slot>b.slots[i]).name, values[i]) for i in range(len(b.slots))
    ]


cdef list settled(list values):
    """Numbers where tensors stand: without any tensor among them, the first becomes one."""
    for x in values:
        if isinstance(x, Tensor):
            return values
    from ts._core import construct
    return [construct.tensor(values[0]), *values[1:]]


# ---------------------------------------------------------------- the sets, by name

cdef dict _sets = {}


def overloads(str name not None):
    """The callable for an operator name, with or without `aten::`; AttributeError where there is none."""
    if "::" not in name:
        name = f"aten::{name}"
    found = _sets.get(name)
    if found is None:
        from ts.ops import registry
        found = OverloadSet(name, registry.lookup)
        found.load()
        _sets[name] = found
    return found
