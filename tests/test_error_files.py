"""Complete error messages of the programs in `tests/errors`, one file per program."""

import os
import warnings

import pytest

from tests.error_cases import FOLDER, all_files, failure, read, write

FILES = all_files()


@pytest.mark.parametrize("path", FILES, ids=[str(path.relative_to(FOLDER)) for path in FILES])
def test_message(path):
    """The program raises the error class and message in its last comment."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        actual = failure(path)
    assert actual is not None, "the program runs"
    if os.environ.get("TS_UPDATE_GOLDEN"):
        write(path, *actual)
    expected = read(path)
    assert actual == (expected.kind, expected.message)
    assert "internal error" not in expected.message
