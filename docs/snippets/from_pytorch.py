"""What `from-pytorch.md` shows."""

import numpy as np

# --8<-- [start:same]
import ts as torch


class Attention(torch.nn.Module):
    def __init__(self, width: int, heads: int):
        super().__init__()
        self.heads = heads
        self.qkv = torch.nn.Linear(width, 3 * width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, length, width = x.shape
        q, k, v = self.qkv(x).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4).unbind(0)
        y = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return y.transpose(1, 2).reshape(batch, length, width)


layer = torch.jit.script(Attention(32, 4))
layer(torch.randn(2, 5, 32)).sum().backward()
# --8<-- [end:same]
assert layer.qkv.weight.grad is not None

# --8<-- [start:arrays]
array = np.linspace(0, 1, 5)
shared = torch.from_numpy(array)  # the same memory
shared *= 2
back = shared.numpy()  # and back, without a copy
imported = torch.from_dlpack(array)  # any array with DLPack: CuPy, JAX, PyTorch
# --8<-- [end:arrays]
assert back is array or np.shares_memory(back, array)
assert array[-1] == 2 and imported[-1] == 2

# --8<-- [start:sparse]
edges = torch.tensor([[0, 1, 2], [1, 2, 0]])
weights = torch.ones(3, requires_grad=True)
adjacency = torch.sparse_coo_tensor(edges, weights, (3, 3))
torch.sparse.mm(adjacency, torch.randn(3, 8)).sum().backward()  # weights.grad has three elements

table = torch.nn.Embedding(1000, 16, sparse=True)
optimizer = torch.optim.SparseAdam(table.parameters())
table(torch.tensor([3, 7])).square().sum().backward()
optimizer.step()  # changes only rows 3 and 7
# --8<-- [end:sparse]
assert weights.grad.shape == (3,) and table.weight.grad.is_sparse

# --8<-- [start:device]
with torch.device("meta"):
    large = torch.nn.Linear(100_000, 100_000)  # no memory
torch.set_default_device("cpu")  # for this thread, until set_default_device(None)
# --8<-- [end:device]
torch.set_default_device(None)
assert large.weight.device.type == "meta"

# --8<-- [start:modes]
from ts.utils._python_dispatch import TorchDispatchMode


class OperatorLog(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        print(func)  # aten.mm.default ...
        return func(*args, **(kwargs or {}))


with OperatorLog():
    torch.ones(2, 3) @ torch.ones(3, 2)
# --8<-- [end:modes]

# --8<-- [start:missing]
try:
    torch.onnx.export(layer, (torch.randn(1, 5, 32),), "layer.onnx")
except NotImplementedError as error:
    print(error)
# --8<-- [end:missing]
try:
    torch.onnx.export(layer, (torch.randn(1, 5, 32),), "layer.onnx")
    raise AssertionError("it is there")
except NotImplementedError as error:
    assert "onnx" in str(error)
