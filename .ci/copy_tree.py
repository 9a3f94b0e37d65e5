#!/usr/bin/env python3
"""`.ci/copy_tree.py FOLDER`: copy the source files of this clone to a folder, for a build with other options.

Input: the files that git tracks, and untracked files that git does not ignore.  Output: copies with the same
modification times, so that a build in the folder repeats only the steps whose inputs have changed.  Files
that were deleted in the clone are deleted in the folder; build outputs in the folder are kept.
"""

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def files() -> set[str]:
    """Return the paths of the source files, relative to the root of the clone."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return {name for name in listed.split("\0") if name and (ROOT / name).is_file()}


def mirror(folder: Path) -> None:
    """Update the folder; its file `.mirrored` lists the files that were copied from the clone."""
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
