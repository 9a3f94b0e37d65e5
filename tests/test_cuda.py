"""`ts.cuda` and the cuda backend: devices, transfers, streams, memory, random numbers, kernels.

The tests run on a GPU if available (`make test-cuda`), otherwise on the fake CuPy in `tests/fake_cupy`.
"""

import warnings
from contextlib import contextmanager

import numpy as np
import pytest

import ts

pytestmark = pytest.mark.cuda


@pytest.fixture
def two_devices(cuda):
    """Skip without two devices."""
    if ts.cuda.device_count() < 2:
        pytest.skip("needs two devices")


# ---------------------------------------------------------------- devices


def test_devices(cuda):
    """Devices have numbers, names and properties; one is the current device."""
    assert ts.cuda.is_available() and ts.cuda.device_count() >= 1 and ts.cuda.is_initialized()
    about = ts.cuda.get_device_properties(0)
    assert about.name == ts.cuda.get_device_name("cuda:0") and about.total_memory > 1 << 28
    assert ts.cuda.get_device_capability() == (about.major, about.minor)
    assert ts.cuda.current_device() == 0 and ts.zeros(1, device="cuda").device == ts.device("cuda", 0)


def test_current_device(two_devices):
    """`device`, `set_device` and `device_of` select the device of new tensors; None has no effect."""
    with ts.cuda.device(1):
        assert ts.cuda.current_device() == 1 and ts.zeros(2, device="cuda").get_device() == 1
        with ts.cuda.device(None), ts.cuda.device_of(ts.zeros(1)):
            assert ts.cuda.current_device() == 1
    ts.cuda.set_device("cuda:1")
    with ts.cuda.device_of(ts.zeros(1, device="cuda:0")):
        assert ts.cuda.current_device() == 0
    assert ts.cuda.current_device() == 1
    ts.cuda.set_device(0)


def test_invalid_devices(cuda):
    """Invalid device numbers and devices of other types raise errors."""
    with pytest.raises(RuntimeError, match="invalid device ordinal"):
        ts.zeros(1, device="cuda:99")
    with pytest.raises(ValueError, match="Expected a cuda device, but got: cpu"):
        ts.cuda.synchronize("cpu")


# ---------------------------------------------------------------- transfers


@pytest.mark.parametrize(
    "dtype", ["float32", "float64", "int64", "bool", "complex64", "float16", "bfloat16", "uint8"]
)
def test_transfers(cuda, dtype):
    """Transfers preserve bits and elements of every dtype and stride, and return tensors already on the
    device."""
    x = ts.tensor([[0, 1, 2], [3, 4, 5]]).to(getattr(ts, dtype))
    moved = x.cuda()
    assert moved.is_cuda and moved.dtype is x.dtype and moved.cpu().equal(x)
    assert x.t().cuda().cpu().equal(x.t()) and moved.t().cpu().equal(x.t())
    assert moved.cuda() is moved and moved.to("cuda:0") is moved and x.cpu() is x
    assert moved.to(ts.float32).is_cuda and moved.to("cpu", ts.float64).equal(x.to(ts.float64))


def test_non_blocking_transfers(cuda):
    """Non-blocking copies are complete after `synchronize`; pinned memory is reported."""
    x = ts.arange(1000.0)
    pinned = x.pin_memory()
    assert pinned.is_pinned() and not x.is_pinned() and pinned.equal(x) and pinned.pin_memory() is pinned
    assert ts.tensor([1.0], pin_memory=True).is_pinned()
    moved = pinned.to("cuda", non_blocking=True)
    on_cpu = (moved * 2).to("cpu", non_blocking=True)
    ts.cuda.synchronize()
    assert on_cpu.equal(x * 2) and on_cpu.is_pinned()
    with pytest.raises(
        RuntimeError, match=r"cannot pin .torch\.cuda\.FloatTensor. only dense CPU tensors can be pinned"
    ):
        moved.pin_memory()


