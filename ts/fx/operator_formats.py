"""Formats of Python operators in generated code, by the names of functions in the module `operator`.

Each line shows an expression and its value:

    magic_methods["add"].format("x", "1")          "x + 1"
    inplace_methods["iadd"].format("x", "1")       "x += 1"
"""

from __future__ import annotations

from typing import Final

# Operators with a reflected method: if the left operand does not support `+`, Python calls `__radd__` of the
# right operand.
reflectable_magic_methods: Final = {
    "add": "{} + {}", "sub": "{} - {}", "mul": "{} * {}", "floordiv": "{} // {}", "truediv": "{} / {}",
    "div": "{} / {}", "mod": "{} % {}", "pow": "{} ** {}", "lshift": "{} << {}", "rshift": "{} >> {}",
    "and_": "{} & {}", "or_": "{} | {}", "xor": "{} ^ {}", "getitem": "{}[{}]", "matmul": "{} @ {}",
}  # fmt: skip
magic_methods: Final = {
    "eq": "{} == {}", "ne": "{} != {}", "lt": "{} < {}", "gt": "{} > {}", "le": "{} <= {}", "ge": "{} >= {}",
    "pos": "+{}", "neg": "-{}", "invert": "~{}", **reflectable_magic_methods,
}  # fmt: skip
inplace_methods: Final = {
    "iadd": "{} += {}", "iand": "{} &= {}", "ifloordiv": "{} //= {}", "ilshift": "{} <<= {}",
    "imod": "{} %= {}", "imul": "{} *= {}", "imatmul": "{} @= {}", "ior": "{} |= {}", "ipow": "{} **= {}",
    "irshift": "{} >>= {}", "isub": "{} -= {}", "itruediv": "{} /= {}", "ixor": "{} ^= {}",
    "setitem": "{}[{}] = {}",
}  # fmt: skip
