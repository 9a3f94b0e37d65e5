"""A class with a base class."""

import ts


class Base:
    pass


@ts.jit.script
class Point(Base):
    def __init__(self, x: int):
        self.x = x


def main():
    return 1

# error: CompilationError
# TorchScript classes does not support inheritance yet. Please directly inherit from 'object'.
