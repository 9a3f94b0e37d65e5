"""Operators that programs define (`ts.library`), in eager mode, scripts, on the meta device, with gradients."""

import itertools

import pytest

import ts
from ts import Tensor, library
from ts.ops import registry

_numbers = itertools.count()


@pytest.fixture(autouse=True)
def unregister_operators():
    """Unregister the operators of a test, because other tests iterate over all operators."""
    yield
    registry._remove_family("custom")
    ts.library._custom.clear()


@pytest.fixture
def name() -> str:
    """Return a unique operator name."""
    return f"tests_library::op{next(_numbers)}"


def operator(name: str):
    namespace, _, short = name.partition("::")
    return getattr(getattr(ts.ops, namespace), short)


def test_a_function_becomes_an_operator(name):
    @ts.library.custom_op(name, mutates_args=())
    def scale(x: Tensor, by: float = 2.0) -> Tensor:
        """Scaled."""
        return x * by

    x = ts.ones(3)
    assert scale(x).tolist() == [2, 2, 2] and scale(x, by=3.0).tolist() == [3, 3, 3]
    assert operator(name)(x, 0.5).tolist() == [0.5] * 3
    assert operator(name).default(x).tolist() == [2, 2, 2]
    assert repr(scale) == f"<CustomOpDef({name})>" and scale.__doc__ == "Scaled."
    with pytest.raises(TypeError):
        scale(1)
    with pytest.raises(RuntimeError, match="already declared"):
        ts.library.custom_op(name, lambda x: x, mutates_args=(), schema="(Tensor x) -> Tensor")


def test_scripts_and_traces_call_it(name):
    @ts.library.custom_op(name, mutates_args=())
    def shifted(x: Tensor, by: int) -> Tensor:
        return x + by

    short = name.partition("::")[2]
    unit = ts.jit.CompilationUnit(f"def f(x: Tensor):\n    return torch.ops.tests_library.{short}(x, 4) * 2\n")
    assert unit.f(ts.ones(2)).tolist() == [10, 10]
    assert f"tests_library::{short}" in str(unit.f.graph)
    traced = ts.jit.trace(lambda x: shifted(x, 1), (ts.ones(2),))
    assert traced(ts.zeros(2)).tolist() == [1, 1]


def test_shapes_without_elements(name):
    @ts.library.custom_op(name, mutates_args=())
    def rows(x: Tensor) -> Tensor:
        return x.sum(1)

    rows.register_fake(lambda x: x.new_empty(x.shape[0]))
    result = rows(ts.empty(3, 5, device="meta"))
    assert result.device.type == "meta" and result.shape == (3,)


def test_gradients(name):
    @ts.library.custom_op(name, mutates_args=())
    def cube(x: Tensor, by: float) -> Tensor:
        return x.clone() ** 3 * by

    x = ts.tensor([1.0, 2.0], requires_grad=True)
    with pytest.raises(RuntimeError, match="no autograd formula was registered"):
        cube(x, 2.0).sum().backward()

    def setup(ctx, inputs, output):
        x, ctx.by = inputs
        ctx.save_for_backward(x)

    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return 3 * x**2 * ctx.by * grad, None

    cube.register_autograd(backward, setup_context=setup)
    cube(x, 2.0).sum().backward()
    assert x.grad.tolist() == [6, 24]
    assert ts.autograd.gradcheck(lambda x: cube(x, 0.5), (x.detach().double().requires_grad_(),))


def test_writes_to_an_argument(name):
    @ts.library.custom_op(name, mutates_args={"out"})
    def fill(out: Tensor, value: int) -> None:
        out.fill_(value)

    x = ts.zeros(2)
    fill(x, 7)
    assert x.tolist() == [7, 7]


