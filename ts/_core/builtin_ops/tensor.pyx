"""Operators on tensor metadata (sizes, dtype, device), which need no backend kernels, and `tolist`.

Input: a register with a tensor. Output: a number, a list of ints, or a device. The table shows expressions
and their operators:

    x.shape, x.size(0)     aten::size          x.dtype     prim::dtype
    x.dim(), len(x)        aten::dim           x.device    prim::device
    y: List[int] = x.tolist()                  prim::tolist(x, dimensions of the annotation, its element type)
"""

cimport numpy as cnp
from cpython.ref cimport PyObject
from libc.stdint cimport int32_t, int64_t

from ts._core.value.container cimport List, Tuple, list_new, list_store_number
from ts._core.dispatch.operator cimport Operator
from ts._core.value.ivalue cimport (
    BOOL_SPEC,
    COMPLEX_SPEC,
    FLOAT_SPEC,
    INT_SPEC,
    IValue,
    TAG_INT,
    TENSOR_SPEC,
    TypeSpec,
    list_spec,
    move_value,
    set_bool,
    set_int,
    set_none,
    set_object,
    unbox,
)
from ts._core.builtin_ops.op_table cimport define
from ts._core.value.type_of cimport conforms
from ts._core.tensor.tensor cimport BACKEND_CPU, BACKEND_CUDA, BACKEND_META, BACKEND_SPARSE, Tensor, needs_grad

from ts import dtypes

cnp.import_array()


cdef inline Tensor tensor_of(IValue *x):
    return <Tensor>x.v.o


# ---------------------------------------------------------------- sizes

cdef int rank_of(Tensor t) except -1:
    return cnp.PyArray_NDIM(<cnp.ndarray>t.array) if t.backend == BACKEND_CPU else t.array.ndim


cdef List list_of_ints(object values):
    cdef List result = list_new(list_spec(INT_SPEC), len(values))
    for value in values:
        list_store_number(<PyObject *>result, result.size, value)
        result.size += 1
    return result


cdef List list_of_lengths(cnp.npy_intp *values, int n, Py_ssize_t unit):
    """Return the dimensions of a NumPy array, or its strides divided by `unit`, as a list of ints."""
    cdef List result = list_new(list_spec(INT_SPEC), n)
    cdef int i
    for i in range(n):
        list_store_number(<PyObject *>result, i, values[i] // unit)
    result.size = n
    return result


cdef int64_t wrap_dim(int64_t dim, int rank) except -1:
    cdef int n = rank if rank > 0 else 1
    if not -n <= dim < n:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-n}, {n - 1}], but got {dim})")
    return dim + n if dim < 0 else dim


cdef int sizes(Operator op, IValue *r, const int32_t *at) except -1:
    cdef Tensor t = tensor_of(&r[at[0]])
    if t.backend == BACKEND_CPU:
        set_object(&r[at[1]], list_of_lengths(cnp.PyArray_DIMS(<cnp.ndarray>t.array), cnp.PyArray_NDIM(<cnp.ndarray>t.array), 1))
    else:
        set_object(&r[at[1]], list_of_ints(t.array.shape))
    return 0


cdef int strides(Operator op, IValue *r, const int32_t *at) except -1:
    cdef Tensor t = tensor_of(&r[at[0]])
    set_object(&r[at[1]], list_of_ints(t.stride()))
    return 0


cdef int size_in(Operator op, IValue *r, const int32_t *at) except -1:
    cdef Tensor t = tensor_of(&r[at[0]])
    cdef int rank = rank_of(t)
    cdef int64_t dim = wrap_dim(r[at[1]].v.i, rank)
    if rank == 0:
        raise IndexError("Dimension specified as 0 but tensor has no dimensions")
    if t.backend == BACKEND_CPU:
        set_int(&r[at[2]], cnp.PyArray_DIM(<cnp.ndarray>t.array, <int>dim))
    else:
        set_int(&r[at[2]], t.array.shape[dim])
    return 0


cdef int stride_in(Operator op, IValue *r, const int32_t *at) except -1:
    cdef Tensor t = tensor_of(&r[at[0]])
    cdef int rank = rank_of(t)
    cdef int64_t dim = wrap_dim(r[at[1]].v.i, rank)
    if rank == 0:
        raise IndexError("Dimension specified as 0 but tensor has no dimensions")
    set_int(&r[at[2]], t.stride()[dim])
    return 0


cdef int length(Operator op, IValue *r, const int32_t *at) except -1:
    cdef Tensor t = tensor_of(&r[at[0]])
    if rank_of(t) == 0:
        raise TypeError("len() of a 0-d tensor")
    if t.backend == BACKEND_CPU:
        set_int(&r[at[1]], cnp.PyArray_DIM(<cnp.ndarray>t.array, 0))
    else:
        set_int(&r[at[1]], t.array.shape[0])
    return 0


cdef int rank(Operator op, IValue *r, const int32_t *at) except -1:
    set_int(&r[at[1]], rank_of(tensor_of(&r[at[0]])))
    return 0


