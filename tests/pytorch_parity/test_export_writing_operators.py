"""Custom operators that write: `run_decompositions` replaces them by `auto_functionalized_v2`, as PyTorch does."""

import functools
import re

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("sympy")

import ts  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")


@functools.cache  # lazy, because other tests iterate over all operators during collection
def _operators(package):
    """Define operators of a package that write one tensor, two tensors with a result, and several tensors."""

    def bump(x: package.Tensor, k: int) -> None:
        x.add_(k)

    def both(x: package.Tensor, y: package.Tensor, z: package.Tensor | None, k: float = 1.0) -> package.Tensor:
        x.add_(y)
        if z is not None:
            z.mul_(2)
        return x + k

    def each(xs: list[package.Tensor], o: package.Tensor | None = None) -> None:
        for x in xs:
            x.add_(1)

    custom = package.library.custom_op
    graphs = (
        custom("written::bump", bump, mutates_args={"x"}),
        custom("written::both", both, mutates_args={"x", "z"}),
        custom("written::each", each, mutates_args={"xs"}),
    )
    graphs[1].register_fake(lambda x, y, z, k=1.0: package.empty_like(x))
    return graphs


def _module(package, name):
    bump, both, each = _operators(package)

    class Module(package.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("calls", package.zeros(4))

        def forward(self, x):
            return getattr(self, name)(x)

        def plain(self, x):
            y = x * 2
            bump(y, 3)
            return y

        def argument_and_buffer(self, x):
            bump(x, 2)
            bump(self.calls, x.shape[0])
            return x + 1

        def two(self, x):
            y, z = x * 2, x + 1
            return both(y, x, z), both(y[:2], x[2:4], y[2:4], k=3.0), both(y, x, None), y, z

        def several(self, x):
            y, z = x * 2, x + 1
            each([y, z])
            return y - z

        def views(self, x):
            y = x.repeat(2, 1) * 2
            bump(y.t(), 3)
            bump(y[::2], 1)
            bump(y[0], 1)
            bump(y[:, 1:], 1)
            bump(y.view(y.shape), 4)
            return y

        def computed_slice(self, x):
            y, n = x * 2, x.shape[0]
            bump(y[n // 2 :], n)
            return y, y[1:]

    return Module()


def _described(program):
    """Return the calls of a graph's nodes with keyword arguments, without unused slices."""
    skipped = ("slice.Tensor", "getitem", "sym_size.int", "add", "mul")
    found = []
    for node in program.graph.nodes:
        kind = str(getattr(node.target, "__name__", node.target))
        if node.op == "call_function" and kind not in skipped:
            options = {k: v for k, v in node.kwargs.items() if k != "_all_bases"}
            names = re.sub(r"\b(a|mul|getitem|sym_size|floordiv|slice)(_[a-z_0-9]*)", r"\1", str(options))
            found.append((kind, names, len(node.kwargs.get("_all_bases", ()))))
    return found


def _flat(package, module, x):
    return [y.tolist() for y in package.utils._pytree.tree_leaves(module(x))]


@pytest.mark.parametrize("varies", [False, True], ids=["fixed", "varies"])
@pytest.mark.parametrize(
    "name", ["plain", "argument_and_buffer", "two", "several", "views", "computed_slice"]
)
def test_writes(name, varies, tmp_path):
    """Decomposed programs with writes have PyTorch's nodes; modules, programs and exchanged files have equal
    results."""
    varies = varies and name != "argument_and_buffer"
    sizes = (4, 4, 6) if varies else (4, 4)
    programs = {}
    for package in (torch, ts):
        shapes = ({0: package.export.Dim.AUTO},) if varies else None
        program = package.export.export(_module(package, name), (package.rand(4),), dynamic_shapes=shapes)
        programs[package] = program.run_decompositions()
        package.export.save(programs[package], tmp_path / f"{package.__name__}.pt2")
    assert _described(programs[ts]) == _described(programs[torch])
    for n in sizes:
        wanted = _flat(torch, _module(torch, name), torch.arange(n) * 1.0)
        assert _flat(ts, _module(ts, name), ts.arange(n) * 1.0) == wanted
        for package, other in ((torch, ts), (ts, torch)):
            loaded = package.export.load(tmp_path / f"{other.__name__}.pt2")
            assert _flat(package, loaded.module(), package.arange(n) * 1.0) == wanted
    run = programs[ts].run_decompositions().module()
    if name != "argument_and_buffer":
        for n in sizes:
            assert _flat(ts, run, ts.arange(n) * 1.0) == _flat(ts, _module(ts, name), ts.arange(n) * 1.0)
