"""Shape rules (shape functions) for shape inference of operators whose kernels read elements.

Input: the arguments of the kernel, with meta arrays, whose sizes may be symbols. Output: the shape and dtype
of each result, or the argument itself if it is mutated. For invalid arguments, a rule raises the errors of
the kernel.

The record field `shape` names the rule. If a record has no rule, its kernel runs with the meta namespace.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ts._core.tensor.unbacked_sizes import get_ctx
from ts.ops import common

Array = common.Array
ShapeAndDtype = tuple[common.Shape, common.DType]
ShapeDtypeStrides = tuple[common.Shape, common.DType, common.Shape]  # (shape, dtype, strides in bytes)
Rule = Callable[..., ShapeAndDtype | ShapeDtypeStrides | list[Any] | Array]


def kind(rule: Rule | None, accepts_tensors: bool = False) -> str:
    """Return the text of the operator table that states how an operator's result shapes are computed.

    `accepts_tensors` is True if the kernel receives tensors instead of arrays.
    """
    if accepts_tensors:
        return "of its tensors"
    if rule is None:
        return "kernel on sizes"
    if isinstance(rule, DataDependentShapeError):
        return "of elements: refused" if rule.rule is None else "of elements: new symbols"
    return "own rule"


def describe_rule(rule: Rule | None, accepts_tensors: bool = False) -> str:
    """Return the text of a shape rule in the operator table: its kind, or the name of the function."""
    rule_kind = kind(rule, accepts_tensors)
    return (
        rule_kind
        if rule_kind != "own rule"
        else getattr(rule, "__name__", rule_kind).strip("_").replace("_", " ")
    )


class DataDependentShapeError:
    """Shape rule of an operator whose result sizes depend on elements. A call raises PyTorch's error.

    During an export, a call returns the result of `rule` instead, unless `rule` is None.
    """

    def __init__(
        self,
        message: str,
        error: type[Exception] = NotImplementedError,
        check: Callable[..., object] | None = None,
        rule: Rule | None = None,
    ) -> None:
        self.message, self.error, self.check, self.rule = message, error, check, rule

    def __call__(self, *args: Any) -> Any:
        """Check the arguments, then raise PyTorch's error or, in an export, return the result of `rule`."""
        if self.check is not None:
            self.check(*args)
        if self.rule is not None and get_ctx().new_size is not None:
            return self.rule(*args)
        raise self.error(self.message)

    def after(self, check: Callable[..., object]) -> DataDependentShapeError:
        """Return a copy of this rule that first calls `check` with the arguments."""
        return DataDependentShapeError(self.message, self.error, check, self.rule)

    def unless(self, rule: Rule) -> DataDependentShapeError:
        """Return a copy of this rule that calls `rule` in export instead of raising the error."""
        return DataDependentShapeError(self.message, self.error, self.check, rule)


def depends(name: str) -> DataDependentShapeError:
    """Return a rule that raises PyTorch's error for the operator `name`, which has no meta kernel."""
    return DataDependentShapeError(
        f"aten::{name}: attempted to run this operator with Meta tensors, but there was no fake impl or Meta "
        "kernel registered. You may have run into this message while using an operator with PT2 compilation "
        "APIs (torch.compile/torch.export); in order to use this operator with those APIs you'll need to add "
        "a fake impl. Please see the following for next steps:  "
        "https://pytorch.org/tutorials/advanced/custom_ops_landing_page.html"
    )


NO_ITEM = "Tensor.item() cannot be called on meta tensors"
ITEM = DataDependentShapeError(NO_ITEM, RuntimeError)
NONZERO = DataDependentShapeError(
    "The register_meta function for torch.nonzero() raises unimplemented by default, as a correct "
    "data-independent implementation does not exist. This implementation returns a fake value, assuming all "
    "elements of the tensor are non-zero. To enable this registration, please set "
    "'torch.fx.experimental._config.meta_nonzero_assume_all_nonzero' to True."
)


def new_number(self: Array, *args: Any) -> Any:
    """Return a new symbolic number: float, int or bool, by the dtype of `self`."""
    return _new_number(self.dtype.kind)


def new_whole_number(self: Array) -> Any:
    """Return a new symbolic integer for a data-dependent number."""
    return _new_number("i")


def new_float(self: Array) -> Any:
    """Return a new symbolic float for a data-dependent number."""
    return _new_number("f")


def _new_number(kind: str) -> Any:
    make = get_ctx().new_number
    if make is None:
        raise RuntimeError(NO_ITEM)
    return make(kind)


def new_size(min_size: int = 0, max_size: Any = None) -> Any:
    """Return a new symbolic size for a data-dependent length in [min_size, max_size]."""
    return get_ctx().new_dynamic_size(min=min_size, max=max_size)


def itself(self: Array, *args: Any) -> Array:
    """Return `self`: the shape rule of operators that mutate their first argument and return it."""
    return self


def like(x: Array) -> ShapeAndDtype:
    """Return shape and dtype of an array."""
    return x.shape, x.dtype


def like_first(self: Array, *args: Any) -> ShapeAndDtype:
    """Return shape and dtype of the first argument."""
    return like(self)


def float_like(x: Array) -> ShapeAndDtype:
    """Return the array's shape and its float-promoted dtype."""
    return x.shape, common.float_dtype(x.dtype)


def broadcast_float(*operands: Any) -> ShapeAndDtype:
    """Return the broadcast shape of the operands, and their float-promoted dtype."""
    shape = common.broadcast_shapes(*map(common.shape_of, operands))
    return shape, common.float_dtype(common.result_type(*operands))
