"""The type object of Tensor (`tensor_type.pyx`)."""

# Add the methods and properties of `cls`, an extension class derived from Tensor without fields, to Tensor itself. The
# new descriptors belong to Tensor, so they accept all tensors, and call the C functions of `cls`.
cdef int add_members(type cls) except -1
