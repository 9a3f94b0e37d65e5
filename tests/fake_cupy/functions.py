"""The modules `cupy` and `cupyx`: functions of NumPy and SciPy under CuPy's names, with CuPy's restrictions.

A name that `api.json` does not list is missing here, too.  A ufunc uses the first of CuPy's loops that its
operands can be cast to, a function accepts CuPy's parameters only, and both reject NumPy arrays.
"""

import threading
import types
from contextlib import contextmanager

import ml_dtypes
import numpy as np

from tests.fake_cupy import cublas, kernels, graph_capture, runtime
from tests.fake_cupy.array import API, ndarray, check_operand, unwrap, view, wrap

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
CHARACTERS = {"E": BFLOAT16}

# Functions without a bfloat16 kernel in CuPy.
NO_BFLOAT16 = {
    "sort", "argsort", "partition", "argpartition", "unique", "searchsorted", "cumsum", "cumprod", "histogram",
    "bincount", "lexsort", "matmul", "dot", "tensordot", "einsum", "inner", "outer", "vdot", "isin", "digitize",
    "quantile", "median", "nanmedian", "convolve", "kron",
}  # fmt: skip
CREATION_FUNCTIONS = {"array", "asarray", "ascontiguousarray", "asfortranarray"}  # functions that accept NumPy arrays
HOST_ARGUMENTS = {"triu_indices", "tril_indices", "result_type", "can_cast", "broadcast_shapes", "finfo", "iinfo", "pad"}
VIEWS = {
    "reshape", "transpose", "swapaxes", "moveaxis", "expand_dims", "squeeze", "broadcast_to", "diagonal", "ravel",
    "permute_dims", "split", "array_split", "atleast_1d", "atleast_2d", "atleast_3d", "broadcast_arrays", "diag",
    "rollaxis", "matrix_transpose", "as_strided", "asarray", "flip", "flipud", "fliplr", "rot90", "real", "imag",
    "hsplit", "vsplit", "dsplit", "sliding_window_view",
}  # fmt: skip

_settings = threading.local()


@contextmanager
def errstate(divide=None, over=None, under=None, invalid=None, linalg=None, fallback_mode=None):
    """Fake `cupyx.errstate`, which selects whether singular matrices raise an error."""
    before = getattr(_settings, "linalg", None)
    _settings.linalg = linalg
    try:
        yield
    finally:
        _settings.linalg = before


def dtype_of(character):
    return CHARACTERS.get(character) or np.dtype(character)


def check_dtype(name, arrays):
    if name in NO_BFLOAT16 and any(isinstance(x, ndarray) and x.dtype == BFLOAT16 for x in arrays):
        raise TypeError(f"cupy.{name} has no kernel for bfloat16")


