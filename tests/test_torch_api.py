"""Every recorded name of PyTorch's modules is real or a placeholder, of the same kind; real functions take the same parameters."""

import importlib
import inspect
import types
from fnmatch import fnmatch

import pytest

from tests.record_torch_api import PARAMETERS_FILE, parameters
from ts.absent import api
from ts.absent.placeholders import is_placeholder

# Names of another kind than in PyTorch, by path, and the reason.
OTHER_KINDS = {
    "*Tensor": "an object of a class of such types: it is called, and is the second argument of isinstance",
    "*Storage": "an object of a class of such types: it is called, and is the second argument of isinstance",
    "autograd.variable": "the module; PyTorch's function only raises",
    "distributed.rendezvous": "the module of the rendezvous",
    "jit.frontend.*": "errors of the compiler are RuntimeErrors, as those that PyTorch raises beside these",
    "overrides._pop_mode_temporarily": "a context manager that is a class",
    "utils.data.functional_datapipe": "a decorator that is a function",
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
    """The names of a module that are missing, or of another kind than PyTorch's."""
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


GROUPS = sorted({path.partition(".")[0] for path in api.paths()})


@pytest.mark.parametrize("group", GROUPS)
def test_names(group):
    """Each name is there, and of the kind that it has in PyTorch; the excuses are those above."""
    found = [
        (full, what)
        for path in sorted(api.paths())
        if path.partition(".")[0] == group
        for full, what in differences(path)
    ]
    assert [(n, w) for n, w in found if not any(fnmatch(n, p) for p in OTHER_KINDS)] == []


def test_excuses_are_needed():
    found = {full for path in api.paths() for full, _ in differences(path)}
    assert [p for p in OTHER_KINDS if not any(fnmatch(name, p) for name in found)] == []


def recorded_parameters():
    for line in PARAMETERS_FILE.read_text().splitlines():
        if not line.startswith("#"):
            path, _, text = line.partition(":")
            yield path, text.strip()


# Functions and classes with other parameters than in PyTorch, and the reason.
OTHER_PARAMETERS = {}


def different_parameters():
    found = {}
    for path, text in recorded_parameters():
        module, _, name = path.rpartition(".")
        value = getattr(module_of(module), name)
        mine = None if is_placeholder(value) else parameters(value)
        if mine is not None and mine != text:
            found[path] = f"{mine} != {text}"
    return found
