"""Suggestions for misspelled names, and `dir` and `hasattr` before the first use of a name."""

import pickle
import subprocess
import sys

import pytest

import ts
from ts.errors import closest, missing_attribute

WRONG = {
    "softmx": "module 'ts' has no attribute 'softmx'. Did you mean: 'softmax'?",
    "float33": "module 'ts' has no attribute 'float33'. Did you mean: 'float32'?",
    "nn.Liner": "module 'ts.nn' has no attribute 'Liner'. Did you mean: 'Linear'?",
    "nn.Relu": "module 'ts.nn' has no attribute 'Relu'. Did you mean: 'ReLU'?",
    "nn.modules.Conv2": "module 'ts.nn.modules' has no attribute 'Conv2'. Did you mean: 'Conv2d'?",
    "nn.utils.clip_grad_norms": "module 'ts.nn.utils' has no attribute 'clip_grad_norms'. Did you mean: 'clip_grad_norm'?",
    "nn.functional.rellu": "module 'ts.nn.functional' has no attribute 'rellu'. Did you mean: 'relu'?",
    "nn.functional.conv2": "module 'ts.nn.functional' has no attribute 'conv2'. Did you mean: 'conv2d'?",
    "jit.scirpt": "module 'ts.jit' has no attribute 'scirpt'. Did you mean: 'script'?",
    "linalg.nrom": "module 'ts.linalg' has no attribute 'nrom'. Did you mean: 'norm'?",
    "fft.ftt": "module 'ts.fft' has no attribute 'ftt'. Did you mean: 'fft'?",
    "special.expti": "module 'ts.special' has no attribute 'expti'. Did you mean: 'expit'?",
    "autograd.bakward": "module 'ts.autograd' has no attribute 'bakward'. Did you mean: 'backward'?",
    "cuda.synchronise": "module 'ts.cuda' has no attribute 'synchronise'. Did you mean: 'synchronize'?",
}  # fmt: skip


def looked_up(path):
    value = ts
    for name in path.split("."):
        value = getattr(value, name)
    return value


@pytest.mark.parametrize("path", WRONG)
def test_packages_suggest_names(path):
    with pytest.raises(AttributeError) as caught:
        looked_up(path)
    assert str(caught.value) == WRONG[path]


def test_tensors_modules_and_units_suggest_names():
    x = ts.ones(2)
    unit = ts.jit.CompilationUnit("def doubled(x):\n    return x * 2\n")
    net = ts.nn.Sequential()
    net.register_buffer("steps", x)
    scripted = ts.jit.script(ts.nn.Linear(2, 2))
    for owner, wrong, right in (
        (x, "softmx", "softmax"), (x, "shpae", "shape"), (ts.nn.Parameter(x), "gradd", "grad"), (unit, "doubeld", "doubled"),
        (net, "step", "steps"), (scripted, "wieght", "weight"), (scripted, "grph", "graph"),
    ):  # fmt: skip
        with pytest.raises(AttributeError, match=rf"has no attribute '{wrong}'. Did you mean: '{right}'\?"):
            getattr(owner, wrong)
    with pytest.raises(AttributeError, match=r"^'Parameter' object"):
        ts.nn.Parameter(x).gradd


def test_no_suggestion_without_similar_names():
    for path in ("qqqqqqqq", "nn.qqqqqqqq", "linalg.qqqqqqqq"):
        with pytest.raises(AttributeError) as caught:
            looked_up(path)
        assert "Did you mean" not in str(caught.value)
    assert not hasattr(ts, "softmx") and not hasattr(ts.ones(1), "softmx")


def test_a_name_is_not_suggested_for_itself():
    """A property that raises AttributeError is not suggested for its own name."""
    lstm = ts.jit.script(ts.nn.LSTM(2, 2))
    assert "code" in dir(lstm)
    with pytest.raises(AttributeError, match=r"has no attribute 'code'$"):
        lstm.code


