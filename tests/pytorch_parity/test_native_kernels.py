"""Operators with native kernels compared with PyTorch: values, dtypes, strides and errors, for all layouts."""

import pytest
import torch

import ts
from tests.pytorch_parity.native_kernel_cases import CALLS, LAYOUTS, close, outcome, tensors


CASES = [(call, layout) for call in CALLS for layout in (LAYOUTS if any(call.shapes) else LAYOUTS[:1])]


@pytest.mark.parametrize("call, layout", CASES, ids=lambda part: getattr(part, "name", part))
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_agrees_with_pytorch(call, layout):
    for kind in call.kinds:
        for shape in call.shapes:
            ours, theirs = tensors(shape, kind, layout)
            found, wanted = outcome(ts, call, ours), outcome(torch, call, theirs)
            close(found, wanted, f"{call.name} of {kind} {shape}, {layout}", call.exact)
