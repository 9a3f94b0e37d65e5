"""Pages `docs/reference/cli.md` and `cli-processes.md`: commands and options, from the argument parsers.

Input: `ts.cli.main.parser`. Output: the pages. `python -m tests.regenerate` writes it; `tests/test_docs.py` checks it.
"""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path

from ts.cli.main import COMMANDS, parser
from ts.distributed.run import get_args_parser

FOLDER = Path(__file__).parent.parent / "docs" / "reference"
PROCESS_COMMANDS = ("serve", "cluster", "worker", "launch")  # commands with separate pages

COMMON_COMMANDS = 5  # options of at least this many commands are listed once
TABLE = ("| Argument | Meaning |", "|---|---|")

HEAD = """\
# Command line

This page lists the commands and options of `ts`. `python -m ts` is the same program. The page is generated from the argument parsers by
`python -m tests.regenerate`.

A command prints its result to standard output, and errors to standard error. The exit code is 0 for success, 1 if the program or file has
an error, 2 if the command line has an error, and 130 after Ctrl-C. The exit code of `ts diff` is 1 if the two archives differ, and 2 if one
of them cannot be read. [Commands that start processes](cli-processes.md) are listed on a separate page.
"""

PROCESSES_HEAD = """\
# Commands that start processes

This page lists the commands of servers, clusters and launched programs. It is generated from the argument parsers by
`python -m tests.regenerate`. [Command line](cli.md) lists the other commands and the common options.
"""


def subparser(name: str) -> argparse.ArgumentParser:
    """Return the argument parser of a command."""
    if name == "launch":
        return get_args_parser()
    (group,) = [a for a in parser(name)._actions if isinstance(a, argparse._SubParsersAction)]
    parser_of_command = group.choices[name]
    assert isinstance(parser_of_command, argparse.ArgumentParser)
    return parser_of_command


def rows(command: argparse.ArgumentParser) -> list[str]:
    """Return a table row for each argument of a command except `--help`."""
    formatter = command._get_formatter()
    lines = []
    for action in command._actions:
        if isinstance(action, argparse._HelpAction) or action.help == argparse.SUPPRESS:
            continue
        metavar = action.metavar or action.dest.upper()
        value = metavar if isinstance(metavar, str) else " ".join(metavar)
        if action.choices is not None and action.metavar is None:
            value = "{" + ",".join(map(str, action.choices)) + "}"
        if not action.option_strings:
            shown = f"`{value}`"
        elif action.nargs == 0:
            shown = ", ".join(f"`{option}`" for option in action.option_strings)
        else:
            shown = ", ".join(f"`{option} {value}`" for option in action.option_strings)
        text = " ".join(formatter._expand_help(action).split()) if action.help else ""
        lines.append("| {} | {} |".format(*(cell.replace("|", "\\|") for cell in (shown, text))))
    return lines


def pages() -> dict[Path, str]:
    """Return the texts of both pages by their paths."""
    commands = {name: subparser(name) for name in COMMANDS}
    table = {name: rows(command) for name, command in commands.items()}
    counts = Counter(row for lines in table.values() for row in set(lines) if row.startswith("| `-"))
    common = [row for row in table["run"] if counts[row] >= COMMON_COMMANDS]
    epilogs = {name: (command.epilog or "").strip("\n").rstrip() for name, command in commands.items()}
    paragraphs = Counter(part for text in epilogs.values() for part in text.split("\n\n"))
    (arguments,) = [part for part, count in paragraphs.items() if part.startswith("arguments are read")]
    head = [HEAD, "## Common options\n", "\n".join([*TABLE, *common]) + "\n", f"```text\n{arguments}\n```\n"]
    parts: dict[str, list[str]] = {"cli.md": head, "cli-processes.md": [PROCESSES_HEAD]}
    for name, summary in COMMANDS.items():
        out = parts["cli-processes.md" if name in PROCESS_COMMANDS else "cli.md"]
        out.append(f"## ts {name}\n\n{summary[0].upper()}{summary[1:]}.\n")
        command_rows = [row for row in table[name] if row not in common]
        if command_rows:
            out.append("\n".join([*TABLE, *command_rows]) + "\n")
        if shared := [row.split("`")[1] for row in table[name] if row in common]:
            out.append(f"Common options: {', '.join(f'`{option}`' for option in shared)}.\n")
        if text := epilogs[name].replace(arguments, "").strip("\n").replace("\n\n\n\n", "\n\n"):
            out.append(f"```text\n{text}\n```\n")
    return {FOLDER / name: "\n".join(texts).rstrip("\n") + "\n" for name, texts in parts.items()}
