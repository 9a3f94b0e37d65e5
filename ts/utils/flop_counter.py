"""`FlopCounterMode`: count the floating-point operations of matrix products, convolutions and attention.

The example prints a table at the end of the block, and then returns the total number:

    with FlopCounterMode() as counter:
        model(x).sum().backward()
    counter.get_total_flops()

A multiplication and an addition together count as two. Operators without a formula count as 0. Programs add
formulas by `register_flop_formula`. The argument `custom_mapping` adds formulas for one counter.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any

import ts
from ts._core.tensor.tensor import Tensor
from ts.nn.modules.module import (
    Module,
    register_module_forward_hook,
    register_module_forward_pre_hook,
)
from ts.unsupported import names_for
from ts.utils import _pytree as pytree
from ts.utils._python_dispatch import TorchDispatchMode

__all__ = ["FlopCounterMode", "register_flop_formula"]
__getattr__ = names_for(__name__)

aten = ts.ops.aten
Formula = Callable[..., int]
flop_registry: dict[Any, Formula] = {}

suffixes = ["", "K", "M", "B", "T"]


def _shape_of(x: Any) -> Any:
    return x.shape if isinstance(x, Tensor) else x


def _call_with_shapes(formula: Formula) -> Formula:
    @wraps(formula)
    def of_shapes(*args: Any, out_val: Any = None, **kwargs: Any) -> int:
        args, kwargs, out_shape = pytree.tree_map(_shape_of, (args, kwargs, out_val))
        return formula(*args, out_shape=out_shape, **kwargs)

    return of_shapes


def register_flop_formula(targets: Any, get_raw: bool = False) -> Callable[[Formula], Formula]:
    """Register a flop formula for operators.

    It is a function of the shapes of the arguments and of the result's shape, passed as `out_shape`.

    get_raw     True to pass tensors instead of shapes, and `out_val` instead of `out_shape`
    """

    def register(formula: Formula) -> Formula:
        for target in targets if isinstance(targets, Iterable) and not callable(targets) else [targets]:
            if target in flop_registry:
                raise RuntimeError(f"duplicate registrations for {target}")
            flop_registry[target] = formula if get_raw else _call_with_shapes(formula)
        return formula

    return register


# ---------------------------------------------------------------- formulas


@register_flop_formula(aten.mm)
def mm_flop(a_shape: Any, b_shape: Any, *args: Any, out_shape: Any = None, **kwargs: Any) -> int:
    """Return the flops of a matrix product."""
    (m, k), (k2, n) = a_shape, b_shape
    if k != k2:
        raise AssertionError(f"matmul: inner dimensions must match (k == k2), got {k} and {k2}")
    return int(m * n * 2 * k)


@register_flop_formula(aten.addmm)
def addmm_flop(self_shape: Any, a_shape: Any, b_shape: Any, out_shape: Any = None, **kwargs: Any) -> int:
    """Return the flops of the matrix product in `addmm`. The addition is not counted."""
    return mm_flop(a_shape, b_shape)


@register_flop_formula(aten.bmm)
def bmm_flop(a_shape: Any, b_shape: Any, out_shape: Any = None, **kwargs: Any) -> int:
    """Return the flops of a batched matrix product."""
    (b, m, k), (b2, k2, n) = a_shape, b_shape
    if b != b2 or k != k2:
        raise AssertionError(f"bmm: batch and inner dimensions must match, got {a_shape} and {b_shape}")
    return int(b * m * n * 2 * k)


@register_flop_formula(aten.baddbmm)
def baddbmm_flop(self_shape: Any, a_shape: Any, b_shape: Any, out_shape: Any = None, **kwargs: Any) -> int:
    """Return the flops of the matrix products in `baddbmm`. The addition is not counted."""
    return bmm_flop(a_shape, b_shape)


def conv_flop_count(x_shape: Any, w_shape: Any, out_shape: Any, transposed: bool = False) -> int:
    """Return the flops of a convolution of an input of `x_shape` with filters of `w_shape`."""
    batch, (c_out, c_in, *filter_size) = x_shape[0], w_shape
    output_sizes = (x_shape if transposed else out_shape)[2:]
    return int(math.prod(output_sizes) * math.prod(filter_size) * batch * c_out * c_in * 2)


@register_flop_formula([aten.convolution, aten._convolution])
def conv_flop(
    x_shape: Any, w_shape: Any, _bias: Any, _stride: Any, _padding: Any, _dilation: Any, transposed: bool,
    *args: Any, out_shape: Any = None, **kwargs: Any,
) -> int:  # fmt: skip
    """Return the flops of a convolution operator."""
    return conv_flop_count(x_shape, w_shape, out_shape, transposed=transposed)


@register_flop_formula(aten.convolution_backward)
def conv_backward_flop(
    grad_out_shape: Any, x_shape: Any, w_shape: Any, _bias: Any, _stride: Any, _padding: Any, _dilation: Any,
    transposed: bool, _output_padding: Any, _groups: Any, output_mask: Any, out_shape: Any = None,
    **kwargs: Any,
) -> int:  # fmt: skip
    """Return the flops of the gradients of a convolution for input and weight."""
    count = 0
    if output_mask[0]:
        count += conv_flop_count(grad_out_shape, w_shape, out_shape[0], not transposed)
    if output_mask[1]:
        x, weight = (grad_out_shape, x_shape) if transposed else (x_shape, grad_out_shape)
        count += conv_flop_count(
            _swap_first_dims(x), _swap_first_dims(weight), _swap_first_dims(out_shape[1]), False
        )
    return count


def _swap_first_dims(shape: Any) -> list[int]:
    return [shape[1], shape[0], *shape[2:]]


def sdpa_flop_count(query_shape: Any, key_shape: Any, value_shape: Any) -> int:
    """Return the flops of scaled dot product attention: two batched matrix products."""
    b, h, s_q, d_q = query_shape
    s_k, d_v = key_shape[-2], value_shape[-1]
    return bmm_flop((b * h, s_q, d_q), (b * h, d_q, s_k)) + bmm_flop((b * h, s_q, s_k), (b * h, s_k, d_v))


# ---------------------------------------------------------------- numbers as text


def get_suffix_str(number: float) -> str:
    """Return the suffix for a number: "K" from 5 digits on, "M" from 8 digits on, and so forth."""
    digits = len(str(number))
    return suffixes[max(0, min(len(suffixes) - 1, (digits - 2) // 3))]


def convert_num_with_suffix(number: float, suffix: str) -> str:
    """Format a number with a suffix: (17552, "K") is "17.552K"."""
    power = suffixes.index(suffix)
    return str(number) if power == 0 else f"{number / 1000**power:.3f}{suffix}"


def convert_to_percent_str(num: float, denom: float) -> str:
    """Format `num / denom` as a percentage."""
    return "0%" if denom == 0 else f"{num / denom:.2%}"


def _table(header: list[str], rows: list[list[str]]) -> str:
    """Format a table with a rule below the header. The first column is left-aligned."""
    cells = [[cell.strip() for cell in row] for row in rows]
    widths = [
        max(len(title) + 2, *(len(row[k]) for row in cells)) for k, title in enumerate(header)
    ]  # column widths as in the package `tabulate`

    def line(row: list[str]) -> str:
        first, *others = zip(row, widths, strict=True)
        return "  ".join([first[0].ljust(first[1]), *(cell.rjust(width) for cell, width in others)]).rstrip()

    return "\n".join([line(header), "  ".join("-" * width for width in widths), *map(line, cells)])


# ---------------------------------------------------------------- stack of running modules


class _RunningModules:
    """Stack of the names of running modules (`Net`, `Net.layers.0`), above the bottom entry "Global"."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.registered: dict[int, tuple[Module, str]] = {}
        self.handles: list[Any] = []

    def __enter__(self) -> _RunningModules:
        self.handles = [
            register_module_forward_pre_hook(self._begin),
            register_module_forward_hook(self._pop_module, always_call=True),
        ]
        return self

    def __exit__(self, *error: object) -> None:
        for handle in self.handles:
            handle.remove()
        self.names.clear()

    def parents(self) -> set[str]:
        """Return "Global" and the names of the modules that run."""
        return {"Global", *self.names}

    def _begin(self, module: Module, inputs: Any) -> None:
        if id(module) not in self.registered:
            root = type(module).__name__
            for path, each in module.named_modules():
                self.registered.setdefault(id(each), (each, f"{root}.{path}" if path else root))
        self.names.append(self.registered[id(module)][1])

    def _pop_module(self, module: Module, inputs: Any, result: Any) -> None:
        self.names.pop()