cdef int count(Operator op, IValue *r, const int32_t *at) except -1:
    cdef Tensor t = tensor_of(&r[at[0]])
    set_int(&r[at[1]], cnp.PyArray_SIZE(<cnp.ndarray>t.array) if t.backend == BACKEND_CPU else t.array.size)
    return 0


cdef int element_bytes(Operator op, IValue *r, const int32_t *at) except -1:
    set_int(&r[at[1]], tensor_of(&r[at[0]]).array.dtype.itemsize)
    return 0


cdef int bytes_of(Operator op, IValue *r, const int32_t *at) except -1:
    set_int(&r[at[1]], tensor_of(&r[at[0]]).array.nbytes)
    return 0


cdef int offset(Operator op, IValue *r, const int32_t *at) except -1:
    cdef object t = tensor_of(&r[at[0]])
    set_int(&r[at[1]], t.storage_offset())
    return 0


cdef int contiguous(Operator op, IValue *r, const int32_t *at) except -1:
    cdef object t = tensor_of(&r[at[0]])
    cdef object format = dtypes.contiguous_format
    if op.nargs == 2:
        if not 0 <= r[at[1]].v.i < len(dtypes.MEMORY_FORMATS):
            raise RuntimeError(f"unknown memory format {r[at[1]].v.i}")
        format = dtypes.MEMORY_FORMATS[r[at[1]].v.i]
    set_bool(&r[at[op.nargs]], t.is_contiguous(memory_format=format))
    return 0


# ---------------------------------------------------------------- dtype, device and layout

cdef int dtype(Operator op, IValue *r, const int32_t *at) except -1:
    set_int(&r[at[1]], tensor_of(&r[at[0]]).scalar_type)
    return 0


cdef int device(Operator op, IValue *r, const int32_t *at) except -1:
    cdef object t = tensor_of(&r[at[0]])
    set_object(&r[at[1]], t.device)
    return 0


cdef int device_number(Operator op, IValue *r, const int32_t *at) except -1:
    set_int(&r[at[1]], tensor_of(&r[at[0]]).device_index)
    return 0


cdef int is_on(Operator op, IValue *r, const int32_t *at) except -1:
    """Return whether a tensor is on the backend with the number `op.data` (BACKEND_CUDA for `prim::is_cuda`)."""
    set_bool(&r[at[1]], tensor_of(&r[at[0]]).backend == <Py_ssize_t>op.data)
    return 0


cdef int layout_code(Operator op, IValue *r, const int32_t *at) except -1:
    set_int(&r[at[1]], tensor_of(&r[at[0]]).layout.code)
    return 0


cdef int requires_gradient(Operator op, IValue *r, const int32_t *at) except -1:
    set_bool(&r[at[1]], needs_grad(tensor_of(&r[at[0]])))
    return 0


cdef int is_leaf(Operator op, IValue *r, const int32_t *at) except -1:
    cdef object t = tensor_of(&r[at[0]])
    set_bool(&r[at[1]], t.is_leaf)
    return 0


cdef int never(Operator op, IValue *r, const int32_t *at) except -1:
    """Return False, for properties that no tensor of this library has."""
    set_bool(&r[at[op.nargs]], False)
    return 0


cdef int is_sparse(Operator op, IValue *r, const int32_t *at) except -1:
    """Return whether a tensor is sparse with the layout code `op.data` (COO or CSR)."""
    cdef Tensor t = tensor_of(&r[at[0]])
    set_bool(&r[at[1]], t.backend == BACKEND_SPARSE and t.array.layout.code == <Py_ssize_t>op.data)
    return 0


cdef int nameless(Operator op, IValue *r, const int32_t *at) except -1:
    set_none(&r[at[1]])
    return 0


# ---------------------------------------------------------------- elements

# Possible element types in annotations of `tolist`, and PyTorch's names for these types. The frontend passes
# the index of the element type in both tuples.
cdef tuple ELEMENTS = (INT_SPEC, FLOAT_SPEC, BOOL_SPEC, COMPLEX_SPEC)
cdef tuple ELEMENT_NAMES = ("Long", "Float", "Bool", "ComplexDouble")


cdef bint conforms_to_list(Tuple inputs) except -1:
    if inputs.size != 3 or not conforms(&inputs.items[0], TENSOR_SPEC):
        return False
    return inputs.items[1].tag == TAG_INT and inputs.items[2].tag == TAG_INT and 0 <= inputs.items[2].v.i < len(ELEMENTS)


