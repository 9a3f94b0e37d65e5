"""Give classes that are written in C the names of other modules, which Python refuses."""

from cpython.object cimport PyTypeObject

_texts = []  # names that classes point to


def set_qualified_name(type cls, str name):
    """Set the module and name of a class in C: its `__module__` and its `repr` follow."""
    text = name.encode()
    _texts.append(text)
    (<PyTypeObject *>cls).tp_name = text
