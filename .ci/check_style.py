"""Check docstrings, comments, numeric constants and commit subjects against the rules of CONTRIBUTING.md.

    python .ci/check_style.py      prints `file:line: rule: text` for each violation, and exits with 1 if any

These rules have no equivalent in ruff, and also apply to Cython files:

docstring   the first sentence has at most 60 % function words and does not begin with a relative clause
word        docstrings and comments do not use words that hide the technical term
docstring   the first sentence has at most 60 % function words and does not begin with a pronoun
commit      a subject is `component: imperative summary` of at most 72 characters
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("ts", "backends")
SUFFIXES = (".py", ".pyx", ".pxd")

MAX_FUNCTION_WORD_RATIO = 0.6
MIN_RATED_WORDS = 8  # shorter sentences are not rated
MAX_SUBJECT_CHARS = 72

FUNCTION_WORDS = frozenset(
    """a an the of to in on at by for from with without as is are was were be been has have had do does did it
    its this that those these they them their he who whom whose whoever what which where when while if
    or and but not no none nothing nobody somebody anybody all each other others another one ones same
    so such than then there here how whether may must can could would should will before after behind
    beside between until again once first last only also too more most less least many much few own out
    up down off over under""".split()
)
OPENERS = re.compile(
    r"(?:What|Who|Whoever|Whom|Whose|Those|That|Which|Of what|Where|Whether|How many|The same)\b"
)
HIDING_WORDS = re.compile(
    r"\b(?:whom|whoever|nobody|somebody|stranger|way back|lies in order|of late|praise|doorman|nursery)\b",
    re.IGNORECASE,
)

# Words in a constant's name that state what it measures, or its unit.
UNITS = frozenset(
    """BYTES SECONDS SEC NS NANOSECONDS MICROSECONDS MILLISECONDS MS CHARS DIGITS BITS WORDS ELEMENTS ROWS
    COLUMNS ENTRIES ITEMS LINES NODES CALLS ITERATIONS ROUNDS PASSES DIMENSIONS DEPTH ATTEMPTS FAILURES
    REQUESTS CLIENTS WORKERS THREADS OBJECTS FILES RECORDS TERMS ARGUMENTS INPUTS OUTPUTS EPILOGUES
    OPERATORS LAYERS INSTRUCTIONS VALUES ARCHIVES OPERANDS STEPS TILES BLOCKS CYCLES POINTS PIXELS
    GENERATORS PARTS WIDENINGS LEVELS SLOTS REGISTERS PAIRS KEYS USES SUCCESSES ACCEPTS DROPS QUOTIENTS
    POSITIONS CORES LANES TOKENS EVENTS SAMPLES FRAMES CHECKS GEOMETRIES SECTIONS SEGMENTS MAPPINGS
    LAUNCHES KERNELS PLANS CONNECTIONS SYSCALLS MESSAGES BUFFERS CONTEXTS BACKENDS OVERLOADS
    MULTIPLICATIONS""".split()
)
KINDS = frozenset(
    """VERSION PROTOCOL FORMAT PORT FACTOR DIVISOR RATIO EPSILON EPS SEED ALIGNMENT LIMIT THRESHOLD TOLERANCE
    BACKLOG GROWTH DECAY FLAG FLAGS MASK SIZE LENGTH WIDTH HEIGHT INTERVAL CAPACITY INDEX OFFSET STRIDE
    RANK COST WEIGHT PRIORITY CODE MODE COUNT PADDING COEFFICIENT NORM DENOMINATOR PRODUCT CHUNK WORK
    TIMEOUT DEADLINE""".split()
)
# Mathematical constants, and names of operating systems and PyTorch.
STANDARD_NAMES = frozenset(("EULER", "TWO_PI", "PR_SET_PDEATHSIG"))

ASSIGNMENT = re.compile(
    r"^(?:cdef [\w ]+? )?(_?[A-Z][A-Z0-9_]+)(?:\s*:\s*[\w\[\]., ]+)?"
    r"\s*=\s*([-\d_.e*<>+() x]+?)(?:\s*#.*)?$",
    re.MULTILINE,
)
SMALL_NUMBER = re.compile(r"-?\d{1,2}|1 << \d")
DOCSTRING = re.compile(r'"""(.*?)"""', re.DOTALL)
COMMENT = re.compile(r"(?:^|\s)#:? (.*)$", re.MULTILINE)

SUBJECT = re.compile(r"[\w./, *-]+: (\S+)( .*)?")
NOT_IMPERATIVE = re.compile(r".*(?:ing|ed|[^s]s)", re.IGNORECASE)
# Imperatives that look like another form.
IMPERATIVES = frozenset("embed feed need speed seed shed bring ping focus bias alias".split())

Violation = tuple[str, int, str, str]  # file, line, rule, text


def first_sentence(text: str) -> str:
    """Return the first sentence of a docstring on one line."""
    return re.split(r"(?<=[.])\s", re.sub(r"\s+", " ", text.strip()))[0]


def line_of(text: str, position: int) -> int:
    """Return the number of the line that contains a position in the text, from 1 on."""
    return text.count("\n", 0, position) + 1


def check_docstrings(path: str, text: str) -> Iterator[Violation]:
    """Yield the docstrings of a file whose first sentence breaks a rule."""
    for match in DOCSTRING.finditer(text):
        line = line_of(text, match.start())
        sentence = first_sentence(match.group(1))
        words = re.findall(r"[A-Za-z_`']+", sentence)
        if len(words) >= MIN_RATED_WORDS:
            ratio = sum(word.lower() in FUNCTION_WORDS for word in words) / len(words)
            if ratio > MAX_FUNCTION_WORD_RATIO:
                yield path, line, "docstring", f"{ratio:.0%} function words: {sentence}"
        if OPENERS.match(sentence):
            yield path, line, "docstring", f"begins with a relative clause: {sentence}"
        hiding = HIDING_WORDS.search(match.group(1))
        if hiding:
            yield path, line, "word", f"{hiding.group()!r} in a docstring: {sentence}"


def check_comments(path: str, text: str) -> Iterator[Violation]:
    """Yield the comments of a file with a word that hides a technical term."""
    for match in COMMENT.finditer(text):
        hiding = HIDING_WORDS.search(match.group(1))
        if hiding:
            yield path, line_of(text, match.start(1)), "word", f"{hiding.group()!r} in {match.group(1)}"


def check_constants(path: str, text: str) -> Iterator[Violation]:
    """Yield the numeric constants of a file without kind or unit; adjacent codes of an enumeration pass."""
    matches = ASSIGNMENT.finditer(text)
    found = [(line_of(text, match.start()), match.group(1), match.group(2).strip()) for match in matches]
    codes = [line for line, _, value in found if SMALL_NUMBER.fullmatch(value)]
    for line, name, value in found:
        words = set(name.split("_"))
        if words & (UNITS | KINDS) or name.lstrip("_") in STANDARD_NAMES or not re.search(r"\d", value):
            continue
        if re.fullmatch(r"_?(U?INT|FLOAT)\d+_(MIN|MAX)", name):
            continue
        if line in codes and any(0 < abs(line - other) <= 2 for other in codes):
            continue
        yield path, line, "constant", f"{name} = {value} has neither kind nor unit in its name"


def check_subject(commit: str, subject: str) -> Violation | None:
    """Return the violation of the rule for commit subjects, or None."""
    match = SUBJECT.fullmatch(subject)
    if len(subject) > MAX_SUBJECT_CHARS:
        return commit, 0, "commit", f"{len(subject)} characters: {subject}"
    if match is None:
        return commit, 0, "commit", f"not `component: imperative summary`: {subject}"
    if NOT_IMPERATIVE.fullmatch(match.group(1)) and match.group(1).lower() not in IMPERATIVES:
        return commit, 0, "commit", f"{match.group(1)!r} is not an imperative: {subject}"
    return None


def check_commits() -> Iterator[Violation]:
    """Yield the subjects that break the rule, of the commits after the one that added this file."""
    log = ["git", "-C", str(ROOT), "log", "--no-merges", "--format=%h %s"]
    added = subprocess.run([*log, "--diff-filter=A", "--", __file__], capture_output=True, text=True)
    if added.returncode or not added.stdout:
        return  # a source distribution, or a shallow clone
    start = added.stdout.split()[0]
    commits = subprocess.run([*log, f"{start}..HEAD"], capture_output=True, text=True, check=True).stdout
    for commit, _, subject in (line.partition(" ") for line in commits.splitlines()):
        violation = check_subject(commit, subject)
        if violation:
            yield violation


def main() -> int:
    """Print all violations and return 1 if there are any, otherwise 0."""
    violations = list(check_commits())
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*")):
            if path.suffix in SUFFIXES:
                text = path.read_text(encoding="utf-8")
                name = str(path.relative_to(ROOT))
                for check in (check_docstrings, check_comments, check_constants):
                    violations += check(name, text)
    for file, line, rule, text in violations:
        print(f"{file}:{line}: {rule}: {text}")
    print(f"{len(violations)} violations of the style rules" if violations else "The style rules hold.")
    return bool(violations)


if __name__ == "__main__":
    sys.exit(main())
