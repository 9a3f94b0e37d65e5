"""Element types: PyTorch's dtype objects and their properties.

    >>> from ts import dtypes
    >>> dtypes.float32, dtypes.float32.code, dtypes.float32.numpy_dtype
    (torch.float32, 6, dtype('float32'))
    >>> dtypes.from_numpy_dtype("int64") is dtypes.int64 is dtypes.BY_CODE[4]
    True

The codes are PyTorch's `ScalarType` numbers. NumPy lacks bfloat16, narrow floats and complex32, so
`ml_dtypes` provides these types. It is imported at their first use. This module imports no other module of
`ts`, so every module may import it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, final

import numpy as np

_SCALAR_TYPES: Final = """
    Byte Char Short Int Long Half Float Double ComplexHalf ComplexFloat ComplexDouble Bool QInt8 QUInt8 QInt32
    BFloat16 QUInt4x2 QUInt2x4 Bits1x8 Bits2x4 Bits4x2 Bits8 Bits16 Float8_e5m2 Float8_e4m3fn Float8_e5m2fnuz
    Float8_e4m3fnuz UInt16 UInt32 UInt64 UInt1 UInt2 UInt3 UInt4 UInt5 UInt6 UInt7
    Int1 Int2 Int3 Int4 Int5 Int6 Int7 Float8_e8m0fnu Float4_e2m1fn_x2
