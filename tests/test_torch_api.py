"""Every recorded PyTorch name exists with its kind, as implementation or placeholder, and functions have
equal parameters."""

import importlib
import inspect
import json
import subprocess
import sys
import types
import warnings
from fnmatch import fnmatch

import pytest

from tests.record_torch_api import PARAMETERS_FILE, ROOT, parameters
from ts.unsupported import api
from ts.unsupported.placeholders import is_placeholder

# Names whose kind differs from PyTorch's, by path, with the reason.
OTHER_KINDS = {
    "*Tensor": "an object of a class of such types: it is called, and is the second argument of isinstance",
    "*Storage": "an object of a class of such types: it is called, and is the second argument of isinstance",
    "autograd.variable": "the module; PyTorch's function only raises",
    "distributed.rendezvous": "the module of the rendezvous",
    "jit.frontend.*": "errors of the compiler are RuntimeErrors, as those that PyTorch raises beside these",
    "overrides._pop_mode_temporarily": "a context manager that is a class",
    "utils._python_dispatch._disable_current_modes": "a context manager that is a class",
    "utils._python_dispatch._pop_mode_temporarily": "a context manager that is a class",
    "utils.data.functional_datapipe": "a decorator that is a function",
}
# Functions and classes whose parameters differ from PyTorch's, by path, with the reason.
OTHER_PARAMETERS = {
    **dict.fromkeys(
        """
        Size dtype layout memory_format is_storage is_tensor set_default_dtype set_default_tensor_type types.Storage
        """.split(),
        "written in Python here: a parameter that PyTorch takes by position only has a name, classes have fields",
    ),
    **dict.fromkeys(
        """
        *Storage enable_grad sym_sum cpu.Stream cuda.ExternalStream cuda.Stream cuda.amp.custom_* nn.Lazy*
        nn.init.* nn.utils.clip_grad_norm nn.NLLLoss2d hub.* compiler.compile onnx.* utils.data.functional_datapipe
        distributed.is_* autograd.profiler.EventList
        """.split(),
        "the same calls, collected by * on one of the two sides",
    ),
    **dict.fromkeys(
        """
        autograd.function.* jit.export jit.interface jit.script_if_tracing jit.script_method jit.unused
        jit.annotations.* library.* fx.experimental.symbolic_shapes.guard_size_oblivious utils.hooks.RemovableHandle
        utils.data.Sampler multiprocessing.reductions.*
        """.split(),
        "arguments that are given by position",
    ),
    **dict.fromkeys(
        """
        autograd.profiler.FunctionEvent autograd.profiler.profile cuda.Event cuda.graph profiler.profile
        profiler.tensorboard_trace_handler compile distributed.init_process_group nn.parallel.DistributedDataParallel
        nn.UninitializedBuffer fx.experimental.proxy_tensor.* utils.flop_counter.conv_backward_flop
        """.split(),
        "options that have no meaning here are missing",
    ),
    **dict.fromkeys(
        """
        jit.load jit.trace jit.trace_module distributed.rpc.rpc_* distributed.rpc.TensorPipeRpcBackendOptions
        export.register_dataclass
        """.split(),
        "parameters of `ts` beside PyTorch's",
    ),
    **dict.fromkeys(
        """
        export.* jit.RecursiveScript* jit.*TracedModule return_types.*
        """.split(),
        "classes that programs do not construct",
    ),
    "signal.windows.*": "functions in the scripted subset, called by a function that takes the options",
}
KINDS = ("class", "function", "module", "error")


def kind(value):
    if isinstance(value, types.ModuleType):
        return "module"
    if isinstance(value, type):
        return "error" if issubclass(value, BaseException) else "class"
    return "function" if callable(value) else "value"


def module_of(path):
    return importlib.import_module(f"ts.{path}".rstrip("."))


def differences(path):
    """Yield names of a module that are missing or differ in kind from PyTorch, with the difference."""
    module = module_of(path)
    for name, entry in api.entries(path).items():
        full = f"{path}.{name}".lstrip(".")
        value = getattr(module, name, inspect.Parameter.empty)
        if value is inspect.Parameter.empty:
            yield full, "missing"
        elif entry.kind in KINDS and kind(value) != entry.kind:
            yield full, kind(value)
        elif entry.kind == "error":
            base = next(b for b in value.__mro__ if b.__module__ == "builtins")
            if base.__name__ != entry.detail:
                yield full, base.__name__


def different_parameters():
    """Yield functions and classes with other parameters than PyTorch's, with both signatures."""
    for line in PARAMETERS_FILE.read_text().splitlines():
        path, _, text = line.partition(":")
        if line.startswith("#"):
            continue
        module, _, name = path.rpartition(".")
        value = getattr(module_of(module), name)
        ts_parameters = None if is_placeholder(value) else parameters(value)
        if ts_parameters is not None and ts_parameters != text.strip():
            yield path, text.strip(), ts_parameters


def print_all_differences():
    """Print all differences; run in a new process, because resolved names stay in the modules."""
    warnings.simplefilter("ignore")
    kinds = [entry for path in sorted(api.paths()) for entry in differences(path)]
    print(json.dumps([kinds, list(different_parameters())]))


@pytest.fixture(scope="module")
def missing_names():
    done = subprocess.run(
        [sys.executable, "-c", "from tests.test_torch_api import print_all_differences; print_all_differences()"],
        capture_output=True, text=True, check=False, cwd=ROOT,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_names(missing_names):
    """Each name exists with PyTorch's kind, except those in OTHER_KINDS."""
    assert [each for each in missing_names[0] if not any(fnmatch(each[0], p) for p in OTHER_KINDS)] == []


def test_parameters(missing_names):
    """Functions and classes take PyTorch's parameters, by name, kind and presence of a default."""
    assert [each for each in missing_names[1] if not any(fnmatch(each[0], p) for p in OTHER_PARAMETERS)] == []


def test_exceptions_are_needed(missing_names):
    for exceptions, names in ((OTHER_KINDS, missing_names[0]), (OTHER_PARAMETERS, missing_names[1])):
        assert [p for p in exceptions if not any(fnmatch(name[0], p) for name in names)] == []
