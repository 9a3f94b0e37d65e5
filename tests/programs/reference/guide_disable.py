"""With `PYTORCH_JIT=0`, `script` and `trace` return the Python functions, which can be debugged."""
# rule: disable

import os
import subprocess
import sys

import ts as torch


@torch.jit.script
def scripted_fn(x: torch.Tensor):
    for i in range(12):
        x = x + x
    return x


def fn(x):
    x = torch.neg(x)
    return scripted_fn(x)


traced_fn = torch.jit.trace(fn, (torch.rand(4, 5),))
print(traced_fn(torch.ones(1)))  # expect: tensor([-4096.])

program = f"""
import {torch.__name__} as torch

@torch.jit.script
def scripted_fn(x: torch.Tensor):
    return x + x

def fn(x):
    return scripted_fn(torch.neg(x))

traced_fn = torch.jit.trace(fn, (torch.ones(1),))
print(type(scripted_fn).__name__, type(traced_fn).__name__, traced_fn(torch.ones(1)))
"""
environment = {**os.environ, "PYTORCH_JIT": "0"}
print(subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True).stdout.strip())
# expect: function function tensor([-2.])
