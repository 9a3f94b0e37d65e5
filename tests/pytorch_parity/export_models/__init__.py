"""Small models for export tests, of the kinds that are in use; one file per family.

A family's file is written for PyTorch and runs unchanged.  `family("vision", "ts")` runs it with `ts` as
`torch`.  Its table has the arguments of each model for three tuples of sizes, the first of which is the
example, and the dynamic dimensions.

    CASES["mixer"] = Case(Mixer, lambda n, t: (torch.randn(n, t, 8),), ((2, 6), (3, 9), (5, 4)), ((0, 1),))
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from tests.program_files import run_family

FOLDER = Path(__file__).parent
FAMILIES = tuple(sorted(path.stem for path in FOLDER.glob("*.py") if path.stem != "__init__"))


class Case(NamedTuple):
    """Model with its example arguments and dynamic dimensions."""

    make: Callable[[], Any]
    arguments: Callable[..., tuple[Any, ...]]  # as a function of the sizes
    sizes: tuple[tuple[int, ...], ...]  # of the example and of other calls
    dynamic: tuple[tuple[int, ...], ...]  # dynamic dimensions of each argument
    training: bool = False


@cache
def family(name: str, package: str = "torch") -> ModuleType:
    """Return the module of a family, with `package` as its `torch`."""
    return run_family(FOLDER, name, package)


def names() -> list[tuple[str, str]]:
    """Return all families and models."""
    return [(each, name) for each in FAMILIES for name in family(each).CASES]


def build(torch: Any, family_name: str, name: str) -> Any:
    """Create a model of one of the packages with deterministic random weights."""
    torch.manual_seed(sum(map(ord, name)))
    case = family(family_name, torch.__name__).CASES[name]
    return case.make().train(case.training)
