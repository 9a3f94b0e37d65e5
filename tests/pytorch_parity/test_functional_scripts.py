"""Library functions written in Python compile like PyTorch's: equal calls, types and results."""

import pytest

torch = pytest.importorskip("torch")
import ts  # noqa: E402

CALLS = """
torch.norm(x)
torch.norm(x, "nuc")
torch.norm(x, 2.0, 1)
torch.norm(x, "fro", [0, 1], True)
torch.norm(x, None, 0, dtype=torch.float64)
torch.functional.norm(x, 1)
x.norm()
torch.unique(x)
torch.unique(x, dim=0)
torch.unique(x, True, True)
torch.unique(x, return_counts=True)
torch.unique(x, return_counts=True, return_inverse=True)
torch.unique_consecutive(x)
torch.unique_consecutive(x, return_counts=True)
torch.unique_consecutive(x, True, True, 0)
torch._VF.unique_consecutive(x)
x.unique_consecutive()
torch.tensordot(x, x)
torch.tensordot(x, x, [[0], [0]])
torch.tensordot(x, x, ([0, 1], [0, 1]))
torch.tensordot(x, x, torch.tensor([[0], [0]]))
torch.cdist(x, x)
torch.cdist(x, x, 1.0, "donot_use_mm_for_euclid_dist")
torch.stft(x, 2, 1, return_complex=True)
x.stft(2, 1, return_complex=True)
torch.lu(x)
torch.lu(x, get_infos=True)
torch.gradient(x)
torch.ops.aten.add(x, x)
"""
X = [[3.0, 1.0, 1.0], [3.0, 1.0, 1.0], [2.0, 2.0, 5.0]]


def listed(result):
    return [listed(r) for r in result] if isinstance(result, (tuple, list)) else result.tolist()


def calls(graph):
    return [line.split(" # ")[0] for line in str(graph).strip().split("\n")]


@pytest.mark.parametrize("call", CALLS.strip().split("\n"))
def test_calls_are_pytorchs(call):
    source = f"def f(x):\n    return {call}\n"
    theirs, ours = torch.jit.CompilationUnit(source).f, ts.jit.CompilationUnit(source).f
    assert calls(ours.graph) == calls(theirs.graph)
    want, got = theirs(torch.tensor(X)), ours(ts.tensor(X))
    assert str(listed(got)) == str(listed(want)) or close(want, got)


def close(want, got):
    if isinstance(want, (tuple, list)):
        return len(want) == len(got) and all(close(w, g) for w, g in zip(want, got, strict=True))
    return torch.allclose(torch.tensor(got.tolist(), dtype=want.dtype), want, atol=1e-5)


@pytest.mark.parametrize(
    "call", ["x.norm('nuc')", "x.norm(dim=0, p=1)", "x.unique(return_counts=True)", "x.lu()"]
)
def test_methods_in_python(call):
    want, got = (eval(call, {"x": package.tensor(X)}) for package in (torch, ts))
    assert close(want, got)


def test_rejected_in_scripts():
    for call in ("x.norm('fro')", "x.unique()", "x.lu()"):
        for package in (torch, ts):
            with pytest.raises(RuntimeError):
                package.jit.CompilationUnit(f"def f(x):\n    return {call}\n")
