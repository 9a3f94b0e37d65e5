"""Variadic operators on tensors, of which each calls the corresponding operator on a list.

Input: a tuple of the variadic arguments. Output: the result of the operator on a list. The table shows
variadic calls and equivalent expressions:

    prim::VarConcat(x, y, 0)                       aten::cat([x, y], 0)
    aten::einsum(x, [0, 1], y, [1, 2])             aten::einsum("AB,BC", [x, y])
    prim::AutogradAdd(x, None)                     x
"""

from cpython.ref cimport PyObject
from libc.stdint cimport int32_t

from ts._core.dispatch.operator cimport Operator
from ts._core.builtin_ops.op_table cimport define
from ts._core.value.container cimport Tuple
from ts._core.value.ivalue cimport IValue, TAG_INT, TAG_NONE, TENSOR_SPEC, box, copy_value, set_object
from ts._core.value.type_of cimport conforms


from ts._core.dispatch.overloads import overloads

cdef str LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


cdef list tensors_of(Operator op, Tuple values, Py_ssize_t count):
    """Return the first `count` items of `values`. Raise TypeError if one of them is not a tensor."""
    cdef Py_ssize_t i
    for i in range(count):
        if not conforms(&values.items[i], TENSOR_SPEC):
            raise TypeError(f"{op.name}() expects tensors, but argument {i} is {box(&values.items[i])}")
    return [box(&values.items[i]) for i in range(count)]


cdef int call_variadic(Operator op, IValue *r, const int32_t *at, str name) except -1:
    cdef Tuple args = <Tuple>r[at[0]].v.o
    cdef Py_ssize_t last = args.size - 1
    if last < 0 or args.items[last].tag != TAG_INT:
        raise TypeError(f"{op.name}() expects tensors and a dimension")
    set_object(&r[at[1]], overloads(name)(tensors_of(op, args, last), args.items[last].v.i))
    return 0


cdef int var_concat(Operator op, IValue *r, const int32_t *at) except -1:
    return call_variadic(op, r, at, "cat")


cdef int var_stack(Operator op, IValue *r, const int32_t *at) except -1:
    return call_variadic(op, r, at, "stack")


cdef str letters_of(object sublist):
    """Return the einsum subscripts for a list of dimension numbers.

    Raise RuntimeError for invalid numbers.
    """
    if not isinstance(sublist, list) or any(type(n) is not int or not 0 <= n < len(LETTERS) for n in sublist):
        raise RuntimeError(f"einsum(): expected a list of numbers from 0 to {len(LETTERS) - 1}, but got {sublist}")
    return "".join([LETTERS[n] for n in sublist])


cdef int einsum_sublist(Operator op, IValue *r, const int32_t *at) except -1:
    """Compute einsum(x, [0, 1], y, [1, 2]): each tensor is followed by the list of its dimension numbers.

    A further list at the end has the dimension numbers of the output.
    """
    cdef Tuple rest = <Tuple>r[at[1]].v.o
    cdef list args = [box(&r[at[0]])] + [box(&rest.items[i]) for i in range(rest.size)]
    cdef Py_ssize_t count = len(args) // 2
    operands = args[: 2 * count : 2]
    equation = ",".join([letters_of(x) for x in args[1 : 2 * count : 2]])
    if len(args) % 2:
        equation += "->" + letters_of(args[2 * count])
    set_object(&r[at[2]], overloads("einsum")(equation, operands))
    return 0


cdef int add_gradients(Operator op, IValue *r, const int32_t *at) except -1:
    """Add two gradients, where None counts as zero."""
    cdef IValue *a = &r[at[0]]
    cdef IValue *b = &r[at[1]]
    if a.tag == TAG_NONE or b.tag == TAG_NONE:
        copy_value(&r[at[2]], b if a.tag == TAG_NONE else a)
    elif conforms(a, TENSOR_SPEC) and conforms(b, TENSOR_SPEC):
        set_object(&r[at[2]], overloads("add")(box(a), box(b)))
    else:
        raise TypeError(f"{op.name}() expects tensors or None, but got {box(a)} and {box(b)}")
    return 0


def operators():
    """Return the operators of this module."""
    return [
        define("prim::VarConcat(...) -> Tensor", var_concat),
        define("prim::VarStack(...) -> Tensor", var_stack),
        define("aten::einsum.sublist(Tensor a, ...) -> Tensor", einsum_sublist),
        define("prim::AutogradAdd(Any a, Any b) -> Any", add_gradients),
    ]
