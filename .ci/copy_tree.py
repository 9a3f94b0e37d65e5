#!/usr/bin/env python3
"""`.ci/copy_tree.py FOLDER [--with-outputs]`: copy the source files to a folder, for another build.

Input: the files that git tracks, and untracked files that git does not ignore; with `--with-outputs` also the
outputs of Cython and of the C compiler.  Output: copies with the same modification times, so that a build in
the folder repeats only the steps whose inputs have changed.  Files that were deleted in the clone are deleted
in the folder; build outputs in the folder are kept.
"""

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
OUTPUTS = (
    *("ts/**/*.c", "ts/**/*.so", "backends/**/*.c", "backends/**/*.so"),
    *("build/lib.*/**/*.so", "build/options.txt"),
)
GENERATED = ("ts/_core/vm/opcodes.pxd", "ts/_core/vm/interp.pyx")


def files() -> set[str]:
    """Return the paths of the source files, relative to the root of the clone."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return {name for name in listed.split("\0") if name and (ROOT / name).is_file()}


def outputs() -> set[str]:
    """Return the paths of the outputs of the build, relative to the root of the clone."""
    return {str(path.relative_to(ROOT)) for glob in (*OUTPUTS, *GENERATED) for path in ROOT.glob(glob)}


def mirror(folder: Path, with_outputs: bool) -> None:
    """Update the folder; its file `.mirrored` lists the files that were copied from the clone."""
    record = folder / ".mirrored"
    before = set(record.read_text().split("\n")) if record.exists() else set()
    now = files() | (outputs() if with_outputs else set())
    for name in before - now:
        (folder / name).unlink(missing_ok=True)
    for name in now:
        source, target = ROOT / name, folder / name
        if not target.exists() or target.stat().st_mtime != source.stat().st_mtime:
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target)
    record.write_text("\n".join(sorted(now)))


if __name__ == "__main__":
    mirror(Path(sys.argv[1]).resolve(), "--with-outputs" in sys.argv[2:])
