"""A container of modules asked for one of them by a key that is known at run time only.

In: the container's object and a name or a number.  Out: the submodule:

    ContainerIndex("...ModuleDict", {"a": 3, "b": 4})        run on (dict, "b"): what slot 4 holds
    ContainerIndex("...ModuleList", {0: 1, 1: 2, -1: 2})     the numbers, counted from both ends

The slots are those whose types fit the result's, which lowering knows: any key that is there is safe.
"""

from libc.stdint cimport int32_t

from ts._core.dispatch.operator cimport Operator
from ts._core.value.ivalue cimport IValue, TAG_OBJECT, box, copy_value
from ts._core.value.objects cimport object_slot


cdef class ContainerIndex(Operator):
    """The slots of one class of containers by key."""

    cdef readonly str container
    cdef readonly dict slots

    def __init__(self, str container not None, dict slots not None):
        super().__init__("prim::ModuleContainerIndex(Any container, Any key) -> Any")
        self.container = container
        self.slots = slots
        self.kernels[0] = element


cdef int element(Operator op, IValue *r, const int32_t *at) except -1:
    cdef ContainerIndex self = <ContainerIndex>op
    cdef IValue *place
    key = box(&r[at[1]])
    slot = self.slots.get(key)
    if slot is None:
        raise RuntimeError(f"{self.container} does not have a field with name '{key}'")
    place = object_slot(r[at[0]].v.o, slot)
    if place.tag == TAG_OBJECT and place.v.o == NULL:
        raise RuntimeError(f"{self.container}: the field '{key}' is not set")
    copy_value(&r[at[2]], place)
    return 0
