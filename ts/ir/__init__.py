"""Typed SSA intermediate representation (IR): types, schemas, graphs, and their texts.

The frontend creates graphs, passes transform them, and bytecode is generated from them.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ts.ir.graph import Block, Graph, Node, Use, Value
    from ts.ir.graph_parser import parse_ir
    from ts.ir.schema import Argument, FunctionSchema, parse_schema
    from ts.ir.source import Source, SourceRange
    from ts.ir.type_parser import parse_type
    from ts.ir.types import Type
    from ts.ir.verifier import verify

_NAME_TO_MODULE = {
    name: module
    for module, names in {
        "graph": "Block Graph Node Use Value",
        "graph_parser": "parse_ir",
        "schema": "Argument FunctionSchema parse_schema",
        "source": "Source SourceRange",
        "type_parser": "parse_type",
        "types": "Type",
        "verifier": "verify",
    }.items()
    for name in names.split()
}
__all__ = [
    "Argument",
    "Block",
    "FunctionSchema",
    "Graph",
    "Node",
    "Source",
    "SourceRange",
    "Type",
    "Use",
    "Value",
    "parse_ir",
    "parse_schema",
    "parse_type",
    "verify",
]


def __getattr__(name: str) -> Any:
    if name not in _NAME_TO_MODULE:
        raise AttributeError(f"module 'ts.ir' has no attribute '{name}'")
    value = globals()[name] = getattr(importlib.import_module(f"ts.ir.{_NAME_TO_MODULE[name]}"), name)
    return value