def test_suggestions_are_computed_lazily():
    calls = []

    def known():
        calls.append(1)
        return ["softmax"]

    error = missing_attribute("module 'ts'", "softmx", known)
    assert calls == [] and error.name == "softmx"
    assert "softmax" in str(error) and calls == [1]
    copied = pickle.loads(pickle.dumps(error))
    assert type(copied) is AttributeError and str(copied) == str(error)


def test_closest_names():
    assert closest("Batchnorm2d", ["BatchNorm1d", "BatchNorm2d"]) == "BatchNorm2d"
    assert closest("zeroslike", ["zeros", "zeros_like"]) == "zeros_like"
    assert closest("relu", ["_relu"]) == "" and closest("_rel", ["_relu"]) == "_relu"
    assert closest("x", []) == ""


def in_process(program):
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


def test_tracebacks_suggest_once():
    """A traceback contains a suggestion once, without Python's own."""
    output = in_process("import ts; ts.softmx")
    assert output.count("Did you mean") == 1 and output.rstrip().endswith("AttributeError: module 'ts' has no attribute 'softmx'. Did you mean: 'softmax'?")


def test_dir_lists_methods_before_first_use():
    """`dir(Tensor)` lists all methods without importing operators, and each listed method exists."""
    output = in_process(
        "import sys, ts\n"
        "names = dir(ts.Tensor)\n"
        "print('softmax' in names, 'add_' in names, 'shape' in names, 'ts.ops.conv' in sys.modules)\n"
        "print(hasattr(ts.Tensor, 'add'), hasattr(ts.Tensor, 'ad'), ts.Tensor.add(ts.ones(1), 2).item(), ts.ones(2).softmax(0).tolist())\n"
    )
    assert output.split("\n")[:2] == ["True True True False", "True False 3.0 [0.5, 0.5]"]
    assert {"softmax", "nn", "float32", "Tensor"} <= set(dir(ts))


def test_a_method_imports_only_its_operators():
    """The first lookup of a method imports no other operators, also without a lookup of `ts.Tensor`."""
    code = """
import sys
import numpy, ts
x = ts.from_numpy(numpy.array([-1.0]))
print(x.abs().item(), hasattr(x, "relu"), hasattr(x, "rely"), x.add is not None, ts.Tensor.abs is ts.Tensor.abs)
method = ts.Tensor.abs
print("ts.ops.conv" in sys.modules, len([name for name in sys.modules if name.startswith("ts.ops.")]) < 15)
try:
    x.rely
except AttributeError as error:
    print(str(error).rpartition(" ")[2])
ts.ops.registry.load()
print(ts.Tensor.abs is method, x.where(x > 0, x).item(), x.nonzero().tolist())
"""
    output = in_process(code).splitlines()
    assert output == ["1.0 True False True True", "False True", "'relu'?", "True -1.0 [[0]]"]


def test_a_failing_property_is_evaluated_twice_at_most():
    """A property of a subclass that raises AttributeError is not looked up without an end."""

    class Failing(ts.Tensor):
        @property
        def relu(self):
            raise AttributeError("no value")

    with pytest.raises(AttributeError, match="has no attribute 'relu'"):
        ts.ones(1).as_subclass(Failing).relu


def test_the_names_of_methods_are_current():
    from ts.ops import method_names, registry

    assert set(registry.python_names("m")) <= set(method_names.NAMES.split())


def test_completion_finds_names():
    """Completion in IPython and the interpreter finds names of packages, tensors and layers."""
    import rlcompleter

    completer = rlcompleter.Completer({"ts": ts, "x": ts.ones(1), "net": ts.nn.Linear(1, 1)})
    for text, completion in (("ts.softm", "ts.softmax("), ("ts.nn.Line", "ts.nn.Linear("), ("x.softm", "x.softmax("), ("net.weig", "net.weight"),
                        ("ts.nn.functional.rel", "ts.nn.functional.relu("), ("ts.linalg.sv", "ts.linalg.svd(")):  # fmt: skip
        completions = [completer.complete(text, i) for i in range(20)]
        assert any(s and s.startswith(completion.rstrip("(")) for s in completions), (text, completions)
