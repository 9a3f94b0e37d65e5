"""Models that are exported, a family a file: small ones, of the kinds that are in use.

A family's file is written for PyTorch and runs as it stands.  `family("vision", "ts")` runs it with `ts` for
its `torch`. Call arguments of a model are in its table, by sizes: the example's and two others, with the
dynamic dimensions.

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
    """A model with its example arguments and dynamic dimensions."""

    make: Callable[[], Any]
    arguments: Callable[..., tuple[Any, ...]]  # by sizes
    sizes: tuple[tuple[int, ...], ...]  # of the example; others
    dynamic: tuple[tuple[int, ...], ...]  # dimensions of each argument that may change
    training: bool = False


@cache
def family(name: str, package: str = "torch") -> ModuleType:
    """The module of a family, with `package` for its `torch`."""
    return run_family(FOLDER, name, package)


def names() -> list[tuple[str, str]]:
    """Every family and model."""
    return [(each, name) for each in FAMILIES for name in family(each).CASES]


def build(torch: Any, family_name: str, name: str) -> Any:
    """Create a model of one of the packages with deterministic random weights."""
    torch.manual_seed(sum(map(ord, name)))
    case = family(family_name, torch.__name__).CASES[name]
    return case.make().train(case.training)
