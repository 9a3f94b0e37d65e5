"""Evaluate single derivative formulas for given arguments of an operator."""

import ts
from ts.ops import registry
from ts.ops.derivatives.formulas import Inputs, gradient

TENSOR_PROPERTIES = {"size": lambda x: [list(y.size()) for y in x] if isinstance(x, list) else list(x.size()), "dim": ts.Tensor.dim, "numel": ts.Tensor.numel, "dtype": lambda x: x.dtype}


def gradients(key, wanted, **arguments):
    """Return the gradients of the `wanted` arguments for a result gradient of ones: a list, or a list of
    lists for several."""
    record = registry.find(key)
    inputs = Inputs(record)
    output = record.operator(**arguments)
    values = {name: p.default for name, p in inputs.parameters.items() if p.has_default} | arguments
    for result, value in zip(inputs.results, output if isinstance(output, tuple) else (output,)):
        values |= {result.name: value, result.gradient: ts.ones_like(value)}
    values.setdefault("grad", values[inputs.results[0].gradient])
    formula = gradient(record, wanted.split())
    found = formula.function()(*(TENSOR_PROPERTIES[r.fact](values[r.of]) if r.fact else values[r.of] for r in formula.parameters))
    return [x.tolist() for x in found] if isinstance(found, tuple) else found.tolist()
