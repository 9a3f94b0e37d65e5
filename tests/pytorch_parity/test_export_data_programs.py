"""Programs with data-dependent numbers compared with PyTorch: operators, decompositions, shapes, ranges."""

import re
import types

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("sympy")

import ts  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")

X, N, M, L = "torch.ones(6)", "torch.tensor(4)", "torch.tensor(3)", "torch.tensor([1, 2, 3])"
PROGRAMS = {  # name: statements, arguments, arguments with a dynamic first dimension
    "greater": ("k = n.item(); torch._check(k > 2); return torch.zeros(k)", {"n": N}, ()),
    "smaller": ("k = n.item(); torch._check(k < 9); torch._check(3 <= k); return torch.arange(k)", {"n": N}, ()),
    "equal": ("k = n.item(); torch._check(k == 4); return torch.zeros(k), k, torch.zeros(k).relu()", {"n": N}, ()),
    "equal late": ("k = n.item(); y = torch.zeros(k); torch._check(k == 4); return y + 1, y.view(2, 2)", {"n": N}, ()),
    "other": ("k = n.item(); torch._check(k != 3); return torch.zeros(k)", {"n": N}, ()),
    "remainder": (
        "k = n.item(); torch._check(k % 4 == 0); torch._check(k > 0); return torch.zeros(k).view(-1, 4)",
        {"n": N}, (),
    ),
    "product": ("k = n.item(); torch._check(k * k < 50); return torch.zeros(k * k)", {"n": N}, ()),
    "sum": ("k = n.item(); torch._check(2 * k + 1 < 50); return torch.zeros(2 * k + 1)", {"n": N}, ()),
    "and": ("k = n.item(); torch._check((k >= 2) & (k < 5)); return torch.zeros(k)", {"n": N}, ()),
    "two": ("k, j = n.item(), m.item(); torch._check(k > j); return torch.zeros(k), torch.zeros(j)",
            {"n": N, "m": M}, ()),
    "two equal": ("k, j = n.item(), m.item(); torch._check(k == j); return torch.zeros(k) + torch.ones(j), k + j",
                  {"n": N, "m": N}, ()),
    "twice": ("k, j = n.item(), m.item(); torch._check(k == 2 * j); return torch.zeros(k), torch.zeros(j)",
              {"n": N, "m": M}, ()),
    "split": ("return x.split(l.tolist())", {"x": X, "l": L}, ()),
    "split of size": ("return x.split(l.tolist())", {"x": X, "l": L}, ("x",)),
    "split checked": ("a, b, c = l.tolist(); torch._check(a + b + c == 6); return x.split([a, b, c])",
                      {"x": X, "l": L}, ()),
    "size": ("k = n.item(); torch._check(k == x.shape[0]); return torch.zeros(k) + x", {"x": X, "n": "torch.tensor(6)"},
             ("x",)),
    "below size": ("k = n.item(); torch._check(k < x.shape[0]); torch._check(k >= 0); return x[k]", {"x": X, "n": N},
                   ("x",)),
    "broadcast": ("y = torch.zeros(n.item()); return y + x, y * 2", {"x": X, "n": "torch.tensor(6)"}, ()),
    "truth": ("return torch.full((2,), n.item())", {"n": "torch.tensor(True)"}, ()),
    "float": ("k = n.item(); torch._check(k > 1.5); return x + k", {"x": X, "n": "torch.tensor(2.5)"}, ()),
    "nonzero": ("i, j = torch.nonzero(x.view(2, 3) > 0, as_tuple=True); return i + j", {"x": X}, ()),
    "mask": ("y = x[x > 0]; torch._check(y.shape[0] != 0); return y.max()", {"x": X}, ()),
    "mask of size": ("y = x[x > 0]; torch._check(y.shape[0] == 6); return y * 2, y.size(0)", {"x": X}, ()),
    "bag": ("return torch.nn.functional.embedding_bag(n, x.view(3, 2), o, mode='sum')",
            {"x": X, "n": "torch.tensor([0, 2, 1])", "o": "torch.tensor([0, 1])"}, ()),
    "trapezoid": ("return torch.trapezoid(x.view(2, 3), dim=0), torch.trapezoid(x)", {"x": X}, ()),
    "rounded": ("return torch.div(n, 2, rounding_mode='floor'), n.div(3, rounding_mode='trunc')", {"n": N}, ()),
    "repeated": ("return x.repeat_interleave(c), x.view(2, 3).repeat_interleave(c[:2], dim=0)",
                 {"x": X, "c": "torch.ones(6, dtype=torch.int64)"}, ()),
}  # fmt: skip


def _module(package, statements, names):
    scope = {"torch": package}
    exec(f"def forward(self, {', '.join(names)}): {statements}", scope)
    return type("Program", (package.nn.Module,), {"forward": scope["forward"]})()


def _target(target):
    is_function = isinstance(target, types.BuiltinFunctionType | types.FunctionType)
    return target.__name__ if is_function else str(target)


def _shape(value):
    return [d if type(d) is int else "symbol" for d in value.shape] if hasattr(value, "shape") else None


def _described(package, name):
    statements, arguments, dynamic = PROGRAMS[name]
    args = tuple(eval(text, {"torch": package}) for text in arguments.values())
    sizes = {k: {0: package.export.Dim("b", max=100)} if k in dynamic else None for k in arguments}
    program = package.export.export(
        _module(package, statements, arguments), args, dynamic_shapes=sizes if dynamic else None, strict=False
    )
    described = [
        [_target(n.target) for n in each.graph.nodes if n.op == "call_function"]
        for each in (program, program.run_decompositions())
    ]
    nodes = [n for n in program.graph.nodes if n.op == "call_function"]
    ranges = sorted(re.sub(r"s\d+", "s", f"{k}: {v}") for k, v in program.range_constraints.items())
    outputs = [type(spec.arg).__name__ for spec in program.graph_signature.output_specs]
    return *described, [_shape(n.meta.get("val")) for n in nodes], ranges, outputs


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name):
    for part, expected in zip(_described(ts, name), _described(torch, name), strict=True):
        assert part == expected
