"""Record the API of CuPy: `python -m tests.fake_cupy.record_api` in an environment with CuPy (no GPU needed).

Out: `api.json` in the same folder: names per module, parameters of functions, loops of ufuncs as type
characters (bfloat16 is E), and the names of `cupy.ndarray`.  The fake has exactly these, and a kernel that
uses any other name fails.
"""

import ast
import importlib
import importlib.util
import inspect
import json
from pathlib import Path

MODULES = (
    "cupy", "cupy.linalg", "cupy.fft", "cupy.lib.stride_tricks", "cupy.cuda", "cupy.cuda.runtime", "cupyx",
    "cupyx.scipy.special", "cupyx.scipy.linalg", "cupyx.scipy.fft", "cupyx.scipy.signal", "cupyx.scipy.ndimage",
)  # fmt: skip
HIDDEN_UFUNCS = {"where": ("cupy._sorting.search", "_where_ufunc"), "clip": ("cupy._core._routines_math", "clip")}


def parameters(function):
    """Return the parameter names, or None if they are unknown or unrestricted."""
    try:
        found = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    if any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in found):
        return None
    return [p.name for p in found]


def documented_parameters(method):
    """Return the parameter names of a Cython method from the first line of its docstring."""
    head = (method.__doc__ or "").partition("\n")[0]
    if "(" not in head:
        return None
    inner = head[head.index("(") + 1 : head.rindex(")")]
    if "*" in inner:
        return None
    names = [part.partition("=")[0].split()[-1] for part in inner.split(",") if part.strip()]
    return [n for n in names if n != "self"]


def described(name, x):
    if name in HIDDEN_UFUNCS:
        module, hidden = HIDDEN_UFUNCS[name]
        found = getattr(importlib.import_module(module), hidden)
        return {"function": parameters(x), "types": list(found.types)}
    if hasattr(x, "types") and not isinstance(x, type):
        return {"types": list(x.types)}
    if callable(x) and not isinstance(x, type):
        return {"function": parameters(x)}
    return {}


def public_names(module):
    """Return the public names of a module, from its source if its import needs CUDA libraries."""
    try:
        found = importlib.import_module(module)
        return {n: described(n, getattr(found, n)) for n in dir(found) if not n.startswith("_")}
    except (ImportError, AttributeError):
        tree = ast.parse(Path(importlib.util.find_spec(module).origin).read_text())
        imported = [a for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for a in node.names]
        return {a.asname or a.name: {"function": None} for a in imported}


def record():
    import cupy

    methods = {n: getattr(cupy.ndarray, n) for n in dir(cupy.ndarray)}
    return {
        "version": cupy.__version__,
        "modules": {module: public_names(module) for module in MODULES},
        "ndarray": {n: documented_parameters(m) if callable(m) else None for n, m in methods.items()},
    }


if __name__ == "__main__":
    target = Path(__file__).with_name("api.json")
    lines = json.dumps(record(), separators=(",", ":")).replace('},"', '},\n"')
    target.write_text(lines + "\n")
    print(f"{target}: {target.stat().st_size} bytes")
