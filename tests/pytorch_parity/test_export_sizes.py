"""Small programs with dynamic sizes: exports by PyTorch and `ts` have equal operators and ranges."""

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("sympy")
import torch.nn.functional  # noqa: E402

import ts  # noqa: E402
from tests.sharding import some  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")

# An expression in x, y, z | their shapes, with dynamic dimensions after a colon
PROGRAMS = {
    "signs": r"""
        x.bool()&y.bool() | 3:0 | 3:0
        (x>0)|~(y<1)^(x==y) | 3,4:0 | 4
        torch.bitwise_and(x.bool(),y.bool()) | 3:0 | 3:0
        x.bool().bitwise_or(y.bool()) | 3:0 | 3:0
        x.long()&3 | 3:0
        x.long()|x.shape[0] | 3:0
        x.long()<<2|x.long()>>y.long() | 3,4:0 | 4
        torch.stack([x[0],y[0]]).reshape(y.shape[1],2)+x.shape[0]+y.shape[0] | 3,4:0,1 | 5,4:0,1
    """,
    "products": r"""
        F.linear(x,torch.ones(5,4),torch.ones(5)) | 4
        F.linear(x,torch.ones(5,4),torch.ones(5)) | 2,3,4:0
        F.linear(x.transpose(1,2),torch.ones(5,4),torch.ones(5)) | 2,4,3
        F.linear(x.transpose(1,2),torch.ones(5,4),torch.ones(5)) | 2,4,3:0
        F.linear(x[:,1:],torch.ones(5,4),torch.ones(5)) | 2,3,4:0
        F.linear(x,torch.ones(5,4),torch.ones(5)) | 2,3,6,4:0
        F.linear(x.permute(0,2,3,1),torch.ones(5,4),torch.ones(5)) | 2,4,3,6:0
        F.linear(x.transpose(1,2),torch.ones(5,4)) | 2,4,3:0
        x.transpose(0,1)@torch.ones(4,5) | 2,3,4:0
        x.transpose(1,2)@torch.ones(4) | 2,4,3:0
        x[:,1:]@torch.ones(4,5) | 2,3,4:0
        torch.ones(5,4)@x.transpose(1,2) | 2,3,4:0
        torch.ones(4)@x.transpose(1,2) | 2,3,4:0
        torch.ones(4)@x | 2,4,3:0
        x@torch.ones(4,5) | 2,3,6,4:0
        F.scaled_dot_product_attention(x,y,y,z) | 2,2,5,4:0,2 | 2,2,6,4:0,2 | 5,6:0,1
        F.scaled_dot_product_attention(x,x,x) | 2,2,5,4:3
        torch.cdist(x,y) | 3,4:0 | 5,4
    """,
    "indices": r"""
        x[:,-1] | 3,4,5,6:0,2
        x[:,:,0] | 3,4,5,6:0,2
        x[:,None] | 3,4,5,6:0,2
        x[0,:] | 3,4,5,6:0,2
        x[...,:2] | 3,4,5,6:0,2
        x[:,torch.tensor([0,1])] | 3,4,5,6:0,2
        x[:,-1,:] | 3,4,5,6:0,2
        x[None,:] | 3,4,5,6:0,2
        x[:,0:] | 3,4,5,6:0,2
        x[:,:5] | 3,4,5,6:0,2
        x[:,-4:] | 3,4,5,6:0,2
        x[:,:x.shape[0]] | 3,4,5,6:0,2
        x[:x.shape[0],0] | 3,4,5,6:0,2
        x[:,:,:x.shape[2],0] | 3,4,5,6:0,2
        x[0:None,:,1:] | 3,4,5,6:0,2
        x[:] | 3,4:0
        x[:]+1 | 3,4
        x.clone().__setitem__((slice(None),0),1.0) | 3,4:0
        x.clone().__setitem__(slice(None),1.0) | 3,4:0
        x.clone().__setitem__((slice(None),torch.tensor([0,1])),0.0) | 3,4:0
        x.clone().__setitem__(0,y) | 3,4 | 4
        x[[0,1]] | 3,4:0
        x[y.long()] | 4,2:0 | 7:0
        x.index_put((y.long(),),y) | 4:0 | 7:0
        torch.zeros(x.shape[0]).index_add(0,y.long(),torch.ones_like(y)) | 4:0 | 7:0
        torch.zeros(5,x.shape[0]).index_copy(0,y.long(),torch.ones(y.shape[0],x.shape[0])) | 4:0 | 3:0
        x.index_fill(0,y.long(),1.0) | 4,2:0 | 7:0
        x.take(y.long()) | 4,2:0 | 7:0
        F.one_hot(x.long(),4) | 3:0
    """,
    "contiguity": r"""
        x[1:] | 6:0
        x[1:-1] | 6:0
        x[::3] | 7:0
        x[:,1:] | 4,6:1
        x[:,:x.shape[1]//2] | 4,6:1
        x[:x.shape[0]//2] | 6:0
        x.view(-1,2) | 8:0
        x[:-1].view(-1,2) | 5:0
        x.chunk(2) | 7:0
        x.split(2) | 7:0
        x.unfold(1,2,2) | 3,8:0,1
        x.new_zeros(x.shape[0]-2) | 4:0
        x.new_zeros(2,x.shape[0]//2) | 5:0
        F.conv1d(x,torch.ones(3,2,3),stride=2) | 2,2,9:0,2
        F.avg_pool2d(x,2) | 2,2,8,9:0,2,3
        F.interpolate(x,scale_factor=0.5) | 2,2,8,9:0,2,3
        torch.diff(x,n=2) | 6:0
        x+1 if x.shape[0]!=2 else x-1 | 5:0
        x+1 if x.shape[0]*2>7 else x-1 | 5:0
    """,
    "others": r"""
        x.var(0) | 3,4:0
        x.var() | 3,4:0
        x.var((0,1)) | 3,4:0
        x.std(0,correction=0) | 3,4:0
        torch.std_mean(x) | 3,4:0
        torch.var_mean(x,dim=1) | 3,4:0
        torch.diag(x) | 4:0
        x.reshape(-1) | 3,4:0
        x.reshape(2,-1) | 4,4:0
        x.t().reshape(-1) | 3,4:0,1
        x.t().reshape(2,-1) | 3,4:0
        torch.broadcast_tensors(x,y)[1]+1 | 3,4:0 | 4
        torch.broadcast_tensors(x,y)[1]+1 | 3,4:0 | 3,4:0
        F.mse_loss(x,y) | 3,4:0 | 3,4:0
        F.l1_loss(x,y) | 3,4:0 | 3,4:0
        F.smooth_l1_loss(x,y) | 3,4 | 3,4
        F.huber_loss(x,y) | 3,4 | 3,4
        x.long()//3 | 3:0
        x//3.5 | 3:0
    """,
}


