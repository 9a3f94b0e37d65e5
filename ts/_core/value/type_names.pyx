"""Sets the module name of extension types, which Python code cannot change."""

from cpython.object cimport PyTypeObject

_texts = []  # keeps the strings alive that `tp_name` points to


def set_qualified_name(type cls, str name):
    """Set the qualified name of an extension class, which `__module__` and `repr` show."""
    text = name.encode()
    _texts.append(text)
    (<PyTypeObject *>cls).tp_name = text