def test_between_devices(two_devices):
    """Tensors move between devices; "cuda" is the current device; operators require one device."""
    x = ts.tensor([1.0, 2.0], device="cuda:0")
    y = x.to("cuda:1")
    assert y.device.index == 1 and y.cpu().equal(x.cpu()) and y.to("cuda").device.index == 0
    assert (
        (y + y).device.index == 1
        and y.new_zeros(2).device.index == 1
        and ts.zeros_like(y, device="cuda:0").get_device() == 0
    )
    with pytest.raises(RuntimeError, match="Expected all tensors to be on the same device"):
        x + y


def test_new_tensors_take_a_device(cuda):
    """`*_like` and `new_*` use the given device, otherwise the tensor's device."""
    on_device, on_cpu = ts.ones(2, 3, device="cuda"), ts.ones(2, 3)
    assert ts.zeros_like(on_device).is_cuda and on_device.new_full((2,), 5).is_cuda
    assert ts.zeros_like(on_device, device="cpu").is_cpu and ts.rand_like(on_cpu, device="cuda").is_cuda
    assert ts.zeros_like(on_device.to("meta"), device="cuda").is_cuda


def test_gradients_of_transfers(cuda):
    """Gradients move to the device of the tensor, and are added to earlier gradients."""
    x, w = ts.ones(3, requires_grad=True), ts.full((3,), 2.0)
    for count in (1, 2):
        ((x * w).to("cuda") * 3).sum().backward()
        assert x.grad.is_cpu and x.grad.tolist() == [6.0 * count] * 3
    x.to("cuda", ts.float64).exp().sum().backward()
    assert x.grad.is_cpu and x.grad.dtype is ts.float32
    y = ts.ones(3, device="cuda", requires_grad=True)
    ((y * 2).cpu() * w).sum().backward()
    assert y.grad.is_cuda and y.grad.tolist() == [4.0] * 3
    (gradient,) = ts.autograd.grad((y.cpu() ** 3).sum(), y, create_graph=True)
    assert gradient.is_cuda and ts.autograd.grad(gradient.sum(), y)[0].tolist() == [6.0] * 3


# ---------------------------------------------------------------- streams and events


def test_streams(cuda):
    """Operators run on the current stream, and streams can wait for each other."""
    side, before = ts.cuda.Stream(), ts.cuda.current_stream()
    assert before == ts.cuda.default_stream() and side != before and isinstance(side, ts.cuda.Stream)
    x = ts.ones(1000, device="cuda")
    side.wait_stream(before)
    with ts.cuda.stream(side):
        assert ts.cuda.current_stream() == side
        y = x * 3
    before.wait_stream(side)
    assert ts.cuda.current_stream() == before and float(y.sum()) == 3000
    side.synchronize()
    assert side.query()
    with ts.cuda.stream(None):
        assert ts.cuda.current_stream() == before
    ts.cuda.set_stream(side)
    with ts.cuda.stream(ts.cuda.Stream()):
        pass
    assert ts.cuda.current_stream() == side  # the stream that was current before the block
    ts.cuda.set_stream(before)
    other = ts.cuda.ExternalStream(side.cuda_stream)
    assert other.cuda_stream == side.cuda_stream and other == side


def test_events(cuda):
    """Events complete in order, with a positive elapsed time; both need timing and must be recorded."""
    start, end = (ts.cuda.Event(enable_timing=True) for _ in range(2))
    assert start.query() and isinstance(start, ts.cuda.Event)
    start.record()
    ts.ones(1000, device="cuda").exp()
    end.record()
    end.synchronize()
    assert end.query() and start.elapsed_time(end) > 0
    plain = ts.cuda.current_stream().record_event()
    ts.cuda.Stream().wait_event(plain)
    with pytest.raises(ValueError, match="enable_timing=True"):
        start.elapsed_time(plain)
    with pytest.raises(ValueError, match="recorded before calculating"):
        start.elapsed_time(ts.cuda.Event(enable_timing=True))


# ---------------------------------------------------------------- memory