"""
# Names of PyTorch's scalar types, indexed by code, as in `FloatTensor` and in graph text.
SCALAR_TYPE_NAMES: Final = _SCALAR_TYPES.split()

# Categories. Type promotion takes the higher one.
BOOLEAN, INTEGRAL, FLOATING, COMPLEX = range(4)

# Operators that have kernels for a dtype. FULL: all. BAREBONES: all, but the dtype has no storage class and
# type promotion with other integers is an error. UPCAST: all, by computing in float32 and rounding the
# result. NARROW: few.
FULL, BAREBONES, UPCAST, NARROW = range(4)

BY_CODE: Final[dict[int, dtype]] = {}  # all dtypes


@final
class dtype:
    """Element type of tensors. Each type is a unique object, compared with `is`."""

    __slots__ = (
        "category",
        "code",
        "compute",
        "cpp_names",
        "digits",
        "has_infinity",
        "is_complex",
        "is_floating_point",
        "is_of_ml_dtypes",
        "is_packed",
        "is_signed",
        "itemsize",
        "kernel_set",
        "name",
        "numpy_dtype",
        "pt2_code",
        "real",
        "safetensors_name",
        "type_name",
    )

    numpy_dtype: np.dtype[Any]

    def __init__(
        self,
        name: str,
        code: int,
        category: int,
        kernel_set: int = FULL,
        *,
        pt2: int | None = None,
        safetensors: str | None = None,
        cpp: tuple[str, str] | None = None,
        digits: int = 0,
        real: dtype | None = None,
        compute: dtype | None = None,
        ml_itemsize: int = 0,
        is_signed: bool = True,
        has_infinity: bool = True,
        is_packed: bool = False,
    ) -> None:
        self.name: Final = name
        self.code: Final = code  # number of the dtype in PyTorch's enum ScalarType
        self.is_of_ml_dtypes: Final = ml_itemsize > 0
        # a dtype of `ml_dtypes` gets the attribute `numpy_dtype` when it is first used
        if not ml_itemsize:
            self.numpy_dtype = np.dtype(name)
        self.category: Final = category
        self.kernel_set: Final = kernel_set
        self.type_name: Final = SCALAR_TYPE_NAMES[code]
        self.itemsize: Final = ml_itemsize or self.numpy_dtype.itemsize
        self.is_floating_point: Final = category == FLOATING
        self.is_complex: Final = category == COMPLEX
        self.is_signed: Final = is_signed if category >= FLOATING else self.numpy_dtype.kind == "i"
        self.real: Final = real or self  # dtype of the parts of a complex number
        self.compute: Final = compute or self  # dtype to which kernels convert the elements
        self.digits: Final = digits  # significant bits of a float
        self.has_infinity: Final = has_infinity and category >= FLOATING
        self.is_packed: Final = is_packed  # an element is a byte with several numbers, and is not converted
        self.pt2_code: Final = pt2  # number in archives of exported programs
        self.safetensors_name: Final = safetensors
        # two names of the C++ type in PyTorch's messages: in source code (`int64_t`), and in compiler output
        self.cpp_names: Final = cpp or (f"c10::{self.type_name}",) * 2
        BY_CODE[code] = self

    def __getattr__(self, name: str) -> Any:
        if name != "numpy_dtype":
            raise AttributeError(f"'dtype' object has no attribute '{name}'")
        _load(self)
        return self.numpy_dtype

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    @property
    def abbr(self) -> str:
        """Short name, such as f32, i64 or b8."""
        if self.name.startswith("bf"):
            return "bf16"
        if self.is_floating_point and self.is_narrow:
            return self.name.replace("float", "f").replace("_", "")
        return f"{self.name[0]}{self.itemsize * 8}"

    @property
    def is_narrow(self) -> bool:
        """True for dtypes that few operators support."""
        return self.kernel_set == NARROW

    @property
    def has_storage_class(self) -> bool:
        """True for dtypes with a class such as `FloatStorage`."""
        return self.kernel_set in (FULL, UPCAST)

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
        return self.real

    def to_complex(self) -> dtype:
        """Return the complex type whose real and imaginary parts have this type."""
        if self.is_complex:
            return self
        if self not in TO_COMPLEX:
            raise RuntimeError(f"Unknown Complex ScalarType for {self.type_name}")
        return TO_COMPLEX[self]


bool_ = dtype("bool", 11, BOOLEAN, pt2=12, safetensors="BOOL", cpp=("bool", "bool"))
uint8 = dtype("uint8", 0, INTEGRAL, pt2=1, safetensors="U8", cpp=("uint8_t", "unsigned char"))
int8 = dtype("int8", 1, INTEGRAL, pt2=2, safetensors="I8", cpp=("int8_t", "signed char"))
int16 = short = dtype("int16", 2, INTEGRAL, pt2=3, safetensors="I16", cpp=("int16_t", "short int"))
int32 = dtype("int32", 3, INTEGRAL, pt2=4, safetensors="I32", cpp=("int", "int"))
int64 = long = dtype("int64", 4, INTEGRAL, pt2=5, safetensors="I64", cpp=("int64_t", "long int"))
uint16 = dtype(
    "uint16", 27, INTEGRAL, BAREBONES, pt2=28, safetensors="U16", cpp=("uint16_t", "short unsigned int")
)
uint32 = dtype("uint32", 28, INTEGRAL, BAREBONES, pt2=34, safetensors="U32", cpp=("uint32_t", "unsigned int"))
uint64 = dtype(
    "uint64", 29, INTEGRAL, BAREBONES, pt2=35, safetensors="U64", cpp=("uint64_t", "long unsigned int")
)
float32 = dtype("float32", 6, FLOATING, pt2=7, safetensors="F32", cpp=("float", "float"), digits=24)
float64 = double = dtype("float64", 7, FLOATING, pt2=8, safetensors="F64", cpp=("double",) * 2, digits=53)
float16 = half = dtype("float16", 5, FLOATING, UPCAST, pt2=6, safetensors="F16", digits=11, compute=float32)
bfloat16 = dtype(
    "bfloat16", 15, FLOATING, UPCAST, pt2=13, safetensors="BF16", digits=8, compute=float32, ml_itemsize=2
)


def _narrow_float(name: str, code: int, has_infinity: bool = False, **traits: Any) -> dtype:
    traits |= {"compute": float32, "ml_itemsize": 1, "has_infinity": has_infinity}
    return dtype(name, code, FLOATING, NARROW, **traits)


float8_e5m2 = _narrow_float("float8_e5m2", 23, pt2=30, safetensors="F8_E5M2", has_infinity=True)
float8_e4m3fn = _narrow_float("float8_e4m3fn", 24, pt2=29, safetensors="F8_E4M3")
float8_e5m2fnuz = _narrow_float("float8_e5m2fnuz", 25, pt2=32)
float8_e4m3fnuz = _narrow_float("float8_e4m3fnuz", 26, pt2=31)
float8_e8m0fnu = _narrow_float("float8_e8m0fnu", 44, pt2=33, safetensors="F8_E8M0", is_signed=False)
float4_e2m1fn_x2 = _narrow_float("float4_e2m1fn_x2", 45, is_packed=True)
complex64 = cfloat = dtype(
    "complex64", 9, COMPLEX, pt2=10, safetensors="C64", cpp=("c10::complex<float>",) * 2, real=float32
)
complex128 = cdouble = dtype(
    "complex128", 10, COMPLEX, pt2=11, cpp=("c10::complex<double>",) * 2, real=float64
)
complex32 = chalf = dtype(
    "complex32", 8, COMPLEX, NARROW, pt2=9, cpp=("c10::complex<c10::Half>",) * 2, real=float16,
    compute=complex64, ml_itemsize=4,
)  # fmt: skip

ALL: Final = tuple(BY_CODE.values())
TO_COMPLEX: Final = {d.real: d for d in ALL if d.is_complex} | {bfloat16: complex64}

# All names of dtypes in the package, including aliases such as `ts.float` and `ts.int`.
NAMES: Final[dict[str, dtype]] = {
    **{d.name: d for d in ALL},
    "short": int16, "int": int32, "long": int64, "half": float16, "float": float32, "double": float64,
    "chalf": complex32, "cfloat": complex64, "cdouble": complex128,
}  # fmt: skip
_BY_NUMPY: Final[dict[np.dtype[Any], dtype]] = {d.numpy_dtype: d for d in ALL if not d.is_of_ml_dtypes}
_NARROW: Final[set[np.dtype[Any]]] = set()
# NumPy dtypes for which the callbacks of `for_each_dtype` have been called, or are being called
_entered: Final[dict[np.dtype[Any], dtype]] = dict(_BY_NUMPY)
# functions that add a dtype to a table with NumPy dtypes as keys
_registration_callbacks: list[Callable[[dtype, np.dtype[Any]], object]] = []
_BY_PYTHON: Final[dict[Any, dtype]] = {bool: bool_, int: int64, float: float64, complex: complex128}


def by_name(name: str) -> dtype:
    """Return the dtype with a name of PyTorch, such as "float32" or "float"."""
    return NAMES[name]


def from_numpy_dtype(numpy_dtype: Any) -> dtype:
    """Return the dtype for a NumPy dtype. Raise PyTorch's TypeError if it is not supported."""
    torch_dtype = _BY_NUMPY.get(np.dtype(numpy_dtype))
    if torch_dtype is None:
        torch_dtype = NAMES.get(np.dtype(numpy_dtype).name)
        if torch_dtype is None or torch_dtype.numpy_dtype != numpy_dtype:
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
    """Return True if a NumPy dtype is bfloat16. Before `ml_dtypes` is loaded, no NumPy dtype is bfloat16."""
    return _BY_NUMPY.get(np.dtype(numpy_dtype)) is bfloat16


