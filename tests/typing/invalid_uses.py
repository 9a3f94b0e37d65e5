"""Invalid uses for type checkers: each line after the names has one error; the file is not run."""

from typing import List

import ts
import ts.nn.functional as F
from ts import nn

x = ts.ones(2, 3)
y = ts.rand(2, 3)
m = ts.eye(3)
i = ts.tensor([0, 1])
b = x > 0
# ---- invalid operations
ts.softmx(x, 1)
ts.zeroes(2, 3)
ts.one(2)
ts.arrange(5)
ts.concat_(x)
ts.catt([x, y])
ts.meen(x)
ts.summ(x)
ts.relu7(x)
ts.matmull(x, m)
ts.float33
ts.int128
ts.tensro([1.0])
ts.Tensro
ts.no_gradient()
ts.manual_sead(0)
ts.linalgebra
ts.sqaure(x)
ts.argmx(x)
ts.clam(x, 0, 1)
ts.whre(b, x, y)
ts.transpos(x, 0, 1)
ts.unsqeeze(x, 0)
ts.flaten(x)
ts.is_tensr(x)
x.softmx(1)
x.sums()
x.shpe
x.dtyp
x.devise
x.vew(3, 2)
x.resahpe(3, 2)
x.ad_(1)
x.toList()
x.itm()
x.requires_gradd
x.bakward()
x.nump()
x.cuda_()
x.permut(1, 0)
x.unsqueez(0)
x.grd
x.maxx(1)
x.sort().indexes
x.max(1).vals
x.topk(2).index_
nn.Liner(3, 4)
nn.Relu()
nn.Conv4d(1, 2, 3)
nn.LSTMM(3, 4)
nn.Sequental(nn.ReLU())
nn.CrossEntropy()
nn.Modul
nn.Parametr(x)
nn.DropOut(0.5)
nn.functionl.relu(x)
F.rellu(x)
F.softmx(x, dim=1)
F.cross_entrop(x, i)
F.max_pool4d(x, 2)
F.liner(x, m)
F.mse(x, y)
F.conv2dd(x, m)
ts.linalg.nrom(x)
ts.linalg.invert(m)
ts.linalg.svdd(x)
ts.linalg.svd(x).V
ts.linalg.eigh(m).eigenvalue
ts.fft.ftt(x)
ts.fft.rfft3(x)
ts.special.expti(x)
ts.special.bessel_j7(x)
ts.optim.Adm([x], lr=0.1)
ts.optim.SGD([x], lrr=0.1)
ts.jit.scrpt
ts.jit.tracee
ts.jit.sav
ts.nn.init.zeross_(x)
ts.utils.dataa
ts.cuda.is_availabl()
ts.autograd.gradd
# ---- arguments of wrong types
ts.softmax("x", 1)
ts.softmax(x, "1")
ts.softmax(x, 1.5)
ts.softmax(x, dim=None)
ts.softmax(x, 1, dtype="float64")
ts.softmax([1.0, 2.0], 0)
ts.zeros("2")
ts.zeros(2.5)
ts.zeros(2, 3, dtype="float32")
ts.zeros(2, 3, device=1.5)
ts.zeros(2, 3, requires_grad="yes")
ts.ones_like(3)
ts.full((2, 3), "7")
ts.full("ab", 1)
ts.arange("5")
ts.eye("3")
ts.eye(2.0)
ts.rand(2, generator=0)
ts.add(x, "y")
ts.add(x, [1, 2])
ts.add(x, y, alpha="2")
ts.mul(x, None)
ts.div(x, y, rounding_mode=1)
ts.matmul(x, 2)
ts.mm(x, [[1.0]])
ts.cat(x, "0")
ts.cat([1, 2])
ts.cat([x, y], dim="0")
ts.stack([x, "y"])
ts.where(x, y)
ts.where(1, x, y)
ts.sum("x")
ts.sum(x, dim="0")
ts.sum(x, 0, "keep")
ts.mean(x, 1.5)
ts.max(x, "1")
ts.argmax(x, dim=1.5)
ts.topk(x, "2")
ts.clamp(x, "0", "1")
ts.allclose(x, 1)
ts.einsum(x, "ij")
ts.einsum(1, x)
ts.split(x, "1")
ts.split(x, 1.5)
ts.chunk(x, 2.0)
ts.index_select(x, 0, [0])
ts.gather(x, 1, 0)
ts.masked_select(x, True)
ts.reshape(x, "3")
ts.permute(x, "01")
ts.transpose(x, 0, "1")
ts.squeeze(x, "0")
ts.unsqueeze(x, 0.5)
ts.roll(x, "1")
ts.outer(x, 1)
ts.unbind(1)
ts.exp("x")
ts.norm("x")
ts.manual_seed("zero")
ts.cdist(x, 2)
ts.tensordot(x, 1)
x.softmax("1")
x.sum(dim="rows")
x.view("3")
x.view(3.0, 2)
x.reshape(1.5)
x.permute("a", "b")
x.expand("4")
x.transpose(0)
x.unsqueeze()
x.add_("1")
x.mul([1, 2])
x.to(1.5)
x.to(ts.float32, "copy")
x.size("0")
x.stride(1.5)
x.masked_fill(b, "0")
x.index_select("0", i)
x.split("1")
x.fill_("a")
x.copy_("y")
x.clamp(min="0")
x.norm(p=[2])
x.topk()
x.requires_grad_("no")
x + "1"
x - [1, 2]
x / None
x @ 2
x > "0"
x["a"]
x[1.5]
x[0] = "a"
# ---- wrong numbers and names of arguments
ts.softmax(x, axes=1)
ts.zeros(2, 3, dtyp=ts.float32)
ts.sum(x, dims=0)
ts.add(x)
ts.exp(x, y)
ts.matmul(x)
ts.cat([x], axes=0)
x.t(1, 2)
x.sum(0, False, 3, 4)
x.mean(keep_dim=True)
x.numel(1)
x.dim = 3
x.shape = (3, 2)
nn.Linear(3)
nn.Linear(3, 4, biass=False)
nn.Linear("3", 4)
nn.Conv2d(1, 2)
nn.Dropout("0.5")
nn.MaxPool2d()
nn.HingeEmbeddingLoss(margin="1")
nn.GaussianNLLLoss(True)
nn.GroupNorm(2, 4, 1e-5, True, None, None, False)
nn.Linear(3, 4)("x")
nn.Linear(3, 4)(x, y)
nn.Linear(3, 4)()
nn.ReLU()([1.0])
nn.CrossEntropyLoss()(x)
F.relu(x, inplce=True)
F.relu("x")
F.linear(x)
F.linear(x, "w")
F.cross_entropy(x, i, reduction=1)
F.softmax(x, dim="1")
F.max_pool2d(x, "2")
F.pad(x, 1.5)
F.dropout(x, p="0.1")
ts.linalg.solve(m)
ts.linalg.norm("m")
ts.linalg.inv(m, m)
ts.fft.fft(x, n="4")
ts.special.expit(1, 2)
# ---- wrong result types
a01: int = ts.sum(x)
a02: str = ts.softmax(x, 1)
a03: ts.Tensor = ts.max(x, 1)
a04: ts.Tensor = ts.split(x, 1)
a05: List[ts.Tensor] = ts.cat([x, y])
a06: bool = ts.eq(x, y)
a07: ts.Tensor = ts.equal(x, y)
a08: ts.Tensor = x.numel()
a09: str = x.shape
a10: ts.Tensor = x.numpy()
a11: int = x.size()
a12: ts.Tensor = x.size(0)
a13: float = x + 1
a14: bool = x > 0
a15: str = x.dtype
a16: int = nn.Linear(3, 4)(x)
a17: ts.Tensor = nn.Linear(3, 4)
a18: ts.Tensor = nn.LSTM(3, 4)(x[None])
a19: int = F.relu(x)
a20: ts.Tensor = ts.linalg.svd(x)
a21: ts.Tensor = ts.result_type(x, y)
a22: str = x.max(1).values
a23: ts.Tensor = ts.allclose(x, y)
a24: int = F.max_pool2d(x, 2)
ts.max(x, 1) + 1
ts.unbind(x).sum()
x.numel().sum()
x.item().shape
ts.equal(x, y).any()


@ts.jit.script
def doubled(t: ts.Tensor, times: int = 2) -> ts.Tensor:
    return t * times


doubled("x")
doubled(x, "2")
doubled(x, 2, 3)
doubled(x, tims=2)
doubled()
doubled.grap
doubled(x).summ()
c01: int = doubled(x)


class Net(nn.Module):
    def forward(self, t: ts.Tensor) -> ts.Tensor:
        return t.relu().summm()


Net()("x")
Net()(x, x)
c02: int = Net()(x)


def wrong_result(t: ts.Tensor) -> int:
    return t.sum()


def wrong_list(t: ts.Tensor) -> List[int]:
    return t.shape
