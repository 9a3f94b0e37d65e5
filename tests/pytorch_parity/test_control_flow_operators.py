"""Control flow operators compared with PyTorch's: values, gradients, errors, and exported graphs with their
results."""

import re
import warnings

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("sympy")

import ts  # noqa: E402
from tests.pytorch_parity.control_flow_programs import PROGRAMS, REJECTED, operators  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")
OPERATORS = {T: operators(T) for T in (torch, ts)}
ALWAYS = {  # others are `long`, because PyTorch compiles each program
    "cond_closures", "cond_on_a_size", "cond_in_scan", "while_closures", "map_tree", "associative_scan_odd",
    "dtypes", "trees", "input", "mutation", "loop dtype", "scan count", "map lengths",
}  # fmt: skip


def some(names):
    """Return the names as parameters, marked as long except those in `ALWAYS`."""
    return [name if name in ALWAYS else pytest.param(name, marks=pytest.mark.long) for name in names]


def comparable(x):
    """Return a result as lists, numbers and strings."""
    if isinstance(x, torch.Tensor | ts.Tensor):
        return str(x.dtype), list(x.shape), np.round(x.detach().numpy().astype("float64"), 4).tolist()
    if isinstance(x, dict):
        return {k: comparable(v) for k, v in x.items()}
    return [type(x).__name__, *map(comparable, x)] if isinstance(x, list | tuple) else x


def leaves(x):
    """Return the tensors of a result."""
    if isinstance(x, torch.Tensor | ts.Tensor):
        return [x]
    inside = x.values() if isinstance(x, dict) else x if isinstance(x, list | tuple) else []
    return [y for part in inside for y in leaves(part)]


def wrapped(T, function):
    """Return a module that calls the function."""

    class Wrapped(T.nn.Module):
        def forward(self, *args):
            return function(*args)

    return Wrapped()


@pytest.mark.long
@pytest.mark.parametrize("name", PROGRAMS)
def test_values_and_gradients(name):
    """Eager control flow operators return PyTorch's results and gradients."""
    case, found = PROGRAMS[name], {}
    for T, H in OPERATORS.items():
        f, args = case.make(T, H)
        floats = [x.requires_grad_() for x in args if case.gradients and x.is_floating_point()]
        result = f(*args)
        found[T] = [comparable(result)]
        if floats:
            sum(y.sum() for y in leaves(result) if y.is_floating_point()).backward()
            found[T] += [comparable(x.grad) for x in floats]
    assert found[ts] == found[torch]


def exported(T, H, case):
    """Return the exported program and its arguments."""
    f, args = case.make(T, H)
    n = T.export.Dim("n", min=2)
    sizes = None
    if case.dynamic is not None:
        sizes = (tuple({case.dynamic[i]: n} if i in case.dynamic else None for i in range(len(args))),)
        if 0 in case.dynamic and case.make.__name__ == "map_tree":  # mapped tensors have equal lengths
            sizes = (({0: n}, {0: n}, None),)
    return T.export.export(wrapped(T, f), args, dynamic_shapes=sizes, strict=False), args


def readable(program):
    """Return the code of a program without source comments and symbol numbers."""
    text = program.graph_module.print_readable(print_output=False)
    text = re.sub(r"\n\s*#[^\n]*|\n\s*(?=\n)", "", text)
    text = re.sub(r"sym_size(_int)?(_\d+)?\b", "sym_size", text)
    return re.sub(r"\b[su]\d+\b", "s", text)


@pytest.mark.parametrize("name", some(PROGRAMS))
def test_exported_graphs(name):
    """Exported programs equal PyTorch's, including subgraphs, and have equal results."""
    found = {}
    for T, H in OPERATORS.items():
        program, args = exported(T, H, PROGRAMS[name])
        text = "" if name == "cond_numbers" else readable(program)  # PyTorch adds an assertion
        found[T] = text, comparable(program.module()(*args))
    assert found[ts] == found[torch]


def normalized_message(error):
    """Return an error message without addresses, hints and printed tensors."""
    text = str(error).split("Developer debug context")[0].split("from user code")[0]
    if "differ in" in text or "same number of outputs" in text:
        return text.split("\n")[0].split(" but got lhs")[0]
    if "got " in text and "RuntimeError when making" in text:
        return re.split(r"\*\*\{\}\): got ", text)[1].split("\n")[0].split("\\n")[0]
    text = re.sub(r"\n\s*Hint:[^\n]*", "", text)
    text = re.sub(
        r"Found in.*|but got \[?TensorVariable.*|but got tensor.*|class 'ts\S*|class 'torch\S*", "", text
    )
    return "\n".join(line for line in text.split("\n") if line.strip())


@pytest.mark.parametrize("name", some(REJECTED))
def test_rejected_calls(name):
    """Invalid calls raise PyTorch's class and message, in eager mode and in export."""
    found = {}
    for T, H in OPERATORS.items():
        f, args = REJECTED[name](T, H)
        errors = []
        for run in (f, lambda *args, f=f, T=T: T.export.export(wrapped(T, f), args, strict=False)):
            with pytest.raises(Exception) as caught, warnings.catch_warnings():
                run(*args)
            errors.append(caught.value)
        found[T] = type(errors[0]).__name__, normalized_message(errors[0]), type(errors[1]).__name__
    assert found[ts] == found[torch]


def test_batches():
    """`vmap` of `cond` with a batched predicate selects per element."""
    found = {}
    for T, H in OPERATORS.items():
        x, p = T.arange(6.0).reshape(2, 3), T.tensor([True, False])
        each = T.vmap(lambda x, p, H=H: H.cond(p, lambda x: x + 1, lambda x: x - 1, (x,)))(x, p)
        t = T.tensor(False)
        all_ = T.vmap(lambda x, H=H, t=t: H.cond(t, lambda x: x + 1, lambda x: x - 1, (x,)))(x)
        found[T] = comparable((each, all_))
    assert found[ts] == found[torch]
