"""Warnings of the tracer; out-of-place construction of results needs no warning."""
# rule: trace.warnings

import warnings

import ts as torch


def fill_row_zero(x):
    x[0] = torch.rand(*x.shape[1:2])
    return x


with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    traced = torch.jit.trace(fill_row_zero, (torch.rand(3, 4),))
for w in caught:
    if issubclass(w.category, torch.jit.TracerWarning):
        print(str(w.message).splitlines()[0].partition(". Did")[0])
# expect: Trace had nondeterministic nodes
# expect: Output nr 1. of the traced function does not match the corresponding output of the Python function. Detailed error:


def fill_row_zero(x):
    x = torch.cat((torch.rand(1, *x.shape[1:2]), x[1:2]), dim=0)
    return x


with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    traced = torch.jit.trace(fill_row_zero, (torch.rand(3, 4),), check_trace=False)
print([w.message for w in caught if issubclass(w.category, torch.jit.TracerWarning)])  # expect: []
x = torch.rand(3, 4)
print(list(traced(x).shape), torch.equal(traced(x)[1], x[1]))  # expect: [2, 4] True
