"""Operator registry: one record defines one operator.

In: family modules (`pointwise`, `reduce`, `view` ...), which declare records by tables and decorated
kernels.  Out: `find(key)` and `lookup(name)` for the compiler and the dispatcher, and
`function(name)` for the Python API.

    @op("aten::cumsum(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor", inplace=True, out="out")
    def cumsum(xp, self, dim, dtype=None):
        return xp.cumsum(self, dim, ...)

A kernel receives the array namespace, then the schema's arguments in order: arrays, lists of arrays, Python
numbers, ScalarType numbers, lists of ints. It returns arrays, tuples of arrays or numbers. The in-place
variant `cumsum_` and the `out=` variant are derived from the record of `cumsum`. Their kernels call its
kernel, check whether the result can be cast, and copy the result. Schemas are parsed when `record.schema` is
first read.

All other properties of an operator are fields of its record. Operators with the same kernel can share fields:

    @op("aten::linalg_inv(Tensor A) -> Tensor", out="out", where="f")
    @op("aten::inverse(Tensor self) -> Tensor", out="out", same_as="aten::linalg_inv")
    @shared_fields(layout="columns", dtype_errors={"h": f"linalg.inv: {LOW_PRECISION}"})
    def _inv(xp, A):

No other module lists operators by name: passes read the properties of an operator from its record.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from ts._core.builtin_ops import registry as prims
from ts._core.builtin_ops.properties import names_with
from ts._core.dispatch import work  # noqa: F401  adds time limits to operator calls
from ts._core.dispatch.operator import Operator
from ts._core.dispatch.overloads import OverloadSet
from ts._core.dispatch.signature import signature
from ts._core.late_binding import resolve
from ts._core.tensor.tensor import install_methods
from ts._core.value.build_lock import build_lock
from ts.errors import missing_attribute
from ts.ops import common, unsupported_dtypes
from ts.ops.out_variants import (
    SCALAR,
    ErrorTexts,
    OutVariantSpec,
    into_outputs,
    make_out_spec,
    rules_of,
    write,
    write_changes,
)

if TYPE_CHECKING:
    from ts.ir.schema import FunctionSchema

Kernel = Callable[..., Any]
K = TypeVar("K", bound=Callable[..., Any])

FAMILIES = (
    "unary", "pointwise", "ternary", "reduce", "vector_norm", "scan", "view", "split", "view_backward",
    "transpose", "storage_ops", "rearrange", "reshape", "index", "unsafe_index", "scatter", "sort", "unique",
    "matmul", "mixed_dtype_matmul", "factories", "dtype", "random", "sampling", "reparameterization_grads",
    "dropout", "activation", "activation_backward", "normalization", "batch_norm", "embedding", "loss",
    "loss_backward", "classification_loss", "ctc", "distance", "unfold", "conv", "pad", "pooling",
    "fractional_pool", "upsample", "interpolate", "grid_sample", "attention", "packed_sequence", "rnn",
    "lstm_layer", "polynomial", "copy_variants", "fft", "factorizations", "matrix_norm", "lu",
    "linalg_helpers", "householder", "pseudo_inverse", "covariance", "least_squares", "stft",
    "finite_differences", "histogram", "window_functions", "script_only_ops", "assert_ops", "profiling", "to",
    "autograd_ops", "quantizer", "packed_params", "quantized", "quantized_rnn", "foreach", "fused_optimizers",
    "amp_ops", "rpc_ops", "sparse",
)  # fmt: skip

# `overlap` of operators that raise an error if elements of the mutated tensor share memory, or if the mutated
# tensor is also an input. These operators read elements after they have written others.
OVERLAP_RAISES_CODE = 3
OVERLAP_WARNS_CODE = 1  # `overlap` of operators that warn if elements of the mutated tensor share memory

NAMESPACES = ("linalg", "special", "fft")

_INPLACE_ROLES = {"arithmetic": "in-place", "fill": "assignment"}  # `element_role` of in-place variants


class OperatorRecord:
    """Definition of one operator overload: kernels, rules and flags, with defaults."""

    # Python bindings: "f" for a function `ts.name`, "m" for a method `Tensor.name`. The default depends on
    # the schema (`_implied_bindings`).
    where: str = ""
    # names of the overloads that overload resolution tries first, where "-" is the overload without a name
    order: str = ""
    # name of the operator of which this record is an alias. Passes replace the alias by the named operator
    same_as: str = ""
    # name of the operator that traces record in place of this one, because PyTorch's Python function calls it
    traced_as: str = ""
    # "module:function": while tracing, this Python function is called instead of recording the operator. The
    # trace then contains the operators that the function calls
    trace_function: str = ""
    since: int = 0  # first archive version in which the operator has its current semantics
    since_variants: str = "io"  # variants to which `since` applies: "i" in-place, "o" out=

    # Computation
    promotion: str | None = None  # pointwise: "same", "float" (integers become floats), "bool", "real"
    ufunc: str | None = None  # pointwise: NumPy ufunc that implements the kernel
    # pointwise: NumPy type characters for which the ufunc is correct, or None for all
    types: str | None = None
    loop: str | None = None  # registered name of a C kernel, which is tried before `kernel`
    preserves_dtype: bool = False  # True for activations: one tensor argument, and a result of its dtype
    # True if CPU fusion supports the operator, although it is pointwise and has no ufunc
    tile: bool = False
    # True for batch normalization: CPU fusion supports the operator if `training` is False. The result then
    # depends only on the first argument and on vectors with one element per channel.
    channels: bool = False
    # True if a fusion group can read the operator's results: they are views of the first argument
    view_input: bool = False
    # True if the operator can be the last of a fusion group: it reduces or normalizes its first argument
    epilogue: bool = False
    # True if fusion supports the operator as a conversion of its first argument to the dtype of the second
    converts: bool = False
    sparse: str = ""  # name of the kernel for sparse operands in `ts.ops.sparse_kernels`, or ""
    cuda: str | None = None  # pointwise: CUDA expression of the arguments a, b, c
    # For operators with `epilogue`: CUDA expression that computes a row of the result, or a function that
    # returns this expression. The function is called with the row length and with the operator's other
    # arguments as keyword arguments. It returns None if CUDA fusion does not support the arguments
    cuda_rows: str | Callable[..., str | None] | None = None
    # True if the kernel is called as kernel(*arguments) with tensors, which may be on several devices
    tensor_kernel: bool = False
    # Rule by which autocast casts arguments, such as "lower", "float32" or "widest", or dict from device type
    # to rule
    autocast: str | Mapping[str, str] = ""
    # nanoseconds per unit of work, or a cost rule, if it differs from the family's rule (`cost_model`)
    work: float | Callable[..., float] | None = None

    # Effects
    nondeterministic: bool = False  # True if the operator draws random numbers
    reads_elements: bool = True  # False if the result depends only on dtypes and shapes
    reshapes: bool = False  # True if the operator changes sizes, strides or storage of its first argument
    # True if the result may be the first argument itself, although the schema has no alias annotation for it
    gives_self: bool = False
    updates: str = ""  # name of the bool argument that enables updates of running moments
    side_effect: bool = False  # True if passes must not remove the operator, even if its result is unused
    reads_history: bool = False  # True if the operator reads autograd history or gradients of arguments
    # True if the operator calls user code such as hooks, which may mutate all reachable objects
    calls_programs: bool = False
    # True for an operator that user functions implement. They may also implement its gradient
    of_program: bool = False
    # kernel that starts the operator and returns a future. A script that waits for the future blocks no
    # thread
    begins: Kernel | None = None

    # Arguments and results
    wraps_numbers: bool = False  # True if Tensor arguments may be Python numbers
    # dtype kind that is not supported -> error text (`unsupported_dtypes`)
    dtype_errors: Mapping[str, str] | None = None
    # Arguments whose dtype `dtype_errors` restricts: "" for the first tensor, or names of tensors that must
    # have equal dtypes. "indices:Long" requires the dtype int64. "promoted" stands for the promoted dtype of
    # all tensors. "promoted self" also requires that the promoted dtype can be cast to the dtype of `self`.
    checked_dtype: str = ""
    mixed_dtypes_error: str = SCALAR  # error text if the dtypes of these arguments differ
    overlap: int = 0  # rule for a mutated tensor whose elements share memory: a code of `overlap.pxd`
    assignment: str = "tensor[indices] = tensor"  # alternative that the warning about `overlap` suggests
    # Function of the arguments that returns dtype and rank of a result with data-dependent sizes
    unsized: Callable[..., tuple[Any, int]] | None = None
    filled_like: str = ""  # for fill operators: name of the `*_like` operator with the same result
    # For each result, name of its `result_strides` rule. If empty, results keep the strides that the kernel
    # gave them
    layout: tuple[str, ...] = ()
    out_dtype_error: ErrorTexts = ""  # error text if `out=` has another dtype than the result, or "" to cast
    # error text of an `out=` variant if the result cannot be cast to the output's dtype, or "" for the usual
    # text
    out_cast_error: ErrorTexts = ""
    out_resized: str = ""  # rule that resizes an `out=` tensor of another shape, see `out_variants`
    # Error text of the in-place variant if `self` has another dtype than the result
    self_dtype_error: str = ""
    # True if, without the argument `dtype`, the `out=` variant computes in the dtype of its output, and the
    # in-place variant in the dtype of `self`
    computes_in_out: bool = False
    # Shape rule (`shape_functions`). The call shape(*arguments) returns (shape, dtype) of each result.
    shape: Kernel | None = None
    sample: Callable[[np.random.Generator, Any], Sequence[Any]] | None = None

    # Properties that passes, export and transforms read by `field_by_name`

    # kind of the number operation by which loop versions (`passes.loop_versioning`) replace the operator on
    # single elements: "arithmetic", "unary", "comparison", "minimum", "maximum", "in-place", "fill",
    # "assignment", "store" (of a number in a tensor) or "conversion" (to a number)
    element_role: str = ""
    complement: str = ""  # for comparisons: name of the comparison with the opposite result
    # Type of the number that the operator reads from a one-element tensor: "int", "float", "bool" or "any"
    reads_number: str = ""
    spatial_dims: int = 0  # for convolutions: number of spatial dimensions
    copies_sizes: bool = False  # True if each size of the result is equal to a size of an input
    rank_by_sizes: bool = False  # True if the rank of the result depends on the sizes of an input
    # True if the result is the argument or a view of it whenever possible, otherwise a copy
    view_if_possible: bool = False
    composes_views: bool = False  # True if the results are arguments, or views that other operators create
    detaches_view: bool = False  # True if the result shares memory with the argument, but not its gradient
    always_copies: bool = False  # True if the result is a copy, although the decomposition may be a view
    inserted_by_export: bool = False  # True if only `export` inserts the operator: programs do not call it
    traced_in_place: bool = False  # True if even traces with `force_outplace` record the in-place operator
    # True if the result is the conjugate of the argument (the argument itself if it is real)
    conjugates: bool = False
    sizes_from_numbers: bool = False  # True if number arguments determine the size of the result
    constrains_size: bool = False  # True if the operator states the range of a symbolic size
    # True if PyTorch's compiler creates a `prim::DifferentiableGraph` even for a single call of the operator,
    # or the name of the overload if PyTorch's compiler does this for only one overload
    graph_autodiff: bool | str = False

    # Formulas in the script language: `derivative` maps argument names to gradients, and `decomposition`
    # computes the operator by other operators.
    derivative: Mapping[str, str] | None = None
    decomposition: str | None = None

    # In-place and `out=` variants
    variant: str = ""  # "", "inplace" or "out"
    # for variants: record of the base operator, whose kernel computes the result
    base: OperatorRecord | None = None
    # For variants: function that converts a kernel of `base` to a kernel of the variant
    derive: Callable[[Kernel], Kernel] | None = None

    _schema: FunctionSchema | None = None

    def __init__(
        self, schema_text: str, kernel: Kernel, family: str, where: str | None = None, **fields: Any
    ) -> None:
        if not fields.keys() <= OperatorRecord.__annotations__.keys():
            raise TypeError(
                f"records have no {sorted(fields.keys() - OperatorRecord.__annotations__.keys())}"
            )
        self.schema_text = schema_text  # schema text as in PyTorch, with alias annotations
        self.kernel = kernel  # called as kernel(xp, *arguments)
        self.family = family  # name of the module that declares the record
        self.where = _implied_bindings(schema_text) if where is None else where
        self.key = schema_text.partition("(")[0]  # name and overload: "aten::add.Tensor"
        self.name, _, self.overload = self.key.partition(".")
        if isinstance(fields.get("layout"), str):
            fields["layout"] = (fields["layout"],)
        self.__dict__.update(fields)

    @property
    def elementwise(self) -> bool:
        """True if each element of the result depends only on the operands' elements at the same index."""
        return (self.base or self).family in ("unary", "pointwise", "ternary")

    @property
    def has_graph_autodiff(self) -> bool:
        """True if PyTorch's compiler creates a differentiable graph for a single call of this overload."""
        return not self.same_as and self.graph_autodiff in (True, self.overload or "-")

    @property
    def on_grids(self) -> bool:
        """True for a quantized operator, whose tensors have a quantization grid."""
        return (self.base or self).family in ("quantizer", "packed_params", "quantized", "quantized_rnn")

    def guarded(self, kernel: Kernel) -> Kernel:
        """Return a kernel that rejects dtypes unsupported by PyTorch's CPU kernel, then calls `kernel`."""
        return unsupported_dtypes.with_dtype_check(self.base or self, kernel)

    @property
    def sparse_kernel(self) -> Kernel:
        """Kernel for sparse operands, or a function that raises NotImplementedError if there is none."""
        from ts.ops.sparse_kernels import sparse_kernel_of  # imported here, because few programs need it

        return sparse_kernel_of(self)

    @cached_property
    def functional(self) -> OperatorRecord:
        """Record of the operator's functional variant, or this record if there is no functional variant."""
        if self.base is not None or self.variant != "inplace":
            return self.base or self
        return next((r for r in records(self.name.removesuffix("_")) if _has_same_parameters(r, self)), self)

    @cached_property
    def is_inplace_view(self) -> bool:
        """True for the in-place variant of a view operator, such as `aten::t_`."""
        first = signature(self.functional.schema_text).parameters[:1] if self.reshapes else ()
        return any(parameter.alias and not parameter.written for parameter in first)

    @property
    def operator(self) -> Operator:
        """The callable operator of this record, which is cached."""
        cached: Operator | None = self.__dict__.get("_operator")
        if cached is None:
            cached = self.__dict__.setdefault("_operator", Operator(self.schema_text, self))
        return cached

    @property
    def schema(self) -> FunctionSchema:
        """Schema of the operator, parsed on first use."""
        if self._schema is None:
            self._schema = _parse_schema(self.schema_text)
        return self._schema


