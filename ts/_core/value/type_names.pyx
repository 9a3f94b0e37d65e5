"""Change the module of extension types, which Python code cannot do."""

from cpython.object cimport PyTypeObject

_texts = []  # owns the strings that `tp_name` points to


def set_qualified_name(type cls, str name):
    """Set the module and name of an extension class, visible in `__module__` and `repr`."""
    text = name.encode()
    _texts.append(text)
    (<PyTypeObject *>cls).tp_name = text
