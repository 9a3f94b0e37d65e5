"""Modules of distributions, unsupported operators and result classes equal PyTorch's."""

import importlib
import pkgutil

import pytest

import ts
from ts.unsupported.placeholders import is_placeholder

torch = pytest.importorskip("torch")


def test_every_module_of_distributions_imports():
    """The modules of `torch.distributions` can be imported with their public names."""
    for file in pkgutil.iter_modules(torch.distributions.__path__):
        theirs = importlib.import_module(f"torch.distributions.{file.name}")
        ours = importlib.import_module(f"ts.distributions.{file.name}")
        assert [name for name in getattr(theirs, "__all__", ()) if not hasattr(ours, name)] == [], file.name


def test_operators_that_are_absent():
    """The table of unsupported operators lists exactly PyTorch's operators without a record."""
    from ts.unsupported.unsupported_ops import OPERATORS
    from ts.ops import registry

    names = {s.name.partition("::")[2] for s in torch._C._jit_get_all_schemas() if s.name.startswith("aten::")}
    missing = {name for name in names if not name.startswith("_foobar") and not registry.lookup(f"aten::{name}")}
    assert missing - OPERATORS == set() and not any(registry.lookup(f"aten::{name}") for name in OPERATORS)


def test_classes_of_results():
    """`return_types` has a class for each supported operator with named results."""
    for name in dir(torch.return_types):
        cls = getattr(torch.return_types, name)
        if isinstance(cls, type) and issubclass(cls, tuple) and hasattr(cls, "n_fields"):
            if not hasattr(ts, name) or is_placeholder(getattr(ts.return_types, name)):
                continue
            fields = [field for field in dir(cls) if field in repr(cls.__match_args__)]
            assert set(getattr(ts.return_types, name)._fields) == set(fields), name
    assert type(ts.max(ts.ones(2, 2), 0)) is ts.return_types.max
