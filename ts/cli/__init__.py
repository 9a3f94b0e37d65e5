"""The command line: `ts run | debug | graph | code | bytecode | check | info`, also `python -m ts`."""
