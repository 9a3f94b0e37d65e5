"""Tensors: the class, storages, strides, indexing, and exchange with arrays of other libraries."""
