"""Pretty-printer of graphs (source code printing), for ``fn.code`` and archives.

Input: a graph and the name of its function. Output: source in PyTorch's layout. Example::

    def f(x: Tensor,
        n: int=3) -> Tensor:
      if torch.gt(n, 1):
        y = torch.add(x, 1)
      else:
        y = x
      return torch.mul(y, CONSTANTS.c0)

An expression with one use, which follows immediately, is printed inside its user unless the line becomes too
long. Constants without a literal, such as tensors, become ``CONSTANTS.cN`` and are collected in `constants`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from keyword import kwlist
from typing import Any

from ts.errors import InternalError
from ts.ir.attributes import REMOTE_CALLS
from ts.ir.graph import Block, Graph, Node, Value
from ts.ir.graph_printer import format_value
from ts.ir.print_literals import has_literal, is_inferred, is_plain, necessary_arguments
from ts.ir.schema import Argument, FunctionSchema
from ts.ir.source_map import SourceMap, plain
from ts.ir.types import (
    BOOL,
    DictType,
    EnumType,
    FunctionType,
    ListType,
    NoneType,
    OptionalType,
    TupleType,
    Type,
    UnionType,
)

FormatType = Callable[[Type], str]

_LONG_EXPRESSION_CHARS = 40  # expressions of this length or more are assigned to variables
_ENDLESS_ITERATIONS = (1 << 63) - 1  # trip count in the graph of a `while` loop, which has no maximum
_TASKS = frozenset({"prim::fork", "prim::awaitable"})
# Nodes whose results are always assigned to variables
_NAMED = frozenset({"prim::isinstance", "prim::ModuleContainerIndex"})
_TAKE_NAMES = frozenset({*_TASKS, "prim::Closure", "prim::Enter"})
_NAME = re.compile(r"[A-Za-z_][\w.]*\Z")
_CASTS = {
    "aten::Int": "int",
    "aten::Float": "float",
    "aten::Bool": "bool",
    "aten::str": "str",
    "aten::sorted": "sorted",
    "prim::Print": "print",
    "prim::Breakpoint": "breakpoint",
}
_OPERATOR_TO_PYTHON_NAME = {"aten::backward": "torch.autograd.backward", "aten::grad": "torch.autograd.grad"}
# Names that variables must not have. A variable may have another name that printed source uses, such as
# `torch` or `print`: in `torch.add(torch, 1)`, the parser can tell the variable from the module.
_RESERVED = frozenset(
    {
        "_",
        "inf",
        "nan",
        "infj",
        "nanj",
        "ops",
        "aten",
        "attribute",
        "fork",
        "getattr",
        "uninitialized",
        "unchecked_cast",
        "CONSTANTS",
        "__torch__",
    }
).union(kwlist)


def to_source(
    graph: Graph,
    name: str,
    schema: FunctionSchema | None = None,
    constants: list[Any] | None = None,
    method: bool = False,
    format_type: FormatType | None = None,
    next_suffixes: dict[str, int] | None = None,
    marks: SourceMap | None = None,
) -> str:
    """Return the source of a function.

    schema          schema with the names and defaults of the parameters
    method          print the first parameter without its type
    constants       list to which constants without a literal are appended
    format_type     function that returns the printed text of a type
    next_suffixes   counters for generated names, shared by all functions of a file
    marks           source map that adds marks for the nodes to the text, or None
    """
    printer = _Printer(graph, [] if constants is None else constants, format_type or _annotation, marks)
    printer.next_number = {} if next_suffixes is None else next_suffixes
    return printer.function(name, schema, method)


def _annotation(type: Type) -> str:
    return type.annotation_str


class _Printer:
    def __init__(
        self, graph: Graph, constants: list[Any], format_type: FormatType, marks: SourceMap | None
    ) -> None:
        self.graph = graph
        self.marks = marks
        self.node: Node | None = None  # the node being printed
        self.format_type = format_type
        self.constants = constants
        self.lines: list[str] = []
        self.level = 0
        self.inlined: set[Node] = set()
        self.expressions: dict[Value, str] = {}
        # Inlined expressions that are not printed yet, in evaluation order
        self.pending: dict[Value, None] = {}
        self.used_names: set[str] = set()
        self.next_number: dict[str, int] = {}

    def function(self, name: str, schema: FunctionSchema | None, method: bool) -> str:
        inputs = self.graph.inputs()
        arguments: Sequence[Argument] = schema.arguments if schema is not None else ()
        parameters = []
        for i, value in enumerate(inputs):
            argument = arguments[i] if i < len(arguments) else None
            parameter = self.new_name(
                re.sub(r"\W", "_", argument.name) if argument is not None else self.name_hint(value)
            )
            self.expressions[value] = parameter
            type = argument.type if argument is not None else value.type()
            if i > 0 or not method:
                parameter += f": {self.format_type(type)}"
            if argument is not None and argument.has_default:
                default = argument.default
                parameter += "=None" if default is None else f"={self.literal(default, argument.type)}"
            parameters.append(parameter)
        outputs = self.graph.outputs()
        if schema is not None and schema.returns:
            result = schema.returns[0].type
        elif len(outputs) == 1:
            result = outputs[0].type()
        else:
            result = TupleType(v.type() for v in outputs) if outputs else NoneType.get()
        self.line(f"def {name}({(',' + chr(10) + '    ').join(parameters)}) -> {self.format_type(result)}:")
        self.level += 1
        self.body(self.graph.block())
        return "".join(self.lines)

    def body(self, block: Block) -> None:
        constants: dict[Node, None] = {}
        self.collect_constants(block, constants)
        self.scan_block(block)
        for node in constants:
            self.print_node(node)
        self.block(block, bool(block.outputs()))
        end = block.return_node()
        if end.inputs():
            self.split_long(end.inputs())
            self.line(f"return {self.list_of(end.inputs())}")

    # --- selection of inlined expressions ---

    def collect_constants(self, block: Block, constants: dict[Node, None]) -> None:
        """Collect constants in the order of their use."""
        for node in (*block.nodes(), block.return_node()):
            for value in node.inputs():
                if value.node().kind() == "prim::Constant":
                    constants.setdefault(value.node())
            for inner in node.blocks():
                self.collect_constants(inner, constants)

    def scan_block(self, block: Block) -> None:
        self.scan_node(block.return_node())
        for node in list(block.nodes())[::-1]:
            self.scan_node(node)

    def scan_node(self, node: Node) -> Node:
        """Add nodes that are printed inside the expression of `node` to `self.inlined`.

        Return the node of this expression that is first in program order.
        """
        if node in self.inlined:
            return node
        for block in node.blocks():
            self.scan_block(block)
        point = _previous_computation(node)
        for value in reversed(node.inputs()):
            producer = value.node()
            if producer is point and _can_inline(value):
                # No other computation is between the producer and its user. Therefore, inlining preserves
                # the evaluation order.
                point = self.scan_node(point)
                self.inlined.add(producer)
            elif producer.kind() == "prim::Constant":
                self.inlined.add(producer)
        return point

    def split_long(self, values: Sequence[Value]) -> None:
        """Print assignments to variables for the expressions of `values` that are pending and too long.

        To preserve the evaluation order, also print assignments for all expressions that are pending before
        the last of them.
        """
        last: Value | None = None
        for value in values:
            if value in self.pending and self.is_long(self.expressions[value]):
                last = value
        if last is None:
            return
        for value in list(self.pending):
            self.define(value.node(), self.use(value))
            if value is last:
                break

    def is_long(self, expression: str) -> bool:
        return len(plain(expression)) + 2 * self.level >= _LONG_EXPRESSION_CHARS

    # --- names of values and lines of source ---

    def line(self, statement: str) -> None:
        self.lines.append(f"{'  ' * self.level}{self.mark_source(self.node, statement)}\n")

    def mark_source(self, node: Node | None, source: str) -> str:
        """Return `source` with a source map mark for the source range of `node`."""
        if self.marks is None:
            return source
        return self.marks.put(node.range if node is not None else None, source)

    def new_name(self, hint: str) -> str:
        name = hint
        while name in self.used_names or name in _RESERVED:
            suffix = self.next_number.get(name, 0)
            self.next_number[name] = suffix + 1
            name = f"{hint}{suffix}"
        self.used_names.add(name)
        return name

    def name_hint(self, value: Value) -> str:
        if not _is_variable(value):
            return "_"
        name = re.sub(r"\W", "_", value.debug_name_base(), flags=re.ASCII)
        return "_" + name if name[0].isdigit() else name

    def assign_names(self, values: Sequence[Value]) -> None:
        for value in values:
            self.expressions[value] = self.new_name(self.name_hint(value))

    def use(self, value: Value) -> str:
        self.pending.pop(value, None)
        expression = self.expressions.get(value)
        if expression is None:
            if value.node().kind() != "prim::Constant":
                raise InternalError(f"%{value.debug_name()} is printed before it is defined")
            expression = self.mark_source(value.node(), self.constant(value))
            self.expressions[value] = expression
        return expression

    def operand(self, value: Value) -> str:
        """Return the expression of an operand, in parentheses unless it is a name."""
        expression = self.use(value)
        return expression if _NAME.match(plain(expression)) else f"({expression})"

    def list_of(self, values: Sequence[Value]) -> str:
        return ", ".join([self.use(v) for v in values])

    def define(self, node: Node, expression: str) -> None:
        self.assign_names(node.outputs())
        if node.outputs():
            self.line(f"{self.list_of(node.outputs())} = {expression}")
        else:
            self.line(expression)

    # --- printing of statements ---

    def block(self, block: Block, has_more: bool) -> None:
        if not has_more and block.is_empty():
            self.line("pass")
        for node in block.nodes():
            if node.kind() != "prim::Constant":
                self.print_node(node)

    def print_node(self, node: Node) -> None:
        previous_node, self.node = self.node, node
        self.split_long(node.inputs())
        statement = _STATEMENTS.get(node.kind())
        if statement is not None:
            statement(self, node)
        else:
            self.print_expression(node)
        self.node = previous_node

    def print_expression(self, node: Node) -> None:
        expression = self.mark_source(node, self.expression(node))
        if node in self.inlined and not (node.kind() == "prim::Constant" and self.is_long(expression)):
            self.expressions[node.output()] = expression
            if node.kind() != "prim::Constant":
                self.pending[node.output()] = None
        else:
            self.define(node, expression)

    def assign(self, targets: Sequence[Value], values: Sequence[Value]) -> None:
        """Print one statement that assigns `values` to the variables of `targets`, such as `a, b = x, y`."""
        if targets:
            self.split_long(values)
            self.line(f"{self.list_of(targets)} = {self.list_of(values)}")

    def print_if(self, node: Node) -> None:
        self.assign_names(node.outputs())
        self.line(f"if {self.use(node.input())}:")
        for block_index, block in enumerate(node.blocks()):
            if block_index:
                self.line("else:")
            self.level += 1
            self.block(block, bool(node.outputs()))
            if block_index == 0 and len(node.outputs()) == 1 and _is_optional(node.output()):
                # Annotate the assignment in the first branch. The annotation determines the type of the
                # variable when the source is compiled.
                self.split_long(block.outputs())
                target = f"{self.use(node.output())} : {self.format_type(node.output().type())}"
                self.line(f"{target} = {self.use(block.outputs()[0])}")
            else:
                self.assign(node.outputs(), block.outputs())
            self.level -= 1

    def print_container_index(self, node: Node) -> None:
        """Print the indexing of a module container, with an annotation for the type of the element."""
        container, key = node.inputs()
        self.assign_names(node.outputs())
        target = f"{self.use(node.output())} : {self.format_type(node.output().type())}"
        self.line(f"{target} = {self.mark_source(node, f'{self.operand(container)}[{self.use(key)}]')}")

    def print_loop(self, node: Node) -> None:
        count, condition, *carried = node.inputs()
        (body,) = node.blocks()
        index, *inner = body.inputs()
        is_counted = index.has_uses() or count.node().kind() != "prim::Constant"
        is_counted = is_counted or count.to_ivalue() != _ENDLESS_ITERATIONS
        is_for = is_counted and _is_true(condition) and _is_true(body.outputs()[0])
        if not is_for and count.to_ivalue() != _ENDLESS_ITERATIONS:
            raise InternalError("a loop with both a condition and a trip count cannot be printed")
        self.assign_names(node.outputs())
        for value, output in zip(inner, node.outputs(), strict=True):
            self.expressions[value] = self.use(output)
        self.split_long(carried)
        for output, value in zip(node.outputs(), carried, strict=True):
            mark = f": {self.format_type(output.type())}" if _is_optional(output) else ""
            self.line(f"{self.use(output)}{mark} = {self.use(value)}")
        self.assign_names([index])
        if is_for:
            self.line(f"for {self.use(index)} in range({self.use(count)}):")
            targets, values = body.inputs()[1:], body.outputs()[1:]
        else:
            # The body of a `while` loop does not use the iteration number. The variable that is printed for
            # the iteration number holds the condition.
            self.assign([index], [condition])
            self.line(f"while {self.use(index)}:")
            targets, values = body.inputs(), body.outputs()
        self.level += 1
        self.block(body, bool(targets))
        self.assign(targets, values)
        self.level -= 1

    def print_unpack(self, node: Node) -> None:
        self.assign_names(node.outputs())
        targets = "".join([f"{self.use(v)}, " for v in node.outputs()])
        self.line(f"{targets}= {self.use(node.input())}")

    def print_set_attr(self, node: Node) -> None:
        self.line(f"{self.use(node.input(0))}.{node.get('name')} = {self.use(node.input(1))}")

    def print_enter(self, node: Node) -> None:
        context = self.use(node.input())
        name = ""
        if node.output().has_uses():
            self.assign_names(node.outputs())
            name = f" as {self.use(node.output())}"
        self.line(f"with {context}{name}:")
        self.level += 1
        if _next_computation(node).kind() == "prim::Exit":
            self.line("pass")

    def print_exit(self, node: Node) -> None:
        self.level -= 1

    def print_fork(self, node: Node) -> None:
        """Print the subgraph of a fork as a nested function without parameters.

        In place of the inputs of the subgraph, the function uses variables of the enclosing function.
        """
        task: Graph = node["Subgraph"]
        name = self.new_name("__forked_function" if node.kind() == "prim::fork" else "__awaitable_function")
        for inner, value in zip(task.inputs(), node.inputs(), strict=True):
            self.expressions[inner] = self.use(value)
        self.line(f"def {name}():")
        self.level += 1
        self.body(task.block())
        self.level -= 1
        self.define(node, f"{node.kind().removeprefix('prim::')}({name})")

    # --- printing of expressions ---

    def expression(self, node: Node) -> str:
        kind = node.kind()
        special = _EXPRESSIONS.get(kind)
        if special is not None:
            return special(self, node)
        inputs: list[Value] = node.inputs()
        cast = _CASTS.get(kind)
        if cast is not None:
            return f"{cast}({self.list_of(inputs)})"
        if kind == "aten::__getitem__" and not isinstance(inputs[0].type(), TupleType):
            return f"{self.operand(inputs[0])}[{self.use(inputs[1])}]"
        space, _, name = kind.partition("::")
        callee = _OPERATOR_TO_PYTHON_NAME.get(kind) or (
            f"torch.{name}" if space == "aten" else f"ops.{space}.{name}"
        )
        schema = node.schema()
        if schema is None:
            if kind == "prim::RaiseException" and isinstance(inputs[-1].type(), NoneType):
                inputs = inputs[:-1]
            return f"{callee}({self.list_of(inputs)})"
        arguments = []
        for i, value in enumerate(inputs[: necessary_arguments(schema, inputs)]):
            argument = schema.arguments[i] if i < len(schema.arguments) else None
            prefix = f"{argument.name}=" if argument is not None and argument.kwarg_only else ""
            arguments.append(prefix + self.use(value))
        return f"{callee}({', '.join(arguments)})"

    def constant(self, value: Value) -> str:
        t = value.type()
        return self.format_type(t) if isinstance(t, FunctionType) else self.literal(value.to_ivalue(), t)

    def literal(self, constant: Any, t: Type) -> str:
        """Return the source text of a constant. A constant without a literal is appended to `constants`."""
        if constant is None and isinstance(t, OptionalType):
            return f"annotate({self.format_type(t)}, None)"
        if isinstance(t, OptionalType):
            t = t.elem
        if isinstance(t, EnumType):
            return f"{self.format_type(t)}.{constant.name}"
        if isinstance(t, (ListType, DictType, TupleType)) and not has_literal(constant, t):
            return self.container_literal(constant, t)
        if has_literal(constant, t):
            return format_value(bool(constant) if t is BOOL else constant, t)
        for i, stored in enumerate(self.constants):
            if stored is constant:
                return f"CONSTANTS.c{i}"
        self.constants.append(constant)
        return f"CONSTANTS.c{len(self.constants) - 1}"

    def container_literal(self, constant: Any, t: ListType | DictType | TupleType) -> str:
        """Return the literal of a container constant whose elements need not have literals.

        The container is not appended to `constants`, because PyTorch cannot read containers from `constants`.
        """
        if isinstance(t, TupleType):
            return self.tuple_literal(t, [self.literal(x, e) for x, e in zip(constant, t.elems, strict=True)])
        if isinstance(t, ListType):
            literal = f"[{', '.join([self.literal(x, t.elem) for x in constant])}]"
        else:
            pairs = [f"{self.literal(k, t.key)}: {self.literal(v, t.value)}" for k, v in constant.items()]
            literal = f"{{{', '.join(pairs)}}}"
        plain = constant and all(map(is_plain, t.contained_types()))
        return literal if plain else f"annotate({self.format_type(t)}, {literal})"

    def list_construct(self, node: Node) -> str:
        t = node.output().type()
        display = f"[{self.list_of(node.inputs())}]"
        elem = t.elem if isinstance(t, ListType) else t
        if not node.inputs() or not is_inferred(elem, node.inputs()):
            return f"annotate({self.format_type(t)}, {display})"
        return display

    def dict_construct(self, node: Node) -> str:
        t = node.output().type()
        keys, values = node.inputs()[::2], node.inputs()[1::2]
        items = ", ".join([f"{self.use(k)}: {self.use(v)}" for k, v in zip(keys, values, strict=True)])
        inferred = isinstance(t, DictType) and is_inferred(t.key, keys) and is_inferred(t.value, values)
        return (
            f"{{{items}}}" if node.inputs() and inferred else f"annotate({self.format_type(t)}, {{{items}}})"
        )

    def tuple_construct(self, node: Node) -> str:
        t = node.output().type()
        return self.tuple_literal(t, [self.use(v) for v in node.inputs()])

    def tuple_literal(self, t: Type, members: Sequence[str]) -> str:
        elements = ", ".join(members)
        if isinstance(t, TupleType) and t.name is not None:
            return f"{self.format_type(t)}({elements})"
        return f"({elements},)" if len(members) == 1 else f"({elements})"

    def tuple_index(self, node: Node) -> str:
        return f"({self.use(node.input(0))})[{self.use(node.input(1))}]"

    def tuple_slice(self, node: Node) -> str:
        return f"({self.use(node.input())})[{node.get('beg')}:{node.get('end')}]"

    def cast(self, node: Node) -> str:
        return f"unchecked_cast({self.format_type(node.output().type())}, {self.use(node.input())})"

    def implicit(self, node: Node) -> str:
        return f"annotate({self.format_type(node.output().type())}, {self.use(node.input())})"

    def uninitialized(self, node: Node) -> str:
        return f"uninitialized({self.format_type(node.output().type())})"

    def is_instance(self, node: Node) -> str:
        types = [self.format_type(t) for t in node.get("types", ())]
        tested = types[0] if len(types) == 1 else f"({', '.join(types)})"
        return f"isinstance({self.use(node.input())}, {tested})"

    def call_function(self, node: Node) -> str:
        callee, *arguments = node.inputs()
        return f"{self.use(callee)}({''.join([f'{self.use(v)}, ' for v in arguments])})"

    def call_remotely(self, node: Node) -> str:
        """Return the source of a remote call, with arguments. PyTorch's printer omits the arguments."""
        to, _, *arguments = node.inputs()
        callee = self.format_type(FunctionType(node["callee"]))
        printed_arguments = ", ".join([self.use(to), callee, *map(self.use, arguments)])
        return f"ops.{node.kind().replace('::', '.')}({printed_arguments})"

    def call_python(self, node: Node) -> str:
        scalars = ", ".join(map(str, node.scalar_args()))
        return f"^{node.get('name')}({scalars})({self.list_of(node.inputs())})"

    def call_method(self, node: Node) -> str:
        receiver, *arguments = node.inputs()
        return (
            f"({self.use(receiver)}).{node.get('name')}({''.join([f'{self.use(v)}, ' for v in arguments])})"
        )

    def get_attr(self, node: Node) -> str:
        name = node.get("name")
        if not name.isidentifier():  # such as "0", the name of an element of a ModuleList
            return f'getattr({self.use(node.input())}, "{name}")'
        return f"{self.use(node.input())}.{name}"

    def enum_attribute(self, node: Node) -> str:
        return f"({self.use(node.input())}).{'name' if node.kind() == 'prim::EnumName' else 'value'}"

    def create_object(self, node: Node) -> str:
        name = self.format_type(node.output().type())
        return f"{name}.__new__({name})"

    def to_list(self, node: Node) -> str:
        return f"annotate({self.format_type(node.output().type())}, {self.use(node.input())}.tolist())"

    def constant_expression(self, node: Node) -> str:
        return self.constant(node.output())


