"""Operator records by family, and operator namespaces such as `ts.ops.aten`."""

import importlib.util
from typing import Any

aten: Any  # operator namespaces are module attributes, created at first access
prim: Any
profiler: Any
# Names of the functions in this module that scripts compile. There are none, because the other names are
# operator namespaces.
WRITTEN = ()


def __getattr__(name: str) -> Any:
    if name in ("aten", "prim", "profiler"):
        from ts.ops.namespace import Namespace, namespaces

        namespace = globals()[name] = namespaces(name)
        return namespace
    if name == "higher_order":
        from ts._core.late_binding import resolve

        return resolve("higher_order_operators")
    if name in ("load_library", "loaded_libraries"):
        from ts.ops import extension_libraries

        return getattr(extension_libraries, name)
    if name == "OpNamespace":
        from ts.ops.namespace import Namespace, namespaces

        return Namespace
    if name.startswith("__") or importlib.util.find_spec(f"ts.ops.{name}") is not None:
        raise AttributeError(f"module 'ts.ops' has no attribute '{name}'")
    from ts.ops.namespace import Namespace, namespaces

    return namespaces(name)
