"""Whether `ts.jit.script(fn, example_inputs=...)` can observe types of examples: always.

PyTorch needs the package MonkeyType for that, and programs ask this switch before they give examples.
"""

from __future__ import annotations

from typing import Final

_IS_MONKEYTYPE_INSTALLED: Final = True
