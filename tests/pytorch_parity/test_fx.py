"""`torch.fx` compared with PyTorch: the programs in `fx_programs`, layers and models, traced, run and changed."""

import inspect
import re
import warnings

import numpy as np
import pytest

torch = pytest.importorskip("torch")
import torch.fx  # noqa: E402

import ts  # noqa: E402
from tests.pytorch_parity import fx_programs, models  # noqa: E402
from ts.unsupported.placeholders import is_placeholder  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")
PACKAGES = {"torch": torch, "ts": ts}


def same_text(text):
    """Return a text without package names, addresses and locations of generated code."""
    text = re.sub(r"\b(fx_programs|models)_in_(torch|ts)", r"\1", text)
    text = re.sub(r"0x[0-9a-f]+", "0x", text)
    return re.sub(r"<(torch|ts)>/", "</", re.sub(r"\bts\.", "torch.", text))


def comparable(value):
    """Return a result as strings, numbers, lists and arrays."""
    if isinstance(value, torch.Tensor | ts.Tensor):
        elements = [float(f"{x:.4g}") for x in np.asarray(value.detach().numpy()).ravel().tolist()]
        return ["tensor", str(value.dtype), list(value.shape), elements]
    if isinstance(value, str):
        return same_text(value)
    if isinstance(value, dict):
        return {comparable(k): comparable(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [comparable(x) for x in value]
    return value if isinstance(value, bool | int | float | None.__class__) else same_text(str(value))


@pytest.mark.parametrize(("file", "name"), fx_programs.names())
def test_programs(file, name, tmp_path, monkeypatch, capsys):
    results = {}
    for package in PACKAGES:
        folder = tmp_path / package / "work"
        folder.mkdir(parents=True)
        monkeypatch.chdir(folder)
        result = comparable(getattr(fx_programs.programs(file, package), name)())
        printed = capsys.readouterr()
        results[package] = result, same_text(printed.out)
    assert results["ts"] == results["torch"]


MODELS = [pytest.param(family, name, id=f"{family}-{name}") for family, name in models.names()]


def traced(package, family, name):
    """Return the code and the graph of a traced model, or None for an untraceable model."""
    model = models.family(family, package.__name__).CASES[name].make()
    try:
        module = package.fx.symbolic_trace(model)
    except Exception:
        return None
    return same_text(module.code), same_text(str(module.graph))


@pytest.mark.parametrize(("family", "name"), MODELS)
def test_models(family, name):
    """`symbolic_trace` returns PyTorch's code for every model that PyTorch traces."""
    theirs = traced(torch, family, name)
    if theirs is not None:
        assert traced(ts, family, name) == theirs


LAYERS = """
    Linear(3, 4) Bilinear(2, 3, 4) Conv1d(2, 3, 1) Conv2d(2, 3, 1) Conv3d(2, 3, 1) ConvTranspose2d(2, 3, 2) BatchNorm1d(3)
    BatchNorm2d(3) InstanceNorm2d(3) GroupNorm(2, 4) LayerNorm(3) RMSNorm(3) LocalResponseNorm(2) Embedding(4, 3)
    EmbeddingBag(10, 3, mode='sum') ReLU() GELU() SiLU() Hardswish() PReLU() Softmax(1) LogSoftmax(1) Threshold(1, 2) ELU()
    LeakyReLU() Tanh() Sigmoid() Dropout() Flatten() Unflatten(1, (2, 2)) Unfold(2) PixelShuffle(2) Upsample(scale_factor=2)
    MaxPool1d(2) MaxPool2d(2) MaxPool2d(2, return_indices=True) AvgPool2d(2) AvgPool3d(2) LPPool2d(2, 2)
    AdaptiveAvgPool2d(1) AdaptiveMaxPool2d(1) ReflectionPad2d(1) ZeroPad2d(1) CosineSimilarity() PairwiseDistance()
    CrossEntropyLoss() MSELoss() SmoothL1Loss() TripletMarginLoss() BCEWithLogitsLoss() NLLLoss() HuberLoss() Identity()
"""
LAYERS = re.findall(r"\w+\((?:[^()]|\([^()]*\))*\)", LAYERS)


@pytest.mark.parametrize("layer", LAYERS)
def test_layers(layer):
    """A layer as the root module is traced to PyTorch's code, or rejected with the same error."""
    found = {}
    for name, package in PACKAGES.items():
        try:
            module = package.fx.symbolic_trace(eval(f"package.nn.{layer}"))
        except package.fx.proxy.TraceError as error:
            found[name] = str(error)
        else:
            found[name] = same_text(module.code), same_text(str(module.graph))
    assert found["ts"] == found["torch"]


def signatures():
    return {**ts.fx.torch_function_forwarding._FUNCTIONAL, **ts.fx.torch_function_forwarding._TORCH}


@pytest.mark.parametrize("name", sorted(signatures()))
def test_forwarded_arguments_of_python_functions(name):
    """The table of forwarded arguments in `torch_function_forwarding` equals the behaviour of PyTorch's
    Python functions."""
    count, names, defaults = ts.fx.torch_function_forwarding._parse_parameters(signatures()[name])
    space = "nn.functional" if name in ts.fx.torch_function_forwarding._FUNCTIONAL else "functional"
    found = {}
    for package in PACKAGES.values():
        function = package
        for part in [*space.split("."), name]:
            function = getattr(function, part)
        graph = package.fx.Graph()
        tracer = package.fx.proxy.GraphAppendingTracer(graph)
        values = [package.fx.Proxy(graph.placeholder(f"p_{n}"), tracer) for n in names if n not in defaults]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = function(*values)
        found[package.__name__] = same_text(str(result.node.format_node()))
    assert found["ts"] == found["torch"] and count


# Exceptions: one object for two of PyTorch's; no tensor arguments; called before tracing only.
EXCUSED = """
    layer_norm rms_norm autocast_decrement_nesting autocast_increment_nesting clear_autocast_cache is_autocast_cache_enabled
    set_autocast_cache_enabled sym_sqrt
    boolean_dispatch has_torch_function has_torch_function_unary has_torch_function_variadic
""".split()


def qualified(package, function):
    try:
        return package.fx.node._get_qualified_name(function)
    except Exception as error:
        return type(error).__name__


@pytest.mark.parametrize("space", ["", "nn.functional", "linalg", "fft", "special"])
def test_names_of_functions(space):
    """Functions have PyTorch's names in generated code."""
    ours, theirs = ts, torch
    for part in filter(None, space.split(".")):
        ours, theirs = getattr(ours, part), getattr(theirs, part)
    wrong = {}
    for name in dir(theirs):
        function, own = getattr(theirs, name), getattr(ours, name, None)
        if name.startswith("_") or own is None or not (inspect.isbuiltin(function) or inspect.isfunction(function)):
            continue
        if is_placeholder(own):
            continue
        names = same_text(qualified(ts, own)), same_text(qualified(torch, function))
        if names[0] != names[1] and name not in EXCUSED:
            wrong[name] = names
    assert sorted(wrong.items()) == []
