"""Python functions that the language does not support."""
# rule: builtin.refused

import ts as torch

for call in (
    "ascii('a')", "bytes(3)", "callable(x)", "compile('1', '', 'eval')", "delattr(x, 'a')", "dir(x)", "eval('1')",
    "exec('1')", "filter(x, [1])", "frozenset([1])", "globals()", "input()", "issubclass(int, int)", "iter([1])",
    "map(x, [1])", "open('f')", "property(x)", "repr(x)", "set([1])", "setattr(x, 'a', 1)", "vars(x)",
    "__import__('os')",
):  # fmt: skip
    try:
        torch.jit.CompilationUnit(f"def f(x: int):\n    return {call}\n")
    except RuntimeError:
        continue
    print("compiles:", call)
print("done")  # expect: done
