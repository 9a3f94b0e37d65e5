"""Tensors: the class, storages, strides, indexing, and exchange with other libraries' arrays."""
