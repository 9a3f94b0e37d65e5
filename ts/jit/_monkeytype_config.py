"""PyTorch's flag for `jit.script(fn, example_inputs=...)`, which is always True.

In PyTorch, the flag tells whether the package MonkeyType, which infers types from examples, is installed.
Programs test the flag before they pass `example_inputs`.
"""

from __future__ import annotations

from typing import Final

_IS_MONKEYTYPE_INSTALLED: Final = True
