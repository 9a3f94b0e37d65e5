"""Worker threads of the CPU backend: parallel operators during interpreter shutdown."""

import subprocess
import sys

import pytest

LATE_PRODUCTS = """
import atexit, threading, time
import ts

ts.set_num_threads({threads})
a, images, weight = ts.randn(700, 700), ts.randn(8, 16, 40, 40), ts.randn(32, 16, 3, 3)
expected = a @ a, ts.nn.functional.conv2d(images, weight)
ts.set_num_threads(2)

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


@pytest.mark.parametrize("threads", [1, 2])
def test_products_after_the_main_thread_ended(threads):
    """Parallel products run in a non-daemon thread and in an `atexit` handler, with new and with earlier workers."""
    command = [sys.executable, "-c", LATE_PRODUCTS.format(threads=threads)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert sorted(done.stdout.split("\n")[:2]) == ["atexit True", "thread True"], done.stdout + done.stderr
    assert done.returncode == 0