def _implied_bindings(schema_text: str) -> str:
    """Return the default of `where`. A method needs an argument `Tensor self`.

    Operators with a leading underscore, and those of `NAMESPACES`, are only functions. Operators outside of
    the namespace `aten` have no Python binding: only scripts call them.
    """
    if not schema_text.startswith("aten::"):
        return ""
    if schema_text[6] == "_" or is_in_namespace(schema_text[6:]):
        return "f"
    return "fm" if "Tensor self" in schema_text or "(Tensor(a" in schema_text else "f"


class OutRecord(OperatorRecord):
    """Record of the `out=` variant of a record. The schema text and the kernel are created on first use.

    The outputs of the variant are keyword arguments. An output is resized if its shape differs from that of
    the result. See `make_out_spec` for `names` and `unnamed`.
    """

    variant = "out"
    base: OperatorRecord

    def __init__(self, base: OperatorRecord, overload: str, names: str = "", unnamed: bool = False) -> None:
        self.base = base
        self.name, self.overload, self.family, self.where = base.name, overload, base.family, base.where
        self.key = f"{base.name}.{overload}"
        self.overlap = base.overlap * (base.overlap == OVERLAP_RAISES_CODE)
        self.nondeterministic, self.same_as = base.nondeterministic, base.same_as
        self.since = base.since * ("o" in base.since_variants)
        self.wraps_numbers = base.wraps_numbers
        self._outputs = names, unnamed

    @cached_property
    def out_spec(self) -> OutVariantSpec:
        """Schema text of the `out=` variant, and how its arguments map to those of the base."""
        return make_out_spec(self.base.schema_text, self.overload, *self._outputs)

    @cached_property
    def schema_text(self) -> str:  # type: ignore[override]  # computed on first use
        """Schema text of the variant, derived from the schema of the base record."""
        return self.out_spec.schema_text

    @cached_property
    def kernel(self) -> Kernel:  # type: ignore[override]
        """Kernel of the variant, which writes the results of the base record's kernel to `out`."""
        return self.derive(self.base.kernel)

    def derive(self, compute: Kernel) -> Kernel:  # type: ignore[override]
        """Return a kernel of the `out=` variant that calls `compute`, a kernel of the base record."""
        base, out_spec = self.base, self.out_spec
        each = rules_of(out_spec.outputs, base.out_dtype_error, base.out_cast_error, base.out_resized)
        return into_outputs(compute, out_spec, each, base.computes_in_out)


