"""Overloads of Python operator symbols: `x & y` is recorded as `aten.__and__`.

The function call `ts.bitwise_and(x, y)` is recorded as `aten.bitwise_and`. Tracers receive both as calls of
`bitwise_and`. The current bytecode instruction of the program distinguishes the two.
"""

from __future__ import annotations

import dis
import sys
from typing import Final

# Name of a special method without underscores -> operator that `ts` calls for it: `x & y` calls
# `bitwise_and`. `OPERATOR_SYMBOLS` maps the called operators to the operators that exports record, such as
# `aten::__and__`.
_NAMES: Final = {
    "and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor",
    "lshift": "bitwise_left_shift", "rshift": "bitwise_right_shift",
}  # fmt: skip
OPERATOR_SYMBOLS: Final = {f"aten::{name}": f"aten::__{sign}__" for sign, name in _NAMES.items()} | {
    f"aten::{name}_": f"aten::__i{sign}__" for sign, name in _NAMES.items()
}
IN_PLACE_SIGNS: Final = {f"aten::__i{sign}__": f"aten::__{sign}__" for sign in _NAMES}
# Modules of function mode handlers. Frames of these modules may be between the frame of the program and that
# of the operator.
_HANDLERS: Final = frozenset(("ts.export.node_metadata", "ts._core.dispatch.modes"))
_BINARY: Final = dis.opmap["BINARY_OP"]


def is_sign(depth: int) -> bool:
    """Return True if a frame executes an operator symbol such as `&`, and False if it executes a call.

    The frame is `depth` frames above the caller. Frames of function mode handlers are not counted.
    """
    frame = sys._getframe(depth + 1)
    while frame.f_globals.get("__name__") in _HANDLERS and frame.f_back is not None:
        frame = frame.f_back
    return frame.f_code.co_code[frame.f_lasti] == _BINARY


__all__ = ["IN_PLACE_SIGNS", "OPERATOR_SYMBOLS", "is_sign"]