def test_step_by_step():
    namespace = f"tests_steps{next(_numbers)}"
    library = ts.library.Library(namespace, "DEF")
    assert library.define("twice(Tensor x, *, int more=0) -> Tensor") == "twice"
    twice = getattr(ts.ops, namespace).twice
    with pytest.raises(NotImplementedError, match="from the 'CPU' backend"):
        twice(ts.ones(2))
    library.impl("twice", lambda x, more: x + x + more, "CPU")
    assert twice(ts.ones(2), more=1).tolist() == [3, 3]

    @ts.library.register_fake(f"{namespace}::twice")
    def _(x, more):
        return ts.empty_like(x)

    assert twice(ts.ones(2, device="meta")).shape == (2,)
    ts.library.define(f"{namespace}::pair", "(Tensor x) -> (Tensor, Tensor)")
    ts.library.impl(f"{namespace}::pair", "default")(lambda x: (x + 1, x + 2))
    first, second = getattr(ts.ops, namespace).pair(ts.zeros(1))
    assert (first.item(), second.item()) == (1, 2)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ts.library.Library("x", "WHAT"), "Unsupported kind"),
        (lambda: ts.library.Library("aten", "DEF"), "reserved namespace"),
        (lambda: ts.library.define("nothing", "() -> ()"), 'of the form "namespace::name"'),
        (lambda: ts.library.infer_schema(lambda x: x, mutates_args=()), "must have a type annotation"),
    ],
)
def test_invalid_operators(make, message):
    with pytest.raises(ValueError) as error:
        make()
    assert message in str(error.value)


def test_schemas_of_functions():
    def f(x: Tensor, n: int, ys: list[Tensor], *, scale: float | None = None, name: str = "a") -> tuple[Tensor, int]:
        return x, n

    expected = '(Tensor x, SymInt n, Tensor[] ys, *, float? scale=None, str name="a") -> (Tensor, SymInt)'
    assert ts.library.infer_schema(f, mutates_args=()) == expected
    assert ts.library.infer_schema(f, mutates_args={"x"}).startswith("(Tensor(a0!) x, ")


def test_unknown_operators():
    with pytest.raises(AttributeError):
        ts.ops.no_such_namespace.no_such_operator


@pytest.mark.parametrize("saves_output", [False, True])
def test_scripts_with_gradients_run_the_operator_itself(name, saves_output):
    """In scripts with gradients, a custom operator runs its implementation, not its fake implementation."""

    @ts.library.custom_op(name, mutates_args=())
    def scale(x: Tensor, by: float) -> Tensor:
        return x * by

    scale.register_fake(lambda x, by: ts.empty_like(x))

    def setup(ctx, inputs, output):
        ctx.save_for_backward(output if saves_output else ts.full_like(inputs[0], inputs[1]))

    scale.register_autograd(lambda ctx, gradient: (gradient * ctx.saved_tensors[0], None), setup_context=setup)
    short = name.partition("::")[2]
    f = ts.jit.CompilationUnit(f"def f(x: Tensor):\n    y = x * x\n    return torch.ops.tests_library.{short}(y, 3.0) * 2 + y\n").f
    for _ in range(3):
        x, same = (ts.tensor([1.0, 2.0], requires_grad=True) for _ in range(2))
        result, expected = f(x), scale(same * same, 3.0) * 2 + same * same
        assert result.tolist() == expected.tolist() == [7, 28]
        assert ts.autograd.grad(result.sum(), x)[0].tolist() == ts.autograd.grad(expected.sum(), same)[0].tolist()


def test_a_gradient_for_each_argument():
    @ts.library.custom_op("testlib::scaled_once", mutates_args=())
    def scaled_once(x: ts.Tensor, by: float) -> ts.Tensor:
        return x * by

    scaled_once.register_autograd(lambda ctx, gradient: gradient)
    y = scaled_once(ts.ones(2, requires_grad=True), 2.0)
    with pytest.raises(RuntimeError, match=r"testlib::scaled_once .* \(expected 2, one for each argument, got 1\)"):
        y.sum().backward()


ALIASING = {
    "itself": "x",
    "view": "x[:1]",
    "list": "[x + 1, x]",
    "twice": "(y := x + 1), y",
}


