"""Run-time assertions on data-dependent numbers: conditions, messages and order of PyTorch 2.13."""

import pytest

import ts
from tests.export.functions import Function, add_one_if_asserted, module_of
from ts.export import export

SIX = ts.ones(6)


def checked(condition):
    def program(x, n):
        k = n.item()
        ts._check(condition(k))
        return ts.zeros(2) + k

    return program


def assertions(program):
    """Return the messages of a program's assertions, in order."""
    nodes = [n for n in program.graph.nodes if str(n.target) == "aten._assert_scalar.default"]
    return [
        str(n.args[1]).removeprefix("Runtime assertion failed for expression ").rpartition(" on node")[0]
        for n in nodes
    ]


def of(function, *args):
    program = export(module_of(function, args), args)
    return assertions(program), {str(k): str(v) for k, v in program.range_constraints.items()}


@pytest.mark.parametrize(
    ("condition", "texts", "ends"),
    [
        (lambda k: k > 2, ["u0 >= 3", "2 < u0"], "VR[3, int_oo]"),
        (lambda k: k >= 2, ["u0 >= 2"], "VR[2, int_oo]"),
        (lambda k: k < 9, ["u0 <= 8", "u0 < 9"], "VR[-int_oo, 8]"),
        (lambda k: k != 3, ["Ne(u0, 3)"], "VR[-int_oo, int_oo]"),
        (lambda k: k == 4, ["u0 >= 4", "u0 <= 4", "Eq(u0, 4)"], "VR[4, 4]"),
        (lambda k: k % 4 == 0, ["Eq(PythonMod(u0, 4), 0)"], "VR[-int_oo, int_oo]"),
        (lambda k: k * 2 <= 20, ["u0 <= 10"], "VR[-int_oo, 10]"),
        (lambda k: k > -3, ["u0 >= -2", "0 < u0 + 3"], "VR[-2, int_oo]"),
        (lambda k: 2 * k > 3, ["3 < 2*u0"], "VR[-int_oo, int_oo]"),
    ],
)
def test_conditions_on_one_number(condition, texts, ends):
    assert of(checked(condition), SIX, ts.tensor(4)) == (texts, {"u0": ends})


def test_conditions_on_two_numbers():
    def program(n):
        a, b = n.tolist()
        ts._check(a >= b)
        ts._check(a < b + 2)
        ts._check(2 * a - 3 * b <= 4)
        return ts.zeros(2) + a + b

    assert of(program, ts.tensor([2, 2]))[0] == ["u1 <= u0", "u0 < u1 + 2", "2*u0 <= 3*u1 + 4"]


@pytest.mark.parametrize(
    ("program", "texts"),
    [
        (lambda n: ts.zeros(n.item()), ["u0 >= 0"]),
        (lambda n: ts.zeros(n.item() - 1), ["u0 >= 1"]),
        (lambda n: ts.zeros(n.item()) + ts.zeros(n.item()), ["u0 >= 0"]),
        (lambda n: SIX + ts.zeros(n.item()), ["u0 >= 6", "u0 <= 6", "Eq(u0, 6)"]),
        (lambda n: SIX.topk(n.item()), ["u0 >= 0", "u0 <= 6"]),
        (lambda n: SIX.narrow(0, 0, n.item()), ["u0 >= 0", "u0 <= 6"]),
        (lambda n: ts.zeros(n.item()).view(2, -1), ["u0 >= 0", "Eq(Mod(u0, 2), 0)", "Eq(u0, 2*((u0//2)))"]),
        (
            lambda n: SIX.reshape(n.item(), -1),
            ["u0 >= 0", "Ne(u0, 0)", "Eq(Mod(6, u0), 0)", "Eq(u0*((6//u0)), 6)"],
        ),
    ],
)
def test_numbers_as_sizes(program, texts):
    assert of(program, ts.tensor(6))[0] == texts


def test_assert_statement():
    """An `assert` on a data-dependent condition becomes a run-time assertion; an `if` on one is an error."""

    def decided(x, n):
        return x + 1 if n.item() > 0 else x

    assert of(add_one_if_asserted, SIX, ts.tensor(3))[0] == ["u0 >= 1", "0 < u0"]
    module = export(Function(add_one_if_asserted), (SIX, ts.tensor(3))).module()
    for _ in range(2):
        with pytest.raises(RuntimeError, match="Runtime assertion failed for expression u0 >= 1"):
            module(SIX, ts.tensor(-1))
    with pytest.raises(ts.errors.GuardOnDataDependentSymNode):
        export(Function(decided), (SIX, ts.tensor(3)))


