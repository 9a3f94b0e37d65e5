"""Source lines of generated code, one statement per node.

Input: a node (left). Output: its statement (right):

    %relu : call_function[target=torch.relu](args = (%x,))            relu = torch.relu(x);  x = None
    %linear : call_module[target=net.0](args = (%relu,))              linear = getattr(self.net, "0")(relu)

The code releases each value after its last use. With the option `verbose`, comments show source locations,
dtypes and shapes.
"""

from __future__ import annotations

import enum
import keyword
import os
import pprint
import re
import types
import typing
import unicodedata
from collections.abc import Callable, Iterable
from typing import Any, Final, NamedTuple

import ts
from ts._core.dispatch.overloads import OverloadSet
from ts._core.tensor.sym_types import SymNumber
from ts._core.tensor.tensor import Tensor
from ts.fx.namespace import CUSTOM_BUILTINS, Namespace
from ts.fx.node import Node, meta_value
from ts.fx.operator_formats import inplace_methods, magic_methods
from ts.fx.tensor_annotations import dtype_abbreviation, shape_text
from ts.fx.torch_names import is_from_torch, qualified_name, type_name
from ts.ops.namespace import OpOverload

_TYPING: Final = {
    kind: getattr(typing, name)
    for kind, name in (
        (list, "List"), (dict, "Dict"), (set, "Set"), (frozenset, "FrozenSet"), (tuple, "Tuple"),
    )
}  # fmt: skip
_COLORS: Final = {
    "red": "\033[31m", "blue": "\033[34m", "dim": "\033[2m", "dim_blue": "\033[2m\033[34m",
    "dim_green": "\033[2m\033[32m",
}  # fmt: skip
_FRAME: Final = re.compile(r"^File \"(.+)\", line (\d+), in (.+)$")


class Options(NamedTuple):
    """Options of `Graph.python_code` for comments and formatting of generated code."""

    verbose: bool = False
    include_stride: bool = False
    include_device: bool = False
    colored: bool = False
    expanded_def: bool = False
    additional_meta: list[str] | None = None


class ParsedStackTrace(NamedTuple):
    """Source line and function of the innermost frame of a stack trace."""

    file: str
    lineno: str
    name: str
    code: str

    def get_summary_str(self) -> str:
        """Return file, line, function and source code of the stack frame as one line of text."""
        return f"File: {self.file}:{self.lineno} in {self.name}, code: {self.code}"


def parse_stack_trace(
    stack_trace: str, filter_fn: Callable[[str, str, str], bool] | None = None
) -> ParsedStackTrace | None:
    """Return the innermost frame that `filter_fn(file, name, code)` accepts, or None if there is none."""
    lines = [line.strip() for line in (stack_trace or "").strip().split("\n")]
    for line, code in zip(lines[-2::-1], lines[:0:-1], strict=False):
        match = _FRAME.match(line)
        if match and (filter_fn is None or filter_fn(match[1], match[3], code)):
            return ParsedStackTrace(match[1], match[2], match[3], code)
    return None


def dotted(base: str, path: str) -> str:
    """Return the expression that reads the attribute with the dotted name `path` of `base`."""
    for name in path.split("."):
        quoted = f'"{name}"' if name.isprintable() and not set(name) & {'"', "\\"} else repr(name)
        base = f"{base}.{name}" if _is_identifier(name) else f"getattr({base}, {quoted})"
    return base


def _is_identifier(name: str) -> bool:
    """Return True if `name` is an identifier, is not a keyword, and is in Unicode normalization form NFKC.

    Python's parser converts identifiers to this form, which would change any other name.
    """
    is_word = name.isidentifier() and not keyword.iskeyword(name)
    return is_word and unicodedata.is_normalized("NFKC", name)


def check_parameters(nodes: Iterable[Node]) -> None:
    """Raise ValueError if a parameter name is not an identifier, because generated code contains the name."""
    for node in nodes:
        if node.op == "placeholder" and not _is_identifier(node.target.lstrip("*")):
            raise ValueError(f"{node.target[:80]!r} is not a valid parameter name")


