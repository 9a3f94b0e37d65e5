"""Invalid programs, graphs and arguments raise errors of `ts`, without crashes or internal errors."""

import random
import subprocess
import sys
import warnings

import pytest

import ts
from tests.error_cases import all_files
from tests.fuzz.wrong_programs import check, mutated
from tests.program_files import all_programs
from ts.errors import InternalError

FILES = [path for path in [*all_programs(), *all_files()] if "\ndef main(" in path.read_text()]
ANNOTATIONS = """int float bool str complex List[int] List[str] List[List[int]] Dict[str,int] Dict[int,List[str]]
    Tuple[int,str] Tuple[int,...] Optional[int] Optional[List[float]] Union[int,str] Union[List[int],str] ts.Tensor
    List[ts.Tensor] Any ts.device Point Optional[Point] List[Point] Color Pair""".replace(
    "Tuple[int,...]", ""
).split()
TEXT = """class Point:
    def __init__(self, x: int):
        self.x = x

class Color(Enum):
    RED = 1

class Pair(NamedTuple):
    n: int
    s: str

"""


class Other:
    """Class that is not a script class."""

    x = 1


VALUES = [
    3, -1, 1 << 70, 1.5, True, "text", "\ud800", b"bytes", None, 2j, [], [1], ["a"], [1, "a"], [None], [[1], ["b"]], [[1], 2],
    {}, {"a": 1}, {1: ["a"]}, {"a": None}, {(1,): 2}, {None: 1}, (), (1, "a"), ("a", 1), (1, 2, 3), {1, 2}, range(3), object(),
    Other(), Other, len, ts, float("nan"), ts.ones(2), [ts.ones(1)], ts.ones(0).sum(), ts.float32, ..., iter([1]),
]  # fmt: skip


@pytest.mark.parametrize("seed", range(4))
def test_invalid_programs(seed):
    """A program with a changed token compiles, or raises a frontend error with a message."""
    generator = random.Random(seed)
    accepted = 0
    for i in range(250):
        path = generator.choice(FILES)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            accepted += check(mutated(path.read_text(), generator), f"wrong_{seed}_{i}")
    assert accepted > 20


def test_invalid_graphs():
    """Graphs with mutated types, operators and operands are rejected, or run without ending the process."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.fuzz.graph_texts", "0", "600"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert int(done.stdout.rpartition("\n")[0].rpartition("\n")[2]) > 100


@pytest.mark.parametrize("annotation", ANNOTATIONS)
def test_invalid_arguments(annotation):
    """An argument of any value is accepted by a parameter of any type, or the error names the function."""
    from tests.fuzz.run_program import as_functions

    source = f"{TEXT}def f(x: {annotation}) -> {annotation}:\n    return x\n"
    source += f"def g(x: {annotation}):\n    y = [x]\n    return len(y), y[0]\n"
    names = as_functions("import ts\n" + source)
    for function in (ts.jit.script(names["f"]), ts.jit.script(names["g"])):
        for value in VALUES:
            try:
                repr(function(value))
            except InternalError:
                raise
            except (RuntimeError, TypeError, ValueError, OverflowError) as error:
                assert str(error), value
