"""An empty list is a list of tensors, an empty dict a dict of strings to tensors."""
# rule: annotation.empty

import ts as torch


@torch.jit.script
def fn():
    xs = []
    d = {}
    xs.append(torch.ones(1))
    d["a"] = torch.ones(2)
    return xs, d


print(fn.schema)  # expect: fn() -> ((Tensor[], Dict(str, Tensor)))
