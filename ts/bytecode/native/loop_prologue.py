"""Loop preheader (the code before a counted loop), with its trip count and hoisted bounds checks.

The code sets these variables for a loop that ends at instruction 9:

    %limit.9       counter value at which the loop stops, or at which the budget is used up
    %base.9        budget at entry plus the first counter value
    %iteration.9   number of the current iteration, for loops whose step is not one
    %items.9.0     address of the items of the list in register 0

The remaining budget is always %base.9 minus the counter. A hoisted check computes the index in the first and
in the last iteration, with 128 bits to avoid overflow (`bounds_check_elimination`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ts.bytecode.native.bounds_check_elimination import AffineIndex, HoistableChecks, Holder, LoopStep, Sum

if TYPE_CHECKING:
    from ts.bytecode.native.ir_builder import FunctionBuilder

# the sum and the difference of two ints with smaller absolute values do not overflow
_NO_OVERFLOW_LIMIT: Final = 1 << 61


def enter(w: FunctionBuilder, end: int, loop: HoistableChecks | None, iteration: int) -> str:
    """Emit the prologue of the loop that ends at `end`. Return the condition that all indices are valid.

    The condition is "" if no checks are hoisted. `iteration` is 0 if the loop starts at its first
    instruction. It is 1 if the loop starts at its LOOP instruction, which first increments the counter.
    """
    if loop is not None and loop.steps is not None:
        return _enter_stepped_loop(w, loop, loop.steps, iteration)
    _, _, counter, bound = w.code.instructions[end]
    left, first, last = w.emit_value("load i64, ptr %left"), w.value(counter), w.value(bound)
    w.emit(f"store i64 {w.emit_value(f'add i64 {left}, {first}')}, ptr %base.{end}")
    limit = _saturating_add(w, first, w.emit_value(f"add i64 {left}, 1"))
    limit = w.emit_value(f"call i64 @llvm.smin.i64(i64 {limit}, i64 {last})")
    w.emit(f"store i64 {limit}, ptr %limit.{end}")
    if loop is None:
        return ""
    return _emit_bounds_checks(
        w, loop, w.emit_value(f"add i64 {first}, {iteration}"), w.emit_value(f"add i64 {limit}, -1")
    )


def _enter_stepped_loop(w: FunctionBuilder, loop: HoistableChecks, steps: LoopStep, iteration: int) -> str:
    """Emit the prologue of a loop with any step: it computes the number of iterations first.

    If the loop starts at its LOOP instruction (`iteration` is 1), this instruction begins iteration 0. The
    counter already has the value of iteration 0.
    """
    first, last, increment = w.value(steps.counter), w.value(steps.bound), w.value(steps.step)
    if steps.is_subtracted:
        increment = w.emit_value(f"sub i64 0, {increment}")
    condition = "true"
    for x in (first, last, increment):
        shifted = w.emit_value(f"add i64 {x}, {_NO_OVERFLOW_LIMIT}")
        condition = w.emit_value(
            f"and i1 {condition}, {w.emit_value(f'icmp ult i64 {shifted}, {2 * _NO_OVERFLOW_LIMIT}')}"
        )
    up, down = w.emit_value(f"sub i64 {last}, {first}"), w.emit_value(f"sub i64 {first}, {last}")
    if steps.relation == "NE":
        falls = w.emit_value(f"icmp slt i64 {increment}, 0")
        distance = w.emit_value(f"select i1 {falls}, i64 {down}, i64 {up}")
        stride = w.emit_value(
            f"select i1 {falls}, i64 {w.emit_value(f'sub i64 0, {increment}')}, i64 {increment}"
        )
    else:
        is_decreasing = steps.relation in ("GT", "GE")
        distance, stride = (
            (down, w.emit_value(f"sub i64 0, {increment}")) if is_decreasing else (up, increment)
        )
        if steps.relation in ("LE", "GE"):
            distance = w.emit_value(f"add i64 {distance}, 1")
    for x in (stride, distance):
        condition = w.emit_value(f"and i1 {condition}, {w.emit_value(f'icmp sgt i64 {x}, 0')}")
    divisor = w.emit_value(f"select i1 {condition}, i64 {stride}, i64 1")
    if steps.relation == "NE":
        iterations = w.emit_value(f"sdiv i64 {distance}, {divisor}")
        is_multiple = w.emit_value(
            f"icmp eq i64 {w.emit_value(f'mul i64 {iterations}, {divisor}')}, {distance}"
        )
        condition = w.emit_value(f"and i1 {condition}, {is_multiple}")
    else:
        iterations = w.emit_value(f"sdiv i64 {w.emit_value(f'add i64 {distance}, {divisor}')}, {divisor}")
        exact = w.emit_value(f"icmp eq i64 {w.emit_value(f'srem i64 {distance}, {divisor}')}, 0")
        iterations = w.emit_value(f"sub i64 {iterations}, {w.emit_value(f'zext i1 {exact} to i64')}")
    base = w.emit_value(f"sub i64 {w.emit_value('load i64, ptr %left')}, {iteration}")
    limit = w.emit_value(f"call i64 @llvm.smin.i64(i64 {iterations}, i64 {_saturating_add(w, base, '1')})")
    for name, value in (
        ("base", base),
        ("limit", limit),
        ("iterations", iterations),
        ("iteration", f"{-iteration}"),
    ):
        w.emit(f"store i64 {value}, ptr %{name}.{loop.end}")
    past = w.emit_value(f"mul i64 {w.emit_value(f'add i64 {limit}, -1')}, {increment}")
    valid = _emit_bounds_checks(w, loop, first, w.emit_value(f"add i64 {first}, {past}"))
    return w.emit_value(f"and i1 {condition}, {valid}")


def _saturating_add(w: FunctionBuilder, x: str, y: str) -> str:
    return w.emit_value(f"call i64 @llvm.sadd.sat.i64(i64 {x}, i64 {y})")


def _emit_bounds_checks(w: FunctionBuilder, loop: HoistableChecks, first: str, last: str) -> str:
    """Emit the hoisted bounds checks for counter values `first` to `last`.

    Return the condition that all hold.
    """
    bounds = [_sign_extend(w, x) for x in (first, last)]
    sizes: dict[Holder, str] = {}
    for items in loop.lists:
        x = w.object(items)
        w.emit(f"store ptr {w.field(x, 'items', 'ptr')}, ptr %items.{loop.end}.{items}")
        sizes[items] = _sign_extend(w, w.field(x, "size", "i64"))
    for tensor, k in loop.lengths:
        sizes[tensor, k] = _sign_extend(w, w.emit_value(f"load i64, ptr {tensor.name(f'size{k}')}"))
    condition = "true"
    for holder, line in _distinct_indices(loop):
        for counter in bounds if line.slope else bounds[:1]:
            index = _affine_value(w, line, counter)
            condition = w.emit_value(
                f"and i1 {condition}, {w.emit_value(f'icmp ult i128 {index}, {sizes[holder]}')}"
            )
    return condition


def _distinct_indices(loop: HoistableChecks) -> list[tuple[Holder, AffineIndex]]:
    """Return the indices of a loop without duplicates."""
    distinct: list[tuple[Holder, AffineIndex]] = []
    # a set cannot be used, because the indices contain dicts, which are not hashable
    for entry in loop.indices.values():
        if entry not in distinct:
            distinct.append(entry)
    return distinct


def _affine_value(w: FunctionBuilder, line: AffineIndex, counter: str) -> str:
    """Emit the value of the affine index `line` for the value `counter`, in 128 bits."""
    index = _sum_value(w, line.offset)
    if line.slope:
        index = w.emit_value(
            f"add i128 {index}, {w.emit_value(f'mul i128 {_sum_value(w, line.slope)}, {counter}')}"
        )
    return index


def _sum_value(w: FunctionBuilder, sum: Sum) -> str:
    total = "0"
    for register, factor in sum.items():
        term = str(factor)
        if register >= 0:
            term = w.emit_value(f"mul i128 {_sign_extend(w, w.value(register))}, {factor}")
        total = w.emit_value(f"add i128 {total}, {term}")
    return total


def _sign_extend(w: FunctionBuilder, x: str) -> str:
    return w.emit_value(f"sext i64 {x} to i128")
