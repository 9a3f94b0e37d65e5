"""Relations between the sizes of argument dimensions that have a common named `Dim`.

During the trace, each dimension has a separate symbol, as in PyTorch. Relations between the symbols are
required after the trace. Dimension specs and the relations of their symbols s0, s1 and s2:

    {"x": {0: d}, "y": {0: d}, "z": {0: 2 * d}}        s1 == s0, s2 == 2*s0
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ts.errors import UserError, UserErrorType
from ts.export.dim import Dim
from ts.export.expr_parser import Source
from ts.export.shape_env import ShapeEnv
from ts.export.sympy_import import sympy


class _Dimension(NamedTuple):
    """Dimension of an argument with a named `Dim`: its symbol and its location."""

    dim: Dim
    symbol: Any
    source: Source


class DimRelations:
    """Named dimensions of the arguments, in order, and the relations between their sizes."""

    def __init__(self, environment: ShapeEnv) -> None:
        self.environment = environment
        self._dimensions: list[_Dimension] = []
        # Symbol of a size -> the size as a formula of the name of the root `Dim`, such as 2*d + 1.
        self.formulas: dict[Any, Any] = {}
        # Symbols of the `Dim`s of which only derived dimensions occur in the arguments.
        self._created_roots: set[Any] = set()

    def add(self, dim: Dim, symbol: Any, source: Source) -> None:
        """Add a dimension of an argument."""
        self._dimensions.append(_Dimension(dim, symbol, source))
        self.formulas[symbol] = dim.factor * sympy.Symbol(dim.root.__name__) + dim.offset

    def create_missing_roots(self) -> dict[str, Any]:
        """Create a symbol for each `Dim` of which only derived dimensions occur. Return the roots' symbols.

        The result maps the name of each `Dim` to the symbol of its first dimension, or to the new symbol.
        """
        roots: dict[str, Any] = {}
        for dim, symbol, _ in self._dimensions:
            if dim.root is dim:
                roots.setdefault(dim.__name__, symbol)
        for dim, symbol, source in self._dimensions:
            name = dim.root.__name__
            if name in roots:
                continue
            environment = self.environment
            hint = (environment.hints[symbol] - dim.offset) // dim.factor
            at = source._replace(factor=dim.factor, offset=dim.offset)
            root = roots[name] = environment.size(at, hint, max(dim.root.min, 2), dim.root.max)
            self.formulas[root] = sympy.Symbol(name)
            self._created_roots.add(root)
            if hint < 2:
                environment.assume(sympy.Eq(root, hint))
        return roots

    def require(self, roots: dict[str, Any]) -> None:
        """Require the relations, by guards if the trace does not imply them.

        `roots` is the result of `create_missing_roots`. Raise UserError if the example arguments violate a
        relation.
        """
        sources = {symbol: source for _, symbol, source in self._dimensions}
        for dim, symbol, source in self._dimensions:
            root = roots[dim.root.__name__]
            if dim.root is dim and symbol != root:
                size, expected = self.environment.hints[symbol], self.environment.hints[root]
                where = f"{source.where} = {size} is not equal to {sources[root].where} = {expected}"
                self._require_equal(symbol, root, where)
        for dim, symbol, source in self._dimensions:
            if dim.root is dim:
                continue
            root = roots[dim.root.__name__]
            size, value = self.environment.hints[symbol], self.environment.hints[root]
            self._require_equal(
                symbol,
                dim.factor * root + dim.offset,
                f"Expected input {source.where} to be equal to {self.formulas[symbol]}, where "
                f"{dim.root.__name__} = {value}, but got {size}",
            )

    def _require_equal(self, size: Any, expected: Any, message: str) -> None:
        environment = self.environment
        if environment.hint(size) != environment.hint(expected):
            raise UserError(message, UserErrorType.CONSTRAINT_VIOLATION)
        environment.decide(sympy.Eq(environment.simplify(size), environment.simplify(expected)))

    def has_created_root(self, expression: Any) -> bool:
        """Return True if `expression` has a symbol that `create_missing_roots` created."""
        return not self._created_roots.isdisjoint(expression.free_symbols)

    def declares(self, size: Any, expression: Any) -> bool:
        """Return True if the user's specs imply that the symbol `size` equals `expression`."""
        if not all(s in self.formulas for s in (size, *expression.free_symbols)):
            return False
        return bool(sympy.expand(expression.xreplace(self.formulas) - self.formulas[size]) == 0)
