"""Scripts that compute gradients: graph text, source, results and errors equal PyTorch's."""

import io
import re

import pytest

torch = pytest.importorskip("torch")

import ts  # noqa: E402

BODIES = [
    ["y = (x * x).sum()", "y.backward()", "return x.grad"],
    ["y = x * x", "y.backward(torch.ones_like(y), True)", "y.backward(gradient=y, retain_graph=False)", "return x.grad"],
    ["y = (x * x).sum()", "torch.autograd.backward([y, y], retain_graph=True)", "return x.grad"],
    ["y = (x * x).sum()", "torch.autograd.backward(y)", "return x.grad"],
    ["y = (x * x).sum()", "return torch.autograd.grad([y], [x])"],
    ["y = (x * x).sum()", "g = torch.autograd.grad([y], [x], create_graph=True)[0]", "assert g is not None", "return g * 2"],
    ["y = x * 2", "y.retain_grad()", "y.exp().sum().backward()", "return y.grad, x.grad, y.retains_grad"],
    ["a = x.grad", "(x * x).sum().backward()", "return x.grad"],
    ["y = x.detach().requires_grad_()", "(y * y).sum().backward()", "return y.grad, y.is_leaf, x.is_leaf"],
    ["return x.output_nr(), x._version(), (x * 2).is_leaf, (x * 2).detach_().requires_grad"],
    ["with torch.no_grad():", "    y = x * 2", "return y.requires_grad, x.requires_grad_(False).requires_grad"],
    ["torch.set_grad_enabled(False)", "y = x * 2", "torch.set_grad_enabled(True)", "return y.requires_grad"],
]  # fmt: skip
REJECTED = [
    "x.grad = x",
    "x.requires_grad = True",
    "x.grad_fn",
    "return x.output_nr",
    "x.backward(inputs=[x])",
    "torch.autograd.grad(x, x)",
    "torch.autograd.grad([x], [x], is_grads_batched=True)",
    "torch.autograd.grad([x], [x], grad_outputs=[x])",
]
FAILING = [
    ["x.exp().backward()"],
    ["y = (x * x).sum()", "y.backward()", "y.backward()"],
    ["x.detach().sum().backward()"],
]


def program(body: list[str]) -> str:
    return "\n    ".join(["def f(x: Tensor):", *body]) + "\n"


def of(package, text: str):
    return package.jit.CompilationUnit(text).f


def comparable(found):
    if isinstance(found, (list, tuple)):
        return [comparable(x) for x in found]
    return found.detach().tolist() if hasattr(found, "detach") else found


def leaf(package):
    return package.tensor([0.5, 1.5, -2.0], requires_grad=True)


def message_after_source(error) -> str:
    """Return the error message after the quoted source."""
    return str(error.value).rpartition("RuntimeError: ")[2].strip()


@pytest.mark.parametrize("body", BODIES, ids=" ".join)
def test_graphs_and_results_are_the_same(body):
    ours, theirs = of(ts, program(body)), of(torch, program(body))
    assert str(ours.graph) == str(theirs.graph)
    for _ in range(3):
        assert repr(comparable(ours(leaf(ts)))) == repr(comparable(theirs(leaf(torch))))


@pytest.mark.parametrize("line", REJECTED)
def test_compile_errors_equal_pytorch(line):
    with pytest.raises(RuntimeError) as ours:
        of(ts, program([line, "return x"]))
    with pytest.raises(RuntimeError) as theirs:
        of(torch, program([line, "return x"]))
    first = [str(error.value).strip().splitlines()[0] for error in (ours, theirs)]
    assert first[0] == first[1]


@pytest.mark.parametrize("body", FAILING, ids=" ".join)
def test_run_time_errors_equal_pytorch(body):
    with pytest.raises(RuntimeError) as theirs:
        of(torch, program([*body, "return x.grad"]))(leaf(torch))
    with pytest.raises(RuntimeError) as ours:
        of(ts, program([*body, "return x.grad"]))(leaf(ts))
    assert message_after_source(ours).partition(" of torch")[0] in message_after_source(theirs)


class Step(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.w = torch.nn.Parameter(torch.tensor([1.0, 2.0, 3.0]))

    def forward(self, x):
        loss = ((self.w * x - 1.0) ** 2).sum()
        loss.backward()
        g = self.w.grad
        with torch.no_grad():
            self.w.sub_(g * 0.1)
            g.zero_()
        torch.autograd.backward([(self.w * x).sum()])
        h = torch.autograd.grad([(self.w * x).sum()], [self.w])
        y = x.clone().requires_grad_()
        y.retain_grad()
        return loss, self.w.grad, h, y.is_leaf, y.retains_grad


def saved(package, module) -> io.BytesIO:
    file = io.BytesIO()
    package.jit.save(module, file)
    file.seek(0)
    return file


def test_archives_of_steps_are_exchanged():
    theirs = torch.jit.script(Step())
    ours = ts.jit.load(saved(torch, theirs))
    back = torch.jit.load(saved(ts, ours))
    assert re.sub(r"\s+", " ", ours.code) == re.sub(r"\s+", " ", theirs.code)
    numbers = [1.0, 0.5, 2.0]
    for _ in range(3):
        found = [comparable(m(p.tensor(numbers))) for m, p in ((theirs, torch), (ours, ts), (back, torch))]
        for one in found[1:]:
            assert torch.allclose(torch.tensor(one[1]), torch.tensor(found[0][1]))
            assert one[3:] == found[0][3:]


def begins_as_a_number(x):
    prev = 0.0
    for t in range(x.size(0)):
        prev = prev - x[t] / 2
    return prev


def written_to_elements(x):
    prev = 0.0
    out = x * 0
    for t in range(x.size(0)):
        prev = 0.5 * prev + x[t]
        out[t] = prev
    return out


def converted(x):
    prev = 0.0
    for t in range(x.size(0)):
        prev = prev - float(x[t])
    return prev * x.sum()


@pytest.mark.parametrize("program", [begins_as_a_number, written_to_elements, converted], ids=lambda program: program.__name__)
def test_implicit_numbers_of_tensors_that_require_grad(program):
    """A tensor that requires grad and is converted implicitly to a number raises PyTorch's error at its line,
    in every iteration."""
    outcomes = []
    for m in (ts, torch):
        scripted, found = m.jit.script(program), []
        for wanted in (False, False, False, True, True):
            x = m.arange(4.0).requires_grad_(wanted)
            try:
                y = scripted(x)
                if wanted:
                    y.sum().backward()
                found.append((y.tolist() if hasattr(y, "tolist") else y, x.grad.tolist() if wanted else None))
            except RuntimeError as error:
                found.append(str(error))
        outcomes.append(found)
    assert outcomes[0] == outcomes[1]
    assert ("Cannot input a tensor that requires grad as a scalar argument" in str(outcomes[0])) == (program is not converted)