class CodeWriter:
    """Writer of the Python code of a graph: collects parameters, lines and globals."""

    def __init__(self, root: str, names: Namespace, options: Options) -> None:
        self.root = root
        self.names = names
        self.options = options
        self.parameters: list[str] = []
        self.body: list[str] = []
        self.globals: dict[str, Any] = {}
        self.wrapped: dict[str, None] = {}
        self.returns = ""
        self._last_comment = ""
        self._stride = options.include_stride or os.environ.get("FX_GRAPH_SHOW_STRIDE", "0") == "1"
        self._device = options.include_device or os.environ.get("FX_GRAPH_SHOW_DEVICE", "0") == "1"
        self._meta = os.environ.get("FX_GRAPH_SHOW_META", "0") == "1"
        for name, builtin in CUSTOM_BUILTINS.items():
            self.add_global(name, builtin.obj)

    def add_global(self, name_hint: str, obj: Any) -> str:
        """Register an object as a global of the code, and return the name by which the code refers to it."""
        if is_from_torch(obj) and obj is not ts.device:
            return dotted(*qualified_name(obj).split(".", 1)) if hasattr(obj, "__name__") else type_name(obj)
        name = self.names.create_name(name_hint, obj)
        if name in self.globals and self.globals[name] != obj:
            raise AssertionError(f"Global name {name} already assigned to different object")
        self.globals.setdefault(name, obj)
        return name

    def type_text(self, of: Any) -> str:
        """Return a type as the text of an annotation."""
        if of == ():
            return "()"
        annotation = type_name(of)
        if isinstance(of, types.UnionType) and "|" in annotation:
            return "|".join(self.type_text(each) for each in typing.get_args(of))
        origin = getattr(of, "__origin__", None)
        if origin is None:
            return self.add_global(annotation, of)
        if isinstance(of, typing._GenericAlias):  # type: ignore[attr-defined]
            origin = _TYPING.get(origin, origin)
        name = self.add_global(type_name(origin), origin)
        inner = of.dims if type(of).__name__ == "TensorType" else typing.get_args(of)
        return f"{name}[{','.join(self.type_text(each) for each in inner)}]" if inner else name

    def value_text(self, value: Any) -> str:
        """Return an argument of a node as an expression."""
        if isinstance(value, Node):
            return repr(value)
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            return f"{self.add_global(qualified_name(type(value)), type(value))}{tuple(value)!r}"
        if isinstance(value, OverloadSet | OpOverload):
            return self.add_global(qualified_name(value), value)
        if isinstance(value, enum.Enum):
            cls = type(value)
            return f"{self.add_global(cls.__name__, cls)}.{value.name}"
        if isinstance(value, Tensor):
            dtype = str(value.dtype).split(".")[-1]
            return f"torch.Tensor(size={list(value.size())}, dtype={dtype})"
        if isinstance(value, tuple):
            inner = ", ".join(self.value_text(x) for x in value)
            return f"({inner},)" if len(value) == 1 else f"({inner})"
        if isinstance(value, list):
            return "[" + ", ".join(self.value_text(x) for x in value) + "]"
        if isinstance(value, slice):
            return f"slice({', '.join(self.value_text(x) for x in (value.start, value.stop, value.step))})"
        return self._colored("blue", repr(value))

    def _arguments(self, args: Iterable[Any], kwargs: dict[str, Any]) -> str:
        by_name = (f"{k} = {self.value_text(v)}" for k, v in kwargs.items() if _is_identifier(k))
        others = ", ".join(f"{k!r}: {self.value_text(v)}" for k, v in kwargs.items() if not _is_identifier(k))
        rest = [f"**{{{others}}}"] if others else []
        return ", ".join([*(self.value_text(x) for x in args), *by_name, *rest])

    def _colored(self, color: str, text: str) -> str:
        return f"{_COLORS[color]}{text}\033[0m" if self.options.colored else text

    def write(self, nodes: Any, generate_output: Callable[..., str]) -> None:
        """Write the code of all nodes.

        `generate_output(value, descs=, repr_fn=)` returns the text of the `return` statement.
        """
        last_uses: dict[Node, list[Node]] = {}
        seen: set[Node] = set()
        for node in reversed(nodes):
            for each in node._input_nodes:
                if each not in seen:
                    seen.add(each)
                    last_uses.setdefault(node, []).append(each)
        for index, node in enumerate(nodes):
            if self.options.verbose:
                self._comment(node)
            # The comment `# COUNTER` marks the first line of a node. The code generator later removes it.
            self.body.append(f"# COUNTER: {index}\n")
            self._write_node(node, generate_output)
            self._write_releases(node, last_uses.get(node, []))

    def _write_releases(self, node: Node, unused: list[Node]) -> None:
        if node.op == "placeholder":
            return
        if node.op != "output" and not node.users:
            unused = [*unused, node]
        if node.op == "output" or not unused:
            self.body.append("\n")
        else:
            self.body.append(f";  {self._colored('dim', ' = '.join([*map(repr, unused), 'None']))}\n")

    def _write_node(self, node: Node, generate_output: Callable[..., str]) -> None:
        annotation = "" if node.type is None else f" : {self.type_text(node.type)}"
        if self.options.verbose:
            annotation = self._result_type(node) or annotation
        if self._meta and node.meta:
            pairs = (f"{k}: {pprint.pformat(str(v), width=80, compact=True)}\n" for k, v in node.meta.items())
            self.body += ['"""\n', *pairs, '"""\n']
        if node.op == "placeholder":
            self._placeholder(node, annotation)
        elif node.op == "output":
            if node.type is not None:
                self.returns = f" -> {self.type_text(node.type)}"
            descs = node.meta.get("desc") if self.options.expanded_def else None
            self.body.append(generate_output(node.args[0], descs=descs, repr_fn=self.value_text))
        elif node.op == "call_function":
            self._call_function(node, annotation)
        else:
            self.body.append(f"{node!r}{annotation} = {self._expression(node)}")

    def _expression(self, node: Node) -> str:
        if node.op == "get_attr":
            return dotted(self.root, node.target)
        if node.op == "call_method":
            called = dotted(self.value_text(node.args[0]), node.target)
            return f"{called}({self._arguments(node.args[1:], node.kwargs)})"
        if node.op == "call_module":
            return f"{dotted(self.root, node.target)}({self._arguments(node.args, node.kwargs)})"
        raise NotImplementedError(f"node: {node.op} {node.target}")

    def _placeholder(self, node: Node, annotation: str) -> None:
        default = f" = {self.value_text(node.args[0])}" if node.args else ""
        desc = node.meta.get("desc") if self.options.expanded_def else None
        comment = "" if desc is None else f"  # {desc}"
        self.parameters.append(f"{node.target}{annotation}{default}{comment}")
        name = node.target.replace("*", "")
        if name != repr(node):
            self.body.append(f"{node!r} = {name}\n")

    def _call_function(self, node: Node, annotation: str) -> None:
        target, args = node.target, node.args
        head = f"{node!r}{annotation}"
        if getattr(target, "__module__", "") == "_operator":
            operands = [self.value_text(x) for x in args]
            if target.__name__ in magic_methods:
                self.body.append(f"{head} = {magic_methods[target.__name__].format(*operands)}")
                return
            if target.__name__ in inplace_methods:
                statement = inplace_methods[target.__name__].format(*operands)
                self.body.append(f"{statement};  {head} = {operands[0]}")
                return
        name = self.add_global(qualified_name(target), target)
        if name == "getattr" and len(args) == 2 and isinstance(args[1], str) and args[1].isidentifier():
            self.body.append(f"{head} = {dotted(self.value_text(args[0]), args[1])}")
            return
        self.body.append(f"{head} = {name}({self._arguments(args, node.kwargs)})")
        if node.meta.get("is_wrapped", False):
            self.wrapped.setdefault(name)

    def _comment(self, node: Node) -> None:
        """Write a comment with a node's source location, unless the previous comment has the same text."""
        if node.op in ("placeholder", "output"):
            return
        meta_entries = [f"{k}: {node.meta[k]}" for k in self.options.additional_meta or () if k in node.meta]
        more = f"# {', '.join(meta_entries)} " if meta_entries else ""
        custom = {
            key: value if len(str(value)) <= 40 else f"{str(value)[:40]}..."
            for key, value in node.meta.get("custom", {}).items()
        }
        note = f" Annotation: {custom}" if custom else ""
        trace = parse_stack_trace(node.stack_trace) if node.stack_trace else None
        location = trace.get_summary_str() if trace else "No stacktrace found for following nodes"
        comment = f"\n{self._colored('dim', f'{more}#{note} {location}')}\n"
        if comment != self._last_comment:
            self._last_comment = comment
            self.body.append(comment)

    def _result_type(self, node: Node) -> str:
        """Return an annotation with dtype and shape of a node's result, or "" if they are unknown."""
        value = meta_value(node)
        if isinstance(value, Tensor):
            description = self._colored("red", dtype_abbreviation(value.dtype))
            description += self._colored("blue", shape_text(value.shape))
            description += self._colored("dim_blue", shape_text(value.stride()) if self._stride else "")
            description += self._colored("dim_green", str(value.device) if self._device else "")
            return (
                f': "{description}"'
                if type(value) is Tensor
                else f': "{type(value).__name__}({description})"'
            )
        if type(value).__name__ == "TensorMetadata":
            return f': "{dtype_abbreviation(value.dtype)}{shape_text(value.shape)}"'
        if isinstance(value, SymNumber):
            return f': "Sym({value.node})"'
        return ""
