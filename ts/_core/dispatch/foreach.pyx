"""Foreach operators: kernels that run a single-tensor operator on each element of tensor lists.

Input: the single-tensor operator, and the parameters of the foreach operator. Output: the foreach operator's
kernel.

A parameter of the single-tensor operator receives the foreach argument of the same name. If no name matches,
it receives the argument at the same position, else its default. Lists pass one element to each call.
Autograd, profilers and limits see the operators on single tensors. The example computes [x + 2 * a, y + 2 *
b]:

    ForeachKernel(find, "aten::add.Tensor", parameters, True).run([x, y], [a, b], 2)
"""

from libc.stdint cimport int32_t

from ts._core.dispatch.arguments cimport spec_of_text
from ts._core.dispatch.operator cimport Operator, invoke
from ts._core.tensor.tensor cimport Tensor
from ts._core.value.ivalue cimport IValue, TAG_NONE, TypeSpec, box, release, set_none, unbox, unbox_shallow

cdef enum:
    MAX_REGISTERS = 16
    DEFAULT = -1                       # index of a parameter of `base` that the foreach operator lacks: its default is passed


cdef class ForeachKernel:
    """Kernel of a foreach operator, which calls the operator `base` once per list element."""
    cdef object find
    cdef str key
    cdef tuple parameters              # parameters of the foreach operator
    cdef Operator base
    cdef tuple argument_indices                  # for each parameter of `base`, its index in `parameters`, or DEFAULT
    cdef tuple defaults
    cdef tuple specs                   # types of the parameters of `base`, checked before each call
    cdef bint returns_results                    # True if the operator returns results, False for in-place variants

    def __init__(self, find not None, str key not None, tuple parameters not None, bint returns_results):
        """Create a kernel that calls the single-tensor operator `find(key)`, which is looked up at the first run."""
        self.find = find
        self.key = key
        self.parameters = parameters
        self.returns_results = returns_results

    def run(self, *args):
        """Return the list of results, or None for an in-place variant. `args` has one value per parameter."""
        if self.base is None:
            self.prepare()
        count = checked_length(self, args)
        cdef list results = [] if self.returns_results else None
        cdef IValue r[MAX_REGISTERS]
        cdef int32_t at[MAX_REGISTERS]
        cdef int i, n = self.base.nargs
        for i in range(n + 1):
            r[i].tag = TAG_NONE
            at[i] = i
        try:
            for k in range(<Py_ssize_t>count):
                fill(self, args, k, r)
                invoke(self.base, r, at)
                if self.returns_results:
                    results.append(box(&r[n]))
                set_none(&r[n])
        finally:
            for i in range(n + 1):
                release(&r[i])
        return results

    cdef int prepare(self) except -1:
        base = <Operator>self.find(self.key)
        if base is None or base.nargs >= MAX_REGISTERS or base.nrets != 1:
            raise TypeError(f"{self.key} cannot be applied to the elements of a list")
        names = [p.name for p in self.parameters]
        base_parameters = base.signature.parameters
        used_names = {p.name for p in base_parameters}
        argument_indices = []
        for i, parameter in enumerate(base_parameters):
            if parameter.name in names:
                argument_indices.append(names.index(parameter.name))
            else:
                argument_indices.append(i if i < len(names) and names[i] not in used_names else DEFAULT)
        self.argument_indices = tuple(argument_indices)
        self.defaults = tuple([p.default if index == DEFAULT else None for p, index in zip(base_parameters, argument_indices)])
        self.specs = tuple([spec_of_text(p.kind) for p in base_parameters])
        self.base = base
        return 0


cdef int fill(ForeachKernel self, tuple args, Py_ssize_t k, IValue *r) except -1:
    """Write the arguments for element `k` to the registers of `base`, and release the previous values."""
    cdef int i, index
    cdef object x
    for i in range(self.base.nargs):
        index = self.argument_indices[i]
        if index == DEFAULT:
            x = self.defaults[i]
        else:
            x = args[index]
            if type(x) is list:
                if k >= len(<list>x):
                    raise RuntimeError("a list of tensors became shorter while an operator iterated over it")
                x = (<list>x)[k]
        set_none(&r[i])
        if x is None or isinstance(x, Tensor):
            unbox_shallow(x, &r[i])
        else:
            unbox(x, <TypeSpec>self.specs[i], &r[i])
    return 0


cdef object checked_length(ForeachKernel self, tuple args):
    """Return the common length of the argument lists, or raise RuntimeError if they are empty or differ in
    length.
    """
    count = None
    for parameter, x in zip(self.parameters, args):
        if type(x) is not list:
            continue
        if parameter.kind == "Scalar[]":
            if count is not None and len(x) != count:
                raise RuntimeError("Tensor list must have same number of elements as scalar list.")
        elif count is None:
            count = len(x)
        elif len(x) != count:
            raise RuntimeError(f"Tensor lists must have the same number of tensors, got {count} and {len(x)}")
    if not count:
        raise RuntimeError("Tensor list must have at least one tensor.")
    return count
