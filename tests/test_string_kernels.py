"""String kernels, which process several characters at a time: `split`, `strip` and `lower` equal Python's."""

import random
import subprocess
import sys
from collections.abc import Callable
from typing import List

import pytest

import ts
from ts.bytecode.opcodes import OPCODES
from ts.ir.visualization import draw

# ASCII, Latin-1, two-byte characters (a blank, capitals with a narrower lower case), and four bytes.
ALPHABETS = ["ab \t\n\x1c\x00,", "ab ,\xa0\x85Àß", "a, \u2003ΩKé\u0131", "A ,😀𐐀Ω"]


def words(text: str) -> List[str]:
    return text.split()


def fields(text: str) -> List[str]:
    return text.split(",")


def ends(text: str, chars: str) -> List[str]:
    return [text.strip(chars), text.lstrip(chars), text.rstrip(chars)]


def small(text: str) -> str:
    return text.lower()


def vowels(text: str) -> int:
    n = 0
    for i in range(len(text)):
        if text[i] == "a" or text[-i] != "b":
            n += 1
    return n


def last_of(text: str, i: int) -> str:
    return text[i]


@pytest.fixture(scope="module")
def texts() -> list[str]:
    """Return random strings of each alphabet, with lengths around the SIMD block sizes."""
    rng = random.Random(7)
    strings = ["", "a", " "]
    for alphabet in ALPHABETS:
        weights = [4 if character.isalnum() else 1 for character in alphabet]
        strings += [
            "".join(rng.choices(alphabet, weights, k=n)) for n in (*range(1, 40), 200, 1000) for _ in range(6)
        ]
    return strings


@pytest.mark.parametrize("function", [words, fields, small, vowels])
def test_scripts_equal_python(function: Callable[[str], object], texts: list[str]) -> None:
    """String functions equal Python's, also in repeated calls with cached pieces."""
    script = ts.jit.script(function)
    for text in [*texts, *texts]:
        assert script(text) == function(text), ascii(text)


def test_strip_equals_python(texts: list[str]) -> None:
    """`strip` functions equal Python's for all characters."""
    script = ts.jit.script(ends)
    for text in texts:
        for chars in (",", "a ", "", "é", "\x00b", "K,"):
            assert script(text, chars) == ends(text, chars), ascii((text, chars))


def test_lower_equals_python() -> None:
    """`lower` equals Python's for each character, alone and in strings with wider characters."""
    script = ts.jit.script(small)
    for code in [*range(0xD800), *range(0xE000, 0x20000)]:
        character = chr(code)
        assert script(character) == character.lower()
        if code % 64 == 0:
            block = "".join(map(chr, range(code, code + 64))) if not 0xD800 <= code < 0xE000 else ""
            for text in (block, block + "é", "Ω" + block, block + "😀"):
                assert script(text) == text.lower()


def test_nul_counts() -> None:
    """Trailing NUL characters are part of a string."""
    script = ts.jit.script(words)
    assert script("ab ab\x00 ab\x00\x00 ab" + " " * 20) == ["ab", "ab\x00", "ab\x00\x00", "ab"]


def test_referenced_strings_do_not_grow() -> None:
    """`s += t` grows a string in place only if no other reference exists."""

    def grown(text: str) -> List[str]:
        strings: List[str] = []
        for word in text.split():
            word += "!"
            strings.append(word)
        return strings

    script = ts.jit.script(grown)
    text = "to be or not to be, that is the question"
    assert [script(text), script(text)] == [grown(text), grown(text)]


def test_an_index_out_of_range() -> None:
    """A string index out of range has the message of Python's error, including the string index
    instruction."""
    script = ts.jit.script(last_of)
    assert (script("añb", -2), script("añ😀", 2)) == ("ñ", "😀")
    for text, i in (("ab", 2), ("ab", -3), ("", 0)):
        with pytest.raises(RuntimeError, match="string index out of range"):
            script(text, i)


def test_string_operations_are_instructions() -> None:
    """String length, characters and comparisons are instructions, not operator calls."""
    used = {OPCODES[row[0]].name for row in ts.jit.script(vowels).compiled_code.instructions}
    assert {"STR_LEN", "STR_GET", "STR_EQ", "STR_NE"} <= used
    assert "CALL_OPERATOR" not in used


def unpaired_surrogates(text: str) -> List[str]:
    return [text + "\ud800z\udc80", "\ud800"]


def test_halves_of_surrogate_pairs(tmp_path):
    """Unpaired surrogates are supported in scripts, graphs, archives, drawings and pages."""
    scripted = ts.jit.script(unpaired_surrogates)
    assert scripted("a") == unpaired_surrogates("a")
    assert '"\\ud800z\\udc80"' in str(scripted.graph) and str(ts.parse_ir(str(scripted.graph))) == str(
        scripted.graph
    )
    assert r"'\ud800z\udc80'" in scripted.bytecode.encode().decode()
    path = tmp_path / "torn.pt"
    ts.jit.save(scripted, path)
    assert ts.jit.load(path)("a") == unpaired_surrogates("a")
    for suffix in ("svg", "dot"):
        draw(scripted.graph, tmp_path / f"torn.{suffix}")
        assert (tmp_path / f"torn.{suffix}").read_text("utf-8")


@pytest.mark.parametrize("command", ["graph", "code", "bytecode", "run", "explain"])
def test_commands_write_halves_of_surrogate_pairs(tmp_path, command):
    program = tmp_path / "torn.py"
    program.write_text('def f(text: str = "a", n: int = 0) -> str:\n    return text + ["\\ud801"][n]\n')
    arguments = ["-o", str(tmp_path / "page.html")] if command == "explain" else []
    ran = subprocess.run(
        [sys.executable, "-m", "ts", command, *arguments, f"{program}:f"],
        capture_output=True,
        text=True,
        encoding="utf-8",
    )
    assert ran.returncode == 0, ran.stderr
    written = (tmp_path / "page.html").read_text("utf-8") if command == "explain" else ran.stdout
    assert command == "code" or "\\ud801" in written


@pytest.mark.parametrize(
    "escape, text", [(r"\x", "x"), (r"\xg0", "xg0"), (r"\8", "8"), (r"\9a", "9a"), (r"\x41\101", "AA")]
)
def test_incomplete_escapes_in_graph_texts_stand_for_themselves(escape, text):
    graph = ts._C.parse_ir(f'graph():\n  %1 : str = prim::Constant[value="{escape}"]()\n  return (%1)')
    assert next(iter(graph.nodes())).s("value") == text
