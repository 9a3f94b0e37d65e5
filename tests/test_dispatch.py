"""Operators: binding of Python arguments, overloads, direct loops, and in-place results."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import ts
from ts import backends, dtypes
from ts._core.dispatch import op_log
from ts._core.tensor import factories
from ts._core.dispatch.operator import Operator
from ts._core.dispatch.overloads import overloads
from ts.backends.cpu.kernels.elementwise import ufunc_loops
from ts._core.dispatch.signature import arity, signature
from ts.ops.operator_record import OperatorRecord

tensor = factories.tensor


def operator(schema_text, kernel, **fields):
    return Operator(schema_text, OperatorRecord(schema_text, kernel, "test", **fields))


def add_kernel(xp, a, b, alpha=1):
    return xp.add(a, b if alpha == 1 else b * alpha)


ADD = operator("aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor", add_kernel, ufunc="add")
ADD_GENERAL = operator("aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor", add_kernel)
ADD_INPLACE = operator(
    "aten::add_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)",
    lambda xp, a, b, alpha: xp.add(a, b, out=a, casting="unsafe"),
    ufunc="add",
    variant="inplace",
)


def test_signature():
    """Schema text is read far enough to bind arguments and wrap results."""
    s = signature("aten::f.out(Tensor self, int[2] size=1, str m='a,b', *, ScalarType? dtype=None, "
                  "Tensor(a!) out) -> (Tensor(a!) values, int[])")  # fmt: skip
    assert [(p.name, p.kind, p.default, p.keyword_only) for p in s.parameters] == [
        ("self", "Tensor", None, False), ("size", "int[]", [1, 1], False), ("m", "str", "a,b", False),
        ("dtype", "ScalarType", None, True), ("out", "Tensor", None, True),
    ]  # fmt: skip
    assert [(r.kind, r.alias_of, r.name) for r in s.returns] == [("Tensor", 4, "values"), ("int[]", -1, "")]
    assert arity("aten::g(Dict(str, Tensor) x, (int, int)[] y) -> ()") == ("aten::g", "", 2, 0)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "int32", "uint8", "bool", "complex64"])
def test_direct_loop_equals_the_general_kernel(dtype):
    """The direct loop and the general kernel agree for contiguous, strided, transposed, broadcast, empty and
    0-dim operands."""
    rng = np.random.default_rng(0)
    base = (rng.random((4, 3, 5)) * 100).astype(dtype)
    operands = [base, base[::2, :, 1:4], base.transpose(2, 1, 0), base[:, :1], base[0], base[:0], base[0, 0, 0, ...]]
    for a in operands:
        for b in operands:
            x, y = factories.wrap_array(np.asarray(a)), factories.wrap_array(np.asarray(b))
            try:
                expected = ADD_GENERAL(x, y)
            except RuntimeError:
                with pytest.raises(RuntimeError):
                    ADD(x, y)
                continue
            actual = ADD(x, y)
            assert actual.dtype is expected.dtype and actual.shape == expected.shape
            assert np.array_equal(actual.numpy(), expected.numpy())


@pytest.mark.parametrize("number", [2, 2.5, True, -1])
def test_numbers_adopt_the_tensor_dtype(number):
    """A number operand does not change the dtype of a float tensor."""
    x = tensor([1.0, 2.0])
    assert ADD(x, number).tolist() == [1 + number, 2 + number] and ADD(x, number).dtype is dtypes.float32


def test_alpha_reaches_the_kernel():
    """An `alpha` other than 1 is passed to the kernel."""
    assert ADD(tensor([1.0]), tensor([2.0]), alpha=3).tolist() == [7.0]


def test_inplace_returns_its_argument():
    """In-place operators return the tensor; partially overlapping operands are rejected, as in PyTorch."""
    x = tensor([1.0, 2.0, 3.0])
    assert ADD_INPLACE(x, 1) is x and ADD_INPLACE(x, x) is x and x.tolist() == [4, 6, 8]
    with pytest.raises(RuntimeError, match="some elements of the input tensor and the written-to tensor"):
        ADD_INPLACE(x[1:], x[:2])


def test_large_tensors():
    """Addition above the size at which the GIL is released has correct elements."""
    x = np.arange(50_000, dtype=np.float32)
    assert np.array_equal(ADD(tensor(x), tensor(x)).numpy(), x + x)


def test_loops_keep_the_operands_dtype():
    """A NumPy loop is used only for dtypes for which its result dtype equals PyTorch's."""
    assert not ufunc_loops("true_divide", "float").covers(dtypes.int64.code)
    assert ufunc_loops("less", "bool").covers(dtypes.int64.code)
    assert ufunc_loops("modf") is None
    only_double = ufunc_loops("maximum", types="d")
    assert only_double.covers(dtypes.float64.code) and not only_double.covers(dtypes.float32.code)


def test_no_floating_point_warnings(recwarn):
    """Division by zero and overflow do not warn, as in PyTorch."""
    divide = operator("aten::div(Tensor self, Tensor other) -> Tensor", lambda xp, a, b: xp.divide(a, b))
    assert divide(tensor([1.0]), tensor([0.0])).tolist() == [float("inf")]
    assert not recwarn.list