class Ufunc:
    """Fake `cupy.ufunc`: CuPy's loops, computed by NumPy."""

    def __init__(self, name, loops, function):
        self.__name__ = name
        self.name = f"cupy_{name}"
        self.types = loops
        self._loops = [
            ([dtype_of(c) for c in loop.partition("->")[0]], [dtype_of(c) for c in loop.partition("->")[2]])
            for loop in loops
        ]
        self._function = function
        self.nin = len(self._loops[0][0])

    def _loop(self, operands):
        given = [x.dtype for x in operands if isinstance(x, (ndarray, np.generic))]
        dtypes = [x.dtype if isinstance(x, (ndarray, np.generic)) else _weak(x, given) for x in operands]
        for in_types, out_types in self._loops:
            if all(_can_cast(d, t) for d, t in zip(dtypes, in_types)):
                return in_types, out_types
        raise TypeError(f"Wrong type ({dtypes}) of arguments for {self.name}")

    @graph_capture.record_calls
    def __call__(self, *operands, out=None, dtype=None, casting=None):
        operands, rest = operands[: self.nin], operands[self.nin :]
        out = rest[0] if rest else out
        for x in operands:
            if not isinstance(x, (ndarray, int, float, complex, np.generic)):
                check_operand(x)
                raise TypeError(f"Unsupported type {type(x)} for {self.name}")
        if len({x._memory.device_id for x in operands if isinstance(x, ndarray)}) > 1:
            raise ValueError(f"{self.name}: arrays of different devices")
        in_types, out_types = self._loop(operands)
        cast = [np.asarray(unwrap(x)).astype(t) for x, t in zip(operands, in_types)]
        with np.errstate(all="ignore"):
            result = self._function(*cast)
        result = result if isinstance(result, tuple) else (result,)
        results = tuple(wrap(np.asarray(m).astype(dtype or g)) for m, g in zip(result, out_types))
        if out is not None:
            if not np.can_cast(results[0].dtype, out.dtype, "same_kind") and BFLOAT16 not in (
                results[0].dtype, out.dtype
            ):
                raise TypeError(f"output (typecode '{results[0].dtype.char}') could not be coerced")
            out._host[...] = results[0]._host
            return out
        return results if len(out_types) > 1 else results[0]

    @graph_capture.record_calls
    def at(self, a, indices, b=None):
        if self.__name__ not in ("add", "subtract", "maximum", "minimum", "bitwise_and", "bitwise_or", "bitwise_xor"):
            raise NotImplementedError(f"`{self.name}.at` is not supported yet")
        atomic = {"int32", "int64", "uint32", "uint64", "float32", "float64"}
        if a.dtype.name not in (atomic | {"float16"} if self.__name__ == "add" else atomic):
            raise TypeError(f"cupy.{self.__name__}.at only supports {atomic}")
        getattr(np, self.__name__).at(a._host, a._key(indices), unwrap(check_operand(b)))

    @graph_capture.record_calls
    def reduce(self, array, axis=0, dtype=None, out=None, keepdims=False):
        if self.__name__ not in ("add", "multiply"):
            raise NotImplementedError(f"`{self.name}.reduce` is not supported yet")
        return wrap(getattr(np, self.__name__).reduce(array._host, axis, dtype, None, keepdims))

    @graph_capture.record_calls
    def accumulate(self, array, axis=0, dtype=None, out=None):
        if self.__name__ not in ("add", "multiply"):
            raise NotImplementedError(f"`{self.name}.accumulate` is not supported yet")
        return wrap(getattr(np, self.__name__).accumulate(array._host, axis, dtype))

    @graph_capture.record_calls
    def reduceat(self, array, indices, axis=0, dtype=None, out=None):
        if self.__name__ != "add" or array.dtype == BFLOAT16:
            raise NotImplementedError(f"`{self.name}.reduceat` is not supported yet")
        return wrap(np.add.reduceat(array._host, unwrap(check_operand(indices)), axis, dtype))


def _can_cast(source, target):
    if BFLOAT16 in (source, target):
        return source == target or (source == BFLOAT16 and target.kind in "fc" and target.itemsize > 2) or (
            target == BFLOAT16 and source.kind in "b"
        )
    return np.can_cast(source, target)


def _weak(number, given):
    """Return the dtype of a Python number among arrays, which only contributes its category (int, float, complex)."""
    if not given:
        return np.asarray(number).dtype
    if all(d == BFLOAT16 for d in given):
        return np.dtype(np.complex64) if isinstance(number, complex) else BFLOAT16
    common = np.result_type(*[np.float32 if d == BFLOAT16 else d for d in given])
    return np.result_type(common, number)


