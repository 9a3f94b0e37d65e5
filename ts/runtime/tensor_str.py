"""String conversion of tensors in scripts, which differs from that in Python.

`script_text` returns the string that `print`, `str` and `format` of PyTorch's scripts create for a tensor:

    >>> print(script_text(ts.tensor([[1.5, 2.25], [1000.0, 3.0]])))
        1.5000     2.2500
     1000.0000     3.0000
    [ CPUFloatType{2,2} ]
"""

from __future__ import annotations

from ts._core.tensor.tensor import Tensor
from ts.ir.print_tensor import tensor_lines


def script_text(value: object) -> str:
    """Return the string of a tensor in scripts, or `str(value)` for other values."""
    if not isinstance(value, Tensor) or value.is_meta:
        return str(value)
    return "\n".join(tensor_lines(value.detach()))
