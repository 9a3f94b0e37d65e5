"""Setter of the qualified name of extension classes, which Python code cannot change."""

cdef extern from "Python.h":
    ctypedef struct PyTypeObject:
        const char *tp_name
        void *tp_dict
    void PyType_Modified(PyTypeObject *cls)

_texts = []  # keeps the strings alive that `tp_name` points to


def set_qualified_name(cls, str name):
    """Set the qualified name of an extension class, which `__module__` and `repr` show."""
    if not isinstance(cls, type):
        raise TypeError(f"set_qualified_name(): expected a class, got {type(cls).__name__}")
    name_bytes = name.encode()
    _texts.append(name_bytes)
    (<PyTypeObject *>cls).tp_name = name_bytes
    members = <dict>(<PyTypeObject *>cls).tp_dict
    if isinstance(members.get("__module__"), str):  # otherwise CPython derives `__module__` from `tp_name`
        members["__module__"] = name.rpartition(".")[0]
        PyType_Modified(<PyTypeObject *>cls)
