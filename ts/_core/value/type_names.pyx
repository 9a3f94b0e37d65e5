"""Change the module of extension types, which Python code cannot do."""

from cpython.object cimport PyTypeObject

_texts = []  # keeps the names alive that `tp_name` points to


def set_qualified_name(type cls, str name):
    """Set the module and name of a class in C: its `__module__` and its `repr` follow."""
    text = name.encode()
    _texts.append(text)
    (<PyTypeObject *>cls).tp_name = text
