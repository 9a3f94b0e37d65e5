"""Submodule lookup in module containers by a key that is known only at run time.

Input: a container and a key. Output: the submodule. The operator `ContainerIndex` maps each key to the slot
of its submodule. In this example, "b" has slot 4:

    ContainerIndex(spec of a ModuleDict, {"a": 3, "b": 4}, result)

The types of all slots in the map are subtypes of the type `result`.
"""

cimport cython
from libc.stdint cimport int32_t

from ts._core.dispatch.operator cimport Operator
from ts._core.value.fitting cimport is_subtype
from ts._core.value.ivalue cimport ANY_SPEC, IValue, TAG_OBJECT, TypeSpec, box, copy_value
from ts._core.value.objects cimport ObjectClass, object_slot


@cython.final
cdef class ContainerIndex(Operator):
    """The operator `container[key]` for one container class, with a map from keys to attribute slots."""

    cdef readonly str container
    cdef readonly dict slots

    def __init__(self, TypeSpec container not None, dict slots not None, TypeSpec result not None):
        super().__init__("prim::ModuleContainerIndex(Any container, Any key) -> Any")
        cdef ObjectClass cls = <ObjectClass?>container.detail
        cls.settle()
        for slot in slots.values():
            if not 0 <= slot < cls.size or not is_subtype(<TypeSpec>cls.specs[slot], result):
                raise ValueError(f"slot {slot} of {container.annotation_str} does not have type {result.annotation_str}")
        self.container = container.annotation_str
        self.slots = slots
        self.argument_specs = (container, ANY_SPEC)
        self.result_spec = result
        self.kernels[0] = element


cdef int element(Operator op, IValue *r, const int32_t *at) except -1:
    cdef ContainerIndex self = <ContainerIndex>op
    cdef IValue *value
    key = box(&r[at[1]])
    slot = self.slots.get(key)
    if slot is None:
        raise RuntimeError(f"{self.container} does not have a field with name '{key}'")
    value = object_slot(r[at[0]].v.o, slot)
    if value.tag == TAG_OBJECT and value.v.o == NULL:
        raise RuntimeError(f"{self.container}: the field '{key}' is not set")
    copy_value(&r[at[2]], value)
    return 0