_Method = Callable[[_Printer, Node], Any]

_STATEMENTS: dict[str, _Method] = {
    "prim::If": _Printer.print_if,
    "prim::Loop": _Printer.print_loop,
    "prim::TupleUnpack": _Printer.print_unpack,
    "prim::ListUnpack": _Printer.print_unpack,
    "prim::SetAttr": _Printer.print_set_attr,
    "prim::ModuleContainerIndex": _Printer.print_container_index,
    "prim::Enter": _Printer.print_enter,
    "prim::Exit": _Printer.print_exit,
    "prim::fork": _Printer.print_fork,
    "prim::awaitable": _Printer.print_fork,
}

_EXPRESSIONS: dict[str, Callable[[_Printer, Node], str]] = {
    "prim::Constant": _Printer.constant_expression,
    "prim::ListConstruct": _Printer.list_construct,
    "prim::DictConstruct": _Printer.dict_construct,
    "prim::TupleConstruct": _Printer.tuple_construct,
    "prim::TupleIndex": _Printer.tuple_index,
    "prim::TupleSlice": _Printer.tuple_slice,
    "prim::unchecked_cast": _Printer.cast,
    "aten::ScalarImplicit": _Printer.implicit,
    "aten::FloatImplicit": _Printer.implicit,
    "aten::IntImplicit": _Printer.implicit,
    "aten::ComplexImplicit": _Printer.implicit,
    "prim::Uninitialized": _Printer.uninitialized,
    "prim::isinstance": _Printer.is_instance,
    "prim::CallFunction": _Printer.call_function,
    "prim::CallMethod": _Printer.call_method,
    "prim::PythonOp": _Printer.call_python,
    **dict.fromkeys(REMOTE_CALLS, _Printer.call_remotely),
    "prim::GetAttr": _Printer.get_attr,
    "prim::EnumName": _Printer.enum_attribute,
    "prim::EnumValue": _Printer.enum_attribute,
    "prim::CreateObject": _Printer.create_object,
    "prim::tolist": _Printer.to_list,
}


