"""Models of many kinds (`tests/pytorch_parity/models`) compared with PyTorch in three ways: PyTorch's
archives run in `ts`, the class's text runs with `import ts as torch`, and archives of `ts` run in PyTorch."""

import enum
import io
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import ts  # noqa: E402
from tests.pytorch_parity import models  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")
TOLERANCES = {"float64": 1e-8, "complex128": 1e-8, "float16": 1e-2, "bfloat16": 4e-2}
CASES = [pytest.param(family, name, id=f"{family}-{name}") for family, name in models.names()]


def some(here):
    """Return the cases, with those of other sources marked as long: by default each model runs in one of two
    ways."""
    return [c if here(i) else pytest.param(*c.values, id=c.id, marks=pytest.mark.long) for i, c in enumerate(CASES)]


class Record(NamedTuple):
    """PyTorch's archive of a model, results of its calls, and state after the calls."""

    archive: bytes
    results: list
    state: dict


def case_of(family, name, package=torch):
    return models.family(family, package.__name__).CASES[name]


def calls_of(case, mode):
    """Return the calls that a compiled model supports, with separate arguments."""
    torch.manual_seed(1)
    calls = case.calls()
    return (
        [each for each in calls if each.method == "forward"][: case.traced_calls] if mode == "trace" else calls
    )


@lru_cache(16)
def record(family, name, mode):
    case, model = case_of(family, name), models.build(torch, family, name)
    module = models.compiled(torch, model, case, mode, calls_of(case, mode))
    archive = b"" if mode == "eager" else saved(torch, module)
    return Record(archive, *outcome(torch, loaded(torch, archive) if archive else module, case, mode))


def saved(package, module):
    buffer = io.BytesIO()
    package.jit.save(module, buffer)
    return buffer.getvalue()


def loaded(package, archive):
    return package.jit.load(io.BytesIO(archive))


def outcome(package, module, case, mode):
    """Return the results of all calls, and the buffers and attributes afterwards, as plain values."""
    results = []
    with package.no_grad(), torch.jit.optimized_execution(False):  # optimizing takes longer than the calls
        for call in calls_of(case, mode):
            if call.seed is not None:
                package.manual_seed(call.seed)
            args = call.args if package is torch else [ours(each) for each in call.args]
            results.append(comparable(getattr(module, call.method)(*args)))
    buffers = {key: comparable(value) for key, value in module.named_buffers()}
    return results, buffers | {key: comparable(getattr(module, key)) for key in case.attributes if mode != "trace"}


