"""The thread pool of kernels: the stress test in C, and operators in several threads, after forks and at exit."""

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

import ts
from tests.divided_work import divided_work
from ts.backends.cpu.kernels import parallel_for

ROOT = Path(__file__).resolve().parent.parent
COMPILER = (sysconfig.get_config_var("CC") or "cc").split()[0]
TIMEOUT_SECONDS = 100 * int(os.environ.get("TS_TIMEOUT_FACTOR", "1"))
needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="requires fork")


@pytest.mark.skipif(os.name == "nt" or not shutil.which(COMPILER), reason="requires a C compiler and POSIX")
@pytest.mark.parametrize("waiting", ["", "-DTS_WITHOUT_FUTEX"])
@pytest.mark.parametrize("sanitizers", ["", "thread", "address,undefined"])
def test_stress_test_in_c(waiting, sanitizers, tmp_path):
    """Concurrent and nested calls, error codes, rounding modes, changing thread limits and forks."""
    program = tmp_path / "stress"
    source, kernels = ROOT / "tests" / "c" / "thread_pool_stress.c", ROOT / "backends" / "cpu" / "kernels"
    options = [option for option in (waiting, f"-fsanitize={sanitizers}" if sanitizers else "") if option]
    command = [COMPILER, "-O1", "-g", "-Wall", "-Wextra", *options, "-I", str(kernels), str(source), "-o", str(program), "-lpthread", "-lm"]
    compiled = subprocess.run(command, capture_output=True, text=True)
    if compiled.returncode and sanitizers:
        pytest.skip(f"the compiler has no sanitizers: {compiled.stderr[-200:]}")
    assert compiled.returncode == 0 and not compiled.stderr, compiled.stderr
    forks = "0" if sanitizers == "thread" else "5"  # ThreadSanitizer does not support threads in a forked child
    environment = {name: text for name, text in os.environ.items() if name != "LD_PRELOAD"}
    done = subprocess.run([program, "300", forks], capture_output=True, text=True, env=environment)
    if "unexpected memory mapping" in done.stderr:
        pytest.skip("ThreadSanitizer does not support the address space layout of this kernel")
    assert (done.returncode, done.stdout) == (0, "ok\n"), done.stdout + done.stderr


def run_program(text):
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, cwd=ROOT, timeout=TIMEOUT_SECONDS)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


SETUP = """
import os, sys, threading, time
import ts
from ts.backends.cpu.kernels import parallel_for
parallel_for.set_min_work(1)
ts.set_num_threads(3)
a, q = ts.randn(90, 90), ts.randn(2, 3, 40, 16)
product, attention = a @ a, ts.nn.functional.scaled_dot_product_attention(q, q, q)

def is_right():
    found = ts.nn.functional.scaled_dot_product_attention(q, q, q)
    return ts.equal(a @ a, product) and ts.equal(found, attention)

def count_workers():
    names = [open(f"/proc/self/task/{task}/comm").read().strip() for task in os.listdir("/proc/self/task")]
    return names.count("ts-worker")

assert is_right()  # imports all modules that `is_right` needs, because a fork during an import blocks the child
"""
MANY_CALLERS = """
sys.setswitchinterval(1e-5)
wrong = []

def call(caller):
    for i in range(100):
        if caller == 0:
            ts.set_num_threads(1 + i % 9)
        if not is_right():
            wrong.append((caller, i))

threads = [threading.Thread(target=call, args=(caller,)) for caller in range(6)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(wrong)
"""
FORK = """
stop = threading.Event()

def call():
    while not stop.is_set():
        assert is_right()

thread = threading.Thread(target=call)
thread.start()
for _ in range(10):
    child = os.fork()
    if child == 0:
        before = count_workers() if sys.platform == "linux" else 0
        right = all(is_right() for _ in range(20))
        while sys.platform == "linux" and count_workers() < 2:  # a new thread sets its name when it runs
            time.sleep(0.001)
        os._exit(0 if right and before == 0 else 1)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
stop.set()
thread.join()
"""
EXIT_DURING_WORK = """
def call():
    big = ts.randn(1500, 1500)
    while True:
        big @ big

threading.Thread(target=call, daemon=True).start()
time.sleep(0.3)
print("end of the main thread")
"""
SIGNALS = """
while count_workers() < 2:  # a new thread sets its name when it runs
    time.sleep(0.001)
blocked = []
for task in os.listdir("/proc/self/task"):
    fields = dict(line.split(":", 1) for line in open(f"/proc/self/task/{task}/status") if ":" in line)
    if fields["Name"].strip() == "ts-worker":
        blocked.append(int(fields["SigBlk"], 16))
import signal
print(len(blocked), all(b >> signal.SIGINT - 1 & 1 and b >> signal.SIGCHLD - 1 & 1 for b in blocked))
print(not any(b >> signal.SIGSEGV - 1 & 1 for b in blocked), signal.pthread_sigmask(signal.SIG_BLOCK, []))
"""
WITHOUT_MEMORY_FOR_STACKS = """
import os, resource
import ts
from ts.backends.cpu.kernels import parallel_for
parallel_for.set_min_work(1)
ts.set_num_threads(1)
a = ts.randn(90, 90)
expected = a @ a
ts.set_num_threads(3)
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (6 << 20), resource.RLIM_INFINITY))
threads = len(os.listdir("/proc/self/task"))
right = ts.equal(a @ a, expected)
print(right, len(os.listdir("/proc/self/task")) - threads)
resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
right = ts.equal(a @ a, expected)
print(right, len(os.listdir("/proc/self/task")) - threads)
"""


def test_many_threads_call_operators_while_the_number_of_threads_changes():
    assert run_program(SETUP + MANY_CALLERS) == "[]\n"


@needs_fork
def test_a_forked_child_starts_its_own_workers():
    assert run_program(SETUP + FORK) == "0\n" * 10


def test_workers_do_not_delay_the_exit():
    assert run_program(SETUP + EXIT_DURING_WORK) == "end of the main thread\n"


@pytest.mark.skipif(sys.platform != "linux", reason="reads the masks in /proc")
def test_workers_block_signals():
    """Workers block signals, except those of their own errors. The mask of the calling thread is unchanged."""
    assert run_program(SETUP + SIGNALS) == "2 True\nTrue set()\n"


@pytest.mark.skipif(sys.platform != "linux" or "LD_PRELOAD" in os.environ, reason="limits the address space; not with sanitizers")
def test_without_new_threads_the_caller_computes_all_partitions():
    """If the system cannot create a thread, the results are right, and a later call creates the threads."""
    assert run_program(WITHOUT_MEMORY_FOR_STACKS) == "True 0\nTrue 2\n"


def test_initial_number_of_threads():
    """OMP_NUM_THREADS may list the numbers of nested levels; other texts have no effect."""
    program = "import ts; print(ts.get_num_threads())"
    processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    for setting, expected in {"5": 5, "4,2": 4, "0": processors, "many": processors, "": processors, "3x": processors}.items():
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env={**os.environ, "OMP_NUM_THREADS": setting})
        assert done.stdout == f"{expected}\n", (setting, done.stderr)


def test_limits_of_the_division():
    """Small work is not divided. More threads than partitions, and huge numbers of threads, are valid."""
    a = ts.randn(64, 64)
    expected = a @ a
    with divided_work(threads=10**6):
        assert parallel_for.count() == 10**6
        assert ts.equal(a @ a, expected)