def _parse_schema(schema_text: str) -> FunctionSchema:
    from ts.ir.schema import parse_schema  # imported here, because eager calls do not need the compiler

    return parse_schema(schema_text)


_records: dict[str, list[OperatorRecord]] = {}  # operator name -> records in declaration order
_by_key: dict[str, OperatorRecord] = {}
_shared: dict[Kernel, dict[str, Any]] = {}  # kernel -> fields set by `shared_fields`
_orders: dict[str, str] = {}  # operator name -> overloads to try first
_same: dict[str, str] = {}  # alias -> name of the aliased operator
_operators: dict[str, tuple[Any, ...]] = {}
_named: set[str] = set()  # operator names for which all families that declare them are imported
_loading = _loaded = False


def add(record: OperatorRecord, *, stacked: bool = False) -> OperatorRecord:
    """Register a record. Raise ValueError if its key is already registered.

    If `stacked`, insert the record before the existing records with the same kernel. Python applies the
    decorators of a kernel from the last to the first, so that the records are finally in the order of the
    decorators in the source.
    """
    if _by_key.setdefault(record.key, record) is not record:
        raise ValueError(f"operator {record.key} is declared twice")
    group = _records.setdefault(record.name, [])
    if stacked and group:
        origin = _origin(record)
        group.insert(next((i for i, r in enumerate(group) if _origin(r) is origin), len(group)), record)
    else:
        group.append(record)
    if record.order:
        order(record.name, record.order)
    if record.same_as:
        _same[record.name] = record.same_as
    _operators.pop(record.name, None)
    return record


