"""What `debugging.md` shows."""

import ts


# --8<-- [start:stack]
@ts.jit.script
def inner(xs: list[int], at: int) -> int:
    return xs[at]


@ts.jit.script
def outer(n: int) -> int:
    xs = [1, 2, 3]
    return inner(xs, n)


try:
    outer(7)
except RuntimeError as error:
    print(error)
# --8<-- [end:stack]
try:
    outer(7)
    raise KeyError("it did not fail")
except RuntimeError as error:
    assert "return xs[at]" in str(error)


# --8<-- [start:session]
def gcd(a: int, b: int) -> int:
    while b:
        a, b = b, a % b
    return a


run = ts.debug(gcd, ["n", "n", "p a, b", "c"])
run(12, 18)
print(run.transcript)
# --8<-- [end:session]
assert "(12, 18)" in run.transcript or "(18, 12)" in run.transcript

# --8<-- [start:off]
with ts.jit.optimized_execution(False):
    outer(1)  # without optimizations
# --8<-- [end:off]