def ours(value):
    """Convert a PyTorch value to `ts`."""
    if isinstance(value, torch.Tensor):
        tensor = ts.from_numpy(array_of(value).copy()).to(getattr(ts, dtype_name(value)))
        return tensor.contiguous(memory_format=ts.channels_last) if is_channels_last(value, torch) else tensor
    if isinstance(value, torch.dtype):
        return getattr(ts, str(value).split(".")[1])
    if isinstance(value, dict):
        return {key: ours(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        items = [ours(each) for each in value]
        return (
            items
            if isinstance(value, list)
            else tuple(items)
            if type(value) is tuple
            else type(value)(*items)
        )
    return value


def dtype_name(tensor):
    return str(tensor.dtype).split(".")[1]


def array_of(tensor):
    tensor = tensor.detach()
    return (tensor.float() if dtype_name(tensor) == "bfloat16" else tensor).resolve_conj().numpy()


def is_channels_last(tensor, package):
    return (
        tensor.dim() == 4
        and not tensor.is_contiguous()
        and tensor.is_contiguous(memory_format=package.channels_last)
    )


class Plain(NamedTuple):
    """Tensor data of either package."""

    dtype: str
    array: np.ndarray
    channels_last: bool


def comparable(value):
    """Convert a value of either package to Python and NumPy objects, which can be compared."""
    for package in (torch, ts):
        if isinstance(value, package.Tensor):
            return Plain(dtype_name(value), array_of(value), is_channels_last(value, package))
    if isinstance(value, dict):
        return {key: comparable(each) for key, each in value.items()}
    if isinstance(value, enum.Enum):
        return (type(value).__name__, value.name)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return {field: comparable(each) for field, each in zip(value._fields, value, strict=True)}
    if isinstance(value, (list, tuple)):
        return type(value)(comparable(each) for each in value)
    return value


def differences(got, want, where="result"):
    """Yield a description of each difference between two plain values."""
    if type(got) is not type(want):
        yield f"{where}: {type(got).__name__}, expected {type(want).__name__}"
    elif isinstance(want, Plain):
        yield from tensor_differences(got, want, where)
    elif isinstance(want, dict):
        if list(got) != list(want):
            yield f"{where}: keys {list(got)}, expected {list(want)}"
        else:
            for key in want:
                yield from differences(got[key], want[key], f"{where}[{key!r}]")
    elif isinstance(want, (list, tuple)):
        if len(got) != len(want):
            yield f"{where}: {len(got)} items, expected {len(want)}"
        else:
            for i, (a, b) in enumerate(zip(got, want, strict=True)):
                yield from differences(a, b, f"{where}[{i}]")
    elif not (
        got == want
        or (isinstance(want, float) and np.isclose(got, want, rtol=1e-4, atol=1e-5, equal_nan=True))
    ):
        yield f"{where}: {got!r}, expected {want!r}"


def tensor_differences(got, want, where):
    if (got.dtype, got.array.shape, got.channels_last) != (want.dtype, want.array.shape, want.channels_last):
        yield f"{where}: {got.dtype} {got.array.shape} {got.channels_last}, expected {want.dtype} {want.array.shape} {want.channels_last}"
    elif want.array.dtype.kind not in "fc":
        if not np.array_equal(got.array, want.array):
            yield f"{where}: {np.count_nonzero(got.array != want.array)} of {want.array.size} elements differ"
    else:
        tolerance = TOLERANCES.get(want.dtype, 1e-4)
        finite = np.abs(want.array[np.isfinite(want.array)])
        scale = max(1.0, finite.max()) if finite.size else 1.0
        if not np.allclose(
            got.array, want.array, rtol=tolerance, atol=tolerance * scale / 10, equal_nan=True
        ):
            with np.errstate(all="ignore"):
                yield f"{where}: differs by {np.nanmax(np.abs(got.array - want.array)):.3g}, largest {scale:.3g}"


def compare(got, want, with_state=True):
    results, state = got
    return [
        *differences(results, want.results),
        *(differences(state, want.state, "state") if with_state else []),
    ]


def check_back(module, case, mode, want, with_state=True):
    """Check that PyTorch loads a module saved by `ts` with equal results."""
    back = loaded(torch, saved(ts, module))
    assert compare(outcome(torch, back, case, mode), want, with_state) == [], f"{mode}, back"


@pytest.mark.parametrize(("family", "name"), some(lambda i: i % 3))
def test_by_file(family, name, monkeypatch, tmp_path):
    """Scripted, traced and frozen PyTorch archives run in `ts`, the second time with cached code; archives
    saved again run in PyTorch."""
    monkeypatch.setenv("TS_CACHE", "1")
    monkeypatch.setenv("TS_CACHE_DIR", str(tmp_path))
    case = case_of(family, name)
    for mode in case.ways:
        want = record(family, name, mode)
        module = loaded(ts, want.archive)
        check_back(module, case, mode, want)
        assert compare(outcome(ts, module, case, mode), want) == [], mode
        assert compare(outcome(ts, loaded(ts, want.archive), case, mode), want) == [], f"{mode}, kept"


@pytest.mark.parametrize(("family", "name"), some(lambda i: i % 3 == 0))
def test_from_source(family, name):
    """The class with `import ts as torch` has PyTorch's weights for the same seed, and PyTorch's results for
    the same weights."""
    case, theirs = case_of(family, name), models.build(torch, family, name)
    weights = {key: comparable(value) for key, value in theirs.state_dict().items()}
    our_state = {key: comparable(value) for key, value in models.build(ts, family, name).state_dict().items()}
    assert list(differences(our_state, weights, "weights")) == []
    state = io.BytesIO()
    torch.save(theirs.state_dict(), state)
    for mode in ("eager", *(each for each in case.ways if each != "optimize")):
        model = models.build(ts, family, name)
        model.load_state_dict(ts.load(io.BytesIO(state.getvalue())))
        calls = [each._replace(args=tuple(map(ours, each.args))) for each in calls_of(case, mode)]
        module = models.compiled(ts, model, case_of(family, name, ts), mode, calls)
        want = record(family, name, mode)
        same_state = mode in (
            "eager",
            "script",
        )  # freezing keeps other buffers than PyTorch, and traces store others as constants
        if mode != "eager":
            check_back(module, case, mode, want, same_state)
        assert compare(outcome(ts, module, case, mode), want, same_state) == [], mode
