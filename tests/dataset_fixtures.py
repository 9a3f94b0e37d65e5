"""Data sets for loader workers, defined at module level so that every start method can import them."""

import os
import random
import signal
import sys
import time

import numpy as np

import ts
from ts.utils.data import Dataset, IterableDataset, get_worker_info


class Numbers(Dataset):
    """Data set of tensors with a given shape, filled with their index."""

    def __init__(self, length, shape=()):
        self.length = length
        self.shape = shape

    def __len__(self):
        return self.length

    def __getitem__(self, index):
        return ts.full(self.shape, float(index))


class Drawn(Numbers):
    """Returns the worker information and random numbers of each sample."""

    def __getitem__(self, index):
        info = get_worker_info()
        return index, info.id, info.num_workers, info.seed, ts.rand(1).item(), random.random(), np.random.rand()


class Shared(IterableDataset):
    """Iterable data set of numbers, divided among the workers."""

    def __init__(self, length):
        self.length = length

    def __len__(self):
        return self.length

    def __iter__(self):
        info = get_worker_info()
        first, step = (0, 1) if info is None else (info.id, info.num_workers)
        yield from range(first, self.length, step)


class Two(Exception):
    """Exception with two arguments."""

    def __init__(self, first, second):
        super().__init__(first, second)


class Failing(Numbers):
    """Raises an exception at sample 5."""

    def __init__(self, how, length=12):
        super().__init__(length)
        self.how = how

    def __getitem__(self, index):
        return FAILURES[self.how]() if index == 5 else ts.tensor(index)


def _raising(error):
    raise error


def _local_class():
    class Local(Exception):
        pass

    raise Local("nobody else knows it")


FAILURES = {
    "value": lambda: _raising(ValueError("bad sample")),
    "key": lambda: _raising(KeyError("missing")),
    "two arguments": lambda: _raising(Two(1, 2)),
    "local class": _local_class,
    "stop": lambda: _raising(StopIteration()),
    "killed": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "exit": lambda: sys.exit(3),
    "sleeps": lambda: time.sleep(60),
    "non-leaf": lambda: ts.ones((), requires_grad=True) * 2,
    "not pickled": lambda: (lambda: 1),
}


class Announced(Numbers):
    """Prints the process ID at each load and sleeps."""

    def __getitem__(self, index):
        # a single write is not interleaved with output of other processes
        os.write(1, f"{os.getpid()}\n".encode())
        time.sleep(0.05)
        return ts.tensor(index)


def first(samples):
    """Collate a batch to its first sample."""
    return samples[0]


def failing_worker_init(worker):
    """A `worker_init_fn` that fails."""
    raise OSError(f"worker {worker} finds no files")


def reseed(worker):
    """Seed the generator in a `worker_init_fn`."""
    ts.manual_seed(worker)
