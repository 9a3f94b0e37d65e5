"""`apply` of an `autograd.Function` is a Python call, with the gradient that the class defines."""
# rule: ignore

import ts as torch


class Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        return grad * 5


class Split(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, k: int):
        return x[:k], x[k:]

    @staticmethod
    def backward(ctx, first, second):
        return torch.cat([first, second]), None


apply_twice = Twice.apply


@torch.jit.script
def f(x):
    first, second = Split.apply(x, 1)
    return Twice.apply(first) + apply_twice(second)


x = torch.ones(2, requires_grad=True)
y = f(x)
print(y.item())  # expect: 4.0
y.sum().backward()
print(x.grad.tolist())  # expect: [5.0, 5.0]