class Program:
    """A line of `PROGRAMS`."""

    def __init__(self, line):
        self.text, *shapes = (part.strip() for part in line.split(" | "))
        parts = [shape.partition(":") for shape in shapes]
        self.shapes = [[int(n) for n in sizes.split(",")] for sizes, _, _ in parts]
        self.dims = [[int(n) for n in dims.split(",") if n] for _, _, dims in parts]

    def exported(self, package):
        text = self.text

        class Module(package.nn.Module):
            def forward(self, x, y=None, z=None):
                found = eval(text, {"torch": package, "F": package.nn.functional, "x": x, "y": y, "z": z})
                return x if found is None else found

        args = tuple(package.zeros(shape) for shape in self.shapes)
        auto = package.export.Dim.AUTO
        shapes = dict(zip("xyz", (dict.fromkeys(dims, auto) for dims in self.dims), strict=False))
        return package.export.export(Module(), args, dynamic_shapes=shapes, strict=False)


def described(program):
    """Return the operators of a program, before and after `run_decompositions`, and the ranges of its
    sizes."""
    return [
        [str(getattr(node.target, "__name__", "")) for node in graph.nodes if node.op == "call_function"]
        for graph in (program.graph, program.run_decompositions().graph)
    ], sorted(str(ends) for ends in program.range_constraints.values())


@pytest.mark.parametrize("family", some(of=[*PROGRAMS]))
def test_operators_and_ranges(family):
    for line in PROGRAMS[family].strip().splitlines():
        program = Program(line)
        assert described(program.exported(ts)) == described(program.exported(torch)), line
