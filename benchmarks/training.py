"""Optimizer steps over parameters with gradients, and whole training steps (forward, loss, backward, Adam)
of scripted models. PyTorch's default optimizers run operators parameter by parameter; `fused` is one kernel
for all parameters.

In: nothing. Out: a table for each kind of parameters, and one of whole steps (`training_steps.py`). The
parameters start as zeros, with gradients of ones.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import ts
from benchmarks import peer_runtimes
from benchmarks.timing import Case
from benchmarks.training_steps import STEPS

Shapes = list[tuple[int, ...]]
RULES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("SGD", {"lr": 0.1, "momentum": 0.9}),
    ("Adam", {}),
    ("AdamW", {}),
    ("Adagrad", {}),
    ("RMSprop", {}),
    ("NAdam", {}),
    ("Adadelta", {}),
)
FUSED = ("SGD", "Adam", "AdamW", "Adagrad")  # optimizers for which PyTorch has a fused CPU kernel


def mixed(count: int) -> Shapes:
    """Return the shapes of vectors and matrices of many sizes."""
    random = np.random.default_rng(0)
    sizes = (4, 16, 64, 128)
    return [tuple(int(n) for n in random.choice(sizes, size=1 + i % 2)) for i in range(count)]


KINDS: dict[str, Shapes] = {
    "10 small parameters": [(8, 8), (8,)] * 5,
    "MLP, 64 x 256": [(1024, 256), (1024,), (1024, 1024), (1024,), (256, 1024), (256,)],
    "100 parameters": mixed(100),
}


def with_gradients(library: Any, shapes: Shapes) -> list[Any]:
    """Return zero tensors with gradients of ones."""
    parameters = [library.zeros(shape) for shape in shapes]
    for x in parameters:
        x.grad = library.ones_like(x)
    return parameters


def step_case(rule: str, options: dict[str, Any], shapes: Shapes) -> Case:
    """Return the case of one optimizer on parameters of the given shapes."""

    def step(library: Any, **more: Any) -> Callable[[], object]:
        optimizer = getattr(library.optim, rule)(with_gradients(library, shapes), **options, **more)
        run: Callable[[], object] = optimizer.step
        return run

    contestants = {"ts": step(ts)}
    if peer_runtimes.has_torch():
        import torch

        torch.set_num_threads(1)
        contestants["PyTorch"] = step(torch)
        if rule in FUSED:
            contestants["PyTorch, fused"] = step(torch, fused=True)
    return Case(rule, contestants)


def clip_case(shapes: Shapes) -> Case:
    """Return the case of gradient clipping by norm."""

    def clip(library: Any) -> Callable[[], object]:
        parameters = with_gradients(library, shapes)
        return lambda: library.nn.utils.clip_grad_norm_(parameters, 1.0)

    contestants = {"ts": clip(ts)}
    if peer_runtimes.has_torch():
        import torch

        contestants["PyTorch"] = clip(torch)
    return Case("clip_grad_norm_", contestants)


def whole_case(name: str, make: Callable[[Any], Callable[[], object]]) -> Case:
    """Return the case of a whole training step in both libraries."""
    contestants = {"ts": make(ts)}
    if peer_runtimes.has_torch():
        import torch

        torch.set_num_threads(1)
        contestants["PyTorch"] = make(torch)
    return Case(name, contestants)


def tables() -> dict[str, list[Case]]:
    """Return the tables of optimizer steps for each kind of parameters, and of whole steps."""
    ts.set_num_threads(1)
    return {
        f"optimizer.step(), {name}": [
            *(step_case(rule, options, shapes) for rule, options in RULES),
            clip_case(shapes),
        ]
        for name, shapes in KINDS.items()
    } | {"Training steps": [whole_case(name, make) for name, make in STEPS.items()]}
