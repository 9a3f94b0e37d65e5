"""A fake CuPy for machines without a GPU, with NumPy arrays as elements.

    with installed():                        `import cupy` and `import cupyx` return the fakes
        backends.get("cuda")

The fake reproduces the differences between CuPy and NumPy, which untested code tends to violate:

    array.py      no conversion to NumPy, 0-dim results are arrays, NumPy arrays are rejected as operands,
                  out-of-range indices wrap around
    functions.py  only the names, parameters and ufunc loops of CuPy that `api.json` lists (written by
                  `record_api.py`), NaN for singular matrices, no bfloat16 in functions for which CuPy lacks it
    kernels.py    raw kernels are compiled by the host's C++ compiler and run thread by thread
    runtime.py    two devices, streams, events, the memory pool
    graph_capture.py  graphs: calls recorded during a stream capture and repeated by `launch`

It does not reproduce bugs of CuPy, data races or execution times.
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
    from tests.fake_cupy import array
    from tests.fake_cupy.functions import modules
    from ts import backends

    saved = {n: m for n, m in sys.modules.items() if n.partition(".")[0] in ("cupy", "cupyx", "cupy_backends")}
    for name in saved:
        del sys.modules[name]
    sys.modules.update(modules())
    used = array.default_pool.allocations
    try:
        yield backends.get("cuda")
        assert array.default_pool.allocations == used, "memory of `ts` is allocated from CuPy's default pool"
    finally:
        backends._loaded.pop("cuda", None)
        for name in list(sys.modules):
            if name.partition(".")[0] in ("cupy", "cupyx", "cupy_backends") or name.startswith("ts.backends.cuda"):
                del sys.modules[name]
        sys.modules.update(saved)
