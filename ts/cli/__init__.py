"""Command-line interface `ts`, also available as `python -m ts`; see `ts.cli.main` for the commands."""
