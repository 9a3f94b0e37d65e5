"""Deprecated sparse tensor types: `sparse.FloatTensor` and one type for each other dtype.

A type creates COO tensors on the CPU, and is the second argument of `isinstance`:

    x = ts.sparse.FloatTensor(indices, values, ts.Size([2, 3]))
    isinstance(x, ts.sparse.FloatTensor)                           True
"""

from __future__ import annotations

import warnings
from typing import Any, Final

from ts import dtypes
from ts._core.tensor import factories
from ts._core.tensor.tensor import Tensor
from ts.python_api.tensor_types import BY_NAME, TensorType
from ts.sparse.constructors import sparse_coo_tensor


class SparseTensorType(TensorType):
    """Type of COO tensors with one dtype on the CPU, such as `torch.sparse.FloatTensor`."""

    is_sparse = True
    layout = dtypes.sparse_coo

    def __init__(self, dtype: dtypes.dtype, device_type: str) -> None:
        super().__init__(dtype, device_type)
        self.__module__ = "torch.sparse"

    def __instancecheck__(self, instance: object) -> bool:
        return isinstance(instance, Tensor) and instance.is_sparse and instance.dtype is self.dtype

    def __call__(self, *args: Any, **options: Any) -> Tensor:
        """Return a COO tensor from indices, values and size, or an empty one. Deprecated in PyTorch.

        Raises TypeError for other arguments.
        """
        factories.check_legacy_device(options.pop("device", None), self.device_type)
        signature = ", ".join(["indices, values"] * (len(args) >= 2) + ["shape"] * (len(args) in (1, 3)))
        tensors = len(args) in (2, 3) and all(isinstance(x, Tensor) for x in args[:2])
        if options or not (tensors or all(isinstance(x, int) for x in args) or _is_size(args)):
            argument_types = ", ".join(type(x).__name__ for x in args)
            raise TypeError(
                f"new() received an invalid combination of arguments - got ({argument_types}), "
                "but expected one of:\n"
                " * (*, torch.device device = None)\n"
                " * (Tensor indices, Tensor values, *, torch.device device = None)\n"
                " * (Tensor indices, Tensor values, tuple of ints size, *, torch.device device = None)\n"
                " * (tuple of ints size, *, torch.device device = None)\n"
            )
        warnings.warn(
            f"torch.sparse.SparseTensor({signature}, *, device=) is deprecated.  Please use "
            f"torch.sparse_coo_tensor({signature}, dtype=, device=).",
            stacklevel=2,
        )
        if tensors:
            return sparse_coo_tensor(*args, dtype=self.dtype)
        return sparse_coo_tensor(args[0] if _is_size(args) else args or (0,), dtype=self.dtype)


def _is_size(args: tuple[Any, ...]) -> bool:
    return len(args) == 1 and isinstance(args[0], (tuple, list)) and all(isinstance(n, int) for n in args[0])


SPARSE: Final = {
    name: SparseTensorType(dtype, "cpu") for name, dtype in BY_NAME.items() if name != "BoolTensor"
}  # PyTorch has no `torch.sparse.BoolTensor`
