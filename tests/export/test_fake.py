"""Fake models without memory: `ts.fake`."""

import copy
import gc
import io
import os
import pickle
import subprocess
import sys

import pytest

import ts
from ts import nn
from ts._core.dispatch_layers import transform_dispatch
from ts._higher_order_ops import while_loop
from ts._subclasses.fake_tensor import (
    DynamicOutputShapeException,
    FakeTensor,
    FakeTensorDeviceMismatchError,
    FakeTensorMode,
)
from ts.errors import DataDependentOutputException, UserError
from ts.utils.checkpoint import checkpoint


def test_model():
    with ts.fake():
        model = nn.Transformer(8, 2, 1, 1, 16, batch_first=True)
        x = ts.randn(3, 5, 8)
        y = model(x, x)
        assert isinstance(y, FakeTensor) and y.shape == (3, 5, 8) and y.device.type == "cpu"
        y.sum().backward()
    weight = model.encoder.layers[0].linear1.weight
    assert isinstance(weight, nn.Parameter) and isinstance(weight, FakeTensor) and weight.device.type == "cpu"
    assert weight.grad.shape == weight.shape and weight.nbytes == 16 * 8 * 4
    assert sum(p.numel() for p in model.parameters()) == sum(
        p.numel() for p in nn.Transformer(8, 2, 1, 1, 16).parameters()
    )


def test_fake_tensors_on_missing_devices():
    with ts.fake():
        model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4)).to("cuda", ts.float16)
        y = model(ts.empty(2, 3, device="cuda:0", dtype=ts.float16))
        assert str(model[0].weight.device) == str(model[1].running_mean.device) == "cuda:0"
        assert (
            y.is_cuda
            and y.dtype is ts.float16
            and repr(y) == ("FakeTensor(..., device='cuda:0', size=(2, 4), dtype=torch.float16)")
        )
        assert model.cpu()(ts.empty(2, 3).half()).device.type == "cpu"


def test_data_dependent_reads_raise():
    with ts.fake():
        x = ts.randn(5, 3)
        for read in (lambda: x.sum().item(), lambda: bool(x.sum() > 0), lambda: float(x[0, 0])):
            with pytest.raises(DataDependentOutputException):
                read()
        for sized in (x.nonzero, x.unique, lambda: x[x > 0]):
            with pytest.raises(DynamicOutputShapeException):
                sized()
        with pytest.raises(RuntimeError, match="a fake tensor has no elements"):
            x.numpy()


def test_tensors_with_elements():
    real = ts.ones(2, 3)
    with ts.fake() as mode:
        assert isinstance(real + 1, FakeTensor) and isinstance(ts.tensor([1, 2]), FakeTensor)
        with pytest.raises(RuntimeError, match="writes to a tensor with elements"):
            real.add_(1)
        with pytest.raises(RuntimeError, match="writes to a tensor with elements"):
            real[0] = 2
    assert ts.equal(real, ts.ones(2, 3)) and not isinstance(real + 1, FakeTensor)
    assert isinstance(mode.from_tensor(nn.Parameter(real)), nn.Parameter)
    with FakeTensorMode() as mode:
        with pytest.raises(AssertionError, match="Please convert all Tensors to FakeTensors first"):
            real + 1
        assert (mode.from_tensor(real) + 1).shape == (2, 3)


