"""The typed SSA representation: types, schemas, graphs, and their texts.

Everything between the frontend, which makes graphs, and the bytecode, which is made from them, speaks this.
"""

from ts.ir.graph import Block, Graph, Node, Use, Value
from ts.ir.read import parse_ir
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