@pytest.mark.parametrize("name", ALIASING)
def test_results_are_new(name):
    returns = {"list": "list[Tensor]", "twice": "tuple[Tensor, Tensor]"}.get(name, "Tensor")
    scope = {"Tensor": ts.Tensor}
    exec(f"def f(x: Tensor) -> {returns}: return {ALIASING[name]}", scope)
    operator = ts.library.custom_op(f"testlib::gives_{name}", scope["f"], mutates_args=())
    for x in (ts.ones(3), ts.ones(3, requires_grad=True)):
        with pytest.raises(RuntimeError, match=rf"gives_{name} \(with implementation in .*must not also be an input"):
            operator(x)


def test_triton_op():
    """The function of a triton_op computes its fake result; without a formula it has no gradient."""
    name = "tests_triton::twice"

    @ts.library.triton_op(name, mutates_args=())
    def twice(x: Tensor) -> Tensor:
        return x * 2

    assert ts.equal(twice(ts.ones(2)), ts.full((2,), 2.0))
    assert ts.equal(ts.ops.tests_triton.twice(ts.ones(2)), ts.full((2,), 2.0))
    assert twice(ts.ones(2, 3, device="meta")).shape == (2, 3)
    with pytest.raises(RuntimeError, match="no autograd formula was registered"):
        twice(ts.ones(2, requires_grad=True)).sum().backward()
    direct = ts.library.triton_op("tests_triton::thrice", lambda x: x * 3, mutates_args=(), schema="(Tensor x) -> Tensor")
    assert float(direct(ts.ones(()))) == 3.0


def test_decorators_of_libraries():
    """`impl(library, name)` and `define(library, schema)` decorate the function of an operator."""
    library_object = library.Library("decorated", "DEF")
    library_object.define("f(Tensor x) -> Tensor")

    @library.impl(library_object, "f")
    def f(x):
        return x + 1

    library_object.define("g(Tensor x) -> Tensor")

    @library.impl(library_object, "g", "CPU")
    def g(x):
        return x + 2

    @library.define(library_object, "h(Tensor x) -> Tensor")
    def h(x):
        return x * 2

    x = ts.ones(2)
    results = [op(x).tolist() for op in (ts.ops.decorated.f, ts.ops.decorated.g, ts.ops.decorated.h)]
    assert results == [[2.0, 2.0], [3.0, 3.0], [2.0, 2.0]]
    assert [f(1), g(1), h(1)] == [2, 3, 2]


def test_batching_rules():
    """A `register_vmap` rule gets whole batches once per `vmap` level and returns the batch dimensions."""
    calls = []

    @library.custom_op("batched::scaled", mutates_args=())
    def scaled(x: ts.Tensor, by: float = 2.0) -> ts.Tensor:
        return x * by

    @scaled.register_vmap
    def rule(info, in_dims, x, by):
        calls.append((info.batch_size, info.randomness, in_dims[0], tuple(x.shape), by))
        return scaled(x, by), in_dims[0]

    x = ts.arange(6.0).reshape(3, 2)
    assert rule is None and ts.vmap(scaled)(x).tolist() == (x * 2).tolist()
    assert calls == [(3, "error", 0, (3, 2), 2.0)]
    calls.clear()
    assert ts.vmap(ts.vmap(scaled))(x).tolist() == (x * 2).tolist()
    assert calls == [(2, "error", 0, (2,), 2.0), (3, "error", 0, (3, 2), 2.0)]

    @library.custom_op("batched::both", mutates_args=())
    def both(x: ts.Tensor, y: ts.Tensor) -> tuple[ts.Tensor, ts.Tensor]:
        return x + y, x - y

    library.register_vmap("batched::both", lambda info, in_dims, x, y: (both(x, y.expand(x.shape)), (0, 0)))
    sums, differences = ts.vmap(both, in_dims=(0, None))(x, ts.ones(2))
    assert sums.tolist() == (x + 1).tolist() and differences.tolist() == (x - 1).tolist()
    library.register_vmap(both, lambda info, in_dims, x, y: (both(x, y), (0,)))
    with pytest.raises(RuntimeError, match="returned an incompatible \\(output, out_dims\\) tuple"):
        ts.vmap(both)(x, x)
    with pytest.raises(ValueError, match="unexpected type for op: <class 'int'>"):
        library.register_vmap(3, rule)
