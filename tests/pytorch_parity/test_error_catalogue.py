"""The messages of `tests/errors` begin with PyTorch's messages."""

import warnings

import pytest

from tests.error_cases import FOLDER, all_files, failure, read

pytest.importorskip("torch")

FILES = all_files()


@pytest.mark.parametrize("path", FILES, ids=[str(path.relative_to(FOLDER)) for path in FILES])
def test_first_line(path):
    """The first line of an error begins with PyTorch's first line, unless the case file records another
    one."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = failure(path, "torch")
    line = found[1].strip().split("\n")[0].rstrip(":") if found else "nothing"
    expected = read(path)
    if expected.torch is not None:
        assert line == expected.torch
    else:
        assert expected.message.split("\n")[0].startswith(line)
