"""Names of types in error messages.

>>> type_text([1]), type_text(np.ones(2)), type_text(ts.float32)
('list', 'numpy.ndarray', 'torch.dtype')
"""

from __future__ import annotations

from typing import Final

from ts.module_names import is_own

_HEAP_TYPE_FLAG: Final = 1 << 9  # Py_TPFLAGS_HEAPTYPE, which is set for classes created by `class` statements
# Class name in `ts` -> name of the class in PyTorch's messages, for classes that PyTorch implements in C
_TYPE_TEXTS: Final = {
    **{
        name: f"torch.{name}"
        for name in ("dtype", "device", "layout", "memory_format", "qscheme", "Size", "finfo", "iinfo")
    },
    "Generator": "torch._C.Generator",
    "OverloadSet": "builtin_function_or_method",
    "TypedStorage": "torch.storage.TypedStorage",
    "UntypedStorage": "torch.storage.UntypedStorage",
}


def type_text(x: object) -> str:
    """Return the name of the type of `x`, in the format of PyTorch's error messages."""
    cls = type(x)
    if is_own(cls.__module__):
        return _TYPE_TEXTS.get(cls.__name__, cls.__name__)
    if cls.__flags__ & _HEAP_TYPE_FLAG or cls.__module__ == "builtins":
        return cls.__name__
    return f"{cls.__module__}.{cls.__qualname__}"
