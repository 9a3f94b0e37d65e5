"""Graph export of modules: `export` traces a module on fake tensors.

The sizes of dynamic dimensions become symbols in the graph.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Final

from ts.errors import MissingSympyError
from ts.export.dim import Dim, dims
from ts.export.module_calls import ModuleCallEntry, ModuleCallSignature
from ts.export.program import ExportedProgram
from ts.export.pt2_format import load, save
from ts.export.signature import ExportBackwardSignature, ExportGraphSignature
from ts.export.unflatten import FlatArgsAdapter, UnflattenedModule, unflatten
from ts.unsupported import names_for
from ts.utils._pytree import register_dataclass

if TYPE_CHECKING:
    from ts.export._draft_export import draft_export
    from ts.export.dynamic_shapes import AdditionalInputs, ShapesCollection
    from ts.export.tracing import export

__all__ = [
    "AdditionalInputs",
    "Dim",
    "ExportBackwardSignature",
    "ExportGraphSignature",
    "ExportedProgram",
    "FlatArgsAdapter",
    "ModuleCallEntry",
    "ModuleCallSignature",
    "ShapesCollection",
    "UnflattenedModule",
    "default_decompositions",
    "dims",
    "draft_export",
    "export",
    "load",
    "register_dataclass",
    "save",
    "unflatten",
]

# Public name -> module that defines the name. These modules need sympy. Each is imported at the first use of
# one of its names, so that programs without symbols run without sympy.
_LAZY_EXPORTS: Final = {
    "AdditionalInputs": "ts.export.dynamic_shapes",
    "ShapesCollection": "ts.export.dynamic_shapes",
    "default_decompositions": "ts.export.run_decompositions",
    "draft_export": "ts.export._draft_export",
    "export": "ts.export.tracing",
}

_absent = names_for(__name__)


def __getattr__(name: str) -> Any:
    module_name = _LAZY_EXPORTS.get(name)
    if module_name is None:
        return _absent(name)
    try:
        value = globals()[name] = getattr(importlib.import_module(module_name), name)
    except MissingSympyError:
        raise ImportError(f"ts.export.{name} needs SymPy: pip install 'torchscript-ts[export]'") from None
    return value