SEVENTY = """
import ts
from ts import nn

class Layer(nn.Module):
    def __init__(self, width=8192, hidden=28672, heads=64, kv=8):
        super().__init__()
        self.heads, self.kv = heads, kv
        self.q, self.o = nn.Linear(width, width, bias=False), nn.Linear(width, width, bias=False)
        self.k, self.v = (nn.Linear(width, width // heads * kv, bias=False) for _ in range(2))
        self.gate, self.up = (nn.Linear(width, hidden, bias=False) for _ in range(2))
        self.down = nn.Linear(hidden, width, bias=False)
        self.norm, self.norm2 = nn.RMSNorm(width), nn.RMSNorm(width)

    def split(self, x, heads):
        return x.view(x.shape[0], x.shape[1], heads, -1).transpose(1, 2)

    def forward(self, x):
        y = self.norm(x)
        q, k, v = self.split(self.q(y), self.heads), self.split(self.k(y), self.kv), self.split(self.v(y), self.kv)
        found = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        x = x + self.o(found.transpose(1, 2).flatten(2))
        y = self.norm2(x)
        return x + self.down(nn.functional.silu(self.gate(y)) * self.up(y))

class Llama(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(128256, 8192)
        self.layers = nn.ModuleList([Layer() for _ in range(80)])
        self.head = nn.Linear(8192, 128256, bias=False)

    def forward(self, tokens):
        x = self.embed(tokens)
        for layer in self.layers:
            x = layer(x)
        return self.head(x)

with ts.fake():
    model = Llama().bfloat16().to("cuda")
    y = model(ts.zeros(4, 4096, dtype=ts.int64, device="cuda"))
print(sum(p.numel() for p in model.parameters()), tuple(y.shape), y.device, y.dtype)
print(next(int(line.split()[1]) // 1024 for line in open("/proc/self/status") if line.startswith("VmHWM")))
"""