def _origin(record: OperatorRecord) -> Kernel:
    return (record.base or record).kernel


def order(name: str, overloads: str) -> None:
    """Set the overloads of operator `name` that PyTorch tries first.

    PyTorch then tries the other overloads: first functional variants, then `out=` variants, then operators
    written in C. Each of these groups is tried in declaration order.
    """
    _orders[name] = overloads


def op(
    schema: str,
    *,
    inplace: bool | str = False,
    inplace_order: str = "",
    out: str | Sequence[str] = (),
    out_names: str = "",
    out_unnamed: bool = False,
    **fields: Any,
) -> Callable[[K], K]:
    """Declare the operator `schema` with the decorated kernel. `fields` are fields of `OperatorRecord`.

    inplace        True or an overload name to declare the in-place variant
    inplace_order  field `order` of the in-place variant
    out            overload names of the `out=` variants to declare
    out_names      names of the output arguments of these variants (`make_out_spec`)
    out_unnamed    True if the results of these variants have no names
    """

    def declare(kernel: K) -> K:
        record_fields = {**_shared.get(kernel, {}), **fields}
        family = record_fields.pop("family", None) or kernel.__module__.rpartition(".")[2]
        record = add(OperatorRecord(schema, kernel, family, **record_fields), stacked=True)
        if inplace is not False:
            add(inplace_of(record, None if inplace is True else inplace, inplace_order), stacked=True)
        for overload in (out,) if isinstance(out, str) else out:
            add(OutRecord(record, overload, out_names, out_unnamed), stacked=True)
        return kernel

    return declare


