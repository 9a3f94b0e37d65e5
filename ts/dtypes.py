"""Element types: PyTorch's dtype objects with ScalarType codes and NumPy dtypes.

Input: a name, a code or a NumPy dtype. Output: the unique dtype object.

    >>> from ts import dtypes
    >>> dtypes.float32, dtypes.float32.code, dtypes.float32.numpy_dtype
    (torch.float32, 6, dtype('float32'))
    >>> dtypes.from_numpy_dtype("int64") is dtypes.int64 is dtypes.BY_CODE[4]
    True

The codes are PyTorch's `ScalarType` numbers, as stored in graphs and archives and used by kernels.
bfloat16, 8-bit floats and complex32 are dtypes of `ml_dtypes`, not of NumPy.  As its import is slow,
it is deferred to the first use of `bfloat16.numpy_dtype`.
This module imports nothing of `ts`, so that every stage may import it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, final

import numpy as np


@final
class dtype:
    """Element type of tensors. Each type is a unique object, compared with `is`."""

    __slots__ = (
        "category",
        "code",
        "is_complex",
        "is_floating_point",
        "is_signed",
        "itemsize",
        "name",
        "numpy_dtype",
        "type_name",
    )

    numpy_dtype: np.dtype[Any]

    def __init__(
        self, name: str, code: int, numpy_type: Any, category: int, type_name: str, itemsize: int = 0
    ) -> None:
        self.name: Final = name
        self.code: Final = code  # number of the dtype in PyTorch's enum ScalarType
        if numpy_type is not None:  # otherwise `ml_dtypes` defines the dtype, which is set at its first use
            self.numpy_dtype = np.dtype(numpy_type)
        # 0 bool, 1 integral, 2 floating, 3 complex. Type promotion selects the higher category.
        self.category: Final = category
        self.type_name: Final = type_name  # "Float" as in `FloatTensor` and in graph text
        self.itemsize: Final = itemsize or self.numpy_dtype.itemsize
        self.is_floating_point: Final = category == FLOATING
        self.is_complex: Final = category == COMPLEX
        self.is_signed: Final = (
            name != "float8_e8m0fnu" if category >= FLOATING else self.numpy_dtype.kind == "i"
        )

    def __getattr__(self, name: str) -> Any:
        if name != "numpy_dtype":
            raise AttributeError(f"'dtype' object has no attribute '{name}'")
        _load_ml_dtypes((complex32,) if self is complex32 else _OTHERS)
        return self.numpy_dtype

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    @property
    def abbr(self) -> str:
        """Short name, such as f32, i64 or b8."""
        if self.name.startswith("bf"):
            return "bf16"
        if self.itemsize == 1 and self.is_floating_point:
            return self.name.replace("float8_", "f8")
        return f"{self.name[0]}{self.itemsize * 8}"

    def __hash__(self) -> int:
        return self.code

    def __reduce__(self) -> tuple[Any, ...]:
        return by_name, (self.name,)

    def __copy__(self) -> dtype:
        return self

    def __deepcopy__(self, memo: object) -> dtype:
        return self

    def to_real(self) -> dtype:
        """Return the real type of the parts of a complex type, or any other type unchanged."""
        return TO_REAL.get(self, self)

    def to_complex(self) -> dtype:
        """Return the complex type whose real and imaginary parts have this type."""
        if self.is_complex:
            return self
        if self not in TO_COMPLEX:
            raise RuntimeError(f"Unknown Complex ScalarType for {self.type_name}")
        return TO_COMPLEX[self]


BOOLEAN, INTEGRAL, FLOATING, COMPLEX = range(4)

uint8 = dtype("uint8", 0, np.uint8, INTEGRAL, "Byte")
int8 = dtype("int8", 1, np.int8, INTEGRAL, "Char")
int16 = short = dtype("int16", 2, np.int16, INTEGRAL, "Short")
int32 = dtype("int32", 3, np.int32, INTEGRAL, "Int")
int64 = long = dtype("int64", 4, np.int64, INTEGRAL, "Long")
float16 = half = dtype("float16", 5, np.float16, FLOATING, "Half")
float32 = dtype("float32", 6, np.float32, FLOATING, "Float")
float64 = double = dtype("float64", 7, np.float64, FLOATING, "Double")
complex32 = chalf = dtype("complex32", 8, None, COMPLEX, "ComplexHalf", itemsize=4)
complex64 = cfloat = dtype("complex64", 9, np.complex64, COMPLEX, "ComplexFloat")
complex128 = cdouble = dtype("complex128", 10, np.complex128, COMPLEX, "ComplexDouble")
bool_ = dtype("bool", 11, np.bool_, BOOLEAN, "Bool")
bfloat16 = dtype("bfloat16", 15, None, FLOATING, "BFloat16", itemsize=2)
float8_e5m2 = dtype("float8_e5m2", 23, None, FLOATING, "Float8_e5m2", itemsize=1)
float8_e4m3fn = dtype("float8_e4m3fn", 24, None, FLOATING, "Float8_e4m3fn", itemsize=1)
float8_e5m2fnuz = dtype("float8_e5m2fnuz", 25, None, FLOATING, "Float8_e5m2fnuz", itemsize=1)
float8_e4m3fnuz = dtype("float8_e4m3fnuz", 26, None, FLOATING, "Float8_e4m3fnuz", itemsize=1)
uint16 = dtype("uint16", 27, np.uint16, INTEGRAL, "UInt16")
uint32 = dtype("uint32", 28, np.uint32, INTEGRAL, "UInt32")
uint64 = dtype("uint64", 29, np.uint64, INTEGRAL, "UInt64")
float8_e8m0fnu = dtype("float8_e8m0fnu", 44, None, FLOATING, "Float8_e8m0fnu", itemsize=1)

# 8-bit floating-point types, which few operators support.
FLOAT8: Final = (float8_e5m2, float8_e4m3fn, float8_e5m2fnuz, float8_e4m3fnuz, float8_e8m0fnu)

ALL: Final = (
    uint8, int8, int16, int32, int64, float16, float32, float64, complex64, complex128, bool_, bfloat16,
    uint16, uint32, uint64, *FLOAT8, complex32,
)  # fmt: skip
# As in PyTorch, type promotion combines these unsigned types only with floating types.
_BAREBONES_UNSIGNED: Final = (uint16, uint32, uint64)
BY_CODE: Final[dict[int, dtype]] = {d.code: d for d in ALL}
TO_REAL: Final = {complex32: float16, complex64: float32, complex128: float64}
TO_COMPLEX: Final = {float16: complex32, bfloat16: complex64, float32: complex64, float64: complex128}

# All names of dtypes in the package, including aliases such as `ts.float` and `ts.int`.
NAMES: Final[dict[str, dtype]] = {
    **{d.name: d for d in ALL},
    "short": int16, "int": int32, "long": int64, "half": float16, "float": float32, "double": float64,
    "chalf": complex32, "cfloat": complex64, "cdouble": complex128,
}  # fmt: skip
ML_DTYPES: Final = (bfloat16, *FLOAT8, complex32)  # NumPy dtypes that `ml_dtypes` defines
NUMPY_DTYPES: Final = tuple(d for d in ALL if d not in ML_DTYPES)
_BY_NUMPY: Final[dict[np.dtype[Any], dtype]] = {d.numpy_dtype: d for d in NUMPY_DTYPES}
# functions that add a dtype of `ml_dtypes`, when it is first used, to a table with NumPy dtypes as keys
_registration_callbacks: list[Callable[[dtype, np.dtype[Any]], object]] = []
_ml_numpy_dtypes: dict[dtype, np.dtype[Any]] = {}
_BY_PYTHON: Final[dict[Any, dtype]] = {bool: bool_, int: int64, float: float64, complex: complex128}


def by_name(name: str) -> dtype:
    """Return the dtype with a name of PyTorch, such as "float32" or "float"."""
    return NAMES[name]


def from_numpy_dtype(numpy_dtype: Any) -> dtype:
    """Return the dtype for a NumPy dtype. Raise PyTorch's TypeError if it is not supported."""
    torch_dtype = _BY_NUMPY.get(np.dtype(numpy_dtype))
    if torch_dtype is None:
        _load_ml_dtypes((complex32,) if np.dtype(numpy_dtype).name == complex32.name else _OTHERS)
        torch_dtype = _BY_NUMPY.get(np.dtype(numpy_dtype))
    if torch_dtype is None:
        raise no_dtype_of(np.dtype(numpy_dtype))
    return torch_dtype


