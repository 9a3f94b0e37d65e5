"""Models of many kinds (`tests/pytorch_parity/export_models`), exported by PyTorch and `ts`, with static and dynamic sizes.

Programs have equal operators in order, before and after `run_decompositions`; equal ranges and signatures;
the results of PyTorch's eager model, also for other sizes than the example's; and `.pt2` files load in the
other library.
"""

import copy
import io
from functools import lru_cache

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("sympy")

import ts  # noqa: E402
from tests.pytorch_parity import export_models as models  # noqa: E402
from tests.pytorch_parity.test_models import ours  # noqa: E402
from tests.sharding import some  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")
CASES = [f"{family}-{name}" for family, name in models.names()]
NOW = (
    "recurrent-branches",
    "misc-nonzero",
    "misc-graph_convolution",
    "misc-running_mean",
)
REMAINS = "{} is one operator after run_decompositions"
ROUNDS = "PyTorch counts the rounds of a loop in a symbol that nothing names"

# Differences from PyTorch, with reasons: (model, mode or "both", column): reason. An entry without a
# difference fails.
DIFFERENT = {
    ("vision-poolings", "both", "decomposed_sequence"): REMAINS.format("max_unpool2d"),
    ("vision-spatial_transformer", "both", "decomposed_sequence"): REMAINS.format("affine_grid_generator"),
    ("vision-convnext", "dynamic", "decomposed_sequence"): "sizes are computed where they are needed",
    ("vision-densenet", "dynamic", "decomposed_sequence"): "a product of sizes that is there already is not computed again",
    ("vision-temporal_pooling", "dynamic", "ranges_and_signature"): "PyTorch fixes what the pooling is of, and so the length",
    ("vision-temporal_pooling", "dynamic", "file_here"): "PyTorch fixes what the pooling is of, and so the length",
    ("attention-decoder_layer", "dynamic", "decomposed_sequence"): "PyTorch computes a length from the product that it is in",
    ("attention-scaled_dot_product", "dynamic", "ranges_and_signature"): "keys and values have one length here",
    ("attention-linear_attention", "dynamic", "decomposed_sequence"): "PyTorch's einsum of three fixes sizes",
    ("attention-linear_attention", "dynamic", "ranges_and_signature"): "PyTorch's einsum of three fixes sizes",
    ("attention-linear_attention", "dynamic", "file_here"): "PyTorch's einsum of three fixes sizes",
    ("attention-embedding_bag", "both", "decomposed_sequence"): REMAINS.format("embedding_bag"),
    ("recurrent-generation_loop", "both", "ranges_and_signature"): ROUNDS,
    ("recurrent-fixed_point_loop", "both", "ranges_and_signature"): ROUNDS,
    ("recurrent-attentive_pooling", "both", "decomposed_sequence"): REMAINS.format("bilinear"),
    ("misc-boxes", "dynamic", "decomposed_sequence"): "views of what was written are taken again where they are read",
    ("misc-quantiles", "both", "decomposed_sequence"): REMAINS.format("quantile"),
}


class Pair:
    """A model in both packages with its exports."""

    def __init__(self, name, mode):
        family, name = name.split("-")
        self.case = models.family(family).CASES[name]
        self.eager = models.build(torch, family, name)
        self.module = models.build(ts, family, name)
        self.module.load_state_dict({k: ours(v) for k, v in self.eager.state_dict().items()})
        calls = self.case.sizes if mode == "dynamic" else self.case.sizes[:1] * 2
        torch.manual_seed(1)
        self.calls = [self.case.arguments(*sizes) for sizes in calls]
        self.mode = mode

    def exported(self, package):
        module, args = (self.eager, self.calls[0]) if package is torch else (self.module, ours(self.calls[0]))
        shapes = None if self.mode == "static" else tuple(_dims(x, package.export.Dim) for x in self.case.dynamic)
        program = package.export.export(module, _copies(args, package), dynamic_shapes=shapes, strict=False)
        return program


def _dims(x, dim):
    return {k: _dims(v, dim) for k, v in x.items()} if isinstance(x, dict) else dict.fromkeys(x, dim.AUTO)


def _copies(tree, package):
    return package.utils._pytree.tree_map(lambda x: x.clone() if hasattr(x, "clone") else x, tree)


@lru_cache(4)
def pair(name, mode):
    return Pair(name, mode)