def shared_fields(**fields: Any) -> Callable[[K], K]:
    """Set fields of the records that all `op` decorators above this one declare.

    If an `op` decorator sets the same field, its value has precedence.
    """

    def declare(kernel: K) -> K:
        _shared[kernel] = fields
        return kernel

    return declare


def inplace_of(
    record: OperatorRecord, overload: str | None = None, order: str = "", spelled: str = ""
) -> OperatorRecord:
    """Return the record of the in-place variant, which writes its result to `self` and returns `self`.

    The variant's name is the operator's name with an underscore (`aten::add_`), or `spelled` if it is given
    (`aten::__iand__`).
    """
    overload = record.overload if overload is None else overload
    head, _, rest = record.schema_text.partition("(")
    name = (spelled or head.partition(".")[0] + "_") + (f".{overload}" if overload else "")
    kind, _, arguments = rest.rpartition(") -> ")[0].partition(" self")
    schema_text = f"{name}(Tensor(a!) self{arguments}) -> Tensor(a!)"

    def derive(compute: Kernel) -> Kernel:
        def kernel(xp: Any, self: Any, *args: Any) -> Any:
            if record.computes_in_out and args[-1] is None:
                args = (*args[:-1], common.CODE_OF[self.dtype])
            if record.overlap == OVERLAP_WARNS_CODE:
                return write_changes(xp, self, compute(xp, self, *args))
            return write(xp, self, compute(xp, self, *args), record.self_dtype_error)

        # The result of an in-place view operator replaces the array of the tensor, so no elements are
        # written.
        return compute if kind == "Tensor(a)" else kernel

    overlap = record.overlap or (OVERLAP_RAISES_CODE if record.family == "scatter" else 0)
    return OperatorRecord(
        schema_text, derive(record.kernel), record.family, variant="inplace", base=record, derive=derive,
        where=record.where, overlap=2 if kind == "Tensor(a)" else overlap,
        nondeterministic=record.nondeterministic, reshapes=kind == "Tensor(a)",
        cuda=record.cuda, ufunc=record.ufunc, promotion=record.promotion, types=record.types,
        order=order, same_as=record.same_as and record.same_as + "_",
        since=record.since * ("i" in record.since_variants),
        wraps_numbers=record.wraps_numbers, element_role=_INPLACE_ROLES.get(record.element_role, ""),
        traced_in_place=bool(record.filled_like),
    )  # fmt: skip


