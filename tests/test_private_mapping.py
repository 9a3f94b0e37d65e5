"""Release of the memory of private mappings (`ts._core.tensor.mapped_pages`), and packed weights of mapped archives."""

import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import ts
from ts._core.private_mapping import PrivateMapping
from ts._core.tensor.mapped_pages import release_clean_pages


RELEASE = """
import mmap, sys
import numpy as np
from ts._core.private_mapping import PrivateMapping
from ts._core.tensor.mapped_pages import release_clean_pages

def resident_bytes():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * mmap.PAGESIZE

data = np.arange(1 << 20, dtype=np.float32)
with open(sys.argv[1], "rb") as file:
    array = np.frombuffer(PrivateMapping(file), np.float32)
assert array.sum() == data.sum()
before = resident_bytes()
assert release_clean_pages(eval(sys.argv[2])) > 3 << 20
assert before - resident_bytes() > 2 << 20
assert np.array_equal(array, data)
"""


@pytest.mark.skipif(not Path("/proc/self/pagemap").exists(), reason="Linux shows which pages were changed")
@pytest.mark.parametrize("view", ["array", "array[2 : 1 << 18].reshape(-1, 2)"])
def test_clean_pages_are_released(tmp_path, view):
    """The memory of an unchanged array is released, and the next access reads the file again.

    The test runs in a process of its own, because other tests may leave threads.
    """
    np.arange(1 << 20, dtype=np.float32).tofile(tmp_path / "data")
    subprocess.run([sys.executable, "-c", RELEASE, str(tmp_path / "data"), view], check=True)


def test_changed_pages_are_kept(tmp_path):
    """A range with a page that was written to is kept, and arrays of other memory are not released."""
    data = np.arange(1 << 20, dtype=np.float32)
    data.tofile(tmp_path / "data")
    with open(tmp_path / "data", "rb") as file:
        array = np.frombuffer(PrivateMapping(file), np.float32)
    array[777] = -1
    assert release_clean_pages(array) < data.nbytes - (1 << 20)
    assert array[777] == -1 and array.sum() == data.sum() - 778
    assert release_clean_pages(data) == 0 and release_clean_pages(data[::2]) == 0
    assert release_clean_pages(np.frombuffer(bytes(1 << 20), np.float32)) == 0


def test_nothing_is_released_while_other_threads_exist(tmp_path):
    """Another thread could write to a page after the test whether the page was written to."""
    np.arange(1 << 20, dtype=np.float32).tofile(tmp_path / "data")
    with open(tmp_path / "data", "rb") as file:
        array = np.frombuffer(PrivateMapping(file), np.float32)
    assert array.sum() > 0
    done = threading.Event()
    thread = threading.Thread(target=done.wait)
    thread.start()
    try:
        assert release_clean_pages(array) == 0
    finally:
        done.set()
        thread.join()


def test_products_with_mapped_weights_after_release(tmp_path):
    """Packed weights release the memory of the archive. All later uses of the weight see its values."""
    layer = ts.nn.Linear(256, 512)
    ts.jit.script(layer).save(tmp_path / "model.pt")
    loaded = ts.jit.load(tmp_path / "model.pt", mmap=True)
    x = ts.randn(64, 256)
    expected = layer(x)
    for _ in range(4):
        assert loaded(x).equal(expected)
    assert loaded.weight.equal(layer.weight)
    with ts.no_grad():
        loaded.weight.mul_(2)
    assert ts.allclose(loaded(x), 2 * expected - layer.bias, atol=1e-5)
