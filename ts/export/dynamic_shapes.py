"""Resolution and validation of `dynamic_shapes`, the dimension specs of the arguments.

Input: a pytree with the structure of the arguments. Output: for each argument tensor, a dictionary from
dimension index to spec. Example:

    input     {"x": {0: Dim("b")}, "y": [None, (Dim.AUTO, None)]}
    output    [{0: b}, {}, {0: AUTO}]
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping
from typing import Any

from ts._core.tensor.tensor import Tensor
from ts.errors import UserError
from ts.export.arguments import arguments_by_name
from ts.export.dim import Dim, _Hint
from ts.export.dim import dims as dims
from ts.unsupported import names_for
from ts.utils import _pytree as pytree
from ts.utils._pytree_nodes import SUPPORTED_NODES

_HELP_NOTE = (
    "For more information about this error, see: "
    "https://pytorch.org/docs/main/generated/exportdb/index.html#dynamic-shapes-validation"
)


class ShapesCollection:
    """Collection of dimension specs that are assigned to argument tensors: `shapes[x] = {0: Dim("b")}`."""

    def __init__(self) -> None:
        self._shapes: dict[int, tuple[Any, Any]] = {}

    def __setitem__(self, x: Any, shape: Any) -> None:
        if not isinstance(x, Tensor | int):
            raise AssertionError(f"Cannot assign shape to non-tensor or non-int type {type(x)}")
        entry = self._shapes.get(id(x))
        if entry is not None and entry[1] != shape:
            raise AssertionError(f"Shapes assigned to input is a {shape} which is different from {entry[1]}")
        self._shapes[id(x)] = x, shape

    def __getitem__(self, x: Any) -> Any:
        entry = self._shapes.get(id(x))
        if entry is None:
            entry = self._shapes[id(x)] = x, {}
        return entry[1]

    def __len__(self) -> int:
        return len(self._shapes)

    def dynamic_shapes(self, m: Any, args: Any, kwargs: Any = None) -> Any:
        """Return the argument `dynamic_shapes` of `export` for the module `m` with the given arguments."""
        seen: set[int] = set()

        def shape(x: Any) -> Any:
            if id(x) in self._shapes:
                seen.add(id(x))
                return self._shapes[id(x)][1]
            return None

        specs = pytree.tree_map(shape, arguments_by_name(m, args, kwargs or {}))
        if seen != set(self._shapes):
            raise ValueError(
                "Some tensors that were assigned shapes were not found in args. Maybe such tensors were "
                "copied when passing them as args? Maybe such tensors are contained in classes that were "
                "not registered with pytree?"
            )
        return specs


class AdditionalInputs:
    """Collection of additional example arguments of a program.

    Sizes and ints that differ between the examples become dynamic.
    """

    def __init__(self) -> None:
        self._examples: list[tuple[Any, Any]] = []

    def add(self, args: Any, kwargs: Any = None) -> None:
        """Add example arguments."""
        if type(args) is not tuple:
            raise AssertionError(f"Representation of args tuple expected, got {type(args)}")
        if kwargs is not None and type(kwargs) is not dict:
            raise AssertionError(f"Representation of kwargs dict expected, got {type(kwargs)}")
        self._examples.append((args, kwargs))

    def dynamic_shapes(self, m: Any, args: Any, kwargs: Any = None) -> Any:
        """Return the argument `dynamic_shapes` of `export`, found by comparing `args` with all examples.

        A size or int that differs becomes `Dim.DYNAMIC`. Raise ValueError if other values differ.
        """
        first = arguments_by_name(m, args, kwargs or {})
        others = [arguments_by_name(m, a, k or {}) for a, k in self._examples]

        def shape(x: Any, *more: Any) -> Any:
            if isinstance(x, Tensor):
                sizes = [tuple(y.shape) for y in (x, *more)]
                return tuple(Dim.DYNAMIC if len(set(n)) > 1 else None for n in zip(*sizes, strict=True))
            if type(x) is int and any(y != x for y in more):
                return Dim.DYNAMIC
            if any(y != x for y in more):
                raise ValueError(
                    "The following inputs are found to be different constants, which is not supported: "
                    f"{x}, {more}"
                )
            return None

        return pytree.tree_map(shape, first, *others)

    def verify(self, ep: Any) -> None:
        """Run the program `ep` on all examples. Raise RuntimeError if it does not accept their sizes."""
        from ts.export.argument_checks import check_arguments
        from ts.export.runner import flattened

        module = ep.module()
        for args, kwargs in self._examples:
            check_arguments(ep, flattened(args, kwargs or {}, ep.call_spec.in_spec))
            module(*args, **(kwargs or {}))


Shape = dict[int, Any]


def by_leaf(arguments: Mapping[str, Any], shapes: Any) -> list[Any]:
    """Return a list with the dimension specs of each argument leaf.

    The specs of a tensor are a dictionary (dimension index -> spec). A number has a single spec.
    """
    count = len(pytree.tree_leaves(dict(arguments)))
    if shapes is None or (isinstance(shapes, list | tuple | dict) and not shapes and not count):
        return [None] * count
    if isinstance(shapes, dict):
        if list(shapes) != list(arguments) and set(shapes) != set(arguments):
            names = list(arguments)
            hint = (
                " Since here `inputs` is a list/tuple enclosing a single dict, maybe you just forgot to "
                "enclose `dynamic_shapes` in a list/tuple?"
                if len(names) == 1 and isinstance(arguments[names[0]], dict)
                else " Alternatively, you could also ignore arg names entirely and specify "
                "`dynamic_shapes` as a list/tuple matching `inputs`."
            )
            raise UserError(
                "When `dynamic_shapes` is specified as a dict, its top-level keys must be the arg names "
                f"{names} of `inputs`, but here they are {list(shapes)}.{hint} {_HELP_NOTE}"
            )
        specs = [shapes[name] for name in arguments]
        paths = [f"['{name}']" for name in arguments]
    elif isinstance(shapes, list | tuple):
        specs = list(shapes)
        paths = [f"[{i}]" for i in range(len(arguments))]
        if len(specs) != len(arguments):
            raise _mismatch(
                f"`inputs` has {len(arguments)} elements, but `dynamic_shapes` has {len(specs)} elements"
            )
    else:
        raise AssertionError(f"expected dynamic_shapes to be dict, tuple, or list, got {type(shapes)}")
    leaf_specs: list[Any] = []
    for value, shape, path in zip(arguments.values(), specs, paths, strict=True):
        _visit_specs(value, shape, path, leaf_specs.append)
    _check_names(leaf_specs)
    return leaf_specs


def _mismatch(detail: str) -> UserError:
    return UserError(
        f"Detected mismatch between the structure of `inputs` and `dynamic_shapes`: {detail}\n{_HELP_NOTE}"
    )


def _visit_specs(value: Any, shape: Any, path: str, append: Callable[[Any], None]) -> None:
    kind = type(value)
    node = SUPPORTED_NODES.get(kind) or (SUPPORTED_NODES.get(tuple) if hasattr(value, "_fields") else None)
    if node is None or isinstance(value, Tensor):
        append(_leaf_specs(value, shape, path))
        return
    children = list(value) if hasattr(value, "_fields") else list(node.flatten_fn(value)[0])
    if not isinstance(shape, list | tuple | dict) and type(shape) is not kind:
        raise _mismatch(f"`inputs{path}` is a {kind}, but `dynamic_shapes{path}` is not")
    if isinstance(value, dict):
        if not isinstance(shape, dict):
            raise _mismatch(f"`inputs{path}` is a {kind}, but `dynamic_shapes{path}` is a {type(shape)}")
        if set(shape) != set(value):
            raise _mismatch(
                f"`inputs{path}` has keys {list(value)}, but `dynamic_shapes{path}` has keys {list(shape)}"
            )
        for name, child in value.items():
            _visit_specs(child, shape[name], f"{path}['{name}']", append)
        return
    # The `shape` of a dataclass or another registered container may be a list with one element per child.
    sequence = issubclass(kind, list | tuple)
    if isinstance(shape, dict) or (sequence and isinstance(shape, list | tuple) and type(shape) is not kind):
        raise _mismatch(f"`inputs{path}` is a {kind}, but `dynamic_shapes{path}` is a {type(shape)}")
    child_shapes = list(shape) if isinstance(shape, list | tuple) else list(node.flatten_fn(shape)[0])
    if len(child_shapes) != len(children):
        raise _mismatch(
            f"`inputs{path}` has {len(children)} elements, but `dynamic_shapes{path}` has "
            f"{len(child_shapes)} elements"
        )
    for i, (child, child_shape) in enumerate(zip(children, child_shapes, strict=True)):
        _visit_specs(child, child_shape, f"{path}[{i}]", append)


def _leaf_specs(value: Any, shape: Any, path: str) -> Any:
    if not isinstance(value, Tensor):
        if shape is None or (isinstance(shape, _Hint) and isinstance(value, int)):
            return shape
        if isinstance(value, int) and isinstance(shape, Dim):
            raise ValueError(
                "Unable to specify input integers as dynamic through named Dims. Please use "
                "Dim.AUTO/DYNAMIC instead."
            )
        if isinstance(value, int) and not isinstance(shape, int):
            raise AssertionError(
                f"expected dynamic_shape to be None, int, or _DimHint for _IntWrapper, got {type(shape)}"
            )
        raise UserError(
            f"Cannot associate shape {shape} specified at `dynamic_shapes{path}` to non-tensor type "
            f"{type(value)} at `inputs{path}` (expected None)\n{_HELP_NOTE}"
        )
    if shape is None:
        return {}
    if isinstance(shape, dict):
        items = list(shape.items())
    elif isinstance(shape, list | tuple):
        if len(shape) != value.ndim:
            raise UserError(
                f"Expected dynamic shape spec {shape} specified at `dynamic_shapes{path}` to have the "
                "same length as the "
                f"actual tensor shape {value.shape} (expected {value.ndim}, but got {len(shape)} "
                f"instead)\n{_HELP_NOTE}"
            )
        items = list(enumerate(shape))
    else:
        raise UserError(
            f"Unexpected input {shape} specified at `dynamic_shapes{path}`: expected a dict, list or "
            f"tuple\n{_HELP_NOTE}"
        )
    specs: Shape = {}
    for dim, spec in items:
        if type(dim) is not int:
            raise UserError(
                f"Unexpected key {dim} in dynamic shape spec {shape} specified at `dynamic_shapes{path}`: "
                f"the tensor has {value.ndim} dimensions\n{_HELP_NOTE}"
            )
        if spec is not None and not isinstance(spec, int | Dim | _Hint):
            raise UserError(
                f"Unexpected dimension mapped to index {dim} in input tensor shape {shape} specified at "
                f"`dynamic_shapes{path}` (expected None, an int, a Dim, Dim.AUTO, Dim.STATIC, or "
                f"Dim.DYNAMIC,  but got {spec!r} instead)\n{_HELP_NOTE}"
            )
        # As in PyTorch, a negative or too large index selects no dimension. The size of an int is checked.
        if isinstance(spec, int):
            specs[range(value.ndim)[dim]] = spec
        elif 0 <= dim < value.ndim:
            specs[dim] = spec
    return specs


def _check_names(leaf_specs: list[Any]) -> None:
    """Raise UserError if dimensions with equal names have different ranges."""
    dims_by_name: dict[str, Dim] = {}
    for shape in leaf_specs:
        for spec in shape.values() if isinstance(shape, dict) else ():
            if not isinstance(spec, Dim):
                continue
            root = spec.root
            other = dims_by_name.setdefault(root.__name__, root)
            if (other.min, other.max) != (root.min, root.max):
                raise UserError(
                    f"Found different definitions {_format_dim(other)} and {_format_dim(root)} for the "
                    f"same symbolic dimension {_format_dim(root)}!"
                )


def _format_dim(dim: Dim) -> str:
    return repr(dim)


# ---- refinement by suggested fixes


def refine_dynamic_shapes_from_suggested_fixes(msg: str, dynamic_shapes: Any) -> Any:
    """Return `dynamic_shapes` refined by the `Suggested fixes:` of an export error message.

    Raise UserError if the message has no suggestions, or a suggestion is not an integer, a Dim or a linear
    expression of a Dim.
    """
    match = re.search(r"Suggested fixes:\n((?:[ \t]*\w+ = .*(?:\n|$))+)", msg)
    if match is None:
        raise UserError(
            "Suggested fixes not found in error message given to refine_dynamic_shapes_from_suggested_fixes()"
        )
    fixes = _SuggestedFixParser(
        {name: expression for name, _, expression in (x.partition(" = ") for x in _lines(match[1]))}
    )
    leaves = pytree.tree_leaves(dynamic_shapes)
    fixes.original_dims = {x.root.__name__: x.root for x in leaves if isinstance(x, Dim)}
    return pytree.tree_map(lambda x: fixes.of(x) if isinstance(x, Dim) else x, dynamic_shapes)


def _lines(section: str) -> list[str]:
    return [line.strip() for line in section.splitlines()]


class _SuggestedFixParser:
    """Parser of the `Suggested fixes:` lines of an error message."""

    def __init__(self, fixes: Mapping[str, str]) -> None:
        self.fixes = fixes
        self.original_dims: dict[str, Dim] = {}
        # name of a dimension -> int or Dim that replaces it after all fixes
        self.resolved: dict[str, Any] = {}
        self.reading: list[str] = []

    def of(self, dim: Dim) -> Any:
        """Return the int or Dim that replaces `dim`."""
        if dim.root is dim:
            return self._resolve_name(dim.__name__)
        return self._resolve_name(dim.root.__name__) * dim.factor + dim.offset

    def _resolve_name(self, name: str) -> Any:
        if name not in self.resolved:
            expression = self.fixes.get(name)
            if name in self.reading:
                raise UserError(f"the suggested fixes define {name} in terms of itself")
            self.reading.append(name)
            if expression is None:
                self.resolved[name] = self.original_dims.get(name) or Dim(name)
            else:
                try:
                    self.resolved[name] = self._parse_expression(ast.parse(expression, mode="eval").body)
                except SyntaxError:
                    raise self._parse_error(expression) from None
            self.reading.pop()
        return self.resolved[name]

    def _parse_expression(self, x: ast.expr) -> Any:
        """Parse an integer, a name, `Dim('n', min=2, max=oo)`, or sums and multiples of these terms."""
        match x:
            case ast.Constant(value=int(value)):
                return value
            case ast.Name(id=name):
                return self._resolve_name(name)
            case ast.Call(func=ast.Name(id="Dim"), args=[ast.Constant(value=str(name))], keywords=keywords):
                bounds = {str(k.arg): k.value for k in keywords}
                return Dim(
                    name, min=self._parse_bound(bounds.get("min")), max=self._parse_bound(bounds.get("max"))
                )
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                return self._parse_expression(left) + self._parse_expression(right)
            case ast.BinOp(left=left, op=ast.Sub(), right=right):
                return self._parse_expression(left) - self._parse_expression(right)
            case ast.BinOp(left=left, op=ast.Mult(), right=right):
                return self._parse_expression(left) * self._parse_expression(right)
        raise self._parse_error(ast.unparse(x))

    def _parse_bound(self, x: ast.expr | None) -> int | None:
        """Parse the bound of a range. Return None if the bound is infinite."""
        if x is None or (isinstance(x, ast.Name) and x.id in ("oo", "int_oo")):
            return None
        if isinstance(x, ast.Constant) and type(x.value) is int:
            return x.value
        raise self._parse_error(ast.unparse(x))

    def _parse_error(self, expression: str) -> UserError:
        return UserError(f"cannot read {expression!r} among the suggested fixes")


__getattr__ = names_for(__name__)