def _previous_computation(node: Node) -> Node:
    node = node.prev()
    while node.kind() == "prim::Constant":
        node = node.prev()
    return node


def _next_computation(node: Node) -> Node:
    node = node.next()
    while node.kind() == "prim::Constant":
        node = node.next()
    return node


def _is_variable(value: Value) -> bool:
    """Return True if a value has the name of a variable in the program.

    In a graph that was parsed from text, only inputs of blocks count as variables, as in PyTorch.
    """
    if not value.has_debug_name():
        return False
    return value.node().kind() == "prim::Param" or not value.node().owning_graph().has_textual_names


def _can_inline(value: Value) -> bool:
    node = value.node()
    if len(node.outputs()) != 1 or value.use_count() != 1 or node.blocks():
        return False
    (use,) = value.uses()
    user = use.user.kind()
    if _is_variable(value) and user != "prim::Return":
        # a variable of the program is also a variable of the printed source
        return False
    if user == "prim::Loop" and use.offset >= 2:
        return False
    if node.kind() in _TASKS:
        # a task is printed as the definition of a nested function, which is a statement
        return False
    # Do not print `isinstance` inside an `if` condition. The compiler would refine types there a second time.
    return user not in _TAKE_NAMES and node.kind() not in _NAMED


def _is_true(value: Value) -> bool:
    return value.node().kind() == "prim::Constant" and bool(value.to_ivalue())


def _is_optional(value: Value) -> bool:
    return isinstance(value.type(), (OptionalType, UnionType))
