"""CUDA graphs: capture once, replay on new elements of the same memory.

The tests run on a GPU if available, otherwise on the fake CuPy, which records and replays calls.
"""

import pytest

import ts

pytestmark = pytest.mark.cuda


def captured(function, *args, **options):
    """Return a graph of `function(*args)` and its results."""
    graph = ts.cuda.CUDAGraph()
    with ts.cuda.graph(graph, **options):
        results = function(*args)
    return graph, results


def test_replay_reads_current_inputs(cuda):
    """A replay reads the current contents of its inputs and writes to the captured results."""
    x, w = ts.ones(4, device="cuda"), ts.full((4,), 3.0, device="cuda")
    graph, y = captured(lambda: (x * w + 1).exp().sum())
    address = y.data_ptr()
    for n in (0.0, 0.5, -1.0):
        x.fill_(n)
        graph.replay()
        assert y.data_ptr() == address
        assert y.item() == pytest.approx((ts.full((4,), n) * 3 + 1).exp().sum().item())


def test_scripts_with_groups(cuda):
    """Capture of a scripted function includes its fused groups and in-place writes."""
    f = ts.jit.CompilationUnit("""
def f(x: Tensor, state: Tensor):
    for i in range(3):
        x = torch.tanh(x * state + i)
    state.add_(1)
    return x
""").f
    x, state = ts.rand(30, device="cuda"), ts.zeros(30, device="cuda")
    graph, y = captured(f, x, state)
    state.zero_()
    for k in range(3):
        assert state.cpu().tolist() == [k] * 30
        expected = f(x.cpu(), state.cpu())
        graph.replay()
        assert y.cpu().allclose(expected, atol=1e-6)


def test_constants_belong_to_the_graph(cuda):
    """Constants copied from the host keep their values in replays."""
    x = ts.ones(3, device="cuda")

    def compute():
        return x * ts.tensor([1.0, 2.0, 3.0], device="cuda") + ts.tensor(0.5).cuda(), x.clamp(min=ts.tensor(2.0).cuda())

    graph, (y, z) = captured(compute)
    unrelated = [ts.full((3,), 9.0).cuda() for _ in range(5)]
    x.fill_(4)
    graph.replay()
    assert y.cpu().tolist() == [4.5, 8.5, 12.5] and z.cpu().tolist() == [4.0] * 3 and len(unrelated) == 5


def test_replay_draws_new_random_numbers(cuda):
    """Each replay draws the random numbers that eager calls would draw; later draws continue after it."""
    def compute():
        return ts.rand(5, device="cuda"), ts.randn(70, device="cuda")

    graph, random_numbers = captured(compute)
    ts.cuda.manual_seed(3)
    plain = [[x.cpu() for x in compute()] for _ in range(3)]
    ts.cuda.manual_seed(3)
    for k in (0, 1, 2):
        if k == 1:
            result = compute()
        else:
            graph.replay()
            result = random_numbers
        assert all(a.cpu().equal(b) for a, b in zip(result, plain[k], strict=True))


def test_graph_memory_pool(cuda):
    """Memory of a captured graph is not reused by later tensors; graphs share a pool on request."""
    x = ts.ones(1000, device="cuda")
    graph, y = captured(lambda: (x + 1) * 2)
    unrelated = [ts.zeros(1000, device="cuda") for _ in range(20)]
    graph.replay()
    assert all(other.sum().item() == 0 for other in unrelated) and y.sum().item() == 4000
    pool = ts.cuda.graph_pool_handle()
    first, a = captured(lambda: x * 3, pool=pool)
    second, b = captured(lambda: a + 1, pool=first.pool())
    assert first.pool() is second.pool() is pool
    first.replay()
    second.replay()
    assert b.cpu().tolist() == [4.0] * 1000


