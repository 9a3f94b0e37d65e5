"""Conversion of names of parameters and arguments to identifiers of generated code.

Example: the parameter name `layers.a-b.weight` becomes `layers_a_b_weight`.
"""

from __future__ import annotations

import re
from typing import Final

_NO_LETTER: Final = re.compile("[^a-zA-Z0-9_]")


def word(name: str) -> str:
    """Convert a name to an identifier: invalid characters become `_`, and `self` becomes `self_`.

    In generated code, `self` is the module.
    """
    return "self_" if name == "self" else _NO_LETTER.sub("_", name)
