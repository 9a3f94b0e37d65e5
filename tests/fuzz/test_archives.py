"""Archives that somebody has changed are loaded, or refused by errors that say what is wrong: never a crash or an accident."""

import random

from tests.fuzz import archives

COUNT = 300


def test_changed_archives():
    """Source, pickles, records and bytes."""
    found = archives.problems(0, COUNT)
    assert not found, "\n".join(found)


def test_changes_leave_something_to_load():
    """A fuzz whose archives were all refused at once would find nothing wrong."""
    taken = sum(archives.check(archives.changed(random.Random(seed))) for seed in range(40))
    assert 5 < taken < 35
