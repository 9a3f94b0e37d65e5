"""Thread-local state such as grad mode, and its inheritance by forked tasks."""

import signal
import threading
import warnings

import pytest

import ts
from ts._core.thread.context import current_tracer


@ts.jit.script
def loops(n: int) -> int:
    i = 0
    while i < n:
        i += 1
    return i


def on_another_thread(function):
    results = []
    thread = threading.Thread(target=lambda: results.append(function()))
    thread.start()
    thread.join()
    return results[0]


def modes():
    return ts.is_grad_enabled(), ts.is_inference_mode_enabled()


@ts.jit.script
def grad_enabled() -> bool:
    return ts.is_grad_enabled()


@ts.jit.script
def grad_in_forks() -> list[bool]:
    with ts.no_grad():
        inside = ts.jit.fork(grad_enabled)
    outside = ts.jit.fork(grad_enabled)
    return [ts.jit.wait(inside), torch.jit.wait(outside), ts.is_grad_enabled()]


def switching(n: int) -> list[bool]:
    """Take n steps in a `no_grad` block."""
    i = 0
    with ts.no_grad():
        while i < n:
            i += 1
        inside = ts.is_grad_enabled()
    return [inside, ts.is_grad_enabled()]


def test_other_threads_begin_with_the_defaults():
    with ts.no_grad(), ts.inference_mode():
        assert modes() == (False, True)
        assert on_another_thread(modes) == (True, False)
        assert on_another_thread(grad_enabled) and not grad_enabled()
    assert modes() == (True, False)


def test_state_changes_of_another_thread_are_local():
    assert on_another_thread(lambda: (ts.set_grad_enabled(False), modes())[1]) == (False, False)
    assert modes() == (True, False) == on_another_thread(modes)


def test_forks_inherit():
    """A forked task inherits the state of its fork, independent of the thread that runs it."""
    with ts.no_grad():
        future = ts.jit.fork(grad_enabled)
    assert not future.wait()
    assert ts.jit.fork(grad_enabled).wait()
    assert grad_in_forks() == [False, True, True]
    assert ts.is_grad_enabled()


def test_suspended_program_keeps_its_state():
    program = ts.jit.script(switching).start(10_000)
    assert not program.run(steps=1000)
    assert ts.is_grad_enabled()  # `no_grad` is active in the program and not in this thread
    assert on_another_thread(program.run)
    assert program.future.wait() == [False, True]
    with ts.no_grad():
        program = ts.jit.script(switching).start(1)
    assert program.run() and program.future.wait() == [False, False]


def test_inference_mode_is_a_state():
    """`inference_mode(False)` ends inference mode and enables gradients, as in PyTorch."""
    with ts.no_grad():
        with ts.inference_mode(False):
            assert modes() == (True, False)
        with ts.inference_mode():
            with ts.enable_grad():
                assert modes() == (True, True)
            with ts.inference_mode(False):
                assert modes() == (True, False)
            assert modes() == (False, True)
        assert modes() == (False, False)


def test_blocks_can_be_entered_again():
    block = ts.no_grad()
    with block:
        with block:
            assert not ts.is_grad_enabled()
        assert not ts.is_grad_enabled()
    assert ts.is_grad_enabled()
    switched = ts.set_grad_enabled(False)
    assert not ts.is_grad_enabled()
    for _ in range(2):
        with switched:
            assert not ts.is_grad_enabled()
        assert ts.is_grad_enabled()


@pytest.mark.parametrize(
    "decorator, expected",
    [
        (ts.no_grad, (False, False)),
        (ts.no_grad(), (False, False)),
        (ts.enable_grad, (True, False)),
        (ts.inference_mode, (False, True)),
        (ts.inference_mode(), (False, True)),
        (ts.inference_mode(False), (True, False)),
    ],
)
def test_decorators(decorator, expected):
    """Context managers decorate functions and methods, with and without parentheses, and keep the name."""

    @decorator
    def current(*args):
        """What holds."""
        return modes()

    class Holder:
        method = decorator(lambda self: (self, modes()))

    holder = Holder()
    assert current() == expected and holder.method() == (holder, expected)
    assert (current.__name__, current.__doc__) == ("current", "What holds.")
    assert modes() == (True, False)


