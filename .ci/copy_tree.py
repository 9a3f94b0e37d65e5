#!/usr/bin/env python3
"""`.ci/copy_tree.py FOLDER`: the files of this clone once more in a folder, for a build of another kind.

In: what git tracks, and what it does not know yet and does not ignore.  Out: the same files there, with their
times, so that a build there does again only what changed here; files that went away here go there.  What a
build made there stays, and never meets what a build made here.
"""

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def files() -> set[str]:
    """The files of the clone, by their paths from its top."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return {name for name in listed.split("\0") if name and (ROOT / name).is_file()}


def mirror(folder: Path) -> None:
    """Bring the folder up to date; `.mirrored` there is the list of what came from here."""
    record = folder / ".mirrored"
    before = set(record.read_text().split("\n")) if record.exists() else set()
    now = files()
    for name in before - now:
        (folder / name).unlink(missing_ok=True)
    for name in now:
        source, target = ROOT / name, folder / name
        if not target.exists() or target.stat().st_mtime != source.stat().st_mtime:
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target)
    record.write_text("\n".join(sorted(now)))


if __name__ == "__main__":
    mirror(Path(sys.argv[1]).resolve())
