"""The programs of the tutorials getting-started.md and train-save-serve.md."""

# --8<-- [start:first]
import ts


@ts.jit.script
def collatz(n: int) -> int:
    steps = 0
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps


print(collatz(27))  # 111
# --8<-- [end:first]
assert collatz(27) == 111

# --8<-- [start:draw]
print(collatz.graph)  # as text, which `ts.parse_ir` reads back
collatz.graph.draw("collatz.svg")  # as a picture
# --8<-- [end:draw]

# --8<-- [start:bytecode]
print(collatz.bytecode)
# --8<-- [end:bytecode]
assert "LOOP" in collatz.bytecode or "JUMP" in collatz.bytecode

# --8<-- [start:types]
class Tally:
    def __init__(self, limit: int):
        self.counts: dict[str, int] = {}
        self.limit = limit

    def add(self, word: str) -> None:
        if len(self.counts) < self.limit or word in self.counts:
            self.counts[word] = self.counts.get(word, 0) + 1


@ts.jit.script
def most_frequent(words: list[str], limit: int = 1000) -> tuple[str, int] | None:
    tally = Tally(limit)
    for word in words:
        tally.add(word)
    best: tuple[str, int] | None = None
    for word, count in tally.counts.items():
        if best is None or count > best[1]:
            best = (word, count)
    return best


print(most_frequent("to be or not to be".split()))  # ('to', 2)
# --8<-- [end:types]
assert most_frequent("to be or not to be".split()) == ("to", 2)


# --8<-- [start:wrong]
def mixed(flag: bool):
    if flag:
        result = 1
    else:
        result = "one"
    return result


try:
    ts.jit.script(mixed)
except RuntimeError as error:
    print(error)
# --8<-- [end:wrong]
try:
    ts.jit.script(mixed)
    raise AssertionError("it compiled")
except RuntimeError as error:
    wrong = str(error)
assert "result" in wrong and "tutorial.py" in wrong


# --8<-- [start:tensors]
@ts.jit.script
def gated(x: ts.Tensor, y: ts.Tensor):
    return ts.tanh(x * y + x) * ts.sigmoid(y)


x, y = ts.rand(4, 1000), ts.rand(4, 1000)
gated(x, y)
print(gated.plan)
# --8<-- [end:tensors]
assert "ran fused" in gated.plan


# --8<-- [start:model]
class Classifier(ts.nn.Module):
    def __init__(self, classes: int):
        super().__init__()
        self.conv = ts.nn.Conv2d(1, 8, 3, padding=1)
        self.head = ts.nn.Linear(8, classes)

    def forward(self, images):
        features = ts.relu(self.conv(images))
        return self.head(features.mean(dim=[2, 3]))

    @ts.jit.export
    def classify(self, images) -> list[int]:
        answer: list[int] = self.forward(images).argmax(dim=1).tolist()
        return answer


ts.manual_seed(0)
model = ts.jit.script(Classifier(10))
print(model(ts.rand(2, 1, 28, 28)).shape)  # torch.Size([2, 10])
# --8<-- [end:model]
assert model(ts.rand(2, 1, 28, 28)).shape == (2, 10)

# --8<-- [start:train]
optimizer = ts.optim.Adam(model.parameters(), lr=0.01)
images = ts.rand(64, 1, 28, 28)
labels = ts.randint(0, 10, (64,))
for _ in range(3):
    loss = ts.nn.functional.cross_entropy(model(images), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item())
# --8<-- [end:train]
assert 0 < loss.item() < 3

# --8<-- [start:save]
ts.jit.save(model.eval(), "classifier.pt")  # PyTorch's torch.jit.load reads it, too
again = ts.jit.load("classifier.pt")
print(again.classify(images[:3]))
# --8<-- [end:save]
assert again.classify(images[:3]) == model.classify(images[:3])


# --8<-- [start:limits]
@ts.jit.script
def endless(n: int) -> int:
    while True:
        n += 1
    return n


try:
    with ts.limits(seconds=0.1, bytes=64 << 20):
        endless(0)
except ts.errors.LimitExceeded as error:
    print(type(error).__name__)  # TimeExceeded
# --8<-- [end:limits]
try:
    with ts.limits(fuel=1000):
        endless(0)
    raise AssertionError("it ended")
except ts.errors.FuelExceeded:
    pass
