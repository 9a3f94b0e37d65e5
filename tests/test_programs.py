"""Program files behave as their comments state, scripted and as plain Python."""

import re

import pytest

import ts
from tests.program_files import FOLDER, all_programs, read

PROGRAMS = [path for path in all_programs() if not read(path).scripts_itself]
NAMES = [str(path.relative_to(FOLDER)) for path in PROGRAMS]
FILES = [path for path in all_programs() if read(path).scripts_itself]


def underlined_lines(message):
    """Return the line numbers that a message with a source location underlines."""
    lines = message.splitlines()
    numbers = set()
    number_of_line = None
    for index, line in enumerate(lines):
        match = re.match(r'  File ".*", line (\d+)', line)
        if match:
            number_of_line = (index, int(match.group(1)))
        elif "<--- HERE" in line and number_of_line is not None:
            start, first = number_of_line
            quoted = [text for text in lines[start + 1 : index + 1]]
            marks = [bool(re.fullmatch(r" *~+( <--- HERE)?", text)) for text in quoted]
            # the text starts at the line that is underlined first
            number = first
            for source_line, marked in zip(quoted, marks):
                if marked:
                    numbers.add(number)
                    number += 1
    return numbers


def normalized_message(error):
    """Return the message without the expectation comments in the quoted source."""
    return re.sub(r"# *expect( error| runtime error)?:.*", "", str(error))


@pytest.mark.parametrize("path", PROGRAMS, ids=NAMES)
def test_scripted(path, capfd):
    """A scripted program prints the expected output, or fails with the expected error at the expected
    line."""
    program = read(path)
    main = program.load()
    if program.compile_error is not None:
        line, text = program.compile_error
        with pytest.raises(ts.jit.FrontendError) as failure:
            ts.jit.script(main)
        message = normalized_message(failure.value)
        assert text in message
        assert line in underlined_lines(message), message
        return
    scripted = ts.jit.script(main)
    if program.runtime_error is not None:
        line, text = program.runtime_error
        with pytest.raises((RuntimeError, LookupError, ValueError, TypeError)) as failure:
            scripted()
        message = normalized_message(failure.value)
        assert text in message
        assert line in underlined_lines(message), message
    else:
        scripted()
    assert capfd.readouterr().out.splitlines() == program.output


@pytest.mark.parametrize("path", PROGRAMS, ids=NAMES)
def test_plain(path, capfd):
    """A program without compile errors behaves identically as plain Python."""
    program = read(path)
    if program.compile_error is not None:
        pytest.skip("does not compile")
    main = program.load()
    if program.runtime_error is not None:
        with pytest.raises(Exception):
            main()
    else:
        main()
    assert capfd.readouterr().out.splitlines() == program.python_output


@pytest.mark.parametrize("path", FILES, ids=[str(path.relative_to(FOLDER)) for path in FILES])
def test_file(path, capfd):
    """A self-scripting file prints the expected output or fails at the expected line."""
    program = read(path)
    failing = program.compile_error or program.runtime_error
    if failing is None:
        program.load()
    else:
        line, text = failing
        with pytest.raises((RuntimeError, LookupError, ValueError, TypeError)) as failure:
            program.load()
        message = normalized_message(failure.value)
        assert text in message
        assert line in underlined_lines(message), message
    assert capfd.readouterr().out.splitlines() == program.output
