"""Source ranges of syntax nodes, equal to TorchScript's.

The range of a node is the smallest range that contains the token of the node and the ranges of its children.
Messages underline the range. The range of this product begins with `a` and ends with `c`:

    y = (a + b) * torch.relu(c)
         ~~~~~~~~~~~~~~~~~~~~~
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ts.ir.source import Source, SourceRange

_KEYWORD = {
    ast.Return: "return",
    ast.Raise: "raise",
    ast.Assert: "assert",
    ast.While: "while",
    ast.For: "for",
    ast.If: "if",
    ast.Pass: "pass",
    ast.Break: "break",
    ast.Continue: "continue",
    ast.With: "with",
    ast.Delete: "del",
    ast.FunctionDef: "def",
}


class Ranges:
    """Ranges of the nodes of one parsed text."""

    def __init__(self, source: Source, whole_subscripts: bool = False) -> None:
        self.source = source
        # True for source in strings: as in PyTorch, the range of `x[0]` includes the closing bracket. False
        # for Python functions: the range ends before the bracket.
        self._whole_subscripts = whole_subscripts
        self._text = source.text
        self._spans: dict[ast.AST, tuple[int, int]] = {}

    def offset(self, line: int, column: int) -> int:
        """Return the character offset of a position that `ast` gives as `lineno` and `col_offset`."""
        return self.source.offset_at(line, column)

    def token(
        self, node: ast.stmt | ast.expr | ast.arg, length: int = 1, characters_before: int = 0
    ) -> SourceRange:
        """Return the range of the first `length` characters of a node.

        The range also includes the `characters_before` characters that precede the node.
        """
        start = self.offset(node.lineno, node.col_offset)
        return self.between(start - characters_before, start + length)

    def between(self, start: int, end: int) -> SourceRange:
        """Return the range between two offsets of the text."""
        return SourceRange(self.source, start, end)

    def of(self, node: ast.AST) -> SourceRange:
        """Return the range of an expression, statement, argument or keyword."""
        return NodeRange(self, node)

    def span(self, node: ast.AST) -> tuple[int, int]:
        """Return the start and end offset of `of(node)`."""
        if node not in self._spans:
            # The ranges of children are computed before those of their parents, without recursion.
            for descendant in self._bottom_up(node):
                self._spans[descendant] = self._compute(descendant)
        return self._spans[node]

    def _bottom_up(self, node: ast.AST) -> Iterator[ast.AST]:
        """Return `node` and its descendants whose spans are not yet computed, children before parents."""
        preorder, pending = [], [node]
        while pending:
            descendant = pending.pop()
            if descendant not in self._spans:
                preorder.append(descendant)
                pending.extend(child for child in ast.iter_child_nodes(descendant) if _has_range(child))
        return reversed(preorder)

    def _compute(self, node: ast.AST) -> tuple[int, int]:
        match node:
            case ast.Expr(value=value) | ast.keyword(value=value) | ast.FormattedValue(value=value):
                return self.span(value)
            case ast.Attribute(value=base, attr=attr):
                start, end = self.span(base)
                end += 1
                while end < len(self._text) and self._text[end].isspace():
                    end += 1
                return start, min(end + len(attr), len(self._text))
            case ast.Subscript(value=base) if self._whole_subscripts:
                end = self.offset(node.end_lineno or node.lineno, node.end_col_offset or node.col_offset)
                return self.span(base)[0], end
            case ast.Subscript(value=base, slice=index):
                last = index.elts[-1] if isinstance(index, ast.Tuple) and index.elts else index
                bounds = self._bounds(last) or [base]
                return self.span(base)[0], max(self.span(bound)[1] for bound in bounds) + 1
        token_span = self._own_token(node)
        child_nodes = [child for child in ast.iter_child_nodes(node) if _has_range(child)]
        if isinstance(node, ast.FunctionDef):
            child_nodes = [child_node for child_node in child_nodes if child_node not in node.decorator_list]
        return self._join(token_span, child_nodes)

    def _own_token(self, node: ast.AST) -> tuple[int, int] | None:
        """Return the start and end offset of the token of `node`, for example of the keyword of a statement.

        Return None if `node` begins with a child node, as a binary operation does.
        """
        length = 0
        match node:
            case ast.Name(id=name) | ast.arg(arg=name):
                length = len(name)
            case ast.Constant(value=str(string)):
                length = len(string) + 1
            case ast.Constant(value=int(value)) if value.bit_length() > 64:
                length = 20  # arbitrary, because the compiler rejects such an int
            case ast.Constant(value=value):
                length = 3 if value is ... else len(str(value))
            case ast.List() | ast.Tuple() | ast.Dict() | ast.Set() | ast.JoinedStr() | ast.Starred():
                length = 1
            case ast.UnaryOp(op=op):
                length = 3 if isinstance(op, ast.Not) else 1
            case ast.ListComp() | ast.GeneratorExp() | ast.DictComp():
                length = 0
            case ast.Slice(lower=None, upper=None, step=None):
                length = 1
            case ast.BinOp() | ast.BoolOp() | ast.Compare() | ast.IfExp() | ast.Call() | ast.Slice():
                return None  # the range is that of the operands
            case ast.Assign() | ast.AnnAssign() | ast.AugAssign():
                return None
            case ast.stmt():
                length = len(_KEYWORD.get(type(node), " "))
            case ast.expr():
                length = 1
            case _:
                return None
        assert isinstance(node, ast.expr | ast.stmt | ast.arg)
        start = self.offset(node.lineno, node.col_offset)
        return start, start + length

    def _bounds(self, index: ast.expr) -> list[ast.expr]:
        """Return the bound expressions of a slice, or the index itself."""
        if isinstance(index, ast.Slice):
            return [bound for bound in (index.lower, index.upper, index.step) if bound is not None]
        return [index]

    def _join(
        self, token_span: tuple[int, int] | None, nodes: list[ast.AST] | list[ast.expr]
    ) -> tuple[int, int]:
        spans = [self.span(node) for node in nodes]
        if token_span is not None:
            spans.append(token_span)
        return min(start for start, _ in spans), max(end for _, end in spans)


class NodeRange(SourceRange):
    """Source range of a node. Offsets are computed on first access, because most are never needed."""

    __slots__ = ("_node", "_ranges")

    def __init__(self, ranges: Ranges, node: ast.AST) -> None:
        self.source = ranges.source
        self._ranges = ranges
        self._node = node

    @property
    def start(self) -> int:  # type: ignore[override]  # an attribute in the base class
        """Offset of the first character."""
        return self._ranges.span(self._node)[0]

    @property
    def end(self) -> int:  # type: ignore[override]  # an attribute in the base class
        """Offset after the last character."""
        return self._ranges.span(self._node)[1]


class JoinedRange(NodeRange):
    """Range from the start of one node to the end of another node, computed on first access."""

    __slots__ = ("_last",)

    def __init__(self, ranges: Ranges, first: ast.AST, last: ast.AST) -> None:
        super().__init__(ranges, first)
        self._last = last

    @property
    def start(self) -> int:  # type: ignore[override]
        """Offset of the first character."""
        return min(super().start, self._ranges.span(self._last)[0])

    @property
    def end(self) -> int:  # type: ignore[override]
        """Offset after the last character."""
        return max(super().end, self._ranges.span(self._last)[1])


class HiddenRange(NodeRange):
    """Range of the enclosing statement, for graph nodes that have no range in PyTorch.

    Error messages show this range, but graph text omits it.
    """

    __slots__ = ()

    def location(self) -> str:
        """Return "", so that graph text contains no location for the node."""
        return ""


def _has_range(node: ast.AST) -> bool:
    if isinstance(node, ast.comprehension | ast.arguments | ast.withitem):
        return any(_has_range(child) for child in ast.iter_child_nodes(node))
    return isinstance(node, ast.expr | ast.stmt | ast.arg | ast.keyword)