def test_several_results_have_names():
    """Named results are printed and unpacked as in PyTorch."""
    op = operator("aten::pair(Tensor self) -> (Tensor values, Tensor indices)", lambda xp, x: (x + 1, x + 2))
    result = op(tensor([1]))
    assert result.values.tolist() == [2] and tuple(result)[1].tolist() == [3]
    assert repr(result) == "torch.return_types.pair(\nvalues=tensor([2]),\nindices=tensor([3]))"


def test_overloads():
    """Calls select overloads by keywords, aliases, variadic integers, `out=` and numbers before tensors."""
    x = tensor([[1.0, 2.0], [3.0, 4.0]])
    add = overloads("add")
    assert add(x, x, alpha=2).tolist() == [[3, 6], [9, 12]]
    assert add(input=x, other=1).tolist() == add(1, x).tolist() == [[2, 3], [4, 5]]
    assert x.view(4).shape == x.view((4,)).shape == x.reshape(-1).shape == (4,)
    assert x.sum(axis=1).tolist() == x.sum(1).tolist() == [3, 7]
    out = tensor([0.0])
    assert add(x, x, out=out) is out and out.shape == (2, 2)


@pytest.mark.parametrize(
    ("name", "args", "message"),
    [
        ("add", (1.0, "a"), "add(): argument 'other' (position 2) must be Tensor, not str"),
        ("view", (1.0, 2, "a"), "view(): argument 'size' failed to unpack the object at pos 2 with error \"type must be tuple of ints,but got str\""),
        ("maximum", (1.0, 2), "maximum(): argument 'other' (position 2) must be Tensor, not int"),
        ("exp", (), "exp() received an invalid combination of arguments - got ()"),
    ],
)
def test_invalid_arguments(name, args, message):
    """Invalid arguments raise TypeErrors with PyTorch's messages."""
    given = [tensor(args[0]), *args[1:]] if args else []
    with pytest.raises(TypeError) as caught:
        overloads(name)(*given)
    assert str(caught.value).startswith(message)


