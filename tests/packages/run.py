"""Run cases with one library, in a separate process:  run.py torch|ts FOLDER NAME...

`torch` writes each case's weights and outputs to FOLDER/NAME.npz; `ts` (as `torch`) starts from these weights, and writes
NAME.ts.npz.  The output has a line of JSON per case: {"name", "error"} or {"name", "outputs", "losses"}.
"""

import json
import os
import sys
import traceback
import warnings

import numpy as np

warnings.simplefilter("ignore")
os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
os.environ.setdefault("HF_HUB_OFFLINE", "1")
LIBRARY, FOLDER, *NAMES = sys.argv[1:]
if LIBRARY == "ts":
    import ts

    ts.install_as_torch()
import torch  # noqa: E402

# torchvision's C++ operators may be built for another PyTorch; its Python code works without them
if LIBRARY == "torch":
    register_fake = torch.library.register_fake

    def register_present(op, *args, **kwargs):
        if str(op).startswith("torchvision::"):
            return lambda function: function
        return register_fake(op, *args, **kwargs)

    torch.library.register_fake = register_present

from cases import CASES, optimizer_of  # noqa: E402


def arrays(output):
    """Return all tensors of an output as arrays."""
    if isinstance(output, torch.Tensor):
        output = output.detach()
        return [(output.double() if output.is_floating_point() else output).numpy()]
    if hasattr(output, "to_tuple"):
        output = output.to_tuple()
    if isinstance(output, dict):
        output = list(output.values())
    return [a for item in output for a in arrays(item)] if isinstance(output, (tuple, list)) else []


def losses(name, module, inputs):
    """Return the losses (mean squares of the first floating-point output) of ten training steps."""
    found = []
    module.train()
    for part in module.modules():
        if isinstance(part, torch.nn.Dropout):
            part.p = 0.0
    optimizer = optimizer_of(name, module.parameters())
    for _ in range(10):
        output = module(**inputs)
        output = output[0] if isinstance(output, tuple) else getattr(output, "logits", output)
        loss = (output * output).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        found.append(float(loss))
    return found


def compiled(module, inputs, how):
    """Return the scripted module, or its trace with the inputs."""
    if how == "script":
        return torch.jit.script(module)
    return torch.jit.trace(module, tuple(inputs.values()), strict=False, check_trace=False)


def run(name):
    function, _, how, train = CASES[name]
    torch.manual_seed(0)
    module, inputs = function()
    module.eval()
    weights = os.path.join(FOLDER, f"{name}.npz")
    if LIBRARY == "ts":
        with np.load(weights) as saved:
            module.load_state_dict({key[1:]: torch.from_numpy(saved[key]) for key in saved.files if key[0] == "w"})
    state = {"w" + key: value.detach().cpu().numpy().copy() for key, value in module.state_dict().items()}
    with torch.no_grad():
        outputs = arrays(module(**inputs))
        again = [] if how is None else arrays(compiled(module, inputs, how)(*inputs.values()))
    results = {f"o{i}": a for i, a in enumerate(outputs)} | {f"s{i}": a for i, a in enumerate(again)}
    np.savez(weights if LIBRARY == "torch" else weights.replace(".npz", ".ts.npz"), **state, **results)
    return {"outputs": len(outputs), "losses": losses(name, module, inputs) if train else []}


for name in NAMES:
    try:
        result = run(name)
    except Exception as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        result = {"error": f"{type(error).__name__}: {str(error)[:300]} ({last.filename[-60:]}:{last.lineno})"}
    print(json.dumps({"name": name, **result}), flush=True)
