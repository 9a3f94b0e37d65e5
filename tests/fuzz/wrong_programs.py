"""Programs with a removed, duplicated or replaced token compile, or raise an error that describes the problem.

Input: source of a program file and a generator; `mutated` returns another source, `check` compiles and runs it.
"""

from __future__ import annotations

import contextlib
import io
import linecache
import random
import sys
import tokenize
import types

import ts
from tests.program_files import as_module
from ts.errors import FrontendError, InternalError

WORDS = """x n self int str None List[int] float True 1 -1 0 1.5 "a" [] {} () len ts Optional print range not and yield
    await * ** is in = == : -> for if return del break 1j ... @ a.b Any isinstance super() Exception assert with as else
    raise pass % // << f'{x}'""".split()
# Errors that executing a mutated file may raise before compilation.
PYTHON = (
    NameError,
    TypeError,
    AttributeError,
    ValueError,
    ImportError,
    LookupError,
    RuntimeError,
    ArithmeticError,
)


def mutated(text: str, generator: random.Random) -> str:
    """Return the text with a changed token in one of its functions."""
    return with_a_word_changed(text, generator, WORDS)


def with_a_word_changed(text: str, generator: random.Random, others: list[str]) -> str:
    """Return the text with one token removed, duplicated, replaced, or followed by another token."""
    words = [
        token
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
        if token.type in (tokenize.NAME, tokenize.NUMBER, tokenize.STRING, tokenize.OP)
        and token.start[0] == token.end[0]
    ]
    first = next((i for i, token in enumerate(words) if token.string in ("def", "class")), 0)
    word, other = (words[generator.randrange(first, len(words))] for _ in range(2))
    new = [
        "",
        f"{word.string} {word.string}",
        other.string,
        generator.choice(others),
        f"{word.string} {generator.choice(others)}",
    ][generator.randrange(5)]
    lines = text.split("\n")
    row, (begin, end) = word.start[0] - 1, (word.start[1], word.end[1])
    lines[row] = lines[row][:begin] + new + lines[row][end:]
    return "\n".join(lines)


def check(text: str, name: str) -> bool:
    """Return True if Python compiles the text; raise any outcome that is neither a result nor a proper
    error."""
    filename = f"<{name}>"
    text = as_module(text, "ts")
    try:
        code = compile(text, filename, "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return False
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    program = types.ModuleType(name)
    program.__file__ = filename
    sys.modules[name] = program
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            try:
                exec(code, vars(program))
            except PYTHON as error:
                if isinstance(error, InternalError):
                    raise
                return True
            main = vars(program).get("main")
            if callable(main):
                _compile_and_run(main)
    finally:
        del sys.modules[name], linecache.cache[filename]
    return True


def _compile_and_run(main: object) -> None:
    try:
        function = ts.jit.script(main)
    except (FrontendError, SyntaxError):
        return
    except RuntimeError as error:
        if "because it is overloaded" not in str(error):
            raise
        return
    try:
        with ts.limits(seconds=3):
            function()
    except InternalError:
        raise
    except Exception:
        return  # any error of the running program is allowed
