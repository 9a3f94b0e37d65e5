"""Prologue of counted loops: the iteration limit by budget, and hoisted bounds checks.

    %base.9        the budget at entry plus the counter's first value: base - counter is the budget left
    %limit.9       the counter value at which the loop stops: its bound, or where the budget ends
    %turn.9        number of the iteration, for loops whose step is not one
    %items.9.0     address of the items of the list in r0

Indices are computed with 128 bits at both ends of their range (`steady`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ts.bytecode.native.steady import Holder, Line, Steady, Steps, Sum

if TYPE_CHECKING:
    from ts.bytecode.native.writer import Writer

_SMALL: Final = 1 << 61  # sums and differences of two such ints cannot overflow


def enter(w: Writer, end: int, steady: Steady | None, turn: int) -> str:
    """Emit the prologue of the loop that ends at `end`; return the condition that all indices are valid.

    Returns "" if no checks are hoisted. `turn` is 0 to start at the current counter value, 1 at the next.
    """
    if steady is not None and steady.steps is not None:
        return _enter_by_steps(w, steady, steady.steps, turn)
    _, _, counter, bound = w.code.instructions[end]
    left, first, last = w.new("load i64, ptr %left"), w.value(counter), w.value(bound)
    w.do(f"store i64 {w.new(f'add i64 {left}, {first}')}, ptr %base.{end}")
    limit = _saturated(w, first, w.new(f"add i64 {left}, 1"))
    limit = w.new(f"call i64 @llvm.smin.i64(i64 {limit}, i64 {last})")
    w.do(f"store i64 {limit}, ptr %limit.{end}")
    if steady is None:
        return ""
    return _items_are_there(w, steady, w.new(f"add i64 {first}, {turn}"), w.new(f"add i64 {limit}, -1"))


def _enter_by_steps(w: Writer, steady: Steady, steps: Steps, turn: int) -> str:
    """Emit the prologue of a loop with a general step, whose number of iterations is computed first.

    The jump that enters at a loop's end starts iteration 0; the counter has that iteration's value already.
    """
    first, last, step = w.value(steps.counter), w.value(steps.bound), w.value(steps.step)
    if steps.taken_away:
        step = w.new(f"sub i64 0, {step}")
    holds = "true"
    for x in (first, last, step):
        near = w.new(f"add i64 {x}, {_SMALL}")
        holds = w.new(f"and i1 {holds}, {w.new(f'icmp ult i64 {near}, {2 * _SMALL}')}")
    up, down = w.new(f"sub i64 {last}, {first}"), w.new(f"sub i64 {first}, {last}")
    if steps.relation == "NE":
        falls = w.new(f"icmp slt i64 {step}, 0")
        way = w.new(f"select i1 {falls}, i64 {down}, i64 {up}")
        pace = w.new(f"select i1 {falls}, i64 {w.new(f'sub i64 0, {step}')}, i64 {step}")
    else:
        falling = steps.relation in ("GT", "GE")
        way, pace = (down, w.new(f"sub i64 0, {step}")) if falling else (up, step)
        if steps.relation in ("LE", "GE"):
            way = w.new(f"add i64 {way}, 1")
    for x in (pace, way):
        holds = w.new(f"and i1 {holds}, {w.new(f'icmp sgt i64 {x}, 0')}")
    divisor = w.new(f"select i1 {holds}, i64 {pace}, i64 1")
    if steps.relation == "NE":
        turns = w.new(f"sdiv i64 {way}, {divisor}")
        whole = w.new(f"icmp eq i64 {w.new(f'mul i64 {turns}, {divisor}')}, {way}")
        holds = w.new(f"and i1 {holds}, {whole}")
    else:
        turns = w.new(f"sdiv i64 {w.new(f'add i64 {way}, {divisor}')}, {divisor}")
        exact = w.new(f"icmp eq i64 {w.new(f'srem i64 {way}, {divisor}')}, 0")
        turns = w.new(f"sub i64 {turns}, {w.new(f'zext i1 {exact} to i64')}")
    base = w.new(f"sub i64 {w.new('load i64, ptr %left')}, {turn}")
    limit = w.new(f"call i64 @llvm.smin.i64(i64 {turns}, i64 {_saturated(w, base, '1')})")
    for name, value in (("base", base), ("limit", limit), ("turns", turns), ("turn", f"{-turn}")):
        w.do(f"store i64 {value}, ptr %{name}.{steady.end}")
    past = w.new(f"mul i64 {w.new(f'add i64 {limit}, -1')}, {step}")
    there = _items_are_there(w, steady, first, w.new(f"add i64 {first}, {past}"))
    return w.new(f"and i1 {holds}, {there}")


def _saturated(w: Writer, x: str, y: str) -> str:
    return w.new(f"call i64 @llvm.sadd.sat.i64(i64 {x}, i64 {y})")


def _items_are_there(w: Writer, steady: Steady, first: str, last: str) -> str:
    """Emit the hoisted bounds checks for counter values `first` to `last`; return their conjunction."""
    ends = [_wide(w, x) for x in (first, last)]
    sizes: dict[Holder, str] = {}
    for items in steady.lists:
        x = w.object(items)
        w.do(f"store ptr {w.field(x, 'items', 'ptr')}, ptr %items.{steady.end}.{items}")
        sizes[items] = _wide(w, w.field(x, "size", "i64"))
    for seen, k in steady.lengths:
        sizes[seen, k] = _wide(w, w.new(f"load i64, ptr {seen.name(f'size{k}')}"))
    holds = "true"
    for holder, line in _distinct(steady):
        for counter in ends if line.slope else ends[:1]:
            index = _on(w, line, counter)
            holds = w.new(f"and i1 {holds}, {w.new(f'icmp ult i128 {index}, {sizes[holder]}')}")
    return holds


def _distinct(steady: Steady) -> list[tuple[Holder, Line]]:
    """Return the distinct indices of a loop."""
    found: list[tuple[Holder, Line]] = []
    for asked in steady.lines.values():
        if asked not in found:
            found.append(asked)
    return found


def _on(w: Writer, line: Line, counter: str) -> str:
    """Emit the value of an affine index for a counter value, in 128 bits."""
    index = _total(w, line.offset)
    if line.slope:
        index = w.new(f"add i128 {index}, {w.new(f'mul i128 {_total(w, line.slope)}, {counter}')}")
    return index


def _total(w: Writer, sum: Sum) -> str:
    total = "0"
    for register, factor in sum.items():
        term = str(factor)
        if register >= 0:
            term = w.new(f"mul i128 {_wide(w, w.value(register))}, {factor}")
        total = w.new(f"add i128 {total}, {term}")
    return total


def _wide(w: Writer, x: str) -> str:
    return w.new(f"sext i64 {x} to i128")
