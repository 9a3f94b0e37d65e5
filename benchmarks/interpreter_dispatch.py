"""Benchmark of the interpreter loop with hand-written bytecode, in nanoseconds per instruction.

    python -m benchmarks.interpreter_dispatch

Run it before and after any change to `ts/_core/vm/interp.pyx.in`.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from ts._core.value.spec import SPECS
from ts._core.vm.code import Code
from ts._core.vm.function import Function
from ts.bytecode.opcodes import NUMBER

COUNT = 2_000_000


class Ready(Function):
    """Function of int parameters that has given bytecode instead of compiled code."""

    def __init__(self, code: Code, arguments: int = 1) -> None:
        super().__init__(code.name, [(f"x{i}", SPECS["int"]) for i in range(arguments)])
        self.source = code

    def _prepare(self) -> Code:
        return self.source


def loop(name: str, *body: tuple[object, ...], classes: str = "iiif") -> tuple[Ready, int]:
    """Return a counted loop over `body`: r0 is the limit, r1 the counter; `classes` adds registers."""
    zero = len(classes) + 1
    rows = [("MOVE", 1, zero), *body, ("LOOP_STEP", 1, 1, 0), ("RETURN", 1)]
    instructions = [(NUMBER[str(name)], *rest, *[0] * (3 - len(rest))) for name, *rest in rows]
    return Ready(Code(name, instructions, classes + "ii", 1, [7, 0])), len(body) + 1


def programs() -> list[tuple[Ready, int]]:
    """Return functions with their numbers of instructions per iteration."""
    return [
        loop("empty"),
        loop("add", ("ADD_I64", 2, 2, 1), ("ADD_I64", 2, 2, 0), ("XOR_I64", 2, 2, 1)),
        loop("modulo", ("MOD_I64", 2, 1, 4)),
        loop("float", ("INT_TO_FLOAT", 3, 1), ("MUL_F64", 3, 3, 3), ("ADD_F64", 3, 3, 3)),
        loop("branches", ("AND_I64", 2, 1, 4), ("JUMP_LT_I64", 4, 2, 4), ("MOVE", 2, 4), ("MOVE", 2, 4)),
    ]


def best(run: Callable[[], object], rounds: int = 5) -> float:
    """Return the seconds of the fastest round."""
    seconds = []
    for _ in range(rounds):
        start = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def main() -> None:
    """Print the table of nanoseconds per instruction."""
    for function, instructions in programs():
        nanoseconds = best(lambda f=function: f(COUNT)) / COUNT / instructions * 1e9  # type: ignore[misc]
        print(f"{function.name:12} {nanoseconds:6.2f} ns an instruction")
    identity = Ready(Code("identity", [(NUMBER["RETURN"], 0, 0, 0)], "i", 1))
    nanoseconds = best(lambda: [identity(3) for _ in range(100_000)]) / 100_000 * 1e9
    print(f"{'call':12} {nanoseconds:6.0f} ns from Python, an int in and out")


if __name__ == "__main__":
    main()
