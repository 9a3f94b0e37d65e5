"""IR parser: recursive descent parser of graph text.

Input: text from a printer of `ts` or PyTorch, or written by hand. Output: a `Graph` that prints as this text,
with the same names, numbers and source locations::

    >>> g = parse_ir('''
    ... graph(%x : Tensor):
    ...   %1 : int = prim::Constant[value=1]()
    ...   %y : Tensor = aten::add(%x, %x, %1) # model.py:3:4
    ...   return (%y)
    ... ''')
    >>> [n.kind() for n in g.nodes()]
    ['prim::Constant', 'aten::add']

Graph text omits the elements of tensor constants. Therefore, a tensor constant becomes a `ParsedTensor`,
unless the caller passes `make_tensor`, a function that creates a tensor.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from ts.errors import ParseError
from ts.ir.attributes import ParsedObject, ParsedTensor
from ts.ir.graph import Block, Graph, Node, Value
from ts.ir.lexer import TokenStream, is_name, is_number, is_numeral
from ts.ir.source import SourceLocation, SourceRange
from ts.ir.type_parser import NAMED_TYPES, ClassLookup, read_type
from ts.ir.types import (
    BOOL,
    FLOAT,
    TENSOR,
    ClassType,
    DictType,
    FutureType,
    ListType,
    TensorType,
    TupleType,
    Type,
)

MakeTensor = Callable[[str, TensorType], Any]

_LOCATION_COMMENT = re.compile(r"#\s*(\S.*:\d+:\d+)\s*$", re.MULTILINE)
_OPENING, _CLOSING = "([{<", ")]}>"
_FLOATS = {"inf": float("inf"), "nan": float("nan"), "-inf": -float("inf")}


def parse_ir(
    graph_text: str,
    parse_tensor_constants: bool = False,
    find_class: ClassLookup = ClassType,
    make_tensor: MakeTensor | None = None,
    keep_names: bool = True,
) -> Graph:
    """Parse graph text. `find_class` resolves types named ``__torch__.…``.

    `make_tensor` converts a `ParsedTensor` to a tensor. With `keep_names`, the graph has the names and source
    locations in `graph_text`. Otherwise, the names are those of `parse_ir_without_result_names`.
    `parse_tensor_constants` has no effect.
    """
    reader = _GraphParser(TokenStream(graph_text), find_class, make_tensor, keep_names)
    try:
        graph = reader.read_graph()
        reader.read_subgraphs()
        graph.has_textual_names = keep_names
    except RecursionError:
        raise reader.tokens.error("the graph text is nested too deeply") from None
    return graph


def parse_ir_without_result_names(graph_text: str, parse_tensor_constants: bool = False) -> Graph:
    """Parse graph text as PyTorch's `parse_ir` does, without most names and without source locations.

    Inputs of the graph and of blocks keep their names, except names that are numbers. All other values are
    numbered in the order of their definition.
    """
    return parse_ir(graph_text, parse_tensor_constants, keep_names=False)


class _GraphParser:
    def __init__(
        self,
        tokens: TokenStream,
        find_class: ClassLookup,
        make_tensor: MakeTensor | None,
        keep_names: bool = True,
    ) -> None:
        self.tokens = tokens
        self.find_class = find_class
        self.make_tensor = make_tensor
        self.keep_names = keep_names
        self.groups: dict[str, list[Node]] = {}

    # --- parsing of graphs and blocks ---

    def read_graph(self) -> Graph:
        tokens = self.tokens
        if tokens.next() != "graph":
            tokens.at -= 1
            raise tokens.error(f"expected 'graph' but found {tokens.peek()!r}")
        graph = Graph()
        values: dict[str, Value] = {}
        self.read_inputs(graph.block(), values)
        while tokens.peek() != "return":
            self.read_node(graph.block(), values)
        tokens.next()
        for value in self.read_values(values):
            graph.register_output(value)
        return graph

    def read_subgraphs(self) -> None:
        """Parse the subgraphs after the graph, such as ``with prim::Group_0 = graph(...)``.

        Each becomes the subgraph of a node that is printed with this name, ``prim::Group_0``.
        """
        tokens = self.tokens
        while tokens.accept("with"):
            name = tokens.next()
            tokens.expect("=")
            nodes = self.groups.get(name)
            if not nodes:
                raise tokens.error(f"no node has the name {name}")
            node = nodes.pop(0)
            node._kind = name.rpartition("_")[0]
            node._graph._kinds.add(node._kind)
            node.set("Subgraph", self.read_graph(), "g")
        if tokens.peek():
            raise tokens.error(f"expected the end of the graph but found {tokens.peek()!r}")

    def read_inputs(self, block: Block, values: dict[str, Value]) -> None:
        tokens = self.tokens
        tokens.expect("(")
        while not tokens.accept(")"):
            name, type = self.read_typed_name()
            self.define(block.add_input(type=type), name, values)
            tokens.accept(",")
        tokens.expect(":")

    def read_block(self, node: Node, outer: dict[str, Value]) -> None:
        tokens = self.tokens
        tokens.next()
        block = node.add_block()
        values = dict(outer)
        self.read_inputs(block, values)
        while tokens.peek() != "->":
            self.read_node(block, values)
        tokens.next()
        for value in self.read_values(values):
            block.register_output(value)

    # --- parsing of values ---

    def read_name(self) -> str:
        self.tokens.expect("%")
        return self.tokens.next()

    def read_typed_name(self) -> tuple[str, Type]:
        name = self.read_name()
        if self.tokens.accept(":"):
            return name, read_type(self.tokens, self.find_class).type
        return name, TENSOR

    def define(self, value: Value, name: str, values: dict[str, Value]) -> None:
        if name in values:
            raise self.tokens.error(f"%{name} is defined twice")
        values[name] = value
        if not self.keep_names and (is_numeral(name) or value.node().kind() != "prim::Param"):
            return
        if is_numeral(name):
            graph = value.owning_graph()
            value._unique = int(name)
            graph._next_unique = max(graph._next_unique, value._unique + 1)
        else:
            value.set_debug_name(name)

    def read_values(self, values: dict[str, Value]) -> list[Value]:
        tokens = self.tokens
        tokens.expect("(")
        operands = []
        while not tokens.accept(")"):
            name = self.read_name()
            if name not in values:
                tokens.at -= 1
                raise tokens.error(f"%{name} is not defined")
            operands.append(values[name])
            tokens.accept(",")
        return operands

    # --- parsing of nodes ---

    def read_node(self, block: Block, values: dict[str, Value]) -> None:
        tokens = self.tokens
        outputs: list[tuple[str, Type]] = []
        while tokens.peek() == "%":
            outputs.append(self.read_typed_name())
            if not tokens.accept(","):
                break
        if outputs:
            tokens.expect("=")
        else:
            tokens.accept("=")
        is_python = tokens.accept("^")
        name = self.read_python_name() if is_python else tokens.next()
        if not is_name(name) and not is_python:
            tokens.at -= 1
            raise tokens.error(f"expected an operator but found {name!r}")
        if not is_python and "::" not in name:
            tokens.at -= 1
            raise tokens.error(f"expected an operator with a namespace (aten::add) but found {name!r}")
        node = block.owning_graph().create("prim::PythonOp" if is_python else name, (), 0)
        if is_python:
            node.set("name", name)
        elif name.rpartition("_")[2].isdigit() and "::" in name:
            self.groups.setdefault(name, []).append(node)
        for _, type in outputs:
            node.add_output(type=type)
        if tokens.accept("["):
            if is_python:  # "[]()" after a Python call: an empty list of constant arguments
                for bracket in "]()":
                    tokens.expect(bracket)
            else:
                self.read_attributes(node)
        for value in self.read_values(values):
            node.add_input(value)
        if tokens.accept(","):  # the node has a scope: `, scope: a/b`
            tokens.expect("scope")
            tokens.expect(":")
            begin = tokens.starts[tokens.at]
            line_end = tokens.text.find("\n", begin)
            end = line_end if line_end >= 0 else len(tokens.text)
            node.scope = tokens.text[begin:end].split(" #")[0].rstrip()
            while tokens.starts[tokens.at] < end:
                tokens.at += 1
        node.range = self.read_source_range() if self.keep_names else None
        block.append_node(node)
        for value, (output_name, _) in zip(node.outputs(), outputs, strict=True):
            self.define(value, output_name, values)
        while tokens.peek().startswith("block") and tokens.peek()[5:].isdigit() and tokens.peek(1) == "(":
            self.read_block(node, values)

    def read_python_name(self) -> str:
        """Read the name of a Python function: an identifier, or `<lambda>`."""
        tokens = self.tokens
        if not tokens.accept("<"):
            return tokens.next()
        name = tokens.next()
        tokens.expect(">")
        return f"<{name}>"

    def read_source_range(self) -> SourceRange | None:
        comment = self.tokens.comments.get(self.tokens.at)
        match = _LOCATION_COMMENT.match(comment.lstrip()) if comment else None
        if comment is None or match is None or "\n" in comment[: comment.index("#")]:
            return None
        return SourceLocation(match.group(1))

    # --- parsing of attributes ---

    def read_attributes(self, node: Node) -> None:
        tokens = self.tokens
        is_constant = node.kind() == "prim::Constant" and len(node.outputs()) == 1
        while not tokens.accept("]"):
            name = tokens.next()
            tokens.expect("=")
            type = node.output().type() if is_constant and name == "value" else None
            value = self.read_constant(type)
            kind = None
            if isinstance(type, (ListType, TupleType, DictType, FutureType)) or isinstance(
                value, ParsedObject
            ):
                kind = "ival"
            node.set(name, value, kind)
            tokens.accept(",")

    def read_constant(self, type: Type | None) -> Any:
        """Read a constant of type `type`. If `type` is None, the text of the constant determines the type."""
        tokens = self.tokens
        if isinstance(type, TensorType):
            literal = self.skip_value()
            return (
                ParsedTensor(literal, type) if self.make_tensor is None else self.make_tensor(literal, type)
            )
        token = tokens.peek()
        if token == "[":
            return self.read_list(type)
        if token == "(":
            return self.read_tuple(type)
        if token == "{":
            return self.read_dict(type)
        if token == "annotate":
            tokens.next()
            tokens.expect("(")
            self.skip_value()
            tokens.expect(",")
            value = self.read_constant(type)
            tokens.expect(")")
            return value
        if token[:1] in ("'", '"'):
            return tokens.string()
        if is_number(token):
            return self.read_number(type)
        if token == "-":
            tokens.next()
            return tokens.negative(self.read_constant(type))
        if token == "torch.device":
            tokens.next()
            tokens.expect("(")
            device = tokens.string()
            tokens.expect(")")
            return device
        if token in _FLOATS:
            return _FLOATS[tokens.next()]
        if token in ("True", "False", "None") and type is not None:
            return {"True": True, "False": False, "None": None}[tokens.next()]
        if token == "<":
            return ParsedObject(self.skip_value())
        if token.split(".")[0] == "__torch__" or token == "object":
            return ParsedObject(self.skip_value())
        if token in NAMED_TYPES or is_name(token):
            return read_type(tokens, self.find_class).type
        raise tokens.error(f"{token!r} is not a constant")

    def read_number(self, type: Type | None) -> Any:
        tokens = self.tokens
        real = tokens.number()
        if tokens.peek() == "+" and is_number(tokens.peek(1)) and tokens.peek(2) == "j":
            tokens.next()
        elif not (is_number(tokens.peek()) and tokens.peek(1) == "j"):
            if type is BOOL:
                return bool(real)
            return float(real) if type is FLOAT else real
        imaginary = tokens.number()
        tokens.next()
        return complex(real, imaginary)

    def read_list(self, type: Type | None) -> list[Any]:
        tokens = self.tokens
        elem = type.elem if isinstance(type, ListType) else None
        tokens.expect("[")
        values = []
        while not tokens.accept("]"):
            values.append(self.read_constant(elem))
            tokens.accept(",")
        return values

    def read_tuple(self, type: Type | None) -> tuple[Any, ...]:
        tokens = self.tokens
        elems = type.elems if isinstance(type, TupleType) else ()
        tokens.expect("(")
        values: list[Any] = []
        while not tokens.accept(")"):
            values.append(self.read_constant(elems[len(values)] if len(values) < len(elems) else None))
            tokens.accept(",")
        return tuple(values)

    def read_dict(self, type: Type | None) -> dict[Any, Any]:
        tokens = self.tokens
        key, item = (type.key, type.value) if isinstance(type, DictType) else (None, None)
        tokens.expect("{")
        values = {}
        while not tokens.accept("}"):
            name = self.read_constant(key)
            if isinstance(name, (list, dict)):
                raise tokens.error(f"a {name.__class__.__name__} cannot be a key of a dict")
            tokens.expect(":")
            values[name] = self.read_constant(item)
            tokens.accept(",")
        return values

    def skip_value(self) -> str:
        """Consume the tokens of a value, and return its text up to the comma or bracket after the value."""
        tokens = self.tokens
        begin = tokens.starts[tokens.at - 1] + len(tokens.strings[tokens.at - 1])
        depth = 0
        while depth or tokens.peek() not in (",", "]", ")"):
            if depth == 0 and tokens.peek() == "":
                raise ParseError("unexpected end of a value", tokens.text, begin)
            token = tokens.next()
            depth += (token in _OPENING) - (token in _CLOSING)
        return tokens.text[begin : tokens.starts[tokens.at]]
