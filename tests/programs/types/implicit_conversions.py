"""A tensor with one element is converted to a number, and a tuple to a list, if the parameter requires it."""
# rule: conversion.tensor, conversion.tuple_list

from typing import List

import ts as torch


@torch.jit.script
def number(x: float, n: int) -> float:
    return x * n


@torch.jit.script
def length(xs: List[int]) -> int:
    return len(xs)


@torch.jit.script
def fn(t, k):
    print(number(t, k), length((1, 2, 3)))


fn(torch.tensor(1.5), torch.tensor(2))  # expect: 3. 3
