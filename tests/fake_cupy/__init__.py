"""A fake CuPy for machines without a GPU, with NumPy arrays as elements.

    with installed():                        `import cupy` and `import cupyx` find the double
        backends.get("cuda")

What code that never ran on a GPU gets wrong is where CuPy differs from NumPy, and that is what the double keeps:

    array.py      no conversion to NumPy, results without dimensions stay arrays, NumPy arrays are no operands,
                  indices out of range wrap around
    functions.py  only the names, parameters and loops that `api.json` says CuPy has (recorded from it by
                  `record_api.py`), singular matrices give NaN, bfloat16 only where CuPy has it
    kernels.py    raw kernels are compiled by the host's C++ compiler and run, thread by thread
    runtime.py    two devices, streams, events, the memory pool
    noting.py     graphs: calls that are noted while a stream is captured, and made again

What it cannot show: CuPy's own mistakes, races, speed.
"""

import sys
from contextlib import contextmanager


def missing():
    """Return the reason why the fake CuPy cannot be used, or None."""
    from tests.fake_cupy.kernels import COMPILER

    return None if COMPILER else "needs a C++ compiler, which runs the kernels of the double of CuPy"


@contextmanager
def installed():
    """Install the fake CuPy and its devices within the context."""
    from tests.fake_cupy.functions import modules
    from ts import backends

    saved = {n: m for n, m in sys.modules.items() if n.partition(".")[0] in ("cupy", "cupyx")}
    for name in saved:
        del sys.modules[name]
    sys.modules.update(modules())
    try:
        yield backends.get("cuda")
    finally:
        backends._loaded.pop("cuda", None)
        for name in list(sys.modules):
            if name.partition(".")[0] in ("cupy", "cupyx") or name.startswith("ts.backends.cuda"):
                del sys.modules[name]
        sys.modules.update(saved)
