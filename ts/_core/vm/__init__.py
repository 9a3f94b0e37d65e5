"""Virtual machine: code, frames, the interpreter loop, coroutines, futures and the meter."""