def test_memory_is_counted(cuda):
    """Allocated memory follows the live tensors; the peak is kept until its reset."""
    ts.cuda.synchronize()
    before = ts.cuda.memory_allocated()
    ts.cuda.reset_peak_memory_stats()
    assert ts.cuda.max_memory_allocated() == before
    x = ts.empty(1 << 20, device="cuda")
    assert ts.cuda.memory_allocated() == before + (4 << 20)
    y = ts.empty(100, device="cuda")
    assert ts.cuda.memory_allocated() == before + (4 << 20) + 512  # sizes are rounded up
    del x
    assert ts.cuda.memory_allocated() == before + 512
    assert ts.cuda.max_memory_allocated() == before + (4 << 20) + 512
    assert ts.cuda.memory_reserved() >= ts.cuda.memory_allocated()
    assert ts.cuda.memory_stats()["allocated_bytes.all.peak"] == ts.cuda.max_memory_allocated()
    for _ in range(50):  # temporary tensors do not raise the peak
        ts.empty(1000, device="cuda")
    assert ts.cuda.max_memory_allocated() == before + (4 << 20) + 512
    free, total = ts.cuda.mem_get_info()
    assert 0 < free <= total
    ts.cuda.reset_peak_memory_stats()
    ts.cuda.empty_cache()
    assert ts.cuda.max_memory_allocated() == before + 512 and y.is_cuda


# ---------------------------------------------------------------- reuse of memory


def is_gpu():
    """Return whether the tests run on a GPU instead of the fake CuPy."""
    import cupy

    return hasattr(cupy, "__version__")


@contextmanager
def stalled(cuda, stream):
    """Queue work in a stream that does not finish within the block (on a GPU: for at least 0.3 s)."""
    if is_gpu():
        import cupy

        spin = cupy.RawKernel(
            'extern "C" __global__ void spin() { long long t = clock64(); while (clock64() - t < 1000000000) {} }', "spin"
        )
        with ts.cuda.stream(stream):
            spin((1,), (1,), ())
        yield
    else:
        from tests.fake_cupy import runtime

        runtime.stalled_streams.add(stream.cuda_stream)
        try:
            yield
        finally:
            runtime.stalled_streams.discard(stream.cuda_stream)
    stream.synchronize()


def test_recorded_streams_delay_the_reuse_of_memory(cuda):
    """Memory that `record_stream` declares as used by a stream is reused after the work of this stream."""
    side, size = ts.cuda.Stream(), 12345
    ts.empty(size, device="cuda")  # compile and allocate what the calls below need
    x = ts.empty(size, device="cuda")
    address = x.data_ptr()
    before = ts.cuda.memory_allocated()
    with stalled(cuda, side):
        x[10:].record_stream(side)  # a view, which has the memory of x
        del x
        assert ts.cuda.memory_allocated() <= before - size * 4
        others = [ts.empty(size, device="cuda") for _ in range(3)]
        assert address not in [y.data_ptr() for y in others]
    again = [ts.empty(size, device="cuda")]
    assert not cuda.pool._deferred  # the allocation has released the memory of x
    again[0].record_stream(ts.cuda.current_stream())
    del again[0]
    ts.cuda.synchronize()
    again = [ts.empty(size, device="cuda") for _ in range(9)]
    # on a GPU, CuPy's pool merges free blocks, so a new block may start at another address
    assert address in [y.data_ptr() for y in (*others, *again)] or is_gpu()
    with pytest.raises(NotImplementedError, match="only available for these backends"):
        ts.ones(2).record_stream(side)


def test_empty_cache_waits_for_recorded_streams(cuda):
    """`empty_cache` waits for streams that use released memory, and returns all released memory to the driver."""
    side = ts.cuda.Stream()
    ts.cuda.empty_cache()
    before = ts.cuda.memory_reserved()
    x = ts.empty(54321, device="cuda")
    with stalled(cuda, side):
        x.record_stream(side)
        del x
        ts.cuda.empty_cache()
    assert ts.cuda.memory_reserved() == before