def test_graph_context_manager(cuda):
    """Capture sets the current stream, rejects synchronizing calls, and restores the stream afterwards."""
    before, side = ts.cuda.current_stream(), ts.cuda.Stream()
    x = ts.ones(3, device="cuda")
    assert not ts.cuda.is_current_stream_capturing()
    with ts.cuda.graph(ts.cuda.CUDAGraph(), stream=side):
        assert ts.cuda.is_current_stream_capturing() and ts.cuda.current_stream() == side
        with pytest.raises(RuntimeError, match="not permitted when stream is capturing"):
            x.cpu()
        with pytest.raises(RuntimeError, match="not permitted when stream is capturing"):
            ts.cuda.CUDAGraph().capture_begin()
    assert not ts.cuda.is_current_stream_capturing() and ts.cuda.current_stream() == before
    with pytest.raises(ZeroDivisionError), ts.cuda.graph(ts.cuda.CUDAGraph()):
        print(1 // 0)
    assert not ts.cuda.is_current_stream_capturing() and ts.cuda.current_stream() == before
    assert x.cpu().tolist() == [1.0] * 3


def test_invalid_uses(cuda):
    """Invalid uses of a graph raise PyTorch's errors."""
    graph = ts.cuda.CUDAGraph()
    with pytest.raises(RuntimeError, match="without a preceding successful capture"):
        graph.replay()
    with pytest.raises(RuntimeError, match="captured on a non-default stream"):
        graph.capture_begin()
    with pytest.raises(RuntimeError, match="not being captured"):
        graph.capture_end()
    with pytest.raises(RuntimeError, match="Unknown capture error mode"):
        graph.capture_begin(capture_error_mode="strict")
    x = ts.ones(3, device="cuda")
    stream = ts.cuda.Stream()
    stream.queue.begin_capture = lambda: 1 // 0
    with pytest.raises(ZeroDivisionError), ts.cuda.graph(graph, stream=stream):
        pass
    assert graph._graph._allocating is None and not ts.cuda.is_current_stream_capturing()
    with ts.cuda.graph(graph):
        x + 1
    with pytest.raises(RuntimeError, match="already owns a captured graph"), ts.cuda.graph(graph):
        pass
    graph.reset()
    with ts.cuda.graph(graph):
        y = x + 2
    graph.replay()
    assert y.cpu().tolist() == [3.0] * 3


def test_graphed_callables(cuda):
    """Graphed functions and modules replay their graph, and reject arguments unlike the samples."""
    f = ts.cuda.make_graphed_callables(lambda x, y: (x @ y).relu(), (ts.rand(3, 4, device="cuda"), ts.rand(4, 5, device="cuda")))
    for _ in range(2):
        x, y = ts.randn(3, 4), ts.randn(4, 5)
        assert f(x.cuda(), y.cuda()).cpu().allclose((x @ y).relu(), atol=1e-6)
    with pytest.raises(ValueError, match=r"captured for torch.float32 of shape \(3, 4\), not torch.float32 of shape \(2, 4\)"):
        f(ts.rand(2, 4, device="cuda"), ts.rand(4, 5, device="cuda"))
    with pytest.raises(TypeError, match="captured for 2 arguments, got 1"):
        f(ts.rand(3, 4, device="cuda"))
    with pytest.raises(TypeError, match="tensors on a CUDA device"):
        ts.cuda.make_graphed_callables(f, (ts.rand(3),))


def test_graphed_modules(cuda):
    """A graphed module remains the same object, reads current parameters, and runs eagerly in another
    mode."""
    module = ts.nn.Sequential(ts.nn.Linear(4, 3), ts.nn.ReLU(), ts.nn.Dropout(0.5)).cuda().eval()
    x = ts.rand(2, 4, device="cuda")
    graphed, other = ts.cuda.make_graphed_callables((module, lambda x: x * 2), ((x,), (x,)))
    assert graphed is module and other(x).cpu().equal(x.cpu() * 2)
    for factor in (1.0, -2.0):
        with ts.no_grad():
            module[0].weight.mul_(factor)
        expected = (x.cpu() @ module[0].weight.cpu().t() + module[0].bias.cpu()).relu()
        assert module(x).cpu().allclose(expected, atol=1e-6)
    address = module(x).data_ptr()
    assert module(x).data_ptr() == address and module.train()(x).data_ptr() != address
