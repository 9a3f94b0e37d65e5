"""A method that does not compile raises an error only if it is called."""
# rule: class.lazy

# not in PyTorch: it compiles every method of a class.
import ts as torch


class Table:
    def __init__(self, n: int):
        self.n = n

    def double(self) -> int:
        return 2 * self.n

    def report(self):
        with open("table.txt", "w") as file:
            print(self.n, file=file)


@torch.jit.script
def fn(n: int) -> int:
    return Table(n).double()


print(fn(4))  # expect: 8