def no_dtype_of(numpy_dtype: np.dtype[Any]) -> TypeError:
    """Return PyTorch's error for an array whose dtype is not supported."""
    kind = numpy_dtype.type
    return TypeError(
        f"can't convert np.ndarray of type {kind.__module__}.{kind.__name__}. The only "
        "supported types are: float64, float32, float16, complex64, complex128, int64, int32, int16, int8, "
        "uint64, uint32, uint16, uint8, and bool."
    )


def is_bfloat16(numpy_dtype: Any) -> bool:
    """Return True if a NumPy dtype is bfloat16. Return False before that dtype has been loaded."""
    return _BY_NUMPY.get(np.dtype(numpy_dtype)) is bfloat16


def is_float8(numpy_dtype: Any) -> bool:
    """Return True if a NumPy dtype is an 8-bit float."""
    return _BY_NUMPY.get(np.dtype(numpy_dtype)) in FLOAT8


def is_complex32(numpy_dtype: Any) -> bool:
    """Return True if a NumPy dtype is complex32."""
    return _BY_NUMPY.get(np.dtype(numpy_dtype)) is complex32


def register_ml_dtype_callback(enter: Callable[[dtype, np.dtype[Any]], object]) -> None:
    """Register `enter(dtype, numpy_dtype)`, which is called once for each dtype that `ml_dtypes` defines.

    It is called when the dtype is loaded, and may add the dtype to a table with NumPy dtypes as keys.
    """
    _registration_callbacks.append(enter)
    for d, numpy_dtype in _ml_numpy_dtypes.items():
        enter(d, numpy_dtype)