class FlopCounterMode:
    """Context manager that counts the flops of operators inside its `with` block.

        mods            ignored, as in PyTorch
        depth           maximum depth of modules in the table, or None for no limit
        display         True to print the table when the block ends
        custom_mapping  dict from operator to formula

    Formulas receive shapes. A formula with an attribute `_get_raw` receives tensors instead.
    """

    def __init__(
        self,
        mods: Any = None,
        depth: int | None = 2,
        display: bool = True,
        custom_mapping: dict[Any, Formula] | None = None,
    ) -> None:
        self.depth = 999999 if depth is None else depth
        self.display = display
        self.mode: Any = None
        self.flop_counts: dict[str, dict[Any, int]] = defaultdict(lambda: defaultdict(int))
        self.mod_tracker = _RunningModules()
        custom = {
            k: v if getattr(v, "_get_raw", False) else _call_with_shapes(v)
            for k, v in (custom_mapping or {}).items()
        }
        self.flop_registry = {**flop_registry, **custom}

    def get_total_flops(self) -> int:
        """Return the total number of flops."""
        return sum(self.flop_counts["Global"].values())

    def get_flop_counts(self) -> dict[str, dict[Any, int]]:
        """Return the flops by module name and operator. "Global" contains all modules."""
        return {name: dict(counts) for name, counts in self.flop_counts.items()}

    def get_table(self, depth: int | None = None) -> str:
        """Return a table of flops by module and operator, with their percentage of the total."""
        depth = self.depth if depth is None else depth
        total = self.get_total_flops()
        unit = get_suffix_str(total)
        rows: list[list[str]] = []
        # True if all operators ran within one module. The row of this module then already contains the total
        has_whole = False

        def add(name: str) -> None:
            nonlocal has_whole
            counts = self.flop_counts[name]
            entries = [(name, sum(counts.values())), *((f"- {op}", n) for op, n in counts.items())]
            has_whole |= entries[0][1] >= total
            for label, n in entries:
                rows.append([label, convert_num_with_suffix(n, unit), convert_to_percent_str(n, total)])

        for name in sorted(self.flop_counts):
            if name != "Global" and name.count(".") < depth:
                add(name)
        if "Global" in self.flop_counts and not has_whole:
            inner = rows[:]
            rows.clear()
            add("Global")
            rows += inner
        return _table(["Module", "FLOP", "% Total"], rows or [["Global", "0", "0%"]])

    def __enter__(self) -> FlopCounterMode:
        self.flop_counts.clear()
        self.mod_tracker.__enter__()
        self.mode = _FlopCounterMode(self)
        self.mode.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self.mode.__exit__(*error)
        self.mode = None
        self.mod_tracker.__exit__()
        if self.display:
            print(self.get_table(self.depth))

    def _count_flops(self, func: Any, out: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        formula = self.flop_registry.get(func)
        if formula is not None:
            count = formula(*args, **kwargs, out_val=out)
            for name in self.mod_tracker.parents():
                self.flop_counts[name][func] += count
        return out


class _FlopCounterMode(TorchDispatchMode):
    def __init__(self, counter: FlopCounterMode) -> None:
        super().__init__()
        self.counter = counter

    def __torch_dispatch__(
        self, func: Any, types: tuple[type, ...], args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        kwargs = kwargs or {}
        return self.counter._count_flops(func.overloadpacket, func(*args, **kwargs), args, kwargs)
