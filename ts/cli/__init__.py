"""The command line, also `python -m ts`: `ts run | debug | graph | code | bytecode | check | info | diff |
convert`."""
