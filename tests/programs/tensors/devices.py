"""A device is constructed from its name; a string is accepted for a device parameter."""
# rule: conversion.device

import ts


def main():
    x = ts.zeros([2], device="cpu")
    y = ts.ones([2], device=ts.device("cpu"))
    print(str(x.device) == str(y.device), ts.zeros([2], device=x.device).is_cuda)  # expect: True False
