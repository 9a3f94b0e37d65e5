"""Test configuration: every graph is verified after every pass, and global state is reset after each test.

`pytest --read-back` also parses the graph text and source text of all compiled functions. It keeps the functions alive,
so `test_reference_cycles` fails, and deeply nested graphs (`test_deep_nesting`) exceed the nesting limit of printing.
"""

import gc
import os
import shutil
import signal

import hypothesis
import pytest

os.environ.setdefault("TS_JIT_VERIFY", "1")
os.environ["TS_NATIVE"] = "0"  # the tests run the interpreter; `test_native` compares machine code with it
os.environ.setdefault("TS_TIER", "optimized")  # most tests examine optimized code; `test_tiers` runs both
os.environ["TS_CACHE"] = "0"  # each test compiles its functions; `test_code_cache` uses separate folders

# Tests assert no durations, because sanitizers and other processes slow them down.
hypothesis.settings.register_profile("ts", deadline=None)
hypothesis.settings.load_profile("ts")

# Background jobs may start with SIGINT ignored, but some tests send SIGINT.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def restore_modes():
    """Restore grad mode and autocast after each test, because operators that change them are tested too."""
    yield
    from ts._core.dispatch import autocast
    from ts.autograd.grad_mode import set_grad_enabled

    set_grad_enabled(True)
    autocast.leave(0, [0, 0, 0, 0])


@pytest.fixture(scope="module")
def browser():
    """Start headless Chromium without background network requests."""
    playwright = pytest.importorskip("playwright.sync_api", reason="needs Playwright: pip install playwright")
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        pytest.skip("needs Chromium: apt-get install chromium")
    quiet = ["--no-sandbox", "--disable-background-networking", "--disable-component-update", "--disable-sync"]
    with playwright.sync_playwright() as p:
        instance = p.chromium.launch(executable_path=chromium, args=quiet)
        yield instance
        instance.close()


@pytest.fixture
def freeze_objects():
    """Freeze existing objects, so that `gc.collect()` visits only objects of the test."""
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.fixture
def compile_before_use(monkeypatch):
    """Compile machine code for every Code before it runs; with `forced`, side exits are possible at any
    instruction."""
    from ts._core.vm.native import force_exit
    from ts.bytecode.native import background_compilation
    from ts.runtime import graph_variants

    def begin(forced=False):
        def lower(*args, **kwargs):
            code, program = lower_to_program(*args, **kwargs)
            background_compilation.compile_now(code, forced)
            return code, program

        lower_to_program = graph_variants.lower_to_program
        monkeypatch.setattr(graph_variants, "lower_to_program", lower)

    yield begin
    force_exit(-1)


@pytest.fixture(scope="module")
def cuda():
    """Return the CUDA backend of a GPU, or of the fake CuPy (`tests/fake_cupy`)."""
    from ts import backends

    if "cuda" in backends.available():
        yield backends.get("cuda")
        return
    from tests import fake_cupy

    if os.environ.get("TS_REQUIRE_GPU"):  # set by `make test-cuda`, whose results would otherwise be the fake's
        backends.get("cuda")
    if fake_cupy.missing():
        pytest.skip(fake_cupy.missing())
    with fake_cupy.installed() as backend:
        yield backend


def pytest_addoption(parser):
    parser.addoption("--read-back", action="store_true", help="read back the texts of all compiled functions")


@pytest.fixture(autouse=True)
def _read_back(request):
    if not request.config.getoption("--read-back"):
        yield
        return
    from tests import round_trip

    with round_trip.record_compiled() as compiled:
        yield
    for function, text in compiled.items():
        if str(function.graph) == text:  # the test has not edited the graph
            round_trip.check(function)