@pytest.mark.skipif(
    not os.path.exists("/proc/self/status"), reason="reads the peak of memory from Linux's /proc"
)
def test_seventy_billion_parameters():
    """A fake model of seventy billion parameters needs less than 200 MiB in its process."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    found = subprocess.run(
        [sys.executable, "-c", SEVENTY], capture_output=True, text=True, check=True, env=environment
    )
    message, peak = found.stdout.splitlines()
    assert message == "70553698304 (4, 4096, 128256) cuda:0 torch.bfloat16"
    assert int(peak) < 200


def test_tensors_with_elements_stay():
    """Real tensors in fake mode keep their elements: writes through views and module conversions raise an
    error."""
    real = ts.ones(2, 3)
    module = nn.Linear(3, 3)
    with ts.fake():
        for write in (
            lambda: real.view(-1).add_(1),
            lambda: real[0].zero_(),
            lambda: real.detach().zero_(),
            lambda: real.T[0].fill_(3),
            lambda: real[:1][0].mul_(2),
        ):
            with pytest.raises(RuntimeError, match="writes to a tensor with elements"):
                write()
        for convert in (module.half, lambda: module.to(ts.float64), lambda: module.to("cuda")):
            with pytest.raises(
                RuntimeError, match="a tensor with elements cannot become a tensor without elements"
            ):
                convert()
        (real + 1).add_(1)  # writes to a fake tensor
    assert ts.equal(real, ts.ones(2, 3)) and module(ts.ones(3)).shape == (3,)


@pytest.mark.parametrize("inside", [True, False])
def test_exports_of_fake_models(inside):
    with ts.fake() as mode:
        model = nn.Sequential(nn.Linear(20, 20), nn.BatchNorm1d(20))
        x = ts.empty(4, 20)
        program = ts.export.export(model, (x,)) if inside else None
    if program is None:
        program = ts.export.export(model, (ts.ones(4, 20),))
    assert [n.name for n in program.graph.nodes if n.op == "call_function"] == [
        "linear",
        "add_",
        "batch_norm",
    ]
    program.run_decompositions().validate()
    assert mode is not None


def test_gradients_of_tensors_with_elements():
    """Gradients of real tensors in fake mode are fake, as in PyTorch; an error is raised instead of a write
    to a real `grad`."""
    module = nn.Sequential(nn.Linear(3, 4), nn.Tanh())
    weight = module[0].weight
    with ts.fake():
        y = module(ts.ones(2, 3)).sum()
        (found,) = ts.autograd.grad(y, weight, retain_graph=True)
        assert isinstance(found, FakeTensor) and found.shape == (4, 3)
        y.backward()
        module(ts.ones(2, 3)).sum().backward()
        assert isinstance(weight.grad, FakeTensor) and weight.grad.device.type == "cpu"
        weight.grad = None
        x = weight * 2  # the result of an operator on a leaf
        (x * x).sum().backward()
        assert weight.grad.shape == (4, 3)
        y = module(ts.ones(2, 3)).sum()
    assert not isinstance(weight, FakeTensor)
    weight.grad = None
    (found,) = ts.autograd.grad(y, weight, retain_graph=True)  # also outside of the context
    assert isinstance(found, FakeTensor)
    with pytest.raises(RuntimeError, match=r"within `with ts\.fake"):
        y.backward()
    module(ts.ones(2, 3)).sum().backward()
    real = weight.grad.clone()
    with ts.fake(), pytest.raises(RuntimeError, match="writes to a tensor with elements"):
        module(ts.ones(2, 3)).sum().backward()
    assert ts.equal(weight.grad, real)


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_higher_gradients(device):
    with ts.fake():
        model = nn.Sequential(nn.Linear(3, 4), nn.LayerNorm(4), nn.Tanh(), nn.Linear(4, 1)).to(device)
        x = ts.ones(2, 3, requires_grad=True, device=device)
        seen = []
        y = model(x)
        y.register_hook(lambda g: seen.append(g) or g * 2)
        (first,) = ts.autograd.grad(y.sum(), x, create_graph=True)
        assert first.requires_grad and isinstance(first, FakeTensor) and isinstance(seen[0], FakeTensor)
        first.pow(2).sum().backward()
        for found in (x.grad, model[0].weight.grad):
            assert isinstance(found, FakeTensor) and found.device.type == device
        f = lambda x: (x**3).sum()
        x = x.detach()[0]
        for found in (ts.func.grad(f)(x), ts.func.jvp(lambda x: x * x, (x,), (x,))[1], ts.func.vmap(f)(x)):
            assert isinstance(found, FakeTensor) and found.shape == (3,) and found.device.type == device
        assert ts.func.hessian(f)(x).shape == (3, 3)


def test_outside_of_the_block():
    """Operators on fake tensors return fake tensors also outside of the context."""
    with ts.fake():
        x, y = ts.ones(3, requires_grad=True), ts.ones(3, device="cuda")
        model = nn.Linear(3, 4)
    assert isinstance(x + ts.ones(3), FakeTensor) and str((y[1:] * 2).device) == "cuda:0"
    (x * 2).sum().backward()
    assert isinstance(x.grad, FakeTensor) and x.grad.shape == (3,)
    assert isinstance(model(ts.ones(2, 3)), FakeTensor)
    real = ts.ones(3)
    for write in (lambda: real.add_(x.detach()), lambda: real.copy_(y)):
        with pytest.raises(RuntimeError, match="writes to a tensor with elements"):
            write()
    assert ts.equal(real * 2, ts.full((3,), 2.0))
    copied = copy.deepcopy(model)
    assert isinstance(copied.weight, FakeTensor) and isinstance(copied.weight, nn.Parameter)
    for read in (lambda: x.sum().item(), lambda: bool(x.sum() > 0), lambda: ts.equal(x, x)):
        with pytest.raises(DataDependentOutputException):
            read()
    with pytest.raises(RuntimeError, match="no elements to pickle"):
        pickle.dumps(x.detach())
    with pytest.raises(RuntimeError, match="have no elements to save"):
        ts.save(model.state_dict(), io.BytesIO())


def test_devices_that_differ():
    with ts.fake():
        x, y, z = ts.ones(3), ts.ones(3, device="cuda"), ts.ones(3, device="cuda:1")
        for mixed, message in (
            (lambda: x + y, "cpu and cuda:0"),
            (lambda: ts.cat([y, z]), "cuda:0 and cuda:1"),
            (lambda: nn.Linear(3, 4)(y), "cuda:0 and cpu"),
            (lambda: nn.functional.embedding(ts.tensor([1]), y[:, None]), "cuda:0 and cpu"),
        ):
            with pytest.raises(FakeTensorDeviceMismatchError, match=f"at least two devices, {message}!"):
                mixed()
        assert (y + ts.tensor(1.0)).device == y[ts.tensor([0, 1])].device == y.device
        assert y.copy_(x).device == y.device and ts.tensor([1, 2], device="cuda").device.type == "cuda"


def test_numbers_of_python():
    """Fake scalars computed from constants keep their values (constant propagation in PyTorch)."""
    with ts.fake():
        n = ts.tensor(3)
        assert (n + 1).item() == 4 and n.tolist() == 3 and bool(n > 2)
        view = n.view(1)
        n.add_(1)
        assert view.item() == 4 and ts.tensor([5, 6])[1].item() == 6
        n.add_(ts.ones((), dtype=ts.int64))
        for x in (n, view):
            with pytest.raises(DataDependentOutputException):
                x.item()
        x = ts.ones(3)
        x[x > 0] = 2
        with pytest.raises(DynamicOutputShapeException):
            nn.utils.rnn.pack_padded_sequence(ts.ones(3, 2, 4), ts.ones(2, dtype=ts.int64))
        averaged = ts.optim.swa_utils.AveragedModel(nn.Linear(3, 4))
        averaged.update_parameters(nn.Linear(3, 4))


@pytest.mark.parametrize("name", ["SGD", "Adam", "Adamax", "NAdam", "RAdam", "ASGD", "Rprop", "Adagrad"])
def test_optimizers(name):
    with ts.fake():
        model = nn.Linear(3, 4).to("cuda")
        optimizer = getattr(ts.optim, name)(model.parameters(), lr=0.1)
        for _ in range(2):
            model(ts.ones(2, 3, device="cuda")).sum().backward()
            optimizer.step()
            optimizer.zero_grad()
        for x in optimizer.state[model.weight].values():
            assert isinstance(x, FakeTensor) and (x.ndim == 0 or x.device.type == "cuda")


def test_control_flow():
    with ts.fake():
        x, y = ts.ones(3, requires_grad=True), ts.ones(3, requires_grad=True)
        z = ts.cond(x.sum() > 0, lambda x, y: x * 2, lambda x, y: x + y, (x, y))
        z.sum().backward()
        assert z.shape == x.grad.shape == y.grad.shape == (3,)
        with pytest.raises(ts.errors.TorchRuntimeError):
            ts.cond(x.sum() > 0, lambda x: x * 2, lambda x: x[0] * 1, (x,))
        with pytest.raises(DynamicOutputShapeException, match="differ in size"):
            ts.cond(x.sum() > 0, lambda x: x * 2, lambda x: x[:2] * 1, (x,))
        i, z = while_loop(lambda i, x: x.sum() < 9, lambda i, x: (i + 1, x * 2), (ts.tensor(0), x.detach()))
        assert z.shape == (3,) and i.dtype is ts.int64
        with pytest.raises(DataDependentOutputException):
            z.sum().item()


class Branches(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(3)
        self.linear = nn.Linear(3, 4)

    def forward(self, x):
        if x.shape[0] > 1:
            x = self.norm(x) + ts.zeros(x.shape)
        return self.linear(x)


@pytest.mark.parametrize("how", ["script", "load", "trace"])
def test_compiled_modules(how):
    if how == "trace":
        module = ts.jit.trace(Branches().eval(), ts.ones(2, 3))
    else:
        module = ts.jit.script(Branches().eval())
    if how == "load":
        file = io.BytesIO()
        ts.jit.save(module, file)
        file.seek(0)
        module = ts.jit.load(file)
    before = module(ts.ones(2, 3))
    with ts.fake():
        y = module(ts.ones(5, 3))
        y.sum().backward()
    assert isinstance(y, FakeTensor) and y.shape == (5, 4)
    assert all(isinstance(p.grad, FakeTensor) for p in module.parameters())
    assert ts.equal(module(ts.ones(2, 3)), before)


def test_scripts_of_fake_modules():
    with ts.fake():
        module = ts.jit.script(Branches())
        assert isinstance(module(ts.ones(5, 3)), FakeTensor)
        with pytest.raises(RuntimeError, match=r"ts\.jit\.trace requires example inputs with elements"):
            ts.jit.trace(Branches(), ts.ones(2, 3))
        checkpoint(module, ts.ones(5, 3, requires_grad=True), use_reentrant=False).sum().backward()


def test_no_fake_checks_after_the_context():
    """Fake tensor dispatch is disabled for the thread when the last fake tensor is released."""
    with ts.fake():
        x = ts.ones(3)
    assert transform_dispatch.enable_transform_dispatch(True)
    del x
    gc.collect()
    assert not transform_dispatch.enable_transform_dispatch(False)


def test_programs_with_sizes():
    """An exported program that reads sizes runs on fake tensors."""
    pytest.importorskip("sympy")

    class Scaled(ts.nn.Module):
        def forward(self, x):
            return x * x.shape[0] + x.numel()

    program = ts.export.export(Scaled(), (ts.ones(4, 3),), dynamic_shapes=({0: ts.export.Dim.AUTO},))
    for variant in (program, program.run_decompositions()):
        module = variant.module()
        for n in (4, 5, 2):
            with ts.fake():
                assert module(ts.ones(n, 3)).shape == (n, 3)
        ts.testing.assert_close(module(ts.ones(2, 3)), ts.ones(2, 3) * 8)


def test_contexts_ended_in_any_order():
    """Fake mode contexts may end in any order, and after the last exit fake mode is off."""
    first, second = ts.fake(), ts.fake()
    with ts.fake():
        first.__enter__()
        second.__enter__()
        first.__exit__(None, None, None)
        assert isinstance(ts.ones(3), FakeTensor)
        first.__enter__()
        second.__exit__(None, None, None)
        assert isinstance(ts.ones(3), FakeTensor)
        first.__exit__(None, None, None)
        assert isinstance(ts.ones(3), FakeTensor)
    assert ts.ones(3).tolist() == [1, 1, 1]
    with first, first, second:
        pass
    assert ts.ones(3).tolist() == [1, 1, 1]
    gc.collect()
    assert not transform_dispatch.enable_transform_dispatch(False)


def test_blocks_inside_of_a_program():
    """An exported program cannot contain a fake mode context, also not in branches; export itself works
    within fake mode."""
    pytest.importorskip("sympy")

    class Faked(ts.nn.Module):
        def forward(self, x):
            with ts.fake():
                y = ts.ones(3)
            return x + y

    class Branch(ts.nn.Module):
        def forward(self, x):
            return ts.cond(x.sum() > 0, Faked(), lambda x: x - 1, (x,))

    class Plain(ts.nn.Module):
        def forward(self, x):
            return x + ts.ones(3)

    for module in (Faked(), Branch()):
        for export in (ts.export.export, ts.export.draft_export):
            with pytest.raises(UserError, match="inside of an exported program would create"):
                export(module, (ts.ones(3),))
    assert ts.ones(3).tolist() == [1, 1, 1]
    with ts.fake():
        program = ts.export.export(Plain(), (ts.ones(3),))
    assert program.module()(ts.ones(3)).tolist() == [2, 2, 2]


@pytest.mark.parametrize(
    ("make", "dynamic", "strides"),
    [
        (lambda: ts.ones(3, 4).t(), (0, 1), "(1, s0)"),
        (lambda: ts.ones(3, 4).t(), (1,), "(1, 4)"),
        (lambda: ts.ones(1, 4).expand(3, 4), (0,), "(0, 1)"),
        (lambda: ts.ones(2, 3, 4).permute(2, 0, 1), (0, 1, 2), "(1, s0*s2, s0)"),
        (lambda: ts.ones(2, 3, 4, 5).to(memory_format=ts.channels_last), (0, 2), "(15*s1, 1, 15, 3)"),
    ],
)
def test_strides_of_dynamic_arguments(make, dynamic, strides):
    """Strides of arguments that are not contiguous are expressions of the dynamic sizes, as in PyTorch."""

    class Adds(ts.nn.Module):
        def forward(self, x):
            return x + 1

    program = ts.export.export(
        Adds(), (make(),), dynamic_shapes=(dict.fromkeys(dynamic, ts.export.Dim.AUTO),)
    )
    x = next(iter(program.graph.nodes)).meta["val"]
    assert str(x.stride()) == strides
    assert program.module()(make()).tolist() == (make() + 1).tolist()
