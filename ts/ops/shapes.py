"""Shape rules: what operators' results are like, where kernels need elements to find out.

In: an operator's arguments as its kernel gets them, arrays of the meta device, whose sizes may be symbols.
Out: (shape, dtype) of each result, or an argument itself where the operator writes into it.  A rule refuses,
in the kernel's words, what the kernel refuses before it looks at elements.

    broadcast_float(x of (3, 1) ints, n of (4,))      ((3, 4), float32)
    like_first(x, indices)                            (x.shape, x.dtype)

A record names its rule (`shape=`).  Most have none: their kernels run against the meta device's namespace,
whose functions know shapes.  Rules of one family stand beside its kernels, those that several share here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ts.ops import rules

Array = rules.Array
Made = tuple[rules.Shape, rules.DType]
Rule = Callable[..., Made | list[Any] | Array]


def described(rule: Rule | None, whole: bool = False) -> str:
    """How a record knows its shape, as the table of operators says it; `whole`: it takes tensors."""
    if whole:
        return "of its tensors"
    if rule is None:
        return "kernel on shapes"
    if isinstance(rule, Refusal):
        return "refused: depends on elements"
    return rule.__name__.strip("_").replace("_", " ")


class Refusal:
    """The rule of an operator whose results depend on elements: it says so in PyTorch's words."""

    def __init__(
        self,
        text: str,
        error: type[Exception] = NotImplementedError,
        check: Callable[..., object] | None = None,
    ) -> None:
        self.text, self.error, self.check = text, error, check

    def __call__(self, *args: Any) -> Any:
        if self.check is not None:
            self.check(*args)
        raise self.error(self.text)

    def after(self, check: Callable[..., object]) -> Refusal:
        """The same, where `check` of the arguments has nothing to say."""
        return Refusal(self.text, self.error, check)


def depends(name: str) -> Refusal:
    """The refusal of an operator that PyTorch has no rule for."""
    return Refusal(
        f"aten::{name}: attempted to run this operator with Meta tensors, but there was no fake impl or Meta "
        "kernel registered. You may have run into this message while using an operator with PT2 compilation "
        "APIs (torch.compile/torch.export); in order to use this operator with those APIs you'll need to add "
        "a fake impl. Please see the following for next steps:  "
        "https://pytorch.org/tutorials/advanced/custom_ops_landing_page.html"
    )


ITEM = Refusal("Tensor.item() cannot be called on meta tensors", RuntimeError)
NONZERO = Refusal(
    "The register_meta function for torch.nonzero() raises unimplemented by default, as a correct "
    "data-independent implementation does not exist. This implementation returns a fake value, assuming all "
    "elements of the tensor are non-zero. To enable this registration, please set "
    "'torch.fx.experimental._config.meta_nonzero_assume_all_nonzero' to True."
)


def itself(self: Array, *args: Any) -> Array:
    """The first argument, which was written."""
    return self


def like(x: Array) -> Made:
    """The shape and dtype of an array."""
    return x.shape, x.dtype


def like_first(self: Array, *args: Any) -> Made:
    """As the first argument is."""
    return like(self)


def float_like(x: Array) -> Made:
    """The shape of an array, in a floating dtype."""
    return x.shape, rules.float_dtype(x.dtype)


def broadcast_float(*operands: Any) -> Made:
    """The shape that operands have together, in a floating dtype."""
    shape = rules.broadcast_shapes(*map(rules.shape_of, operands))
    return shape, rules.float_dtype(rules.result_type(*operands))
