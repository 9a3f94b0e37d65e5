"""PyTorch's flag for `jit.script(fn, example_inputs=...)`, which is always True in `ts`.

In PyTorch, the flag is False if the package MonkeyType is not installed. Programs test the flag before they
pass `example_inputs`.
"""

from __future__ import annotations

from typing import Final

_IS_MONKEYTYPE_INSTALLED: Final = True
