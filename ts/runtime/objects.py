"""Objects of script classes as Python sees them.

In: an instance of a Python class for a script, or an object of a script for Python.  Out: the other one:

    f(Counter(3))            the script gets a new object with the attributes of the instance
    f.make()                 Python gets a new Counter with the attributes of the object

Both are copies, as in PyTorch: what a script does to an object that it was given as an instance does not show
in the instance.
"""

from __future__ import annotations

from typing import Any

from ts._core.ivalue import new_object, object_get, object_set
from ts._core.objects import Object, ObjectClass


def object_of(instance: Any, cls: ObjectClass) -> Object:
    """The object with the attributes of a Python instance; TypeError if it lacks one or has another type."""
    handle = getattr(instance, "_object", None)
    if isinstance(handle, Object):  # a scripted module
        if handle.cls is not cls:
            raise TypeError(f"Expected a module of type {cls.name} but found one of type {handle.cls.name}")
        return handle
    made = new_object(cls)
    for slot, name in enumerate(cls.names):
        try:
            value = getattr(instance, name)
        except AttributeError:
            raise TypeError(
                f"Tried to cast object to type {cls.name} but object was missing attribute {name}"
            ) from None
        try:
            object_set(made, slot, value)
        except TypeError as error:
            wanted = cls.specs[slot].text
            raise TypeError(f"Could not cast attribute '{name}' to type {wanted}: {error}") from None
    return made


def instance_of(made: Object) -> Any:
    """An instance of the Python class with the attributes of an object."""
    if made.cls.type.is_module():
        from ts.runtime.module import module_of

        return module_of(made)
    python_class = made.cls.type.python_class
    instance = python_class.__new__(python_class)
    for slot, name in enumerate(made.cls.names):
        setattr(instance, name, object_get(made, slot))
    return instance
