"""Process of `benchmarks.first_calls`: times the first eager calls in `ts` or in PyTorch.

    python -m benchmarks.first_calls_process torch

The process prints a JSON object: for each table, the name of each row with its list of seconds.  A row of
`operators` or `programs` has the seconds of the first and of the second call.  A row of `modules` starts with
the seconds of the construction.  Each operator is called after one addition and after the operators above it,
so that the row of an operator does not contain the work of the import of the package.
"""

from __future__ import annotations

import importlib
import json
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

# Expressions by family. `arguments` defines the variables.
OPERATORS = {
    "unary": (
        "torch.sqrt(p)", "torch.exp(x)", "torch.log1p(p)", "torch.sigmoid(x)", "torch.erf(x)",
        "torch.sign(x)", "torch.floor(x)", "x.abs()", "torch.lgamma(p)", "x.clamp(-1, 1)",
    ),
    "binary": (
        "x * y", "torch.div(x, y, rounding_mode='floor')", "torch.pow(p, 2.5)", "torch.maximum(x, y)",
        "torch.atan2(x, y)", "torch.remainder(x, p)", "x > y", "torch.logical_and(mask, mask)", "i & 3",
        "torch.lerp(x, y, 0.5)", "torch.where(mask, x, y)", "torch.addcmul(x, x, y)",
    ),
    "reductions": (
        "x.sum()", "x.mean(1)", "torch.var(x, 0)", "torch.argmax(x, 1)", "torch.max(x, 1)",
        "torch.amin(x, 0)", "torch.prod(x, 1)", "torch.any(mask)", "torch.logsumexp(x, 1)",
        "torch.cumsum(x, 1)", "torch.norm(x, dim=1)", "torch.median(x)",
    ),
    "indexing": (
        "x[1]", "x[:, ::2]", "x[rows]", "x[mask]", "torch.gather(x, 1, i)", "torch.index_select(x, 0, rows)",
        "torch.take(x, rows)", "torch.masked_fill(x, mask, 0.0)", "torch.nonzero(mask)",
        "torch.scatter_add(x, 1, i, y)", "torch.index_add(x, 0, rows, x[rows])", "torch.tril(x)",
    ),
    "views": (
        "x.reshape(-1)", "x.t()", "torch.cat([x, y])", "torch.stack([x, y])", "x.unsqueeze(0)",
        "x.expand(3, 8, 8)", "torch.split(x, 3)", "images.permute(0, 2, 3, 1)", "torch.flip(x, [0])",
        "torch.roll(x, 1, 0)", "x.repeat(2, 2)", "x.unfold(0, 4, 2)",
    ),
    "linear algebra": (
        "x @ y", "torch.bmm(stack, stack)", "torch.einsum('ij,jk->ik', x, y)", "torch.linalg.inv(x)",
        "torch.linalg.det(x)", "torch.linalg.svd(x)", "torch.linalg.qr(x)", "torch.linalg.eigh(x + x.t())",
        "torch.linalg.solve(x, y)", "torch.linalg.cholesky(x @ x.t() + 9 * torch.eye(8))",
        "torch.linalg.norm(x)", "torch.cdist(x, y)",
    ),
    "Fourier transforms": (
        "torch.fft.fft(x)", "torch.fft.rfft(x)",
        "torch.stft(signal, 64, window=torch.hann_window(64), return_complex=True)",
    ),
    "layers": (
        "F.conv2d(images, filters)", "F.conv1d(stack, stack[:, :, :3])", "F.linear(x, y)", "F.relu(x)",
        "F.gelu(x)", "F.softmax(x, -1)", "F.layer_norm(x, (8,))",
        "F.batch_norm(images, channels, channels + 1)", "F.max_pool2d(images, 2)",
        "F.adaptive_avg_pool2d(images, 1)", "F.interpolate(images, scale_factor=2.0)", "F.pad(x, (1, 1))",
        "F.embedding(i, x)", "F.dropout(x, 0.5)", "F.scaled_dot_product_attention(stack, stack, stack)",
    ),
    "losses": (
        "F.mse_loss(x, y)", "F.cross_entropy(x, rows[:8] % 8)", "F.l1_loss(x, y)",
        "F.binary_cross_entropy_with_logits(x, p)",
    ),
    "sorting": ("torch.sort(x)", "torch.topk(x, 3)", "torch.unique(i)"),
    "factories": (
        "torch.zeros(3)", "torch.full((2, 2), 7.0)", "torch.linspace(0, 1, 5)", "x.to(torch.float64)",
    ),
    "random numbers": ("torch.randn(3)", "torch.randint(0, 9, (3,))", "torch.randperm(9)"),
}  # fmt: skip

