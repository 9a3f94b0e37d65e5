"""Fuzz tests of mutated `.pt2` files: they load and run, or raise ArchiveError in bounded time."""

import json

import pytest

from tests.fuzz import pt2_mutators, exported_files, how_many
from ts.cli.main import main

COMMANDS = ("info", "graph", "code", "check", "explain-shapes", "run")


def test_changed_files():
    found = exported_files.problems(0, how_many(40))
    assert not found, "\n".join(found)


@pytest.mark.long
@pytest.mark.parametrize("part", range(4))
def test_more_changed_files(part):
    found = exported_files.problems(1000 + 500 * part, 1500 + 500 * part)
    assert not found, "\n".join(found)


def hostile(number):
    """Yield a file for each hostile size at several positions, and for each hostile condition and text."""
    records = exported_files.originals()[number]
    text = records[exported_files.RECORD]
    paths = [path for path, _ in pt2_mutators._places(json.loads(text)) if path[-1] == "expr_str"]
    for size in pt2_mutators.SIZES:
        for selected in (paths[:1], paths[len(paths) // 2 :][:1], paths):
            tree = json.loads(text)
            for path in selected:
                pt2_mutators._set(tree, path, size)
            yield size, tree
        yield size, json.loads(text) | {"range_constraints": {size: {"min_val": 2, "max_val": None}}}
    for condition in pt2_mutators.CONDITIONS:
        yield condition, json.loads(text) | {"guards_code": [condition]}
    for lines in pt2_mutators.LINES:
        tree = json.loads(text)
        tree["graph_module"]["metadata"]["ts.lines_of_guards"] = lines
        yield lines, tree


@pytest.mark.long
@pytest.mark.parametrize("number", [1, 2, 3])
def test_malicious_sizes_and_conditions(number):
    """All combinations of hostile sizes and conditions load or raise an expected error."""
    records = exported_files.originals()[number]
    loaded_count = 0
    for text, tree in hostile(number):
        try:
            loaded_count += exported_files.check_file(exported_files.zipped(records | {exported_files.RECORD: pt2_mutators.written(tree)}))
        except Exception as error:
            raise AssertionError(f"{text[:300]}: {error!r}") from error
    assert loaded_count > 20


@pytest.mark.long
@pytest.mark.parametrize("command", COMMANDS)
def test_commands_report_invalid_files(command, tmp_path, capsys):
    """Commands on mutated files exit with status 0, 1 or 2 and print no traceback."""
    path = tmp_path / "changed.pt2"
    codes = set()
    for seed in range(60):
        path.write_bytes(exported_files.file_of(seed))
        code = main([command, str(path)])
        message = capsys.readouterr().err
        assert code in (0, 1, 2) and "Traceback" not in message, (seed, message)
        assert (code == 0) or message, seed
        codes.add(code)
    assert {0, 1} & codes


def test_some_mutated_files_load():
    """Some mutated files still load, so that the fuzz test covers more than rejection."""
    loaded_count = sum(exported_files.loaded(exported_files.file_of(seed)) is not None for seed in range(40))
    assert 2 < loaded_count < 38
