"""Autocast compared with PyTorch's: compute dtypes of operators on the CPU and on CUDA devices, and training.

PyTorch has no GPU here: its CUDA dtypes come from fake CUDA tensors.
"""

import contextlib
import logging
import warnings

import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode

import ts
from tests import samples
from ts.ops import registry

LOWER = {"cpu": ts.bfloat16, "cuda": ts.float16}
KINDS = ("lower", "float32", "widest")

# Operators whose dtypes differ from PyTorch's, and why.
PARTS = "PyTorch's is made of operators in other dtypes, here it computes in one"
CAT = "PyTorch's has a `cat` inside, which refuses float16 beside bfloat16"
EXCUSED = {
    "linalg_pinv linalg_pinv.atol_rtol_float linalg_pinv.atol_rtol_tensor linalg_pinv.rcond_tensor": PARTS,
    "gru.data gru.input rnn_tanh.input rnn_relu.input rnn_tanh.data rnn_relu.data lstm_cell cov corrcoef": PARTS,
    "_euclidean_dist affine_grid_generator": PARTS,
    "lstm.input lstm.data mkldnn_rnn_layer": "PyTorch's fails without a processor for bfloat16",
    "mkldnn_rnn_layer_backward": "PyTorch's reads another workspace than ours, whatever is there",
    "_transformer_encoder_layer_fwd": "PyTorch's fails with weights in float32",
    "_pad_enum": "in PyTorch, the mode of padding decides",
    "roll fft_fftshift fft_ifftshift matrix_exp linalg_matrix_exp unique_dim unique_dim_consecutive": CAT,
    "_pack_padded_sequence flatten_dense_tensors _chunk_cat combinations": CAT,
    "gradient.array gradient.scalararray gradient.scalarint gradient.scalarrayarray gradient.scalarrayint": CAT,
    "gradient.tensorarray gradient.tensorarrayint": CAT,
}
DIFFERENT = {name for names in EXCUSED for name in names.split()}


@pytest.fixture(autouse=True)
def quiet():
    """Disable log messages of fake tensors."""
    logging.disable(logging.CRITICAL)
    with torch.enable_grad():  # restores the grad mode that operators change
        yield
    logging.disable(logging.NOTSET)


def records():
    for record in registry.records():
        if not record.variant and record.name.startswith("aten::") and record.key[6:] not in DIFFERENT:
            packet = getattr(torch.ops.aten, record.name[6:], None)
            operator = getattr(packet, record.overload or "default", None) if packet is not None else None
            if operator is not None:
                yield record, operator


def to_torch(x, device):
    if isinstance(x, ts.Tensor):
        dtype = getattr(torch, str(x.dtype).rpartition(".")[2])
        if device == "cuda":
            return torch.empty_strided(tuple(x.shape), tuple(x.stride()), dtype=dtype, device=device)
        return torch.tensor(x.float().numpy() if x.dtype in (ts.bfloat16, ts.float16) else x.numpy()).to(
            dtype
        )
    if isinstance(x, list | tuple):
        return type(x)(to_torch(y, device) for y in x)
    return torch.device(str(x)) if isinstance(x, ts.device) else x


def call(operator, values):
    parameters = operator._schema.arguments
    by_name = {p.name: v for p, v in zip(parameters, values, strict=True) if p.kwarg_only}
    return operator(*[v for p, v in zip(parameters, values, strict=True) if not p.kwarg_only], **by_name)


def dtypes_of(result):
    if isinstance(result, list | tuple):
        return [dtype for x in result for dtype in dtypes_of(x)]
    return [str(result.dtype)] if isinstance(result, torch.Tensor | ts.Tensor) else []


@contextlib.contextmanager
def casting(package, device):
    package.set_autocast_enabled(device, True)
    try:
        yield
    finally:
        package.set_autocast_enabled(device, False)


def torch_says(operator, args, device, on):
    """Return the dtypes of PyTorch's results, or None for an operator that fails."""
    with warnings.catch_warnings(), FakeTensorMode() if device == "cuda" else contextlib.nullcontext():
        warnings.simplefilter("ignore")
        try:
            values = to_torch(args, device)
            with casting(torch, device) if on else contextlib.nullcontext():
                return dtypes_of(call(operator, values))
        except Exception:  # of any class: there is no kernel
            return None


