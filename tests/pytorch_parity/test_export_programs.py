"""Exported programs compared with PyTorch: operators, ranges, assertions, and the results of eager code.

Each program is written for either library, which is named `T`.
"""

import re

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("sympy")
import torch.fx.experimental.symbolic_shapes  # noqa: E402

import ts  # noqa: E402
from tests.sharding import some  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")


def body(expression, check="n >= 0 and n < x.shape[0]"):
    """Return the source of a `forward` that reads a number `n` from data and checks its range."""
    conditions = "".join(f"\n    T._check({c})" for c in check.split(" and ") if c)
    return f"def forward(self, x, k):\n    n = k.item(){conditions}\n    return {expression}"


def simple(expression, arguments="x"):
    return f"def forward(self, {arguments}):\n    return {expression}"


def block(*lines, arguments="x"):
    return "\n    ".join([f"def forward(self, {arguments}):", *lines])


X, K, COUNTS = "T.arange(18.0).reshape(6, 3) - 8", "T.tensor(2)", "T.tensor([1, 2, 0, 3])"
PROGRAMS = {
    "mask": (simple("x[x > 0]"), X),
    "mask of rows": (simple("x[x.sum(1) > 0]"), X),
    "mask written": (block("y = x.clone()", "y[y > 0] = 0", "return y"), X),
    "rows of nonzero": (simple("x[T.nonzero(x.sum(1)).squeeze(1)]"), X),
    "places of nonzero": (simple("x[x.nonzero(as_tuple=True)]"), X),
    "where": (simple("T.where(x > 0)"), X),
    "argwhere": (simple("T.argwhere(x > 0)"), X),
    "unique": (simple("T.unique(x)"), X),
    "unique with all": (simple("T.unique(x, return_inverse=True, return_counts=True)"), X),
    "unique rows": (simple("T.unique(x, dim=0)"), X),
    "unique_consecutive": (simple("T.unique_consecutive(x)"), X),
    "bincount": (simple("T.bincount(x, minlength=5)"), COUNTS),
    "tolist": (simple("sum(x.tolist())"), COUNTS),
    "repeat_interleave": (simple("T.repeat_interleave(x)"), COUNTS),
    "rows repeated": (simple("x.repeat_interleave(k, 0)", "x, k"), "T.ones(4, 3)", COUNTS),
    "masked_select": (simple("T.masked_select(x, x > 0)"), X),
    "repeat": (body("x.repeat(n, 1)"), X, K),
    "row": (body("x[n]"), X, K),
    "row of a tensor": (simple("x[k]", "x, k"), X, K),
    "select": (body("x.select(0, n)"), X, K),
    "narrow": (body("x.narrow(0, 0, n)"), X, K),
    "slice from": (body("x[n:]"), X, K),
    "slice to": (body("x[:n]"), X, K),
    "slice to anything": (body("x[:n]", ""), X, K),
    "slice written": (block("n = k.item()", "T._check(n >= 0)", "T._check(n <= x.shape[0])", "y = x.clone()", "y[:n] = 3", "return y", arguments="x, k"), X, K),
    "tensor of a size": (simple("x + T.tensor(x.shape[0])"), X),
    "tensor of a quotient": (simple("T.tensor(x.shape[0] / 2)"), X),
    "last row": (simple("x[x.shape[0] - 1]"), X),
    "row in the middle": (simple("x[x.shape[0] // 2]"), X),
    "last row written": (block("y = x.clone()", "y[y.shape[0] - 1] = 4", "return y"), X),
    "variance": (simple("x.var(0)"), X),
    "diagonal": (simple("x.diagonal()"), X),
    "matrix of a diagonal": (simple("T.diag(x.sum(1))"), X),
    "mean of windows": (simple("T.nn.functional.avg_pool1d(x, 2, 2, 1)"), X),
    "signs in place": (block("y = x.long()", "y &= 6", "y |= x.long()", "y ^= 1", "y <<= 2", "y >>= 1", "return y"), X),
    "sym_constrain_range": (block("n = k.item()", "T.sym_constrain_range(n, min=1, max=5)", "return x.repeat(n, 1)", arguments="x, k"), X, K),
    "constrain_range": (block("n = k.item()", "T.fx.experimental.symbolic_shapes.constrain_range(n, min=1, max=5)", "return x.repeat(n, 1)", arguments="x, k"), X, K),
}  # fmt: skip


