"""The style check of `make lint`: each rule reports a violation and accepts the corrected text."""

import importlib.util
from pathlib import Path

import pytest

PATH = Path(__file__).parents[1] / ".ci" / "check_style.py"
spec = importlib.util.spec_from_file_location("check_style", PATH)
check_style = importlib.util.module_from_spec(spec)
spec.loader.exec_module(check_style)


@pytest.mark.parametrize(
    ("text", "accepted"),
    [
        ("The same of a value that others of them refer to.", False),
        ("Who waits for a call, and what that call is for.", False),
        ("Whether the model has weights.", False),
        ("Return the number of threads assigned to a row of `length` elements.", True),
        ("Return the rank.", True),
    ],
)
def test_first_sentences(text, accepted):
    """A first sentence of function words, or one that begins with a pronoun, is reported with its line."""
    violations = check_style.check_docstrings("m.py", f'x = 1\n\ndef f():\n    """{text}"""\n')
    assert {(path, line, rule) for path, line, rule, _ in violations} == (set() if accepted else {("m.py", 4, "docstring")})


def test_hiding_words():
    """Words of the list are reported in docstrings and comments, at any position."""
    text = '"""Return a lock.\n\nNobody holds it."""\nx = 1  # for whoever waits\n'
    results = [*check_style.check_docstrings("m.py", text), *check_style.check_comments("m.py", text)]
    assert [(line, rule) for _, line, rule, _ in results] == [(1, "word"), (4, "word")]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("_LONG = 40\n", ["_LONG"]),
        ("TOGETHER: Final = 1 << 16  # bytes\n", ["TOGETHER"]),
        ("cdef double ITEM = 0.1\n", ["ITEM"]),
        ("MAX_MESSAGE_BYTES: Final = 1 << 16\n", []),
        ("cdef double ITEM_NS = 0.1\n", []),
        ("INT64_MAX = (1 << 63) - 1\n", []),
        ("SUM = 0\nMEAN = 1\n", []),  # codes of an enumeration
        ("NAMES = ()\n", []),
        ("    LOCAL = 3\n", []),
    ],
)
def test_constants(text, names):
    """A numeric constant of a module needs a word for its kind or unit."""
    assert [text.split()[0] for *_, text in check_style.check_constants("m.py", text)] == names


@pytest.mark.parametrize(
    ("subject", "accepted"),
    [
        ("frontend: refuse unknown annotations", True),
        ("_core/autograd: process saved tensors once", True),
        ("docs: say how a pass is added", True),
        ("Fix bug", False),
        ("frontend: refused unknown annotations", False),
        ("frontend: refusing unknown annotations", False),
        ("frontend: refuses unknown annotations", False),
        ("frontend: " + "refuse " * 12, False),
    ],
)
def test_commit_subjects(subject, accepted):
    """A subject names a component and begins its summary with an imperative, in at most 72 characters."""
    assert (check_style.check_subject("0123abcd", subject) is None) is accepted
