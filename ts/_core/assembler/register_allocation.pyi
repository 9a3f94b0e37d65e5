from ts._core.assembler.instruction import Instruction

def allocate_registers(
    code: list[Instruction], classes: str, parameters: int, constants: set[int], strings: set[int]
) -> tuple[list[int], str]: ...
