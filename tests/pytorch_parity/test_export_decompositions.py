"""`run_decompositions` compared with PyTorch's: equal operators in order, for small programs."""

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("sympy")
import torch.nn.functional  # noqa: E402

import ts  # noqa: E402
from tests.export.single_op_programs import PROGRAMS, module_of, programs  # noqa: E402
from tests.sharding import some  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")

OTHERS = {  # programs with other operators than PyTorch's, with reasons
    "F.bilinear(x,y,z)": "bilinear is one operator",
    "F.rrelu(x)": "rrelu draws its noise itself",
    "F.one_hot(torch.tensor([0,2]),4)+x": "fake tensors know no elements: classes are looked at as it runs",
    'F.pad(x,(1,1),mode="circular")': "stays",
    "F.interpolate(x,scale_factor=2)": "of one dimension it stays",
    'F.interpolate(x,scale_factor=2,mode="bicubic")': "stays",
    "F.unfold(x,2)": "im2col stays",
    "F.fold(x,(3,3),2)": "col2im stays",
    "F.affine_grid(x,(2,3,4,4))": "stays",
    "torch.cov(x)": "refused by both",
    "torch.det(x)": "stays",
    "torch.inverse(x)": "stays, without a token for its check",
    "torch.linalg.solve(x,y)": "stays, without a token for its check",
    "torch.fft.fft(x)": "stays",
    "torch.fft.rfft(x)": "stays",
    "torch.stft(x,4,window=torch.ones(4),return_complex=True)": "stays",
    "torch.gradient(x)[0]": "stays",
}


def _operators(text, shapes, package):
    module = module_of(text, len(shapes), package)
    args = tuple(package.rand(shape) for shape in shapes)
    program = package.export.export(module, args, strict=False).run_decompositions()
    return [str(node.target) for node in program.graph.nodes if node.op == "call_function"], [
        (spec.kind.name, spec.target) for spec in program.graph_signature.output_specs
    ]


@pytest.mark.parametrize("family", some("writes", of=[*PROGRAMS]))
def test_operators(family):
    for text, shapes in programs(family):
        if text not in OTHERS:
            assert _operators(text, shapes, ts) == _operators(text, shapes, torch), text
