"""A list with elements of different types for a parameter of type Any."""

from typing import Any


def main(x: Any):
    return x

# call: main([1, 2.5])

# error: RuntimeError
# Tracer cannot infer type of [1, 2.5]
# :List inputs to traced functions must have consistent element type. Found int and float
# Position: 0
# Declaration: main(Any x) -> Any
