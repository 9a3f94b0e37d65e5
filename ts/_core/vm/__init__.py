"""The virtual machine: code, frames, the interpreter's loop, executions, futures and the meter."""
