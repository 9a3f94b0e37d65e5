"""An overloaded function is passed to `script`; it can only be compiled by calls."""

import ts


@ts.jit._overload
def main(x: int) -> int: ...


def main(x):
    return x

# error: RuntimeError
# Function __torch__.errors.overload_scripted.main cannot be directly compiled because it is overloaded. It must be used in a context of a function where its inputs can determine which overload to call.
