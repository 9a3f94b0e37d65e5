"""What `limits.md` shows."""

import ts

# --8<-- [start:archive]
net = ts.nn.Sequential(ts.nn.Linear(8, 8), ts.nn.Tanh())
ts.jit.save(ts.jit.script(net.eval()), "untrusted.pt")

print(ts.jit.missing("untrusted.pt"))  # [] if nothing is missing
model = ts.jit.load(
    "untrusted.pt",
    limits=ts.limits(seconds=5, bytes=1 << 30),  # for reading, and for compiling each function
    allowed_ops={"aten::linear", "aten::tanh"},
)
with ts.limits(seconds=1, bytes=256 << 20, fuel=10_000_000):  # for one call
    model(ts.rand(3, 8))
# --8<-- [end:archive]
assert ts.jit.missing("untrusted.pt") == []

# --8<-- [start:refused]
try:
    ts.jit.load("untrusted.pt", allowed_ops={"aten::linear"})(ts.rand(3, 8))
except RuntimeError as error:
    print(error)  # names aten::tanh
# --8<-- [end:refused]
try:
    ts.jit.load("untrusted.pt", allowed_ops={"aten::linear"})(ts.rand(3, 8))
    raise KeyError("it was allowed")
except RuntimeError as error:
    assert "aten::tanh" in str(error)


# --8<-- [start:kinds]
@ts.jit.script
def grow(n: int):
    xs = [0]
    for i in range(n):
        xs.append(i)
    return len(xs)


for name, amount in (("fuel", 1000), ("seconds", 0.05), ("bytes", 1 << 20)):
    try:
        with ts.limits(**{name: amount}):
            grow(100_000_000)
    except ts.errors.LimitExceeded as error:
        print(name, type(error).__name__)
# --8<-- [end:kinds]
for name, amount, expected in (
    ("fuel", 1000, ts.errors.FuelExceeded),
    ("seconds", 0.05, ts.errors.TimeExceeded),
    ("bytes", 1 << 20, ts.errors.MemoryExceeded),
):
    try:
        with ts.limits(**{name: amount}):
            grow(100_000_000)
        raise AssertionError(name)
    except expected:
        pass