def register_bfloat16_callback(enter: Callable[[np.dtype[Any]], object]) -> None:
    """Register `enter(numpy_dtype)`, which is called when the NumPy dtype of bfloat16 is loaded."""
    register_ml_dtype_callback(lambda d, numpy_dtype: enter(numpy_dtype) if d is bfloat16 else None)


# complex32 is not loaded with the other dtypes, because creating its NumPy dtype issues a warning
_OTHERS: Final = tuple(d for d in ML_DTYPES if d is not complex32)


def _load_ml_dtypes(requested: tuple[dtype, ...]) -> None:
    global _ml_numpy_dtypes
    import ml_dtypes

    numpy_dtypes = {d: np.dtype(getattr(ml_dtypes, d.name)) for d in requested}
    # set first: `register_ml_dtype_callback` passes these dtypes to callbacks that are registered later
    _ml_numpy_dtypes = _ml_numpy_dtypes | numpy_dtypes
    for enter in _registration_callbacks:
        for d in requested:
            enter(d, numpy_dtypes[d])
    for d in requested:
        _BY_NUMPY[numpy_dtypes[d]] = d
        d.numpy_dtype = numpy_dtypes[d]


def as_dtype(x: Any) -> dtype:
    """Convert a `dtype=` argument to a dtype: a dtype, ScalarType code, `int`, `float` or `bool`."""
    if isinstance(x, dtype):
        return x
    if isinstance(x, int) and not isinstance(x, bool):
        return BY_CODE[x]
    if isinstance(x, type) and x in _BY_PYTHON:
        return _BY_PYTHON[x]
    raise TypeError(f"dtype must be a torch.dtype, not {type(x).__name__}")


def promote(a: dtype, b: dtype) -> dtype:
    """Return the promoted dtype: that of the higher category, or NumPy's result within a category.

    The categories are bool, integers, floating-point and complex numbers, in ascending order.
    """
    if a is b:
        return a
    if a in FLOAT8 or b in FLOAT8:
        raise RuntimeError(
            "Promotion for Float8 Types is not supported, attempted to promote "
            f"{a.type_name} and {b.type_name}"
        )
    if (
        a.category <= INTEGRAL
        and b.category <= INTEGRAL
        and (a in _BAREBONES_UNSIGNED or b in _BAREBONES_UNSIGNED)
    ):
        raise RuntimeError(
            "Promotion for uint16, uint32, uint64 types is not supported, attempted to promote "
            f"{a.type_name} and {b.type_name}"
        )
    if a.category != b.category:
        low, high = (a, b) if a.category < b.category else (b, a)
        return promote(high, TO_COMPLEX[low]) if high.is_complex and low.is_floating_point else high
    if complex32 in (a, b):
        return b if a is complex32 else a
    if {a, b} == {float16, bfloat16}:
        return float32
    if bfloat16 in (a, b):
        return b if a is bfloat16 else a
    return _BY_NUMPY[np.promote_types(a.numpy_dtype, b.numpy_dtype)]


_default = float32


def get_default_dtype() -> dtype:
    """Return the default floating-point dtype.

    It is used for Python floats and for integers that an operator converts to floats.
    """
    return _default


def set_default_dtype(d: dtype) -> None:
    """Set the default floating-point dtype."""
    global _default
    if not isinstance(d, dtype):
        raise TypeError("invalid dtype object: only floating-point types are supported as the default type")
    if not d.is_floating_point:
        raise TypeError("only floating-point types are supported as the default type")
    if d in FLOAT8:
        raise TypeError(f"couldn't find storage object {d.type_name}Storage")
    _default = d


# default argument of `finfo`. It is not None, because `finfo(None)` is an error.
_DEFAULT_TYPE: Final = object()