def test_equal_reads_return_equal_symbols():
    """`item()` and the count of a mask return the same symbol until the tensor is written."""

    def program(x, n):
        mask = x > 0
        first = n.item()
        n.add_(1)
        return x[mask], x[mask], ts.zeros(first), ts.zeros(n.item())

    exported = export(Function(program), (SIX, ts.tensor(3)))
    assert list(map(str, exported.range_constraints)) == ["u0", "u1", "u2"]
    assert [len(x) for x in exported.module()(SIX, ts.tensor(2))] == [6, 6, 2, 3]


def test_floats_and_truths():
    def numbers(x, v):
        return x + v.item() ** 2

    program = export(Function(numbers), (SIX, ts.tensor(3.0)))
    assert [n.args[1] for n in program.graph.nodes if n.name.startswith("pow")] == [2.0]

    def truth(x, v):
        return ts.full((2,), v.item())

    assert of(truth, SIX, ts.tensor(True)) == (["u0 >= 0", "u0 <= 1"], {"u0": "VR[0, 1]"})


def test_all_of_a_tensor():
    """`torch._check_tensor_all` asserts the single result of `_is_all_true`."""

    def program(x):
        ts._check_tensor_all(x > -5)
        return x * 2

    exported = export(module_of(program, (SIX,)), (SIX,))
    assert "aten._is_all_true.default" in [str(n.target) for n in exported.graph.nodes]
    with pytest.raises(RuntimeError):
        exported.module()(SIX - 9)


def test_assertions_of_a_decomposition():
    """Decompositions reinsert assertions and keep equivalent ones of another form (`u0 > 2` and `2 < u0`)."""

    def program(n):
        k = n.item()
        ts._check(k > 2)
        ts._check(k <= 20)
        return ts.arange(k)

    args = (ts.tensor(4),)
    decomposed = export(module_of(program, args), args).run_decompositions()
    assert assertions(decomposed) == ["u0 >= 3", "u0 <= 20", "2 < u0", "2 < u0"]
    names = [n.name for n in decomposed.graph.nodes if n.op == "call_function"]
    assert names[1:7] == ["ge_1", "_assert_scalar_default", "le_1", "_assert_scalar_default_1", "gt_1",
                          "_assert_scalar_default_2"]  # fmt: skip


def test_assertions_of_a_number_that_is_known_stay():
    def program(x, n):
        k = n.item()
        ts._check(k == 4)
        return x.view(k, -1), ts.zeros(k)

    args = (ts.ones(8), ts.tensor(4))
    exported = export(module_of(program, args), args)
    decomposed = exported.run_decompositions()
    assert assertions(decomposed) == ["u0 >= 4", "u0 <= 4"] + assertions(exported)
    full = next(n for n in decomposed.graph.nodes if n.name == "full")
    assert full.args[0] == [4] and type(full.meta["val"].shape[0]) is int


def test_a_number_of_an_assertion_is_computed_once():
    def program(n):
        k = n.item()
        ts._check(2 * k + 1 < 50)
        return ts.zeros(2 * k + 1)

    args = (ts.tensor(4),)
    exported = export(module_of(program, args), args)
    assert [str(n.target) for n in exported.graph.nodes].count("<built-in function mul>") == 1
    assert exported.module()(ts.tensor(3)).shape == (7,)


def test_range_of_a_size_of_a_user_operator_is_kept():
    """The range of a custom operator's dynamic size is kept when a decomposition runs its fake again."""

    @ts.library.custom_op("assertions_on_data::positive", mutates_args=())
    def positive(x: ts.Tensor) -> ts.Tensor:
        return x[x > 0].clone()

    @positive.register_fake
    def _(x):
        return x.new_empty(ts.library.get_ctx().new_dynamic_size())

    def program(x):
        y = positive(x)
        ts._check(y.shape[0] >= 1)
        ts._check(y.shape[0] <= 6)
        return y.new_zeros(y.shape[0] + 1)

    exported = export(module_of(program, (SIX,)), (SIX,))
    assert assertions(exported) == assertions(exported.run_decompositions()) == ["u0 >= 1", "u0 <= 6"]