def kind_of(record, device):
    rule = record.autocast
    return rule if isinstance(rule, str) else rule.get(device, "")


def expected(kind, plain, device, dtype):
    """Return the dtypes of results by the record's rule: floating-point results have the compute dtype."""
    if kind not in ("lower", "float32"):
        return plain
    wanted = {str(dtype): str(LOWER[device] if kind == "lower" else ts.float32)}
    if kind == "float32":
        wanted["torch.complex32"] = "torch.complex64"
    return [wanted.get(found, found) for found in plain]


def ts_says(record, args):
    """Return the dtypes of a record's results inside of autocast, or None for a failing call."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            with casting(ts, "cpu"):
                return dtypes_of(record.operator.call_list(args))
        except Exception:  # of any class: there is no kernel
            return None


def test_results_have_pytorchs_dtypes():
    """Operators inside of CPU autocast return PyTorch's dtypes."""
    wrong, compared = [], 0
    for record, operator in records():
        if not record.autocast:
            continue
        for dtype in (ts.float32, ts.bfloat16):
            args = samples.arguments(record, dtype)
            if args is None:
                continue
            theirs, ours = torch_says(operator, args, "cpu", True), ts_says(record, args)
            compared += theirs is not None
            if theirs is not None and ours != theirs:
                wrong.append(f"{record.key} of {dtype}: {theirs} here {ours}")
    assert not wrong, "\n".join(wrong)
    assert compared > 200


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_records_equal_pytorch(device):
    """A record's autocast class gives PyTorch's result dtypes for float32 and both 16-bit dtypes."""
    wrong = []
    for record, operator in records():
        kind = kind_of(record, device)
        for dtype in (ts.float32, ts.bfloat16, ts.float16):
            args = samples.arguments(record, dtype)
            if args is None:
                continue
            plain, cast = (torch_says(operator, args, device, on) for on in (False, True))
            if plain is None or (cast is None and kind not in KINDS[:2]):
                continue
            if cast != expected(kind, plain, device, dtype):
                wrong.append(f"{record.key} of {dtype} on {device} is {kind!r}: {plain} become {cast}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_operators_with_autocast_in_pytorch_have_a_rule(device):
    """Every operator with an autocast kernel in PyTorch has an autocast class."""
    key = f"Autocast{device.upper()}"
    names = {name for name in torch._C._dispatch_get_all_op_names() if _has_kernel(name, key)}
    assert len(names) > 100
    assert [r.key for r, _ in records() if r.key in names and not kind_of(r, device)] == []


def _has_kernel(name, key):
    return torch._C._dispatch_has_kernel_for_dispatch_key(name, key)


# ---- training ----------------------------------------------------------------------------------------------------


def trained(package, dtype, steps, scaled):
    """Return the losses of a small model in mixed precision from fixed weights, and the scale after each
    step."""
    generator = torch.Generator().manual_seed(0)
    draw = lambda *shape: package.tensor(torch.randn(*shape, generator=generator).tolist())
    nn = package.nn
    model = nn.Sequential(nn.Linear(8, 32), nn.LayerNorm(32), nn.GELU(), nn.Linear(32, 4))
    with package.no_grad():
        for parameter in model.parameters():
            if parameter.dim() == 2:
                parameter.copy_(draw(*parameter.shape) * 0.2)
            else:
                parameter.fill_(0.5)
    x, y = draw(64, 8), draw(64, 4)
    optimizer = package.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    scaler = package.amp.GradScaler("cpu", init_scale=2.0**20, growth_interval=5, enabled=scaled)
    losses, scales = [], []
    for _ in range(steps):
        optimizer.zero_grad()
        with package.autocast("cpu", dtype=getattr(package, dtype)):
            loss = nn.functional.mse_loss(model(x), y)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        losses.append(loss.item())
        scales.append(scaler.get_scale())
    return losses, scales


def test_training_in_bfloat16():
    """Training in bfloat16 has PyTorch's losses, up to the precision of bfloat16."""
    ours, theirs = (trained(package, "bfloat16", 40, False)[0] for package in (ts, torch))
    assert theirs[-1] < 0.8 * theirs[0]
    assert ours == pytest.approx(theirs, rel=2e-2)


def test_training_in_float16_with_a_scale():
    """Training in float16 skips the same steps as PyTorch until the scale has decreased to a valid value."""
    ours, theirs = (trained(package, "float16", 40, True) for package in (ts, torch))
    assert ours[1] == theirs[1] and len(set(theirs[1])) > 2
    assert ours[0] == pytest.approx(theirs[0], rel=1e-2)


def test_states_of_scalers_are_exchanged():
    ours, theirs = ts.amp.GradScaler("cpu", init_scale=8.0), torch.amp.GradScaler("cpu", init_scale=32.0)
    ours.load_state_dict(theirs.state_dict())
    assert ours.state_dict() == theirs.state_dict()
    ours.scale(ts.ones(1))
    ours.update(2.0)
    theirs.load_state_dict(ours.state_dict())
    assert theirs.get_scale() == 2.0 and theirs.state_dict() == ours.state_dict()


@pytest.mark.parametrize("values", [[0.0] * 6, [0.0, 1.0, 0.0, 0.0, 0.0, 1.0], [1.0, 1.0]])
def test_scale_updates_equal_pytorch(values):
    state = [(p.tensor(4.0), p.tensor(0, dtype=p.int32)) for p in (ts, torch)]
    for value in values:
        for package, (scale, steps) in zip((ts, torch), state, strict=True):
            package._amp_update_scale_(scale, steps, package.tensor(value), 1.7, 0.3, 2)
        (ours, our_steps), (theirs, their_steps) = state
        assert ours.item() == theirs.item() and our_steps.item() == their_steps.item()


# ---- scripts, traces, archives ----------------------------------------------------------------------------------


def with_blocks(package):
    class Model(package.nn.Module):
        def forward(self, x):
            with package.autocast("cpu"):
                y = package.mm(x, x)
                with package.autocast("cpu", enabled=False):
                    z = package.mm(x, y.float())
            with package.cpu.amp.autocast(dtype=package.float16):
                u = package.mm(x, x)
            with package.cuda.amp.autocast(enabled=False):
                v = package.mm(x, x)
            return y, z, u, v

    return Model()


def test_text_of_scripts_with_autocast_equals_pytorch():
    ours, theirs = (package.jit.script(with_blocks(package)) for package in (ts, torch))
    assert ours.code == theirs.code
    assert [dtypes_of(m(p.ones(2, 2))) for p, m in ((ts, ours), (torch, theirs))] == [[
        "torch.bfloat16", "torch.float32", "torch.float16", "torch.float32",
    ]] * 2  # fmt: skip


@pytest.mark.parametrize("writes, reads", [(ts, torch), (torch, ts)])
def test_archives_with_blocks(writes, reads, tmp_path):
    module = writes.jit.script(with_blocks(writes))
    module.save(str(tmp_path / "m.pt"))
    results = reads.jit.load(str(tmp_path / "m.pt"))(reads.ones(2, 2))
    assert dtypes_of(results) == dtypes_of(module(writes.ones(2, 2)))


def test_traces_have_pytorchs_conversions():
    texts = []
    for package in (ts, torch):
        x = package.ones(2, 2)
        with package.autocast("cpu"):
            traced = package.jit.trace(lambda a, b, p=package: p.mm(a, b), (x, x + 1), check_trace=False)
        assert dtypes_of(traced(x, x)) == ["torch.bfloat16"]
        texts.append([(n.kind(), [i.debugName() for i in n.inputs()][:1]) for n in traced.graph.nodes()])
    kinds = [[kind for kind, _ in text if kind.startswith("aten")] for text in texts]
    assert kinds[0] == kinds[1] == ["aten::to", "aten::to", "aten::mm"]
    first = [next(inputs for kind, inputs in text if kind == "aten::to") for text in texts]
    assert first[0] == first[1]
