"""Record schemas equal PyTorch's text; promotion equals PyTorch's for all pairs of dtypes."""

import itertools

import numpy as np
import pytest

torch = pytest.importorskip("torch")
from ts import dtypes  # noqa: E402
from ts._core.builtin_ops.registry import operators  # noqa: E402
from ts.ops import registry, common  # noqa: E402


# PyTorch 2.13 uses a class for these records; older archives store a tensor.
OLDER = {"profiler::_record_function_exit(Tensor _0) -> ()"}
# Internal operators of autocast blocks and derivative formulas, which appear in no visible graph or archive.
OURS = {"prim::EnterAutocast", "prim::ExitAutocast", "aten::_mkldnn_rnn_layer_backward", "aten::_rows_as_sparse"}


def names():
    return sorted(set(registry.names()) - OURS)


@pytest.mark.parametrize("name", names())
def test_schemas_are_pytorchs(name):
    theirs = {str(s) for s in torch._C._jit_get_schemas_for_operator(name)}
    ours = {r.schema_text for r in registry.records(name)}
    assert ours - OLDER <= theirs


@pytest.mark.parametrize("a, b", list(itertools.product(common.CODE_OF, repeat=2)), ids=str)
def test_promotion(a, b):
    if {a.name, b.name} & {"uint16", "uint32", "uint64"} or "float8" in a.name + b.name:
        pytest.skip("PyTorch promotes these only with themselves")
    one, two = (getattr(torch, dtypes.BY_CODE[common.CODE_OF[d]].name) for d in (a, b))
    for shapes in ((3,), (3,)), ((3,), ()), ((), (3,)):
        want = torch.result_type(torch.ones(shapes[0], dtype=one), torch.ones(shapes[1], dtype=two))
        got = common.result_type(np.ones(shapes[0], a), np.ones(shapes[1], b))
        assert dtypes.BY_CODE[common.CODE_OF[got]].name == str(want).removeprefix("torch.")
    assert common.can_cast(a, b) == torch.can_cast(one, two)


def test_overloads_are_in_pytorchs_order():
    """Overloads have PyTorch's order, because a script calls the first overload that accepts the arguments."""
    for name in {*registry.names(), *(operator.name for operator in operators())} - OURS:
        theirs = [s.overload_name for s in torch._C._jit_get_schemas_for_operator(name)]
        ours = [operator.overload for operator in registry.lookup(name)]
        assert ours == [overload for overload in theirs if overload in ours], name
