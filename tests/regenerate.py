"""What is written from the records and from `docs/snippets`, and a check that it is as they are.

    python -m tests.regenerate            writes all of it
    python -m tests.regenerate --check    writes nothing: shows what differs, and fails where anything does

In: `tests.generate_operator_index` (the pages of operators, the directories), `tests.stubs` (the stubs) and `tests.doc_samples` (the
code on the pages).  Out: files.
"""

from __future__ import annotations

import argparse
import difflib
import sys
from pathlib import Path

from tests import bytecode_page, cli_page, generate_operator_index, doc_samples, readme_performance, stubs

MAX_LINES = 60  # of a difference that is shown


def texts() -> dict[Path, str]:
    """All files that are made, with the text that they should have."""
    return {
        **stubs.stubs(),
        **doc_samples.pages(),
        readme_performance.PAGE: readme_performance.page(readme_performance.PAGE.read_text()),
        **cli_page.pages(),
        bytecode_page.PAGE: bytecode_page.page(),
        **generate_operator_index.pages(),
        generate_operator_index.DIRECTORY: generate_operator_index.directory(),
        generate_operator_index.KERNELS: generate_operator_index.kernel_directory(),
        generate_operator_index.PRIMS: generate_operator_index.prim_directory(),
    }


def differences(made: dict[Path, str]) -> str:
    """What is not as it should be, as a diff; "" where all is."""
    shown = []
    for path, text in made.items():
        old = path.read_text() if path.exists() else ""
        if old == text:
            continue
        name = str(path.relative_to(stubs.ROOT))
        lines = [*difflib.unified_diff(old.splitlines(), text.splitlines(), name, f"{name} as its sources are", lineterm="")]
        shown += lines[:MAX_LINES]
        if len(lines) > MAX_LINES:
            shown.append(f"... and {len(lines) - MAX_LINES} lines more")
    return "\n".join(shown)


def main(arguments: list[str]) -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m tests.regenerate", description=__doc__.partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing, and fail where anything differs")
    check = parser.parse_args(arguments).check
    made = texts()
    if check:
        found = differences(made)
        if found:
            print(f"{found}\n\nNot as their sources are: run `python -m tests.regenerate`.")
        return bool(found)
    for path, text in made.items():
        if not path.exists() or path.read_text() != text:
            path.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
