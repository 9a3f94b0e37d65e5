"""The table of dtypes: consistency with NumPy and with constants of C code, and no names of dtypes elsewhere."""

import re
from pathlib import Path

import numpy as np
import pytest

import ts
from ts import dtypes

ROOT = Path(__file__).resolve().parent.parent
# The files that may name a dtype that few operators support, with the reason. Stubs are generated.
ALLOWED = {
    "ts/dtypes.py": "the table",
    "ts/_core/tensor/narrow_casts.py": "conversion of elements",
    "ts/ops/narrow_floats.py": "operators that support the dtypes, and errors of others",
    "ts/ops/narrow_complex.py": "operators that support the dtypes, and errors of others",
    "ts/_core/tensor/tensor.pyx": "method `chalf`",
}
NARROW = [d for d in dtypes.ALL if d.is_narrow]
WITH_NUMPY = [d for d in dtypes.ALL if not d.is_of_ml_dtypes]


def sources():
    """Yield path and text of each source file, except the record of names that only PyTorch has."""
    for folder in ("ts", "backends"):
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in (".py", ".pyx", ".pxd", ".h") and path.parent.name != "unsupported":
                yield path.relative_to(ROOT).as_posix(), path.read_text()


@pytest.mark.parametrize("dtype", NARROW, ids=str)
def test_narrow_dtypes_are_named_in_few_files(dtype):
    """A dtype that few operators support is named in at most 4 files, so that others read the table."""
    aliases = [name for name, d in dtypes.NAMES.items() if d is dtype]
    named = re.compile(rf"\b(?:{'|'.join([*aliases, dtype.type_name])})\b")
    files = {path for path, text in sources() if named.search(text)}
    assert files <= set(ALLOWED) and 1 <= len(files) <= 4, files


def test_families_of_narrow_dtypes_are_named_in_few_files():
    """No other file names a family of narrow dtypes, such as float8."""
    named = re.compile("(?i)" + "|".join({re.sub(r"_.*", "", d.name) for d in NARROW}))
    assert {path for path, text in sources() if named.search(text)} <= set(ALLOWED)


def test_constants_of_c_code():
    """The enum members of C code with names of dtypes are the codes of the table."""
    names = {"BFLOAT16": dtypes.bfloat16, "CFLOAT": dtypes.complex64, "CDOUBLE": dtypes.complex128}
    names |= {d.name.upper(): d for d in WITH_NUMPY} | {
        d.type_name.upper(): d for d in (ts.half, ts.float, ts.double)
    }
    found = {}
    for path, text in sources():
        for name, number in re.findall(r"^ +([A-Z][A-Z0-9]*) = (\d+)\b", text, re.M):
            if name in names and path.endswith(".pxd"):
                found[name] = int(number)
                assert names[name].code == int(number), (path, name)
    assert len(found) >= 12


@pytest.mark.parametrize("dtype", dtypes.ALL, ids=str)
def test_properties(dtype):
    """The properties of a dtype agree with those of its NumPy dtype."""
    assert (
        dtypes.BY_CODE[dtype.code]
        is dtypes.by_name(dtype.name)
        is dtypes.from_numpy_dtype(dtype.numpy_dtype)
        is dtype
    )
    assert dtype.numpy_dtype.itemsize == dtype.itemsize
    assert dtype.to_real().category == min(dtype.category, dtypes.FLOATING)
    assert dtype.compute.kernel_set in (dtypes.FULL, dtypes.BAREBONES)
    assert dtype.compute.category == dtype.category
    if not dtype.is_narrow and dtype.is_floating_point:
        assert dtype.has_infinity and 2.0 ** (1 - dtype.digits) == ts.finfo(dtype).eps


@pytest.mark.parametrize(
    "field", ["code", "name", "type_name", "safetensors_name", "pt2_code", "abbr", "numpy_dtype"]
)
def test_identifiers_are_unique(field):
    identifiers = [x for d in dtypes.ALL if (x := getattr(d, field)) is not None]
    assert len(set(identifiers)) == len(identifiers) > 10


def test_promotion_of_equal_categories():
    """Two dtypes promote to the smallest dtype that contains both, as in NumPy."""
    for a in WITH_NUMPY:
        for b in WITH_NUMPY:
            if a.category == b.category and dtypes.BAREBONES not in (a.kernel_set, b.kernel_set):
                assert dtypes.promote(a, b).numpy_dtype == np.promote_types(a.numpy_dtype, b.numpy_dtype)