class Function:
    """Fake function of CuPy with CuPy's parameters."""

    def __init__(self, module, name, parameters, function, loops=None):
        self.__name__, self.__module__ = name, module
        self._parameters, self._function = parameters, function
        self._ufunc = Ufunc(name, loops, function) if loops else None

    @graph_capture.record_calls
    def __call__(self, *args, **kwargs):
        if self._parameters is not None:
            if set(kwargs) - set(self._parameters):
                raise TypeError(f"{self.__module__}.{self.__name__}() got unexpected {set(kwargs) - set(self._parameters)}")
            if len(args) > len(self._parameters):
                raise TypeError(f"{self.__module__}.{self.__name__}() takes {self._parameters}")
        everything = [*args, *kwargs.values()]
        if self.__name__ not in HOST_ARGUMENTS:
            for x in flat(everything):
                if isinstance(x, np.ndarray):
                    raise TypeError(f"{self.__module__}.{self.__name__}() was given an array of NumPy's")
        check_dtype(self.__name__, flat(everything))
        if self.__name__ in SYNCHRONIZING:
            graph_capture.check_not_capturing()
        if self._ufunc is not None and all(isinstance(x, (ndarray, int, float, complex)) for x in args):
            return self._ufunc(*args, **kwargs)
        given = [unwrap(x) for x in args]
        named = {k: unwrap(v) for k, v in kwargs.items()}
        with np.errstate(all="ignore"):
            try:
                result = self._function(*given, **named)
            except np.linalg.LinAlgError:
                if getattr(_settings, "linalg", None) == "raise" or self.__name__ not in MAY_BE_SINGULAR:
                    raise
                result = np.full_like(given[0], np.nan)
        return self._wrapped(result, everything)

    def _wrapped(self, result, given):
        if self.__name__ in VIEWS:
            source = next((x for x in flat(given) if isinstance(x, ndarray)), None)
            if isinstance(result, (list, tuple)):
                return type(result)(self._wrapped(m, given) for m in result)
            if source is not None and isinstance(result, np.ndarray) and np.shares_memory(result, source._host):
                return source if result is source._host else view(source, result)
        return wrap(result)


SYNCHRONIZING = {"nonzero", "flatnonzero", "argwhere", "unique", "bincount", "histogram", "isin", "extract", "compress"}
MAY_BE_SINGULAR = {"inv", "solve", "cholesky", "det", "slogdet", "svd", "eigh", "eigvalsh", "qr"}


def flat(xs):
    for x in xs:
        if isinstance(x, (list, tuple)):
            yield from flat(x)
        else:
            yield x


# ---------------------------------------------------------------------------------------- differences from NumPy


@graph_capture.record_calls
def array(obj, dtype=None, copy=True, order="K", subok=False, ndmin=0, *, blocking=False):
    assert graph_capture.current() is None or isinstance(obj, ndarray), "a graph would read memory of the host that is reused"
    host = unwrap(obj)
    if isinstance(host, (list, tuple)) and any(isinstance(x, np.ndarray) and x.ndim for x in flat(host)):
        host = np.stack(host) if all(x.shape == host[0].shape for x in host) else host
    result = np.array(host, dtype=dtype, copy=copy or None, order=order or "K", ndmin=ndmin)
    if isinstance(obj, ndarray) and result is obj._host and obj._memory.device_id == runtime.current():
        return obj
    return wrap(result.copy(order="K") if isinstance(obj, np.ndarray) and result is obj else result)


def asarray(a, dtype=None, order=None, *, blocking=False):
    return array(a, dtype, copy=False, order=order)


def empty(shape, dtype=float, order="C"):
    return ndarray(shape, dtype, order=order)


@graph_capture.record_calls
def ascontiguousarray(a, dtype=None):
    result = np.ascontiguousarray(unwrap(a), dtype)
    return a if isinstance(a, ndarray) and result is a._host else wrap(result)


def asnumpy(a, stream=None, order="C", out=None, *, blocking=True):
    return a.get(order=order, out=out) if isinstance(a, ndarray) else np.asarray(a, order=order)


