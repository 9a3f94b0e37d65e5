"""Overload declarations of methods with type comments, which have no type for `self`."""

import ts as torch


class Net(torch.nn.Module):
    @torch.jit._overload_method
    def more(self, x):
        # type: (int) -> int
        pass

    @torch.jit._overload_method
    def more(self, x):
        # type: (str) -> str
        pass

    def more(self, x):
        return x + x

    def forward(self, n: int):
        return self.more(n), self.more("a")


print(torch.jit.script(Net())(3))  # expect: (6, 'aa')