def test_asynchronous_copies_hold_their_memory(cuda):
    """Source and destination of a non-blocking copy live until the copy is complete."""
    stream = ts.cuda.Stream()
    x = ts.arange(3000.0).reshape(30, 100).pin_memory()
    x.clone().pin_memory()  # allocates pinned memory for the copy below, because the driver may wait for this
    with ts.cuda.stream(stream), stalled(cuda, stream):
        moved = x.to("cuda", non_blocking=True)
        del x
        y = moved.t().to("cpu", non_blocking=True)
        assert y.is_pinned() and y.stride() == (1, 100)
        address = moved.data_ptr()
        del moved
        with ts.cuda.stream(ts.cuda.default_stream()):
            others = [ts.empty(30, 100, device="cuda") for _ in range(3)]
        assert address not in [z.data_ptr() for z in others]
        assert len(cuda.pool._deferred) >= 2 or is_gpu()  # allocations of the driver may wait for the stream
    assert y.equal(ts.arange(3000.0).reshape(30, 100).t())
    cuda.pool.release_completed()
    assert not cuda.pool._deferred


def test_converting_copies_to_the_cpu_wait(cuda):
    """Copies to the CPU that convert elements, or that write to an existing tensor, wait for the elements."""
    stream = ts.cuda.Stream()
    x = ts.arange(5.0, device="cuda")
    ts.cuda.synchronize()
    with ts.cuda.stream(stream):
        assert x.to("cpu", ts.int64, non_blocking=True).tolist() == [0, 1, 2, 3, 4]
        assert ts.zeros(5).copy_(x, non_blocking=True).tolist() == [0, 1, 2, 3, 4]
        assert not x.to("cpu", ts.float64, non_blocking=True).is_pinned()


def test_the_allocator_of_cupy_is_unchanged(cuda):
    """Arrays of other code that uses CuPy come from CuPy's default pool, those of `ts` from a separate pool."""
    import cupy

    own = cupy.get_default_memory_pool()
    before, allocated = own.used_bytes(), ts.cuda.memory_allocated()
    theirs = cupy.empty(1 << 16, np.uint8)
    assert own.used_bytes() == before + (1 << 16) and ts.cuda.memory_allocated() == allocated
    x = ts.empty(1 << 16, dtype=ts.uint8, device="cuda")
    y = (x + 1)[::2].contiguous().to(ts.int64)
    assert own.used_bytes() == before + (1 << 16)
    assert ts.cuda.memory_allocated() == allocated + (1 << 16) + y.numel() * 8
    calls = []

    def allocate(size):
        calls.append(size)
        return own.malloc(size)

    with cupy.cuda.using_allocator(allocate):
        z = x * 2
        assert not calls
        cupy.empty(10)
        assert len(calls) == 1
    assert z.is_cuda and theirs.nbytes == 1 << 16
    if not hasattr(cupy, "__version__"):  # the fixture `cuda` rejects other uses of the default pool
        own.allocations -= 2


def test_memory_is_available_after_recorded_streams(cuda, monkeypatch):
    """If the memory is exhausted, an allocation waits for streams that use released memory."""
    import cupy

    if hasattr(cupy, "__version__"):
        pytest.skip("exhausts the memory of the fake CuPy")
    side = ts.cuda.Stream()
    x = ts.empty(40000, device="cuda")
    address = x.data_ptr()
    with stalled(cuda, side):
        x.record_stream(side)
        monkeypatch.setattr(cupy.cuda.MemoryPool, "limit", cuda.pool.pool.used_bytes() + 512)
        with pytest.raises(MemoryError):
            ts.empty(40000, device="cuda")
        del x
        assert ts.empty(40000, device="cuda").data_ptr() == address


# ---------------------------------------------------------------- random numbers


def test_random_stream_of_pytorch(cuda):
    """Random numbers equal numbers published by users of PyTorch (issues 79496 and 158398, notebooks with seed 0)."""
    ts.cuda.manual_seed(0)
    first = ts.rand(5, device="cuda").cpu().tolist()
    assert first == pytest.approx([0.3990, 0.5167, 0.0249, 0.9401, 0.9459], abs=1e-4)
    ts.manual_seed(10)
    assert ts.randn(3, device="cuda").cpu().tolist() == pytest.approx([-0.1029, 1.6810, -0.2708], abs=1e-4)
    g = ts.Generator(device="cuda").manual_seed(42)
    random_numbers = ts.randn([1, 64, 2048], generator=g, device="cuda").cpu()
    assert random_numbers[0, 0, :3].tolist() == pytest.approx([0.1940, 2.1614, -0.1721], abs=1e-4)


