"""Valid uses for type checkers: 200 statements, also run by `tests/test_stubs.py`."""

import numpy as np

import ts
import ts.nn.functional as F
from ts import nn

x = ts.ones(2, 3)
y = ts.rand(2, 3)
m = ts.eye(3)
i = ts.tensor([0, 1])
b = x > 0
# ---- construction of tensors
ts.zeros(2, 3)
ts.zeros((2, 3), dtype=ts.float64, device="cpu")
ts.zeros([2, 3], requires_grad=True)
ts.zeros(x.shape)
ts.zeros(np.int64(3))
ts.ones_like(x, dtype=ts.int32)
ts.empty(0)
ts.full((2, 3), 7)
ts.full([2], 1.5, dtype=float)
ts.arange(5)
ts.arange(0, 1, 0.25)
ts.linspace(0, 1, 5)
ts.rand(2, 3, generator=ts.Generator())
ts.randn((2, 3))
ts.randint(0, 5, (2, 3))
ts.randint(5, (2,))
ts.randperm(4)
ts.eye(2, 3)
ts.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=ts.float32)
ts.as_tensor([1, 2])
ts.from_numpy(np.zeros(3))
ts.full_like(x, 2.0)
ts.empty_like(x)
ts.complex(x, y)
# ---- functions
ts.softmax(x, 1)
ts.softmax(x, dim=-1, dtype=ts.float64)
ts.softmax(input=x, dim=0)
ts.add(x, y)
ts.add(x, 2, alpha=3)
ts.add(x, y, out=ts.empty(2, 3))
ts.sub(x, 1)
ts.mul(x, 2.5)
ts.div(x, y, rounding_mode="floor")
ts.pow(x, 2)
ts.pow(2, x)
ts.matmul(x, m)
ts.mm(x, m)
ts.bmm(x[None], m[None])
ts.cat([x, y])
ts.cat((x, y), dim=1)
ts.stack([x, y], 0)
ts.where(b, x, y)
ts.where(b, x, 0.0)
ts.where(b)
ts.sum(x)
ts.sum(x, 1)
ts.sum(x, dim=(0, 1), keepdim=True)
ts.sum(x, axis=0)
ts.mean(x, dim=0)
ts.mean(x, 0, keepdims=True)
ts.max(x)
ts.max(x, 1)
ts.max(x, dim=1).values
ts.max(x, y)
ts.min(x, dim=0).indices
ts.argmax(x)
ts.argmax(x, dim=1)
ts.sort(x, descending=True)
ts.topk(x, 2)
ts.cumsum(x, 0)
ts.std(x)
ts.var(x, dim=1)
ts.norm(x)
ts.norm(x, 2, dim=1)
ts.clamp(x, 0, 1)
ts.clamp(x, min=0.5)
ts.exp(x)
ts.sigmoid(x)
ts.allclose(x, y)
ts.equal(x, y)
ts.einsum("ij,jk->ik", x, m)
ts.einsum("ij,jk->ik", [x, m])
ts.split(x, 1)
ts.split(x, [1, 1])
ts.chunk(x, 2)
ts.unbind(x)
ts.meshgrid(i, i, indexing="ij")
ts.broadcast_tensors(x, y)
ts.unique(i)
ts.unique(i, return_counts=True)
ts.nonzero(x)
ts.nonzero(x, as_tuple=True)
ts.index_select(x, 0, i)
ts.gather(x, 1, ts.zeros(2, 1, dtype=ts.int64))
ts.masked_select(x, b)
ts.reshape(x, (3, 2))
ts.reshape(x, [-1])
ts.permute(x, (1, 0))
ts.transpose(x, 0, 1)
ts.squeeze(x)
ts.unsqueeze(x, 0)
ts.flatten(x)
ts.flip(x, [0])
ts.roll(x, 1)
ts.tril(m)
ts.outer(i, i)
ts.tensordot(x, m, dims=1)
ts.cdist(x, y)
ts.result_type(x, i)
ts.is_tensor(x)
ts.manual_seed(0)
ts.get_default_dtype()
ts.finfo(ts.float32).eps
ts.dropout(x, 0.5, False)
ts.conv1d(x[None], ts.ones(4, 2, 2))
# ---- methods and attributes
x.softmax(1)
x.softmax(dim=0)
x.sum()
x.sum(1)
x.sum((0, 1), True)
x.sum(axis=1, keepdims=True)
x.mean(-1, keepdim=True)
x.max(1).indices
x.max()
x.view(3, 2)
x.view((3, 2))
x.view(-1)
x.view(ts.int32)
x.reshape(-1, 2)
x.permute(1, 0)
x.expand(4, 2, 3)
x.repeat(2, 2)
x.transpose(0, 1)
x.t()
x.unsqueeze(0).squeeze(0)
x.flatten(0, 1)
x.add_(1)
x.mul(y).sub(1).div(2)
x.clamp(min=0)
x.to(ts.float64)
x.to("cpu")
x.to("cpu", ts.float32)
x.to(ts.device("cpu"))
x.to(y)
x.to(dtype=ts.float32, copy=True)
x.float()
x.int()
x.bool()
x.type(ts.float64)
x.type()
x.item if x.numel() == 1 else None
x[0].tolist()
x.numpy().sum()
x.size()
x.size(0)
x.shape[0]
x.dim()
x.numel()
x.dtype.is_floating_point
x.device.type
x.stride(0)
x.is_contiguous()
x.contiguous()
x.clone()
x.detach()
x.requires_grad_(False)
x.T
x.mT
x.grad
x.new_zeros(2)
x.new_tensor([1.0])
x.masked_fill(b, 0.0)
x.index_select(0, i)
x.scatter(1, ts.zeros(2, 1, dtype=ts.int64), 1.0)
x.split(1)
x.chunk(2, dim=0)
x.fill_(1.0)
x.copy_(y)
x.norm(2)
x.unique()
x.topk(1).values
x.sort(descending=True).indices
x.where(b, y)
x.any()
x.argmax(dim=1)
x.abs().sqrt().log1p()
x.data_ptr()
# ---- Python's operators
x + y
x + 1
1 + x
x - 2.5
2 * x
x / y
x // 2
x % 2
x**2
2**x
x @ m
-x
~b
b & b
x > 0
x == y
x[0]
x[0, 1]
x[:, 1:]
x[..., None]
x[b]
x[[0, 1]]
x[i, 1]
x += 1
x *= y
x[0] = 1.0
x[:, 0] = y[:, 0]
float(x[0, 0])
int(x[0, 0])
bool(x[0, 0])
len(x)
[row.sum() for row in x]
# ---- layers and their functional forms
nn.Linear(3, 4)(x)
nn.Linear(3, 4, bias=False).weight.shape
nn.ReLU()(x)
nn.Conv2d(1, 2, 3)(ts.ones(1, 1, 5, 5))
nn.Conv2d(1, 2, (3, 3), padding="same")
nn.Sequential(nn.Linear(3, 4), nn.ReLU())(x)
nn.LSTM(3, 4)(x[None])[0].sum()
nn.Embedding(5, 2)(i)
nn.CrossEntropyLoss()(x, i)
nn.Dropout(0.5)(x)
nn.HingeEmbeddingLoss(1.0, reduction="sum")
nn.NLLLoss(None, None, 3)
nn.GaussianNLLLoss(full=True)
nn.TransformerEncoderLayer(4, 2, 8, 0.1, "gelu")
nn.FractionalMaxPool2d(2, output_size=(2, 2))
nn.Embedding(5, 3, 0)
nn.GRU(3, 4, 2, bias=False)
nn.BatchNorm1d(3)(x)
nn.LayerNorm(3)(x)
nn.MaxPool2d(2)(ts.ones(1, 1, 4, 4))
nn.Module().state_dict()
nn.Parameter(x).sum()
nn.ModuleList([nn.ReLU()])[0]
next(iter(nn.Linear(3, 4).parameters())).numel()
nn.Linear(3, 4).to(ts.float64).train().eval()
nn.init.zeros_(nn.Linear(3, 4).weight)
F.relu(x)
F.relu(x, inplace=False)
F.softmax(x, dim=1, dtype=ts.float32)
F.linear(x, ts.ones(4, 3))
F.linear(x, ts.ones(4, 3), None)
F.cross_entropy(x, i)
F.mse_loss(x, y, reduction="sum")
F.max_pool2d(ts.ones(1, 1, 4, 4), 2).shape
F.max_pool2d(ts.ones(1, 1, 4, 4), (2, 2), return_indices=True)[1]
F.conv2d(ts.ones(1, 1, 5, 5), ts.ones(1, 1, 3, 3), padding=1)
F.pad(x, (1, 1))
F.pad(x, [1, 1], value=0.5)
F.dropout(x, p=0.1, training=False)
F.gelu(x, approximate="tanh")
F.layer_norm(x, (3,))
F.one_hot(i, 3)
F.interpolate(ts.ones(1, 1, 4, 4), scale_factor=2)
F.scaled_dot_product_attention(x, y, y)
F.normalize(x, dim=1)
F.logsigmoid(x)
# ---- packages
ts.linalg.norm(x)
ts.linalg.inv(m)
ts.linalg.svd(x).S
ts.linalg.eigh(m).eigenvalues
ts.linalg.solve(m, m)
ts.linalg.matrix_norm(x, "fro")
ts.fft.fft(x)
ts.fft.rfft(x, n=4, dim=-1)
ts.special.expit(x)
ts.special.logsumexp(x, 1)
ts.optim.SGD(nn.Linear(3, 4).parameters(), lr=0.1).step()
ts.no_grad()
with ts.no_grad():
    x.sum()
ts.vmap(ts.sum)
ts.autograd.grad
ts.cuda.is_available()


@ts.jit.script
def doubled(t: ts.Tensor, times: int = 2) -> ts.Tensor:
    return t * times


doubled(x)
doubled(x, 3).sum()
doubled(t=x, times=1)
doubled.graph
doubled.code
doubled.schema
ts.jit.script(nn.Linear(3, 4)).graph
ts.jit.script(nn.Linear(3, 4))(x)
ts.jit.trace(doubled, (x,))
ts.jit.is_scripting()
ts.jit.annotate(int, 3)
ts.jit.CompilationUnit("def f(x: int) -> int:\n    return x\n").f(3)


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(3, 4)
        self.scale = nn.Parameter(ts.ones(4))

    def forward(self, t: ts.Tensor) -> ts.Tensor:
        return self.linear(t).relu() * self.scale


Net()(x).sum()
Net().linear.weight
ts.sigmoid(Net()(t=x))
