from collections.abc import Callable
from typing import Any

from ts._core.assembler.instruction import Instruction

def optimize(code: list[Instruction], real_registers: list[int]) -> list[Instruction]: ...
def encode(
    code: list[Instruction], real_registers: list[int], stack_of: Callable[[Any], Any]
) -> tuple[list[tuple[int, ...]], list[int], list[Any]]: ...