def test_set_grad_enabled_as_decorator():
    decorator = ts.set_grad_enabled(False)
    assert not ts.is_grad_enabled()
    current = decorator(modes)
    assert ts.is_grad_enabled() and current() == (False, False) and ts.is_grad_enabled()
    assert repr(decorator) == "torch.autograd.grad_mode.set_grad_enabled(mode=False)"
    with pytest.raises(TypeError, match=r"argument 'enabled' \(position 1\) must be bool, not int"):
        ts.set_grad_enabled(1)


def test_generators_step_inside():
    """A decorated generator runs in the context, the code between its steps outside of it."""
    closed = []

    @ts.no_grad()
    def steps():
        try:
            assert (yield modes()) == "sent"
            try:
                yield modes()
            except ValueError:
                yield modes()
        finally:
            closed.append(modes())
        return modes()

    running = steps()
    assert next(running) == (False, False) and modes() == (True, False)
    assert running.send("sent") == (False, False) and modes() == (True, False)
    assert running.throw(ValueError()) == (False, False) and modes() == (True, False)
    with pytest.raises(StopIteration) as end:
        next(running)
    assert end.value.value == (False, False)
    running = steps()
    next(running)
    running.close()
    assert closed == [(False, False)] * 2 and modes() == (True, False)


def test_decorated_classes():
    with pytest.warns(FutureWarning, match="Decorating classes is deprecated"):

        @ts.no_grad()
        class RecordsModes:
            def __init__(self):
                self.modes = modes()

    assert RecordsModes().modes == (False, False)


def test_decorated_functions_of_two_threads():
    """Each call of a decorated function has a separate context."""
    entered, leave = threading.Event(), threading.Event()

    @ts.enable_grad()
    def wait():
        entered.set()
        assert leave.wait(10)

    def without_gradients():
        ts.set_grad_enabled(False)
        wait()
        return ts.is_grad_enabled()

    def meanwhile():
        assert entered.wait(10)
        decorated = ts.enable_grad()(ts.is_grad_enabled)
        assert decorated()
        leave.set()

    helper = threading.Thread(target=meanwhile)
    helper.start()
    assert on_another_thread(without_gradients) is False
    helper.join()


def test_threads_trace_concurrently():
    """A trace records its own thread only, and several threads can trace concurrently."""
    started, traced = threading.Barrier(2), []

    def double(x):
        started.wait(10)
        return x * 2

    def trace():
        with warnings.catch_warnings():
            traced.append(ts.jit.trace(double, ts.ones(3), check_trace=False))

    threads = [threading.Thread(target=trace) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [str(f.graph).count("aten::") for f in traced] == [1, 1]
    assert ts.equal(traced[0](ts.ones(2)), ts.full((2,), 2.0))


def test_traces_do_not_record_tasks_run_while_waiting():
    """A forked program that the tracing thread runs while it waits is not recorded."""
    assert not ts.jit.is_tracing()
    script = ts.jit.script(grad_in_forks)
    traced = ts.jit.trace(lambda x: x + float(script()[0]), ts.ones(2), check_trace=False)
    assert ts.equal(traced(ts.ones(2)), ts.ones(2))


def test_optimized_execution_is_thread_local():
    from ts.runtime.executor import is_optimizing

    with ts.jit.optimized_execution(False):
        assert not is_optimizing() and on_another_thread(is_optimizing)
    assert is_optimizing()


def traced_once():
    ts.jit.trace(lambda x: x + 1, (ts.ones(1),), check_trace=False)


def in_no_grad():
    with ts.no_grad():
        pass


def in_inference_mode():
    with ts.inference_mode():
        pass


def in_limits():
    with ts.limits(fuel=0):
        pass


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="the system has no timer that sends signals")
@pytest.mark.parametrize("block", [in_no_grad, in_inference_mode, in_limits, traced_once])
def test_interrupts_end_blocks(block):
    """A signal handler that raises ends a block consistently, at every instruction."""

    class Interrupt(BaseException):
        pass

    def interrupt(number, frame):
        raise Interrupt

    rounds = 0
    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        while rounds < 2000:
            try:
                signal.setitimer(signal.ITIMER_REAL, 5e-6 + rounds % 50 * 1e-6)
                for _ in range(1000):  # Python ignores an exception in a finalizer
                    block()
                signal.setitimer(signal.ITIMER_REAL, 0)
            except Interrupt:
                pass
            rounds += 1
            assert modes() == (True, False) and current_tracer() is None
            assert loops(1000) == 1000
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