def test_seeds_and_states(cuda):
    """A restored state repeats its numbers; a generator is accepted on its own device only."""
    ts.cuda.manual_seed_all(7)
    assert ts.cuda.initial_seed() == 7
    first = ts.rand(10, device="cuda")
    state = ts.cuda.get_rng_state()
    second = ts.rand(10, device="cuda")
    ts.cuda.set_rng_state(state)
    assert ts.rand(10, device="cuda").cpu().equal(second.cpu()) and not first.cpu().equal(second.cpu())
    assert state.dtype is ts.uint8 and state.numel() == 16
    with pytest.raises(RuntimeError, match="Expected a 'cuda' device type for generator but found 'cpu'"):
        ts.rand(2, device="cuda", generator=ts.Generator())
    with pytest.raises(RuntimeError, match="Expected a 'cpu' device type for generator but found 'cuda'"):
        ts.rand(2, generator=ts.Generator(device="cuda"))


def test_distributions(cuda):
    """Random distributions have the expected range and mean in each dtype; permutations are valid."""
    ts.cuda.manual_seed(1)
    for dtype in (ts.float16, ts.bfloat16, ts.float32, ts.float64):
        u = ts.rand(4000, device="cuda", dtype=dtype).cpu().double()
        assert 0 <= float(u.min()) and float(u.max()) < 1 and abs(float(u.mean()) - 0.5) < 0.03
        n = ts.randn(4000, device="cuda", dtype=dtype).cpu().double()
        assert abs(float(n.mean())) < 0.08 and abs(float(n.std()) - 1) < 0.05
    k = ts.randint(-3, 4, (4000,), device="cuda").cpu()
    assert sorted(set(k.tolist())) == [-3, -2, -1, 0, 1, 2, 3]
    assert sorted(ts.randperm(100, device="cuda").cpu().tolist()) == list(range(100))
    dropped_out = ts.nn.functional.dropout(ts.ones(4000, device="cuda"), 0.25).cpu()
    assert (
        set(dropped_out.unique().tolist()) == {0.0, float(ts.tensor(4 / 3))} and abs(float(dropped_out.mean()) - 1) < 0.05
    )


# ---------------------------------------------------------------- kernels


def test_expressions_are_launched_once(cuda, monkeypatch):
    """A pointwise float operator is one kernel for all strides and broadcasting, with preserved layouts."""
    from ts.backends.cuda import pointwise_launch

    launches = []
    monkeypatch.setattr(
        pointwise_launch,
        "launch_kernel",
        lambda *a, real=pointwise_launch.launch_kernel: (launches.append(a[0]), real(*a)) and None,
    )
    x = ts.randn(3, 4, device="cuda")
    for y in (x.sigmoid(), x.t().sigmoid(), x[:, ::2].sigmoid(), x + x[0], x.t() * 2, x / x[:, :1], x < 0.5):
        assert y.is_cuda
    assert len(launches) == 7
    assert x.t().sigmoid().stride() == (1, 4)
    host = x.cpu()
    assert np.allclose(
        (x.t() * x[0, 0] + 2).cpu().numpy(), host.numpy().T * host.numpy()[0, 0] + 2, rtol=1e-6
    )


def test_dimensions_are_merged(cuda):
    """Dimensions contiguous in every operand are merged; dimensions of size 1 are dropped."""
    from ts.backends.cuda.kernel_specialization import merge_dimensions

    assert merge_dimensions((2, 3, 4), [(12, 4, 1), (12, 4, 1)]) == ([24], [(1,), (1,)])
    assert merge_dimensions((2, 3, 4), [(12, 4, 1), (4, 0, 1)]) == ([2, 3, 4], [(12, 4, 1), (4, 0, 1)])
    assert merge_dimensions((2, 1, 4), [(8, 4, 2), (0, 0, 0)]) == ([8], [(2,), (0,)])
    assert merge_dimensions((1, 1), [(7, 7)]) == ([], [()])