def test_operators_of_other_types():
    """Python operators with foreign operands return NotImplemented."""
    x = tensor([1.0])
    assert (x == None) is False and (x != "a") is True  # noqa: E711
    with pytest.raises(TypeError, match=r"unsupported operand type\(s\) for \+"):
        x + "a"
    with pytest.raises(TypeError, match="only implemented on integer and Boolean-type tensors"):
        ~x
    assert (2 - x).tolist() == [1] and (1 / tensor([2.0])).tolist() == [0.5] and (7 // tensor([2.0])).tolist() == [3]


@pytest.fixture
def cpu():
    """Return the CPU backend; overrides are removed after the test."""
    backend = backends.get("cpu")
    yield backend
    for name in list(backend.overrides):
        del backend.overrides[name]


@pytest.mark.parametrize("name", ["aten::sum", "aten::softmax", "aten::exp", "aten::mm", "aten::add.Tensor"])
def test_cpu_overrides_come_first(cpu, name):
    """An override of a CPU operator takes precedence over native kernels, before and after the first call."""
    x = tensor([[1.0, 2.0], [3.0, 4.0]])
    args = {"aten::softmax": (x, 0), "aten::mm": (x, x), "aten::add.Tensor": (x, x)}.get(name, (x,))
    call = overloads(name.removeprefix("aten::").partition(".")[0])
    before = call(*args).tolist()
    cpu.overrides[name] = lambda xp, *given: xp.full((), 7.0, xp.float32)
    assert call(*args).tolist() == 7.0
    del cpu.overrides[name]
    assert call(*args).tolist() == before


def test_variants_follow_an_override(cpu):
    """In-place and `out=` variants follow an override of their base."""
    cpu.overrides["aten::exp"] = lambda xp, x: x + 100
    x = tensor([1.0])
    assert overloads("exp")(x, out=tensor([0.0])).tolist() == [101.0]
    assert overloads("exp_")(x).tolist() == [101.0]


def test_maximum_number_of_backends():
    """Registering more than fifteen backends raises an error."""
    registered = []
    try:
        with pytest.raises(RuntimeError, match="at most 15 backends"):
            for i in range(20):
                registered.append(type(f"B{i}", (backends.Backend,), {"name": f"crowd{i}", "xp": np, "array_type": tuple})())
                backends.register(registered[-1])
    finally:
        for backend in reversed(registered):
            backends.unregister(backend.name)


def test_operators_are_initialized_once():
    """An Operator cannot be initialized twice, and an uninitialized one raises an error, because verified
    code relies on its schema."""
    operator = Operator("test::f(int x) -> int")
    with pytest.raises(TypeError, match="cannot be initialized twice"):
        operator.__init__("test::f(int x, int y) -> int")
    with pytest.raises(TypeError, match="not initialized"):
        operator(3)
    with pytest.raises(ValueError, match="schema"):
        Operator.__new__(Operator)()


def test_ctrl_c_while_operators_load():
    """After Ctrl-C during lazy loading, the next call loads the rest."""
    program = """
import signal, sys
import ts

added = 0

def profile(frame, event, arg):
    global added
    if event == "return" and frame.f_code.co_name == "add" and frame.f_code.co_filename.endswith("registry.py"):
        added += 1
        if added == int(sys.argv[1]):
            sys.setprofile(None)
            signal.raise_signal(signal.SIGINT)

sys.setprofile(profile)
try:
    ts.ones(2).mul(2)  # imports some families of operators
    dir(ts)  # imports all
    raise AssertionError
except KeyboardInterrupt:
    pass
assert ts.ones(2).uniform_().shape == (2,) and ts.ones(2).mul(2).tolist() == [2, 2]
"""
    for added in (3, 30, 300, 900, 2000):
        subprocess.run([sys.executable, "-c", program, str(added)], check=True, timeout=120)


def test_out_variants_are_created_on_first_use():
    """A call without `out` creates no operators of `out=` variants, which later calls and errors include."""
    program = """
import ts
from ts.ops import registry

x = ts.tensor([[3.0, 1.0]])
values, indices = ts.sort(x, dim=1)
out = registry.find("aten::sort.values")
print("_operator" in vars(out), values.tolist())
y, i = ts.empty(0), ts.empty(0, dtype=ts.int64)
ts.sort(x, dim=1, out=(y, i))
print("_operator" in vars(out), y.tolist(), i.tolist())
print(ts.sort(x, dim=1, values=y, indices=i).values is y, ts.sort(input=x, axis=1, descending=True).indices.tolist())
print(ts.hypot(x, x, out=None).shape == x.shape, ts.ops.aten.sin.out(x, out=y) is y)
for call in (lambda: ts.hypot(x, x, foo=1), lambda: ts.hypot(x, "a")):
    try:
        call()
    except TypeError as error:
        print(error)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [
        "False [[1.0, 3.0]]", "True [[1.0, 3.0]] [[1, 0]]", "True [[0, 1]]", "True True",
        "hypot() got an unexpected keyword argument 'foo'",
        "hypot(): argument 'other' (position 2) must be Tensor, not str",
    ]  # fmt: skip


def test_each_dispatch_key_has_one_handler():
    """Each key of the enum `DispatchKey` is registered exactly once, and only by `register_key`."""
    root = Path(__file__).resolve().parents[1]
    header = (root / "ts/_core/dispatch/operator.pxd").read_text()
    enum = header.partition("cdef enum DispatchKey:")[2].partition("\n\n")[0]
    keys = [key for key in re.findall(r"^ +(\w+_KEY)\b", enum, re.MULTILINE)]
    sources = "".join(path.read_text() for path in (root / "ts/_core").rglob("*.pyx"))
    assert len(keys) >= 7 and sorted(re.findall(r"^register_key\((\w+),", sources, re.MULTILINE)) == sorted(keys)


def test_only_the_dispatcher_calls_fallbacks():
    """C kernels return UNSUPPORTED; only the fallbacks call the kernel of the record."""
    kernels = Path(__file__).resolve().parents[1] / "backends/cpu/kernels"
    calls = re.compile(r"\b(call_python_kernel|run_with_contiguous_inputs|run_upcast_to_float32)\(op")
    callers = {path.stem for path in kernels.glob("*.pyx") if calls.search(path.read_text())}
    assert callers == {"contiguous_arguments", "upcast_half"}


@pytest.mark.parametrize("alpha", [1, 2])
def test_fallbacks_convert_arguments(alpha):
    """Kernels get contiguous copies of strided arguments, and float32 copies of half-precision arguments."""
    x = ts.arange(24.0).reshape(4, 6)
    half = x.to(ts.float16)
    assert ts.equal(x[:, ::2].tril(), x[:, ::2].contiguous().tril())
    assert ts.equal(x[:, ::2].add(x[:, 1::2], alpha=alpha), x[:, ::2].contiguous() + alpha * x[:, 1::2].contiguous())
    for call in (ts.cumsum, ts.softmax, ts.sum, ts.mean):
        assert ts.equal(call(half[:, ::2], 1), call(x[:, ::2], 1).to(ts.float16))
        assert ts.allclose(call(half, 1, dtype=ts.float32), call(x, 1))
        assert call(half, 1, dtype=ts.float16).dtype is ts.float16


def test_order_of_dispatch_keys():
    """Autocast runs first, then function transforms and autograd, then the log, the profiler and the limits."""
    log = op_log.OperatorLog(lambda op: False, lambda op, args: False)
    x = ts.ones(2, 2, requires_grad=True)
    with ts.limits(seconds=60), ts.autocast("cpu", dtype=ts.bfloat16), log:
        y = ts.func.vmap(lambda row: row.unsqueeze(0) @ row.unsqueeze(1))(x)
    names = [op.name for op, *_ in log.lines]
    cast, product = names.index("aten::to"), max(i for i, name in enumerate(names) if "mm" in name)
    assert cast < product and y.dtype is ts.bfloat16 and y.grad_fn is not None
    assert log.lines[product][1][0].ndim == 3  # the product of the whole batch
