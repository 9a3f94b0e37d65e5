"""PyTorch's flag for `jit.script(fn, example_inputs=...)`, which is always True.

PyTorch needs the package MonkeyType to observe the types of examples, so programs test this flag first.
"""

from __future__ import annotations

from typing import Final

_IS_MONKEYTYPE_INSTALLED: Final = True
