"""Command-line interface `ts`, also available as `python -m ts`. `ts.cli.main` defines the commands."""