# ---------------------------------------------------------------------------------------- lookup


def load() -> None:
    """Import all family modules, which creates all records and tensor methods."""
    if not _loaded:
        with build_lock():
            _load()


def _load() -> None:
    global _loaded
    if _loading:  # called by a family module during its import: lookups use the records declared so far
        return
    with _importing(FAMILIES):
        import ts._core.autograd.tensor_methods  # noqa: F401  adds methods to the type

        overload_sets = {name: OverloadSet(f"aten::{name}", lookup) for name in python_names("m")}
        overload_sets |= {name: _with_tensor_second(overload_sets[name]) for name in ("where", "polygamma")}
        install_methods(overload_sets | resolve("torch_functions").tensor_methods())
        _loaded = True


def _load_name(name: str) -> None:
    """Import the families that declare overloads of one operator."""
    if not _loaded and name not in _named:
        from ts.ops.op_index import families_of

        with build_lock(), _importing(families_of(name)):
            _named.add(name)


@contextmanager
def _importing(families: Sequence[str]) -> Iterator[None]:
    """Import families, then run the body of the `with` statement.

    During the imports and the body, lookups use the records declared so far.
    """
    global _loading
    before, _loading = _loading, True
    try:
        for family in families:
            importlib.import_module(f"ts.ops.{family}")
        yield
    # after any exception, even KeyboardInterrupt, the next call must be able to import the families again
    except BaseException:
        for family in FAMILIES:  # families import each other, so several may be incomplete
            if f"ts.ops.{family}" not in sys.modules:
                _remove_family(family)
        raise
    finally:
        _loading = before


def declaring_family(record: OperatorRecord) -> str:
    """Return the name of the family module that declares a record.

    Return the name of the module that defines the record's kernel if this module is a family, else
    `record.family`.
    """
    module = str((record.base or record).kernel.__module__).rpartition(".")[2]
    return module if module in FAMILIES else record.family


def _remove_family(family: str) -> None:
    """Remove the records of a family module, because its import failed."""
    for record in [r for r in _by_key.values() if declaring_family(r) == family]:
        del _by_key[record.key]
        _records[record.name].remove(record)
        if not _records[record.name]:
            del _records[record.name]
        _operators.pop(record.name, None)


def records(name: str | None = None) -> list[OperatorRecord]:
    """Return the records of operator `name`, with `out=` variants last, or the records of all operators."""
    if name is None:
        load()
        return [r for group in _records.values() for r in group]
    _load_name(name)
    return sorted(_records.get(name, ()), key=_rank)


class FieldByName(dict[str, Any]):
    """Values of one record field by operator name, read from the records at the first access of a name.

    If the overloads of an operator have different values, the value of the operator is the first one that is
    not the default. An operator without a record has the value True if `ts._core.builtin_ops.properties`
    lists it for this field. All other names have the default. Aliases have the default, too, because passes
    replace them.
    """

    def __init__(self, field: str) -> None:
        self.field = field

    def __missing__(self, name: str) -> Any:
        default = getattr(OperatorRecord, self.field)
        values = (getattr(record, self.field) for record in records(name) if not record.same_as)
        built_in = name in names_with(self.field) or default
        value = next((value for value in values if value != default), built_in)
        if not _loading:
            self[name] = value
        return value


