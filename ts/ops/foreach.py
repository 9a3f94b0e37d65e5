"""Foreach operators (multi-tensor operators), which apply single-tensor operators to tensor lists.

A row of the tables contains the parameters after `self`, and the single-tensor operator. The single-tensor
operator determines values, dtypes, gradients and errors. As in PyTorch's schemas, in-place variants return
None.

Example:

    ts._foreach_add_(moments, gradients, alpha=0.1)     # one gradient for each tensor of `moments`
    ts._foreach_add_(moments, [1.0, 2.0])               # one number for each tensor of `moments`
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ts._core.dispatch.foreach import ForeachKernel
from ts._core.dispatch.signature import signature
from ts._core.tensor.tensor import Tensor
from ts.ops.operator_record import OperatorRecord
from ts.ops.registry import add, operator

Kernel = Callable[..., Any]

UNARY = (
    "abs", "acos", "asin", "atan", "ceil", "cos", "cosh", "erf", "erfc", "exp", "expm1", "floor", "frac",
    "lgamma", "log", "log10", "log1p", "log2", "neg", "reciprocal", "round", "rsqrt", "sigmoid", "sign",
    "sin", "sinh", "sqrt", "tan", "tanh", "trunc",
)  # fmt: skip
_SCALAR, _SCALARS = "Scalar scalar", "Scalar[] scalars"
_LIST, _SCALED = "Tensor[] other", "Tensor[] other, *, Scalar alpha=1"

# Rows: (name and overload of the foreach operator, its parameters after `self`, operator that it applies to
# each tensor, operator that its in-place variant applies to each tensor)
BINARY = (
    ("add.Scalar", _SCALAR, "add.Scalar", "add_.Scalar"),
    ("add.List", _SCALED, "add.Tensor", "add_.Tensor"),
    ("add.ScalarList", _SCALARS, "add.Scalar", "add_.Scalar"),
    ("sub.Scalar", _SCALAR, "sub.Scalar", "sub_.Scalar"),
    ("sub.List", _SCALED, "sub.Tensor", "sub_.Tensor"),
    ("sub.ScalarList", _SCALARS, "sub.Scalar", "sub_.Scalar"),
    ("mul.Scalar", _SCALAR, "mul.Scalar", "mul_.Scalar"),
    ("mul.List", _LIST, "mul.Tensor", "mul_.Tensor"),
    ("mul.ScalarList", _SCALARS, "mul.Scalar", "mul_.Scalar"),
    ("div.Scalar", _SCALAR, "div.Scalar", "div_.Scalar"),
    ("div.List", _LIST, "div.Tensor", "div_.Tensor"),
    ("div.ScalarList", _SCALARS, "div.Scalar", "div_.Scalar"),
    ("clamp_max.Scalar", _SCALAR, "clamp_max", "clamp_max_"),
    ("clamp_max.List", _LIST, "clamp_max.Tensor", "clamp_max_.Tensor"),
    ("clamp_max.ScalarList", _SCALARS, "clamp_max", "clamp_max_"),
    ("clamp_min.Scalar", _SCALAR, "clamp_min", "clamp_min_"),
    ("clamp_min.List", _LIST, "clamp_min.Tensor", "clamp_min_.Tensor"),
    ("clamp_min.ScalarList", _SCALARS, "clamp_min", "clamp_min_"),
    ("maximum.Scalar", _SCALAR, "clamp_min", "clamp_min_"),
    ("maximum.List", _LIST, "maximum", "clamp_min_.Tensor"),
    ("maximum.ScalarList", _SCALARS, "clamp_min", "clamp_min_"),
    ("minimum.Scalar", _SCALAR, "clamp_max", "clamp_max_"),
    ("minimum.List", _LIST, "minimum", "clamp_max_.Tensor"),
    ("minimum.ScalarList", _SCALARS, "clamp_max", "clamp_max_"),
    ("pow.List", "Tensor[] exponent", "pow.Tensor_Tensor", "pow_.Tensor"),
    ("pow.Scalar", "Scalar exponent", "pow.Tensor_Scalar", "pow_.Scalar"),
    ("pow.ScalarList", "Scalar[] exponent", "pow.Tensor_Scalar", "pow_.Scalar"),
    ("lerp.List", "Tensor[] tensors1, Tensor[] weights", "lerp.Tensor", "lerp_.Tensor"),
    ("lerp.Scalar", "Tensor[] tensors1, Scalar weight", "lerp.Scalar", "lerp_.Scalar"),
    ("lerp.ScalarList", "Tensor[] tensors1, Scalar[] weight", "lerp.Scalar", "lerp_.Scalar"),
    ("addcdiv.Scalar", "Tensor[] tensor1, Tensor[] tensor2, Scalar value=1", "addcdiv", "addcdiv_"),
    ("addcdiv.ScalarList", f"Tensor[] tensor1, Tensor[] tensor2, {_SCALARS}", "addcdiv", "addcdiv_"),
    ("addcmul.Scalar", "Tensor[] tensor1, Tensor[] tensor2, Scalar value=1", "addcmul", "addcmul_"),
    ("addcmul.ScalarList", f"Tensor[] tensor1, Tensor[] tensor2, {_SCALARS}", "addcmul", "addcmul_"),
)  # fmt: skip


def _declare(schema: str, kernel: Kernel, autocast: str | dict[str, str] = "") -> None:
    side_effect = schema.endswith("()")
    add(
        OperatorRecord(
            schema, kernel, "foreach", "f", tensor_kernel=True, side_effect=side_effect, autocast=autocast
        )
    )


def _foreach_kernel(schema: str, base: str) -> Kernel:
    return ForeachKernel(
        operator, f"aten::{base}", signature(schema).parameters, not schema.endswith("()")
    ).run


def _declare_both_variants(name: str, rest: str, functional: str, inplace: str) -> None:
    """Declare the foreach operator `name` and its in-place variant. `rest` are the parameters after `self`.

    The foreach operator calls operator `functional` for each tensor, and its in-place variant calls
    `inplace`.
    """
    head, _, overload = name.partition(".")
    overload = f".{overload}" if overload else ""
    rest = f", {rest}" if rest else ""
    for schema, base in (
        (f"aten::_foreach_{head}{overload}(Tensor[] self{rest}) -> Tensor[]", functional),
        (f"aten::_foreach_{head}_{overload}(Tensor(a!)[] self{rest}) -> ()", inplace),
    ):
        _declare(schema, _foreach_kernel(schema, base))


for _name in UNARY:
    _declare_both_variants(_name, "", _name, f"{_name}_")
for _row in BINARY:
    _declare_both_variants(*_row)
for _schema, _base in (
    ("aten::_foreach_zero_(Tensor(a!)[] self) -> ()", "zero_"),
    ("aten::_foreach_copy_(Tensor(a!)[] self, Tensor[] src, bool non_blocking=False) -> ()", "copy_"),
    ("aten::_foreach_clone(Tensor[] self, *, MemoryFormat? memory_format=None) -> Tensor[]", "clone"),
    ("aten::_foreach_pow.ScalarAndTensor(Scalar self, Tensor[] exponent) -> Tensor[]", "pow.Scalar"),
    (
        "aten::_foreach_norm.Scalar(Tensor[] self, Scalar ord=2, ScalarType? dtype=None) -> Tensor[]",
        "linalg_vector_norm",
    ),
    (
        "aten::_foreach_powsum.Scalar(Tensor[] self, Scalar ord=2, ScalarType? dtype=None) -> Tensor[]",
        "linalg__powsum",
    ),
):
    _declare(_schema, _foreach_kernel(_schema, _base))
_PRODUCTS = "aten::_foreach_mm(Tensor[] self, Tensor[] mat2) -> Tensor[]"
_declare(_PRODUCTS, _foreach_kernel(_PRODUCTS, "mm"), autocast={"cpu": "lower"})


# -------------------------------------------------------------------------- operators with scalars in tensors


def _by_one(schema: str, base: str) -> None:
    """Declare a foreach overload whose second argument is a single 0-dim tensor, used for all tensors."""
    compute = _foreach_kernel(schema, base)

    def kernel(self: Sequence[Tensor], other: Tensor, *rest: Any) -> Any:
        if other.dim() != 0 or other.numel() != 1:
            raise RuntimeError(
                f"scalar tensor expected to be 0 dim but it has {other.dim()} dimensions and {other.numel()} "
                "elements."
            )
        return compute(self, other, *rest)

    _declare(schema, kernel)


def _declare_tensor_overload(schema: str, base: str) -> None:
    """Declare a foreach overload whose last argument is a 1-dim tensor with one scalar for each tensor."""
    compute = _foreach_kernel(schema, base)

    def kernel(self: Sequence[Tensor], tensor1: Any, tensor2: Any, scalars: Tensor) -> Any:
        if scalars.dim() != 1:
            raise RuntimeError(
                f"Expected packed scalar Tensor to be of dimension 1. Got {scalars.dim()} instead."
            )
        if len(scalars) != len(self):
            raise RuntimeError(
                f"Expected length of scalars to match input of length {len(self)} but got {len(scalars)} "
                "instead."
            )
        # A meta tensor has no elements. Use 1.0 for each, because the shapes of results do not depend on
        # them.
        numbers = [1.0] * len(self) if scalars.is_meta else scalars.tolist()
        return compute(self, tensor1, tensor2, numbers)

    _declare(schema, kernel)


def _max(self: Sequence[Tensor]) -> list[Tensor]:
    """Return the largest element of each tensor."""
    if any(x.numel() == 0 for x in self):
        raise RuntimeError(
            "_foreach_max cannot compute the maximum of an empty tensor; max over zero elements is undefined."
        )
    maxima: list[Tensor] = _largest(self)
    return maxima


for _name, _rest in (("add", ", *, Scalar alpha=1"), ("mul", ""), ("div", "")):
    _by_one(
        f"aten::_foreach_{_name}.Tensor(Tensor[] self, Tensor other{_rest}) -> Tensor[]", f"{_name}.Tensor"
    )
    _by_one(
        f"aten::_foreach_{_name}_.Tensor(Tensor(a!)[] self, Tensor other{_rest}) -> ()", f"{_name}_.Tensor"
    )
for _name in ("addcdiv", "addcmul"):
    _rest = "Tensor[] tensor1, Tensor[] tensor2, Tensor scalars"
    _declare_tensor_overload(f"aten::_foreach_{_name}.Tensor(Tensor[] self, {_rest}) -> Tensor[]", _name)
    _declare_tensor_overload(f"aten::_foreach_{_name}_.Tensor(Tensor(a!)[] self, {_rest}) -> ()", f"{_name}_")
_largest = _foreach_kernel("aten::_foreach_max(Tensor[] self) -> Tensor[]", "max")
_declare("aten::_foreach_max(Tensor[] self) -> Tensor[]", _max)
