"""Tensor attributes and queries in scripts: graph text and results equal PyTorch's."""

import re

import pytest

torch = pytest.importorskip("torch")

import ts  # noqa: E402

BODIES = [
    "x.to('cpu')",
    "x.to(device='cpu')",
    "x.to(torch.float64)",
    "x.to(dtype=torch.int32)",
    "x.to(y)",
    "x.to(x, copy=True)",
    "x.to('cpu', torch.float64, copy=True)",
    "x.to(x.device, y.dtype)",
    "x.to(torch.device('cpu'))",
    "x.to()",
    "x.to(torch.float32, copy=True)",
    "x.cpu()",
    "x.type(torch.int32)",
    "x.type(dtype=y.dtype)",
    "x.data",
    "x.detach()",
    "x.requires_grad_(False)",
    "x.device == y.device, x.device != y.device, x.device == torch.device('cpu')",
    "x.device == 'cpu'",
    "x.device.type, x.device.index",
    "x.requires_grad, x.is_leaf, x.is_meta, x.is_cuda, x.is_sparse, x.is_quantized, x.retains_grad",
    "x.get_device(), x.is_contiguous(), x.storage_offset(), x.stride(), x.element_size(), x.numel()",
    "x.size(), x.size(0), x.size(1), x.stride(1), x.dim(), x.shape, len(x), x.itemsize, x.nbytes, x.ndim",
    "x.is_pinned(), x.name",
    "torch.zeros([2], dtype=torch.float64, layout=torch.strided)",
    "x.contiguous(memory_format=torch.contiguous_format)",
]


def text(graph):
    return re.sub(r" # .*", "", str(graph))


def unit(module, source):
    return module.jit.CompilationUnit(source).f


def comparable(value):
    if isinstance(value, (tuple, list)):
        return [comparable(v) for v in value]
    return (value.tolist(), str(value.dtype).rpartition(".")[2]) if hasattr(value, "tolist") else value


@pytest.mark.parametrize("body", BODIES)
def test_expression(body):
    source = f"def f(x, y):\n    return {body}\n"
    theirs, ours = unit(torch, source), unit(ts, source)
    assert text(ours.graph) == text(theirs.graph)
    want = theirs(torch.arange(6.0).view(2, 3), torch.ones(2, dtype=torch.float64))
    assert comparable(ours(ts.arange(6.0).view(2, 3), ts.ones(2, dtype=ts.float64))) == comparable(want)


KINDS = (
    "sparse quantized sparse_csr mkldnn nested vulkan mps xla xpu ipu mtia maia cuda cpu meta leaf".split()
)


@pytest.mark.parametrize("kind", KINDS)
def test_kinds_of_tensors(kind):
    """The `is_*` attributes of eager tensors equal PyTorch's."""
    assert getattr(ts.ones(2), f"is_{kind}") == getattr(torch.ones(2), f"is_{kind}")


LISTS = [
    ("List[List[float]]", torch.ones(2, 2)),
    ("List[List[float]]", torch.ones(2, 2, dtype=torch.float64)),
    ("List[List[float]]", torch.ones(2)),
    ("List[List[float]]", torch.zeros(2, 0)),
    ("List[float]", torch.ones(2, dtype=torch.int64)),
    ("List[int]", torch.arange(3)),
    ("List[int]", torch.ones(2, dtype=torch.int32)),
    ("List[int]", torch.tensor([True])),
    ("List[int]", torch.ones(2, 2)),
    ("int", torch.tensor(3)),
    ("int", torch.ones(1)),
    ("float", torch.tensor(1.5)),
    ("complex", torch.tensor(1.5j)),
    ("bool", torch.tensor(True)),
    ("List[bool]", torch.tensor([True, False])),
    ("List[bool]", torch.tensor([1])),
]


@pytest.mark.parametrize("annotation, x", LISTS, ids=str)
def test_tolist(annotation, x):
    source = f"def f(x):\n    a: {annotation} = x.tolist()\n    return a\n"
    theirs, ours = unit(torch, source), unit(ts, source)
    assert text(ours.graph) == text(theirs.graph)
    try:
        want = theirs(x)
    except RuntimeError as error:
        with pytest.raises(RuntimeError, match=re.escape(str(error).strip().rpartition("RuntimeError: ")[2])):
            ours(ts.tensor(x.numpy()))
    else:
        assert ours(ts.tensor(x.numpy())) == want


@pytest.mark.parametrize("annotation", ["List[str]", "str", "Tensor", "Dict[str, int]"])
def test_tolist_of_another_type_is_rejected(annotation):
    source = f"def f(x):\n    a: {annotation} = x.tolist()\n    return a\n"
    with pytest.raises(RuntimeError) as theirs:
        unit(torch, source)
    with pytest.raises(RuntimeError) as ours:
        unit(ts, source)
    assert (
        str(ours.value)
        .strip()
        .splitlines()[0]
        .startswith(str(theirs.value).strip().splitlines()[0].rstrip(":"))
    )