# constructor of a module and its arguments
MODULES = {
    "torch.nn.Linear(8, 4)": "x",
    "torch.nn.Conv2d(3, 4, 3)": "images",
    "torch.nn.Conv1d(8, 4, 3)": "stack",
    "torch.nn.ConvTranspose2d(3, 4, 3)": "images",
    "torch.nn.BatchNorm2d(3)": "images",
    "torch.nn.LayerNorm(8)": "x",
    "torch.nn.GroupNorm(1, 3)": "images",
    "torch.nn.InstanceNorm2d(3)": "images",
    "torch.nn.ReLU()": "x",
    "torch.nn.GELU()": "x",
    "torch.nn.PReLU()": "x",
    "torch.nn.Dropout(0.1)": "x",
    "torch.nn.MaxPool2d(2)": "images",
    "torch.nn.AvgPool2d(2)": "images",
    "torch.nn.Embedding(9, 4)": "i",
    "torch.nn.LSTM(8, 4)": "stack",
    "torch.nn.GRU(8, 4)": "stack",
    "torch.nn.MultiheadAttention(8, 2)": "stack, stack, stack",
    "torch.nn.TransformerEncoderLayer(8, 2, 16)": "stack",
    "torch.nn.CrossEntropyLoss()": "x, rows[:8] % 8",
}

MEL_SPECTROGRAM = """
window = torch.hann_window(64)
power = torch.stft(signal, 64, 16, window=window, return_complex=True).abs() ** 2
mel = torch.matmul(torch.rand(20, 33), power)
torch.log(torch.clamp(mel, min=1e-5))
"""
SENTENCE_EMBEDDINGS = """
table = torch.nn.Embedding(9, 8)
tokens = torch.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True).eval()(table(i))
weights = (i > 0).unsqueeze(-1).to(tokens.dtype)
pooled = (tokens * weights).sum(1) / weights.sum(1).clamp(min=1e-9)
F.normalize(pooled, p=2, dim=1)
"""
TRAINING_STEP = """
model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 8))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
loss = F.cross_entropy(model(x), rows[:8] % 8)
loss.backward()
optimizer.step()
"""
# Programs, of which each is measured in a separate process.
PROGRAMS = {
    "mel spectrogram": MEL_SPECTROGRAM,
    "sentence embeddings": SENTENCE_EMBEDDINGS,
    "training step": TRAINING_STEP,
}


def arguments(torch: Any) -> dict[str, Any]:
    """Return the variables of the expressions. They are copied from NumPy, without calls of operators."""
    generator = np.random.default_rng(0)
    arrays = {
        "x": generator.standard_normal((8, 8), np.float32),
        "y": generator.standard_normal((8, 8), np.float32),
        "p": generator.random((8, 8), np.float32),
        "stack": generator.standard_normal((4, 8, 8), np.float32),
        "images": generator.standard_normal((2, 3, 16, 16), np.float32),
        "filters": generator.standard_normal((4, 3, 3, 3), np.float32),
        "channels": generator.random(3, np.float32),
        "signal": generator.standard_normal(400, np.float32),
        "i": generator.integers(0, 8, (8, 8)),
        "rows": generator.integers(0, 8, 9),
        "mask": generator.random((8, 8)) > 0.5,
    }
    variables = {name: torch.from_numpy(array) for name, array in arrays.items()}
    return {**variables, "torch": torch, "F": importlib.import_module(f"{torch.__name__}.nn.functional")}


def seconds(call: Callable[[], Any]) -> tuple[float, Any]:
    """Return the time and the result of a call."""
    start = time.perf_counter()
    result = call()
    return time.perf_counter() - start, result


def timed_expression(text: str, variables: dict[str, Any]) -> list[float]:
    """Return the seconds of the first and of the second evaluation of an expression."""
    function = eval(f"lambda: {text}", variables)
    return [seconds(function)[0] for _ in range(2)]


def timed_module(constructor: str, values: str, variables: dict[str, Any]) -> list[float]:
    """Return the seconds of the construction, of the first call and of the second call of a module."""
    construction, module = seconds(eval(f"lambda: {constructor}", variables))
    call = eval(f"lambda: module({values})", {**variables, "module": module})
    return [construction, *(seconds(call)[0] for _ in range(2))]


def timed_program(text: str, variables: dict[str, Any]) -> list[float]:
    """Return the seconds of the first and of the second execution of statements."""
    code = compile(text, "program", "exec")
    return [seconds(lambda: exec(code, dict(variables)))[0] for _ in range(2)]


def measure(torch: Any, program: str) -> dict[str, dict[str, list[float]]]:
    """Return the rows of all operators and modules, or the row of a program."""
    torch.set_num_threads(1)
    variables = arguments(torch)
    variables["x"] + 1
    if program:
        return {"programs": {program: timed_program(PROGRAMS[program], variables)}}
    expressions = [text for texts in OPERATORS.values() for text in texts]
    return {
        "operators": {text: timed_expression(text, variables) for text in expressions},
        "modules": {text: timed_module(text, values, variables) for text, values in MODULES.items()},
    }


if __name__ == "__main__":
    print(json.dumps(measure(importlib.import_module(sys.argv[1]), "".join(sys.argv[2:]))))
