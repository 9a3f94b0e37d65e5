"""Mutated archives load or raise a descriptive error without a crash."""

import pytest

from tests.fuzz import archives, how_many

COUNT = how_many(400)
PARTS = 4  # `python -m tests.fuzz.archives -n 100000` continues after these seeds


@pytest.mark.parametrize("part", range(PARTS))
def test_changed_archives(part):
    """Archives with mutated source, pickles, records, zip headers or bytes load or raise expected errors."""
    found = archives.problems(COUNT * part // PARTS, COUNT * (part + 1) // PARTS)
    assert not found, "\n".join(found)


def test_some_mutated_archives_load():
    """Some mutated archives still load, so that the fuzz test covers more than rejection."""
    loaded_count = sum(archives.check(seed) for seed in range(40))
    assert 5 < loaded_count < 35


def test_campaign_continues_after_its_log(tmp_path, capsys, monkeypatch):
    ran = []
    monkeypatch.setattr(archives, "problems", lambda first, last: ran.append((first, last)) or ["archive 1: wrong"] * (first == 0))
    log = tmp_path / "new" / "log"
    archives.campaign(700, log)
    archives.campaign(1300, log)
    assert ran == [(0, 500), (500, 700), (700, 1200), (1200, 1300)]
    assert capsys.readouterr().out.splitlines()[-2:] == ["archive 1: wrong", "seeds 0 500: 1 problems"]