def test_in_place_and_out_variants_use_the_kernel(cuda):
    """In-place and out= variants use the backend's kernel with all checks."""
    x = ts.tensor([-1.0, 0.0, 2.0], device="cuda")
    out = ts.empty(3, device="cuda")
    assert ts.sigmoid(x, out=out) is out and out.cpu().tolist() == pytest.approx(
        [0.26894143, 0.5, 0.88079709]
    )
    assert x.sigmoid_() is x and x.cpu().equal(out.cpu())
    with pytest.raises(RuntimeError, match="result type Float can't be cast to the desired output type Long"):
        ts.ones(2, dtype=ts.int64, device="cuda").sigmoid_()


def test_nan(cuda):
    """Minima, maxima and comparisons treat NaN as the CPU does."""
    x = ts.tensor([float("nan"), 1.0, -1.0, float("inf")])
    y = ts.tensor([0.0, float("nan"), 2.0, 1.0])
    for f in (ts.maximum, ts.minimum, ts.fmax, ts.fmin, ts.lt, ts.ne, lambda a, b: a.relu(), lambda a, b: a.isnan(),
              lambda a, b: a.sign(), ts.floor_divide, ts.atan2, lambda a, b: a.clamp(0, 1), lambda a, b: a.isinf()):  # fmt: skip
        expected, got = f(x, y), f(x.cuda(), y.cuda()).cpu()
        assert expected.dtype is got.dtype
        assert np.allclose(got.numpy(), expected.numpy(), rtol=1e-6, atol=0, equal_nan=True)


def test_bfloat16_is_computed_in_float32(cuda):
    """Sixteen-bit floats are rounded once, at the end."""
    x = ts.tensor([1.0, 1.0078125, -3.0]).bfloat16()
    assert (x.cuda() * 1.01).cpu().equal((x.float() * 1.01).bfloat16())
    h = ts.tensor([60000.0, 1e-7]).half()
    assert (h.cuda() + 10000).cpu().tolist() == [float("inf"), 10000.0]


def test_cpu_fallback_warns_once(cuda):
    """A function missing in CuPy runs on the CPU, warns once, and returns its result on the device."""
    from ts.backends.cuda import cpu_fallback

    cpu_fallback._warned.clear()
    x = ts.tensor([[3.0, 1.0, 2.0], [0.0, 5.0, 4.0]])
    with pytest.warns(
        UserWarning, match=r"numpy.maximum.accumulate runs on the CPU for cuda tensors: CuPy accumul"
    ):
        values, indices = x.cuda().cummax(1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again = x.cuda().cummax(1).values
    assert values.is_cuda and again.cpu().equal(values.cpu())
    assert values.cpu().tolist() == [[3, 3, 3], [0, 5, 5]] and indices.cpu().tolist() == [[0, 0, 0], [0, 1, 1]]
    with pytest.warns(UserWarning, match="aten::special_airy_ai runs on the CPU"):
        assert float(ts.special.airy_ai(ts.zeros(1, device="cuda"))) == pytest.approx(0.3550280539)


def test_singular_matrices_are_errors(cuda):
    """A singular matrix raises an error, although cuSOLVER returns NaN."""
    with pytest.raises(RuntimeError, match="singular"):
        ts.linalg.inv(ts.zeros(2, 2, device="cuda"))
    batch = ts.stack([ts.eye(2), ts.zeros(2, 2)]).cuda()
    with pytest.raises(RuntimeError, match=r"torch.linalg.lu_factor: \(Batch element 1\): U\[1,1\] is zero"):
        ts.linalg.lu_factor(batch)
    assert ts.linalg.inv_ex(batch)[1].tolist() == [0, 1]


def test_scripts_on_cuda(cuda):
    """A compiled function follows its inputs to the device."""

    @ts.jit.script
    def f(x: ts.Tensor, n: int) -> ts.Tensor:
        for i in range(n):
            x = x * 0.5 + i
        return x.relu()

    x = ts.tensor([-8.0, 8.0])
    result = f(x.cuda(), 3)
    assert result.is_cuda and result.cpu().equal(f(x, 3))