def solve(a, b):
    """Fake `cupy.linalg.solve`, which does not broadcast batch dimensions."""
    if b.ndim == 1:
        b = np.broadcast_to(b, a.shape[:-1])
        return np.linalg.solve(a, b[..., None])[..., 0]
    if a.shape[:-1] != b.shape[:-1]:
        raise ValueError("a must have (..., M, M) shape and b must have (..., M, K) for multidimensional b")
    return np.linalg.solve(a, b)


def nonzero(a):
    if a.ndim == 0:
        raise ValueError("Calling nonzero on 0d arrays is not allowed.")
    return np.nonzero(a)


def take(a, indices, axis=None, out=None):
    """Fake `cupy.take`, which wraps out-of-range indices around."""
    return np.take(a, indices, axis, out, mode="wrap")


def take_along_axis(a, indices, axis):
    """Fake `cupy.take_along_axis`, which wraps out-of-range indices around."""
    length = a.size if axis is None else a.shape[axis]
    return np.take_along_axis(a, indices % length if length else indices, axis)


OVERRIDES = {"solve": solve, "nonzero": nonzero, "take": take, "take_along_axis": take_along_axis}


# ---------------------------------------------------------------------------------------- modules


def _module(name, source, extra):
    result = types.ModuleType(name)
    result.__path__ = []
    for public, about in API["modules"].get(name, {}).items():
        found = OVERRIDES.get(public) or getattr(source, public, None)
        if found is None:
            continue
        if "function" in about:
            result.__dict__[public] = Function(name, public, about["function"], found, about.get("types"))
        elif "types" in about:
            result.__dict__[public] = Ufunc(public, about["types"], found)
        elif not isinstance(found, types.ModuleType):
            result.__dict__[public] = found  # a dtype, a constant, an exception
    result.__dict__.update(extra)
    return result


def modules():
    """Return the modules of the fake CuPy by import name."""
    return MODULES


def _scipy(part):
    import importlib

    return importlib.import_module(f"scipy.{part}")


linalg = _module("cupy.linalg", np.linalg, {"LinAlgError": np.linalg.LinAlgError})
fft = _module("cupy.fft", np.fft, {})
stride_tricks = _module("cupy.lib.stride_tricks", np.lib.stride_tricks, {})
lib = types.ModuleType("cupy.lib")
lib.stride_tricks = stride_tricks
cuda = runtime.module()
NAMESPACE = _module("cupy", np, {
    "ndarray": ndarray, "array": array, "asarray": asarray, "ascontiguousarray": ascontiguousarray,
    "asnumpy": asnumpy, "empty": empty, "linalg": linalg, "fft": fft, "lib": lib, "cuda": cuda, "RawKernel": kernels.RawKernel,
    "RawModule": kernels.RawModule, "get_default_memory_pool": runtime.get_default_memory_pool,
    "get_default_pinned_memory_pool": runtime.get_default_pinned_memory_pool, "ufunc": Ufunc,
})  # fmt: skip
special = _module("cupyx.scipy.special", _scipy("special"), {})
scipy_linalg = _module("cupyx.scipy.linalg", _scipy("linalg"), {})
scipy_fft = _module("cupyx.scipy.fft", _scipy("fft"), {})
scipy_module = types.ModuleType("cupyx.scipy")
scipy_module.__dict__.update(special=special, linalg=scipy_linalg, fft=scipy_fft, __path__=[])
cupyx = types.ModuleType("cupyx")
cupyx.__dict__.update(scipy=scipy_module, errstate=errstate, empty_pinned=runtime.empty_pinned, __path__=[])

MODULES = {
    "cupy": NAMESPACE, "cupy.linalg": linalg, "cupy.fft": fft, "cupy.lib": lib,
    "cupy.lib.stride_tricks": stride_tricks, "cupy.cuda": cuda, "cupyx": cupyx, "cupyx.scipy": scipy_module,
    **cublas.modules(), "cupyx.scipy.special": special, "cupyx.scipy.linalg": scipy_linalg, "cupyx.scipy.fft": scipy_fft,
}  # fmt: skip
