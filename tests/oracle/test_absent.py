"""The table of what `ts` has not is PyTorch's: its modules, and the public names in them."""

import importlib
import pkgutil
import types
import warnings

import pytest

import ts
from ts.absent.aliases import ALIASES
from ts.absent.names import NAMES

torch = pytest.importorskip("torch")

BY_ACCIDENT = (
    "typing", "typing_extensions", "collections", "contextlib", "functools", "warnings", "builtins", "abc", "enum",
    "dataclasses",
)  # fmt: skip
def public(module, name):
    """Whether a name is one that the module declares."""
    value = getattr(module, name, None)
    if name.startswith("_") or name == "annotations" or isinstance(value, types.ModuleType):
        return False
    home = getattr(value, "__module__", None) or ""
    return hasattr(module, "__all__") or home.split(".")[0] not in BY_ACCIDENT


@pytest.mark.parametrize("path", sorted(set(NAMES) - {""}))
def test_the_names_are_pytorchs(path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = importlib.import_module(f"torch.{path}")
    names = getattr(theirs, "__all__", None) or dir(theirs)
    wanted = {name for name in names if hasattr(theirs, name) and public(theirs, name)}
    ours = importlib.import_module(f"ts.{path}")
    table = set(NAMES[path].split())
    assert {name for name in wanted if not hasattr(ours, name)} == set()
    assert {name for name in table if not hasattr(theirs, name)} == set()


@pytest.mark.parametrize("path", sorted(ALIASES))
def test_aliases_are_modules_of_pytorch(path):
    theirs = importlib.import_module(f"torch.{path}")
    assert [name for name in ALIASES[path][1] if not hasattr(theirs, name)] == []


def test_every_module_of_distributions_imports():
    """Import lines such as `from torch.distributions.normal import Normal`, for every file and what it declares."""
    for file in pkgutil.iter_modules(torch.distributions.__path__):
        theirs = importlib.import_module(f"torch.distributions.{file.name}")
        ours = importlib.import_module(f"ts.distributions.{file.name}")
        assert [name for name in getattr(theirs, "__all__", ()) if not hasattr(ours, name)] == [], file.name


def test_names_at_the_top():
    assert [name for name in NAMES[""].split() if not hasattr(torch, name)] == []
    assert not hasattr(ts, "no_such_name")


def test_operators_that_are_absent():
    """The table has PyTorch's operators that have no record here, and no others."""
    from ts.absent.operators import OPERATORS
    from ts.ops import registry

    names = {s.name.partition("::")[2] for s in torch._C._jit_get_all_schemas() if s.name.startswith("aten::")}
    missing = {name for name in names if not name.startswith("_foobar") and not registry.lookup(f"aten::{name}")}
    assert missing - OPERATORS == set() and not any(registry.lookup(f"aten::{name}") for name in OPERATORS)


def test_classes_of_results():
    """`return_types` has a class for every operator whose results have names, if the operator is there."""
    for name in dir(torch.return_types):
        cls = getattr(torch.return_types, name)
        if isinstance(cls, type) and issubclass(cls, tuple) and hasattr(cls, "n_fields") and hasattr(ts, name):
            fields = [field for field in dir(cls) if field in repr(cls.__match_args__)]
            assert set(getattr(ts.return_types, name)._fields) == set(fields), name
    assert type(ts.max(ts.ones(2, 2), 0)) is ts.return_types.max
