"""DLPack exchange of host memory, including element types that NumPy does not support.

NumPy cannot exchange bfloat16. Therefore, a bfloat16 array is exported as unsigned 16-bit integers. The
element type in the DLPack capsule is then changed to bfloat16. An import performs the inverse conversion.
"""

import numpy as np

from ts import dtypes

from cpython.pycapsule cimport PyCapsule_GetName, PyCapsule_GetPointer, PyCapsule_IsValid
from libc.stdint cimport int32_t, uint8_t, uint16_t, uint32_t, uint64_t

cdef struct TensorHead:                # the first fields of DLTensor
    void *data
    int32_t device_type
    int32_t device_id
    int32_t ndim
    uint8_t code
    uint8_t bits
    uint16_t lanes

cdef struct VersionedHead:             # the first fields of DLManagedTensorVersioned
    uint32_t major
    uint32_t minor
    void *context
    void *deleter
    uint64_t flags
    TensorHead tensor

cdef enum:
    UNSIGNED = 1
    BFLOAT = 4



cdef TensorHead *head_of(object capsule) except NULL:
    if PyCapsule_IsValid(capsule, "dltensor_versioned"):
        return &(<VersionedHead *>PyCapsule_GetPointer(capsule, "dltensor_versioned")).tensor
    if PyCapsule_IsValid(capsule, "dltensor"):
        return <TensorHead *>PyCapsule_GetPointer(capsule, "dltensor")
    raise BufferError("expected a DLPack capsule that was not consumed before")


def exported(array not None, max_version, dl_device, copy):
    """Return a DLPack capsule that shares the memory of a NumPy array."""
    if not dtypes.is_bfloat16(array.dtype):
        return array.__dlpack__(max_version=max_version, dl_device=dl_device, copy=copy)
    capsule = array.view(np.uint16).__dlpack__(max_version=max_version, dl_device=dl_device, copy=copy)
    head_of(capsule).code = BFLOAT
    return capsule


class _Capsule:
    """Adapter of a DLPack capsule to NumPy's `from_dlpack` protocol."""

    def __init__(self, capsule):
        self.capsule = capsule

    def __dlpack__(self, **unused):
        return self.capsule

    def __dlpack_device__(self):
        return 1, 0


def imported(source, bint is_exporter):
    """Return a NumPy array that shares memory with a DLPack capsule, or with a DLPack exporter if `is_exporter`."""
    cdef TensorHead *head
    capsule = source
    if is_exporter:
        try:
            capsule = source.__dlpack__(max_version=(1, 0))
        except TypeError:  # exporters for DLPack before 1.0 have no parameter `max_version`
            capsule = source.__dlpack__()
    head = head_of(capsule)
    if head.code == BFLOAT and head.bits == 16 and head.lanes == 1:
        head.code = UNSIGNED
        return np.from_dlpack(_Capsule(capsule)).view(dtypes.bfloat16.numpy_dtype)
    return np.from_dlpack(_Capsule(capsule))
