"""Timers of the event loop, which end calls whose timeout has passed."""

import os
import queue
import threading
import time

from ts.distributed import event_loop
from ts.distributed.event_loop import call_later, cancel_timer, on_event_loop


def test_order_of_timers():
    """Timers end in the order of their times, in the event loop's thread."""
    ended = queue.SimpleQueue()
    start = time.monotonic()
    for delay in (0.3, 0.1, 0.2, 0.0):
        call_later(delay, lambda delay=delay: ended.put((delay, time.monotonic() - start, on_event_loop())))
    found = [ended.get(timeout=10) for _ in range(4)]
    assert [delay for delay, *_ in found] == [0.0, 0.1, 0.2, 0.3]
    assert all(passed >= delay - 1e-3 and in_loop for delay, passed, in_loop in found)


def test_cancelled_timers():
    """A cancelled timer is not called and keeps no memory, and other timers are not affected."""
    ended = queue.SimpleQueue()
    for timer in [call_later(3600, ended.put) for _ in range(1000)]:
        cancel_timer(timer)
        cancel_timer(timer)
    call_later(0.0, lambda: None)
    assert len(event_loop._timers._heap) < 200
    cancelled = [call_later(0.05, lambda: ended.put("cancelled")) for _ in range(3)]
    call_later(0.1, lambda: ended.put("last"))
    for timer in cancelled:
        cancel_timer(timer)
    assert ended.get(timeout=10) == "last" and ended.empty()


def test_errors_of_callbacks():
    """A callback that raises does not prevent the next one."""
    ended = queue.SimpleQueue()
    event_loop.loop().set_exception_handler(lambda loop, context: None)
    try:
        call_later(0.01, lambda: 1 / 0)
        call_later(0.01, lambda: ended.put("next"))
        assert ended.get(timeout=10) == "next"
    finally:
        event_loop.loop().set_exception_handler(None)


def test_waiting_timers_do_not_wake_the_loop(monkeypatch):
    """The loop sleeps until the first timer ends, however many timers there are."""
    calls = []
    selector = event_loop.loop()._selector
    select = selector.select
    timers = [call_later(60 + number, print) for number in range(100)]
    time.sleep(0.1)
    monkeypatch.setattr(selector, "select", lambda timeout: calls.append(timeout) or select(timeout))
    later = [call_later(100, print) for _ in range(100)]
    time.sleep(0.3)
    assert len(calls) <= 1
    for timer in (*timers, *later):
        cancel_timer(timer)


def test_timers_of_many_threads():
    """Timers may be started and cancelled by any thread."""
    ended = queue.SimpleQueue()

    def work():
        for number in range(200):
            call_later(0.001 * (number % 7), lambda: ended.put(None))
            cancel_timer(call_later(0.001 * (number % 5), lambda: None))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for _ in range(800):
        ended.get(timeout=10)
    for thread in threads:
        thread.join()


def test_timers_in_a_forked_process():
    """A forked child process starts without the timers of its parent, and may start its own."""
    call_later(0.2, lambda: None)
    child = os.fork()
    if not child:
        ended = threading.Event()
        call_later(0.01, ended.set)
        os._exit(0 if ended.wait(10) else 1)
    assert os.waitpid(child, 0)[1] == 0