_fields: dict[str, FieldByName] = {}


def field_by_name(field: str) -> FieldByName:
    """Return the values of a record field by operator name: `field_by_name("element_role")["aten::add"]`."""
    return _fields.setdefault(field, FieldByName(field))


def _rank(record: OperatorRecord) -> tuple[bool, int]:
    """Return the sort key of a record: `out=` variants are last, and equal variants are ordered by family."""
    family_index = FAMILIES.index(record.family) if record.family in FAMILIES else len(FAMILIES)
    return record.variant == "out", family_index


def find(key: str) -> OperatorRecord | None:
    """Return the record whose name and overload are `key`, such as "aten::add.Tensor", or None if unknown."""
    _load_name(key.partition(".")[0])
    return _by_key.get(key)


def find_alias_target(record: OperatorRecord) -> OperatorRecord | None:
    """Return the record of which this record is an alias: the overload of `same_as` with equal parameters."""
    if not record.same_as:
        return None
    return next((r for r in records(record.same_as) if _has_same_parameters(r, record)), None)


def _has_same_parameters(functional: OperatorRecord, record: OperatorRecord) -> bool:
    """Return whether `functional` is a functional variant with the argument types of `record`."""
    if functional.variant:
        return False
    pairs = (signature(r.schema_text).parameters for r in (functional, record))
    one, other = ([(p.kind, p.optional) for p in parameters] for parameters in pairs)
    return one == other


def lookup(name: str) -> tuple[Any, ...]:
    """Return the operators called `name`, in the order in which overload resolution tries them."""
    operators = _operators.get(name)
    if operators is None:
        overloads = [record.operator for record in records(name)]
        first = {overload: i for i, overload in enumerate(_orders.get(name, "").split())}
        overloads = sorted(
            [*overloads, *prims.named(name)], key=lambda o: first.get(o.overload or "-", len(first))
        )
        operators = _operators.setdefault(name, tuple(overloads))
    return operators


def schemas(name: str) -> list[FunctionSchema]:
    """Return the schemas of all overloads of an operator, or an empty list for an unknown name."""
    return [operator.schema for operator in lookup(name)]


def operator(key: str) -> Operator | None:
    """Return the operator with the key `name.overload`, or None for an unknown key.

    If a record has this key, the operators of the other overloads are not created.
    """
    record = find(key)
    if record is not None:
        return record.operator
    name, _, overload = key.partition(".")
    return next((operator for operator in lookup(name) if operator.overload == overload), None)


def canonical(name: str) -> str:
    """Return the canonical operator name used by passes, e.g. `aten::abs` for the alias `aten::absolute`."""
    _load_name(name)
    return _same.get(name, name)


def function(name: str) -> Any:
    """Return a callable with all overloads of `aten::name`. Raise AttributeError for unknown names."""
    torch_function = resolve("torch_functions").torch_functions().get(name)
    if torch_function is not None:
        return torch_function
    if not records(f"aten::{name}"):
        raise missing_attribute("module 'ts'", name, lambda: dir(sys.modules["ts"]))
    return resolve("overload_set_by_name")(name)


def names() -> Iterator[str]:
    """Return an iterator over operator names with records."""
    load()
    return iter(_records)


def python_names(where: str) -> list[str]:
    """Return the names of all operator functions of `ts` if `where` is "f", or of all tensor methods if "m".

    The names have no prefix `aten::`.
    """
    load()
    return [
        name[6:]
        for name, group in _records.items()
        if name.startswith("aten::")
        and not is_in_namespace(name[6:])
        and any(where in r.where for r in group)
        and (
            where == "f" or any("Tensor self" in r.schema_text or "Tensor(a" in r.schema_text for r in group)
        )
    ]


def _with_tensor_second(operator: Any) -> Any:
    """Return a tensor method that calls `operator` with the method's tensor as second argument."""

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        if args:
            return operator(args[0], self, *args[1:], **kwargs)
        return operator(input=self, **kwargs)

    method.__name__ = operator.__name__
    method.__doc__ = "\n".join(record.schema_text for record in records(operator.name))
    return method


def is_in_namespace(name: str) -> bool:
    """Return whether a name without `aten::` belongs to one of the namespaces linalg, special and fft."""
    return name.partition("_")[0] in NAMESPACES
