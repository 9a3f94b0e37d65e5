"""Names that stand for defaults in schemas: dtypes, layouts, formats, reductions, by PyTorch's numbers.

    aten::mse_loss(Tensor self, Tensor target, int reduction=Mean) -> Tensor         reduction is 1

Two readers need them, that of operator records (`ts._core.dispatch.signature`) and that of schema text
(`ts.ir.text`), which know nothing of each other.
"""

from __future__ import annotations

from typing import Any, Final

DEFAULT_NAMES: Final[dict[str, Any]] = {
    "None": None,
    "True": True,
    "False": False,
    "none": 0,
    "Mean": 1,
    "Sum": 2,
    "contiguous_format": 0,
    "preserve_format": 1,
    "channels_last": 2,
    "strided": 0,
    "int": 3,
    "long": 4,
    "float": 6,
    "double": 7,
    "bool": 11,
}