def _read_type(function: str, type: Any) -> dtype:
    """Return the dtype for an argument of `finfo` or `iinfo`: a dtype or a Python number type."""
    d = type if isinstance(type, dtype) else _BY_PYTHON.get(type) if callable(type) else None
    if d is None:
        actual = type.__class__.__name__
        raise TypeError(f"{function}(): argument 'type' (position 1) must be torch.dtype, not {actual}")
    return d


class finfo:
    """Limits of a floating-point type, or of the parts of a complex type, as in `torch.finfo`."""

    def __init__(self, type: Any = _DEFAULT_TYPE) -> None:
        d = get_default_dtype() if type is _DEFAULT_TYPE else _read_type("finfo", type)
        if not (d.is_floating_point or d.is_complex):
            raise TypeError(
                "torch.finfo() requires a floating point input type. Use torch.iinfo to handle 'torch.finfo'"
            )
        real = d.to_real()
        info = _ml_dtypes_finfo(real) if real in ML_DTYPES else np.finfo(real.numpy_dtype)
        self.dtype: str = real.name
        self.bits: int = real.itemsize * 8
        self.eps, self.max, self.min = float(info.eps), float(info.max), float(info.min)
        self.tiny = self.smallest_normal = float(info.smallest_normal)
        self.resolution = float(f"1e-{int(info.precision)}")
        if real in FLOAT8:  # as in PyTorch: 1 means no exact digit, and eps of e5m2fnuz is halved
            self.resolution = 1.0
            self.eps = self.eps / 2 if real is float8_e5m2fnuz else self.eps

    def __repr__(self) -> str:
        names = ("resolution", "min", "max", "eps", "smallest_normal", "tiny")
        values = ", ".join(f"{name}={getattr(self, name):g}" for name in names)
        return f"finfo({values}, dtype={self.dtype})"


def _ml_dtypes_finfo(real: dtype) -> Any:
    import ml_dtypes

    return ml_dtypes.finfo(real.numpy_dtype)  # type: ignore[no-untyped-call]


class iinfo:
    """Limits of an integer type, as in `torch.iinfo`."""

    def __init__(self, type: Any) -> None:
        type = _read_type("iinfo", type)
        if type.category > INTEGRAL:
            raise TypeError(
                "torch.iinfo() requires an integer input type. Use torch.finfo to handle 'torch.iinfo'"
            )
        if type is bool_:
            raise TypeError("torch.bool is not supported by torch.iinfo")
        info = np.iinfo(type.numpy_dtype)
        self.dtype: str = type.name
        self.bits, self.max, self.min = int(info.bits), int(info.max), int(info.min)

    def __repr__(self) -> str:
        return f"iinfo(min={self.min:g}, max={self.max:g}, dtype={self.dtype})"


class _Enumerated:
    """Base class of layouts and memory formats: named constants with integer codes."""

    __slots__ = ("code", "name")

    def __init__(self, name: str, code: int) -> None:
        self.name = name
        self.code = code

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    def __reduce__(self) -> str:
        return self.name


class layout(_Enumerated):
    """Memory layout of a tensor: `strided`, `sparse_coo`, `sparse_csr` or `sparse_csc`."""


class memory_format(_Enumerated):
    """Order of the dimensions of a tensor in memory."""


strided = layout("strided", 0)
# Layouts of sparse tensors. Block layouts (`sparse_bsr`, `sparse_bsc`) are not supported.
sparse_coo, sparse_csr, sparse_csc, sparse_bsr, sparse_bsc = (
    layout(f"sparse_{kind}", code)
    for kind, code in (("coo", 1), ("csr", 2), ("csc", 4), ("bsr", 5), ("bsc", 6))
)
LAYOUTS = {x.code: x for x in (strided, sparse_coo, sparse_csr, sparse_csc, sparse_bsr, sparse_bsc)}
contiguous_format = memory_format("contiguous_format", 0)
preserve_format = memory_format("preserve_format", 1)
channels_last = memory_format("channels_last", 2)
channels_last_3d = memory_format("channels_last_3d", 3)
MEMORY_FORMATS = (contiguous_format, preserve_format, channels_last, channels_last_3d)  # index: code

# Name of a default value in a schema -> value. In `aten::mse_loss(..., int reduction=Mean)`, `Mean` is 1. The
# numbers of dtypes, layouts, memory formats and reductions are PyTorch's.
DEFAULT_NAMES: Final[dict[str, Any]] = {
    "None": None,
    "True": True,
    "False": False,
    "none": 0,
    "Mean": 1,
    "Sum": 2,
    "contiguous_format": 0,
    "preserve_format": 1,
    "channels_last": 2,
    "strided": 0,
    "int": 3,
    "long": 4,
    "float": 6,
    "double": 7,
    "bool": 11,
    **{d.name: d.code for d in ALL},
}