cdef int to_list(Operator op, IValue *r, const int32_t *at) except -1:
    """Convert a tensor to nested lists.

    Raise an error if the tensor's rank or dtype differs from the type annotation of the result.
    """
    cdef Tuple inputs = <Tuple>r[at[0]].v.o
    # The operator is variadic, so its schema declares no argument types, and this function checks them.
    if not conforms_to_list(inputs):
        raise TypeError("prim::tolist() takes a tensor, a number of dimensions and the number of an element type")
    cdef Tensor t = tensor_of(&inputs.items[0])
    cdef int64_t depth = inputs.items[1].v.i, element = inputs.items[2].v.i
    cdef TypeSpec spec = <TypeSpec>ELEMENTS[element]
    cdef IValue result
    cdef object x = t
    dtype = x.dtype
    if not (
        t.scalar_type == 4 if element == 0 else
        t.scalar_type == 11 if element == 2 else
        dtype.is_complex if element == 3 else dtype.is_floating_point
    ):
        raise RuntimeError(
            "Output annotation element type and runtime tensor element type must match for tolist(): "
            f"{ELEMENT_NAMES[element]} vs {dtype.type_name}"
        )
    if rank_of(t) != depth:
        raise RuntimeError("Output annotation list dimension and runtime tensor dimension must match for tolist()")
    for _ in range(depth):
        spec = list_spec(spec)
    unbox(x.tolist(), spec, &result)
    move_value(&r[at[1]], &result)
    return 0


cdef int times_written(Operator op, IValue *r, const int32_t *at) except -1:
    cdef object t = tensor_of(&r[at[0]])
    set_int(&r[at[1]], t._version)
    return 0


cdef int which_output(Operator op, IValue *r, const int32_t *at) except -1:
    """Return the number of a tensor among the results of its backward node. Without grad, return 0."""
    cdef object x = tensor_of(&r[at[0]])
    set_int(&r[at[1]], x.output_nr if needs_grad(<Tensor>x) else 0)
    return 0


cdef int keeps_gradient(Operator op, IValue *r, const int32_t *at) except -1:
    cdef object x = tensor_of(&r[at[0]])
    set_bool(&r[at[1]], needs_grad(<Tensor>x) and x.retains_grad)
    return 0


def operators():
    """Return the operators of this module."""
    return [
        define("aten::size.int(Tensor self, int dim) -> int", size_in),
        define("aten::size(Tensor self) -> int[]", sizes),
        define("aten::stride.int(Tensor self, int dim) -> int", stride_in),
        define("aten::stride(Tensor self) -> int[]", strides),
        define("aten::len.Tensor(Tensor t) -> int", length),
        define("aten::dim(Tensor self) -> int", rank),
        define("aten::numel(Tensor self) -> int", count),
        define("aten::element_size(Tensor self) -> int", element_bytes),
        define("prim::itemsize(Tensor a) -> int", element_bytes),
        define("prim::nbytes(Tensor a) -> int", bytes_of),
        define("aten::storage_offset(Tensor self) -> int", offset),
        define("aten::is_contiguous(Tensor self) -> bool", contiguous),
        define("aten::is_contiguous.memory_format(Tensor self, MemoryFormat memory_format) -> bool", contiguous),
        # operators of exported graphs
        define("aten::sym_size.int(Tensor self, int dim) -> SymInt", size_in),
        define("aten::sym_size(Tensor self) -> SymInt[]", sizes),
        define("aten::sym_stride.int(Tensor self, int dim) -> SymInt", stride_in),
        define("aten::sym_stride(Tensor self) -> SymInt[]", strides),
        define("aten::sym_numel(Tensor self) -> SymInt", count),
        define("aten::sym_storage_offset(Tensor self) -> SymInt", offset),
        define("aten::sym_is_contiguous(Tensor self, MemoryFormat memory_format=0) -> SymBool", contiguous),
        # dtype, device and layout
        define("prim::dtype(Tensor a) -> int", dtype),
        define("prim::layout(Tensor a) -> Layout", layout_code),
        define("prim::device(Tensor a) -> Device", device),
        define("aten::get_device(Tensor self) -> int", device_number),
        define("prim::is_cpu(Tensor a) -> bool", is_on, <void *>BACKEND_CPU),
        define("prim::is_cuda(Tensor a) -> bool", is_on, <void *>BACKEND_CUDA),
        define("prim::is_meta(Tensor a) -> bool", is_on, <void *>BACKEND_META),
        define("prim::requires_grad(Tensor a) -> bool", requires_gradient),
        define("aten::is_leaf(Tensor self) -> bool", is_leaf),
        define("aten::retains_grad(Tensor self) -> bool", keeps_gradient),
        define("aten::_version(Tensor self) -> int", times_written),
        define("aten::output_nr(Tensor self) -> int", which_output),
        define("prim::name(Tensor a) -> str?", nameless),
        define("prim::is_sparse(Tensor a) -> bool", is_sparse, <void *><Py_ssize_t>1),
        define("prim::is_sparse_csr(Tensor a) -> bool", is_sparse, <void *><Py_ssize_t>2),
        *[
            define(f"prim::is_{kind}(Tensor a) -> bool", never)
            for kind in ("mkldnn", "nested", "vulkan", "mps", "xla", "xpu", "ipu")
        ],
        define("prim::tolist(...) -> ...", to_list),
    ]
