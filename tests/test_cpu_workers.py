"""Worker threads of the CPU backend: parallel operators during interpreter shutdown."""

import subprocess
import sys
import threading

import pytest

from ts.backends.cpu import thread_pool

LATE_PRODUCTS = """
import atexit, threading, time
import ts

ts.set_num_threads(2)
a, images, weight = ts.randn(700, 700), ts.randn(8, 16, 40, 40), ts.randn(32, 16, 3, 3)
expected = a @ a, ts.nn.functional.conv2d(images, weight)
{first_use}

def compute(name):
    found = a @ a, ts.nn.functional.conv2d(images, weight)
    print(name, all(ts.equal(x, y) for x, y in zip(found, expected)), flush=True)

def outlive_main():
    while threading.main_thread().is_alive():
        time.sleep(0.01)
    compute("thread")

threading.Thread(target=outlive_main).start()
atexit.register(compute, "atexit")
"""


@pytest.mark.parametrize("first_use", ["", "ts.backends.cpu.thread_pool._pool = None"])
def test_products_after_the_main_thread_ended(first_use):
    """Parallel products run in a non-daemon thread and in an `atexit` handler."""
    command = [sys.executable, "-c", LATE_PRODUCTS.format(first_use=first_use)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert sorted(done.stdout.split("\n")[:2]) == ["atexit True", "thread True"], done.stdout + done.stderr
    assert done.returncode == 0


def test_parts_without_a_worker_run_on_the_calling_thread(monkeypatch):
    def fail_to_start_thread(count):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(thread_pool, "_workers", fail_to_start_thread)
    ran = []
    thread_pool.run(lambda part, parts: ran.append((part, parts, threading.current_thread())), 3)
    assert ran == [(part, 3, threading.current_thread()) for part in range(3)]


def test_partition_errors_are_raised_after_all_partitions():
    ran = []

    def partition_of(part, parts):
        ran.append(part)
        if part == 1:
            raise ValueError("of part 1")

    with pytest.raises(ValueError, match="of part 1"):
        thread_pool.run(partition_of, 3)
    assert sorted(ran) == [0, 1, 2]
