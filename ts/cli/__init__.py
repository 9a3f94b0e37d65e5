"""The command line `ts`, also `python -m ts`; see `ts.cli.main` for its commands."""
