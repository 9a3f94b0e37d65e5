"""Small models of many kinds, as they are deployed in TorchScript; one file per family.

A family's file is written for PyTorch and runs unchanged.  `family("vision", "ts")` runs it with `ts` as
`torch`, so both packages have equal classes.  Its table defines the calls of each model:

    CASES["resnet"] = Case(ResNet, lambda: [call(torch.randn(1, 3, 32, 32))])

`test_models.py` compares the results of PyTorch and `ts`; `python -m benchmarks models` compares their times.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from tests.program_files import run_family

FOLDER = Path(__file__).parent
FAMILIES = tuple(sorted(path.stem for path in FOLDER.glob("*.py") if path.stem != "__init__"))


class Call(NamedTuple):
    """A call of a model's method."""

    args: tuple[Any, ...]
    method: str = "forward"
    seed: int | None = None  # of the method's random numbers


def call(*args: Any, method: str = "forward", seed: int | None = None) -> Call:
    """Return a call with these arguments."""
    return Call(args, method, seed)


@dataclass(frozen=True)
class Case:
    """A model with its calls and compilation modes."""

    make: Callable[[], Any]
    calls: Callable[[], list[Call]]
    ways: tuple[str, ...] = ("script", "trace", "freeze")  # compilation modes
    traced_calls: int = 9  # number of calls for traces, which keep the example's sizes
    training: bool = False
    attributes: tuple[str, ...] = ()  # compared after the calls, like buffers
    dtype: str = "float32"
    channels_last: bool = False


@cache
def family(name: str, package: str = "torch") -> ModuleType:
    """Return the module of a family, with `package` as its `torch`."""
    return run_family(FOLDER, name, package)


def names(package: str = "torch") -> list[tuple[str, str]]:
    """Return all families and cases."""
    return [(each, name) for each in FAMILIES for name in family(each, package).CASES]


def build(torch: Any, family_name: str, name: str) -> Any:
    """Create a model of one of the packages with deterministic random weights."""
    case = family(family_name, torch.__name__).CASES[name]
    torch.manual_seed(sum(map(ord, name)))
    model = case.make().train(case.training)
    model = model if case.dtype == "float32" else model.to(getattr(torch, case.dtype))
    return model.to(memory_format=torch.channels_last) if case.channels_last else model


def compiled(torch: Any, model: Any, case: Case, way: str, calls: list[Call]) -> Any:
    """Return a model in one of its modes: eager, script, trace, freeze or optimize."""
    if way == "eager":
        return model
    if way == "trace":
        first = next(each for each in calls if each.method == "forward")
        if first.seed is not None:
            torch.manual_seed(first.seed)
        with torch.no_grad():
            return torch.jit.trace(model, first.args, check_trace=False, strict=False)
    scripted = torch.jit.script(model)
    if way == "script":
        return scripted
    methods = sorted({each.method for each in calls} - {"forward"})
    frozen = torch.jit.freeze(scripted.eval(), preserved_attrs=[*methods, *case.attributes])
    return frozen if way == "freeze" else torch.jit.optimize_for_inference(frozen, methods)
