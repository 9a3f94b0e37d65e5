"""Tensors: the class, storages, strides, indexing, and exchange with arrays of other libraries.

The import of the package completes the class `Tensor`, because several modules add methods to it.
"""

from ts._core.tensor.tensor import register_functions

# isort: split
from ts._core.tensor import (  # noqa: F401  several modules add methods
    basic_indexing,
    conversions,
    factories,
    indexing,
    interop,
    layout,
    tensor_conversion_methods,
    tensor_metadata,
    tensor_type,
)

register_functions(
    basic_get=basic_indexing.get,
    basic_put=basic_indexing.set_item,
    advanced_get=indexing.get,
    advanced_put=indexing.put,
    convert=conversions.to,
    new_tensor=factories.tensor,
)
