"""Operator records, which define one operator, and its in-place and `out=` variants.

A record consists of a schema text, a kernel and the fields of `OperatorRecord`. The records of variants are
derived from it:

    record = OperatorRecord("aten::floor(Tensor self) -> Tensor", kernel, "pointwise", ufunc="floor")
    inplace_of(record).schema_text       # aten::floor_(Tensor(a!) self) -> Tensor(a!)
    OutRecord(record, "out").key         # aten::floor.out
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ts._core.dispatch.operator import Operator
from ts._core.dispatch.signature import signature
from ts._core.late_binding import resolve
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
    # returns this expression. The function receives the row length, and the operator's other arguments as
    # keyword arguments. It returns None if CUDA fusion does not support these arguments
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
    # Arguments whose dtype `dtype_errors` restricts. "" is the first tensor. Several names are tensors that
    # must have equal dtypes. "indices:Long" requires the dtype int64. "promoted" is the promoted dtype of all
    # tensors. "promoted self" also requires that the promoted dtype can be cast to the dtype of `self`.
    checked_dtype: str = ""
    mixed_dtypes_error: str = SCALAR  # error text if the dtypes of these arguments differ
    overlap: int = 0  # rule for a mutated tensor whose elements share memory: a code of `overlap.pxd`
    assignment: str = "tensor[indices] = tensor"  # alternative that the warning about `overlap` suggests
    # Function of the arguments that returns dtype and rank of a result with data-dependent sizes
    unsized: Callable[..., tuple[Any, int]] | None = None
    # Function of the arguments that returns the tensor whose number of nonzero elements is a size of the
    # result, or None
    size_mask: Callable[..., Any] | None = None
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
    # True if the result is the argument itself whenever possible, otherwise a copy
    self_if_possible: bool = False
    # True if `export` records an assertion on dtype, device and layout of the argument before the operator
    asserts_metadata: bool = False
    composes_views: bool = False  # True if the results are arguments, or views that other operators create
    # True if the result has the memory of the argument, but no autograd history. The result is a new tensor
    # (`detach`), or the argument itself, whose history the operator removes (`detach_`).
    detaches: bool = False
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
        candidates = resolve("operator_registry").records(self.name.removesuffix("_"))
        return next((r for r in candidates if has_same_parameters(r, self)), self)

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

    The outputs of the variant are keyword arguments. If the shapes differ, an output is resized to the shape
    of the result. `make_out_spec` describes `names` and `unnamed`.
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
            if record.promotion == "real" and self.dtype.kind == "c":
                function = (record.same_as or record.name).partition("::")[2]
                raise RuntimeError(f"In-place {function} is not supported for complex tensors.")
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


def has_same_parameters(functional: OperatorRecord, record: OperatorRecord) -> bool:
    """Return whether `functional` is a functional variant with the argument types of `record`."""
    if functional.variant:
        return False
    pairs = (signature(r.schema_text).parameters for r in (functional, record))
    one, other = ([(p.kind, p.optional) for p in parameters] for parameters in pairs)
    return one == other


def is_in_namespace(name: str) -> bool:
    """Return whether a name without `aten::` belongs to one of the namespaces linalg, special and fft."""
    return name.partition("_")[0] in NAMESPACES
