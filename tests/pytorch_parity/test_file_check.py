"""`torch.testing.FileCheck` accepts and refuses the same checks as PyTorch's class."""

import random

import pytest

import ts.testing

torch_testing = pytest.importorskip("torch.testing")

WORDS = ["aa", "bb", "cc dd", "e", "f(x)"]
KINDS = ["check", "check_next", "check_same", "check_not", "check_dag", "check_count", "check_exactly"]
# PyTorch's class takes the position of a regular expression's match relative to the searched text, so that the checks
# after it search the wrong text. `ts` does not repeat this defect: only the last check is a regular expression.
LAST_KINDS = [*KINDS, "check_regex"]
HIGHLIGHTED = "def f(x):\n    return x + 1\n           ~~~~~ <--- HERE\nmore\n"


def outcome(cls, checks, text):
    """Return the first line of the error and the check that it names, or "accepted"."""
    instance = cls()
    for kind, word, count in checks:
        if kind in ("check_count", "check_exactly"):
            instance.check_count(word, count, kind == "check_exactly")
        else:
            getattr(instance, kind)(word.replace("(", r"\(").replace(")", r"\)") if kind == "check_regex" else word)
    try:
        instance.run(text)
    except RuntimeError as error:
        lines = str(error).strip().split("\n")
        return lines[0], lines[-1].rpartition("From ")[2]
    return "accepted"


@pytest.mark.parametrize("seed", range(300))
def test_random_checks(seed):
    generator = random.Random(seed)
    text = "\n".join(" ".join(generator.choices(WORDS, k=generator.randint(0, 3))) for _ in range(6)) + "\n"
    kinds = ["check", *generator.choices(KINDS, k=generator.randint(0, 3)), generator.choice(LAST_KINDS)]
    checks = [(kind, generator.choice(WORDS), generator.randint(1, 3)) for kind in kinds]
    assert outcome(ts.testing.FileCheck, checks, text) == outcome(torch_testing.FileCheck, checks, text), (checks, text)


@pytest.mark.parametrize("word", ["x + 1", "return", "more", "def", "zz"])
def test_highlighted_source(word):
    checks = [("check_source_highlighted", word, 1)]
    results = [outcome(cls, checks, HIGHLIGHTED) for cls in (ts.testing.FileCheck, torch_testing.FileCheck)]
    assert results[0][0] == results[1][0]


@pytest.mark.parametrize(
    "checks",
    [
        "# CHECK: bb\n# CHECK-NEXT: ee\n",
        "# CHECK: bb\n# CHECK-NEXT: zz\n",
        "# CHECK-COUNT-2: bb\n# CHECK-NOT: zz\n",
        "# CHECK-COUNT-EXACTLY-1: bb\n# CHECK-NOT: zz\n",
        "# CHECK-DAG: ee\n   # CHECK-DAG: aa\n",
        "# CHECK-FOO: bb",
        "no checks",
    ],
)
def test_checks_in_comments(checks):
    results = []
    for module in (ts.testing, torch_testing):
        try:
            results.append(module.FileCheck().run(checks, "aa\nbb cc dd\nee\nbb cc\nff aa\n"))
        except RuntimeError as error:
            results.append(str(error).split("\n")[0])
    assert results[0] == results[1]


def test_graphs(capsys):
    """`run` accepts graphs. A check that never runs prints a warning."""

    @ts.jit.script
    def f(x):
        return x * 2 + x

    ts.testing.FileCheck().check("aten::mul").check_next("aten::add").run(f.graph)
    with pytest.raises(RuntimeError, match="Expected to not find"):
        ts.testing.FileCheck().check_not("aten::add").run(f.graph)
    with pytest.raises(TypeError, match="incompatible function arguments"):
        ts.testing.FileCheck().check("x").run(3)
    ts.testing.FileCheck().check("x")
    assert "You have not run this instance of FileCheck!\nFileCheck checks:\n\tCHECK: x" in capsys.readouterr().out