@lru_cache(8)
def export_of(name, mode, package):
    """Return the exported program, or the export's error."""
    try:
        return pair(name, mode).exported(package)
    except Exception as error:  # raised by `program`
        return error


def program(name, mode, package):
    found = export_of(name, mode, package)
    if isinstance(found, Exception):
        raise found
    return found


@lru_cache(8)
def decomposed(name, mode, package):
    return program(name, mode, package).run_decompositions()


def operators(module):
    """Return the operators of a graph in order, with nested lists for branches and loops."""
    found = []
    for node in module.graph.nodes:
        if node.op == "call_function":
            found.append(getattr(node.target, "__name__", str(node.target)))
        elif node.op == "get_attr" and hasattr(getattr(module, node.target), "graph"):
            found.append(operators(getattr(module, node.target)))
    return found


def signature(program):
    return [
        [(spec.kind.name, spec.target) for spec in specs]
        for specs in (program.graph_signature.input_specs, program.graph_signature.output_specs)
    ]


def ranges(program):
    def end(x):
        return float(x) if abs(float(x)) < 1 << 60 else float("inf") if float(x) > 0 else -float("inf")

    return sorted((end(r.lower), end(r.upper)) for r in program.range_constraints.values())


def numbers(module, pair, package):
    """Check the results and buffers of a program's module against the eager model, call after call."""
    eager = copy.deepcopy(pair.eager)
    # other modules of the program share this state
    before = {name: x.clone() for name, x in module.state_dict().items()}
    for args in pair.calls:
        with torch.no_grad():
            wanted = eager(*_copies(args, torch))
        with package.no_grad():
            found = module(*_copies(args if package is torch else ours(args), package))
        assert_equal_results((found, dict(module.named_buffers())), (wanted, dict(eager.named_buffers())), package)
    module.load_state_dict(before)


def assert_equal_results(found, wanted, package):
    (found, buffers), (wanted, expected) = found, wanted
    found, wanted = package.utils._pytree.tree_leaves(found), torch.utils._pytree.tree_leaves(wanted)
    assert len(found) == len(wanted)
    found += [buffers[k] for k in expected]
    wanted += list(expected.values())
    for x, y in zip(found, wanted, strict=True):
        x, y = x.detach().numpy(), y.detach().numpy()
        assert (x.shape, x.dtype) == (y.shape, y.dtype)
        np.testing.assert_allclose(x, y, rtol=1e-3, atol=1e-5)


def through_file(program, saving, loading):
    file = io.BytesIO()
    saving.export.save(program, file)
    return loading.export.load(io.BytesIO(file.getvalue()))


def sequence(name, mode):
    assert operators(program(name, mode, ts).graph_module) == operators(program(name, mode, torch).graph_module)


def decomposed_sequence(name, mode):
    found, wanted = (decomposed(name, mode, package) for package in (ts, torch))
    assert operators(found.graph_module) == operators(wanted.graph_module)
    assert signature(found) == signature(wanted)


def ranges_and_signature(name, mode):
    found, wanted = (program(name, mode, package) for package in (ts, torch))
    assert ranges(found) == ranges(wanted)
    assert signature(found) == signature(wanted)
    assert sorted(found.state_dict) == sorted(wanted.state_dict)


def results(name, mode):
    numbers(program(name, mode, ts).module(), pair(name, mode), ts)
    numbers(decomposed(name, mode, ts).module(), pair(name, mode), ts)


def file_there(name, mode):
    for found in (program(name, mode, ts), decomposed(name, mode, ts)):
        numbers(through_file(found, ts, torch).module(), pair(name, mode), torch)


def file_here(name, mode):
    for found in (program(name, mode, torch), decomposed(name, mode, torch)):
        numbers(through_file(found, torch, ts).module(), pair(name, mode), ts)


COLUMNS = (sequence, decomposed_sequence, ranges_and_signature, results, file_there, file_here)


@pytest.mark.parametrize("mode", ("static", "dynamic"))
@pytest.mark.parametrize("name", some(*NOW, of=CASES))
def test_model(name, mode):
    for column in COLUMNS:
        reason = DIFFERENT.get((name, mode, column.__name__)) or DIFFERENT.get((name, "both", column.__name__))
        if reason is None:
            column(name, mode)
        else:
            with pytest.raises(Exception):
                column(name, mode)
