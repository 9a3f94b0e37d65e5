"""The typed SSA representation: types, schemas, graphs, and their texts.

Everything between the frontend, which makes graphs, and the bytecode, which is made from them, speaks this.
"""

from typing import Any

from ts.ir.graph import Block, Graph, Node, Use, Value
from ts.ir.schema import Argument, FunctionSchema, parse_schema
from ts.ir.source import Source, SourceRange
from ts.ir.type_parser import parse_type
from ts.ir.types import Type
from ts.ir.verify import verify

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
    if name != "parse_ir":
        raise AttributeError(f"module 'ts.ir' has no attribute '{name}'")
    from ts.ir.read import parse_ir  # few programs read graphs

    return parse_ir
