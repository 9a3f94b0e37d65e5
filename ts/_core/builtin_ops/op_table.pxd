"""Definition of built-in operators by a schema text and a kernel.

Example:

    define("aten::len.t(t[] a) -> int", len_list)

The kernel of a variadic operator, such as `aten::format(str self, ...) -> str`, receives the variadic
arguments as one Tuple.
"""

from cpython.ref cimport PyObject

from ts._core.dispatch.operator cimport Kernel, Operator
from ts._core.value.tagged cimport IValue, set_object_steal


cdef inline int count_arguments(str declarations):
    """Return the number of top-level items of a comma-separated list: "int[2] a, (int, t)[] b" has two."""
    cdef int depth = 0, commas = 0
    for character in declarations:
        if character in "([":
            depth += 1
        elif character in ")]":
            depth -= 1
        elif character == "," and depth == 0:
            commas += 1
    return commas + 1 if declarations.strip() else 0


cdef inline Operator define(str schema, Kernel kernel, void *data=NULL, bint scalar=False):
    """Create the operator of `schema`.

    `scalar` is True if all arguments and results are numbers and the kernel runs without the GIL.
    """
    cdef Operator op = Operator.__new__(Operator)
    cdef str left, right, name
    left, _, right = schema.rpartition(") -> ")
    name, _, arguments = left.partition("(")
    op.name, _, op.overload = name.partition(".")
    op.schema_text = schema
    op.nargs = count_arguments(arguments.replace("*, ", ""))
    if right.startswith("(") and right.endswith(")"):
        op.nrets = count_arguments(right[1:len(right) - 1])
    else:
        op.nrets = 1
    op.kernels[0] = kernel
    op.data = data
    op.scalar = scalar
    return op


cdef inline int set_new(IValue *out, object x) except -1:
    """Set `out` to object `x` and return 0, so that a kernel can end with `return set_new(...)`."""
    cdef PyObject *o = <PyObject *>x
    from_new_reference(o)
    set_object_steal(out, o)
    return 0


cdef extern from *:
    """
    #define from_new_reference(o) Py_INCREF(o)
    """
    void from_new_reference(PyObject *o) noexcept