def exported(library, source, examples):
    scope = {"T": library}
    exec(source, scope)

    class Program(library.nn.Module):
        forward = scope["forward"]

    arguments = tuple(eval(text, {"T": library}) for text in examples)
    auto = tuple({0: library.export.Dim.AUTO} if x.ndim else None for x in arguments)
    return Program(), arguments, library.export.export(Program(), arguments, dynamic_shapes=auto)


def operators_and_ranges(program):
    """Return operators with the texts of assertions, and ranges; size symbols are numbered by first use."""
    nodes, symbols = [], {}

    def plain(text):
        text = re.sub(r" on node '.*'", "", str(text))
        return re.sub(r"\bs\d+\b", lambda m: symbols.setdefault(m[0], f"s{len(symbols)}"), text)

    sizes = [n.meta["val"].shape for n in program.graph.nodes if n.op == "placeholder"]
    plain(sizes)
    for node in program.graph.nodes:
        if (
            node.op == "call_function"
            and "getitem" not in str(node.target)
            and "sym_size" not in str(node.target)
        ):
            name = getattr(node.target, "__name__", str(node.target))
            nodes.append((name, *[plain(a) for a in node.args if isinstance(a, str) and "failed" in a]))
    ranges = {plain(k): (str(v.lower), str(v.upper)) for k, v in program.range_constraints.items()}
    return nodes, ranges


@pytest.mark.parametrize(
    "name", some("mask written", "unique", "row", "slice to anything", "tensor of a size", of=[*PROGRAMS])
)
def test_program(name):
    source, *examples = PROGRAMS[name]
    _, _, theirs = exported(torch, source, examples)
    module, arguments, ours = exported(ts, source, examples)
    assert operators_and_ranges(ours) == operators_and_ranges(theirs)
    for each in (ours.module(), ours.run_decompositions().module()):
        for _ in range(2):
            ts.testing.assert_close(each(*arguments), module(*arguments))


def test_autocast_without_a_block():
    """Autocast switched on without a context is not exported; the program computes without autocast."""
    lines = (
        "T.set_autocast_enabled('cpu', True)", "try:", "    return T.nn.functional.linear(x, x)",
        "finally:", "    T.set_autocast_enabled('cpu', False)",
    )  # fmt: skip
    source = block(*lines)
    _, _, theirs = exported(torch, source, (X,))
    module, (x,), ours = exported(ts, source, (X,))
    assert operators_and_ranges(ours) == operators_and_ranges(theirs) == ([("linear.default",)], {"s0": ("2", "int_oo")})
    assert module(x).dtype is ts.bfloat16
    for _ in range(2):
        assert ours.module()(x).dtype is ts.float32


TRUTHS = "[m > 4, m > 100, m >= 2, n > 2, n == 3, True, False]"
NUMBERS = "[m, m * 2, n, n + m, 3]"
QUESTIONS = dict.fromkeys(
    (
        "guard_or_false", "guard_or_true", "guard_size_oblivious", "statically_known_true", "statically_known_false",
        "is_concrete_bool", "has_free_symbols", "has_free_unbacked_symbols", "has_static_value", "guard_scalar",
    ), TRUTHS,
)  # fmt: skip
QUESTIONS |= {"optimization_hint": "[m, m * 2, 3]"}
QUESTIONS |= {"guard_bool": "[S.sym_or(m > 100, m > 4), S.sym_and(m > 4, True), S.sym_and(m > 4, n > 4)]"}
QUESTIONS |= dict.fromkeys(("is_concrete_int", "is_symbolic", "guarding_hint_or_throw"), NUMBERS)


@pytest.mark.parametrize("question", some("guard_or_false", "statically_known_true", of=[*QUESTIONS]))
def test_questions_about_symbols(question):
    """Queries of `torch.fx.experimental.symbolic_shapes` have PyTorch's results and errors."""
    answers = {}
    for library in (torch, ts):
        found = answers[library] = []

        def ask(ask, conditions, found=found):
            for condition in conditions:
                try:
                    found.append(ask(condition))
                except Exception as error:
                    found.append(type(error).__name__)

        lines = (
            "from torch.fx.experimental import symbolic_shapes as S" if library is torch else "from ts.fx.experimental import symbolic_shapes as S",
            "n, m = k.item(), x.shape[0]",
            f"T.ask(S.{question}, {QUESTIONS[question]})",
            "return x * 1",
        )  # fmt: skip
        source = block(*lines, arguments="x, k")
        library.ask = ask
        try:
            exported(library, source, (X, K))
        finally:
            del library.ask
    assert answers[ts] == answers[torch]