def is_narrow(numpy_dtype: Any) -> bool:
    """Return True if a NumPy dtype belongs to a dtype that few operators support and that has been loaded."""
    return np.dtype(numpy_dtype) in _NARROW


def for_each_dtype(enter: Callable[[dtype, np.dtype[Any]], object]) -> None:
    """Call `enter` with each dtype and its NumPy dtype, so that `enter` can add them to a table.

    `enter` is called immediately for all dtypes that are loaded. For any other dtype, it is called when the
    dtype is loaded.
    """
    _registration_callbacks.append(enter)
    for numpy_dtype, d in list(_entered.items()):
        enter(d, numpy_dtype)


def _load(d: dtype) -> None:
    """Set the NumPy dtype of a dtype of `ml_dtypes`."""
    import ml_dtypes

    numpy_dtype = np.dtype(getattr(ml_dtypes, d.name.removesuffix("_x2")))
    _entered[numpy_dtype] = d
    for enter in _registration_callbacks:
        enter(d, numpy_dtype)
    if d.is_narrow:
        _NARROW.add(numpy_dtype)
    _BY_NUMPY[numpy_dtype] = d
    d.numpy_dtype = numpy_dtype


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
    """Return the dtype after type promotion: that of the higher category, or the wider one of equal category.

    The categories are bool, integers, floating-point and complex numbers, in ascending order.
    """
    if a is b:
        return a
    for d in (a, b):
        if d.is_narrow and d.is_floating_point:
            raise RuntimeError(
                f"Promotion for {d.type_name.partition('_')[0]} Types is not supported, attempted to promote "
                f"{a.type_name} and {b.type_name}"
            )
    if max(a.category, b.category) <= INTEGRAL and BAREBONES in (a.kernel_set, b.kernel_set):
        raise RuntimeError(
            "Promotion for uint16, uint32, uint64 types is not supported, attempted to promote "
            f"{a.type_name} and {b.type_name}"
        )
    if a.category != b.category:
        low, high = (a, b) if a.category < b.category else (b, a)
        return promote(high, TO_COMPLEX[low]) if high.is_complex and low.is_floating_point else high
    if a.itemsize == b.itemsize:  # neither dtype has all values of the other
        return int16 if a.category == INTEGRAL else float32
    return a if a.itemsize > b.itemsize else b


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
    if d.is_narrow:
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
        if d.is_packed:
            raise TypeError("bad argument type for built-in operation")  # PyTorch's text
        real = d.to_real()
        info = _ml_dtypes_finfo(real) if real.is_of_ml_dtypes else np.finfo(real.numpy_dtype)
        self.dtype: str = real.name
        self.bits: int = real.itemsize * 8
        self.eps, self.max, self.min = float(info.eps), float(info.max), float(info.min)
        self.tiny = self.smallest_normal = float(info.smallest_normal)
        self.resolution = float(f"1e-{int(info.precision)}")
        # PyTorch's values: resolution 1 (no decimal digit is exact), and half of the actual eps for e5m2fnuz
        if real.is_narrow:
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
