"""Dtypes, layouts, memory formats and devices as values: constants, arguments, comparison."""

import ts
from ts import Tensor


def of(x: Tensor, dtype: ts.dtype = ts.float64) -> Tensor:
    return x.to(dtype)


def main():
    x = ts.ones([1, 2, 2, 2])
    print(x.dtype == ts.float32, of(x).dtype == ts.float64)  # expect: True True
    print(x.layout == ts.strided)  # expect: True
    print(x.device == ts.device("cpu"), x.device.type)  # expect: True cpu
    print(x.contiguous(memory_format=ts.channels_last).size(1))  # expect: 2
