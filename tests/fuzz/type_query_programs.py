"""Random programs that query their tensors: dimensions, dtypes, devices, gradients, None.

Input: `choose(n)`, a source of choices.  Output: the source of `f(a, b, v, n: int, flag: bool, c:
Optional[Tensor])`, a program of `tensors` with branches on type queries of arguments and computed values;
other tensors change dimensions and dtypes, also in place, and are only queried.
"""

from __future__ import annotations

from collections.abc import Callable

from tests.fuzz.tensors import TensorProgramWriter

HEADER = (
    "def f(a: Tensor, b: Tensor, v: Tensor, n: int, flag: bool, c: Optional[Tensor])"
    " -> Tuple[Tensor, Tensor, Tensor, int]:\n"
)
QUESTIONS = (
    "{x}.dim() == 2",
    "{x}.dim() > 1",
    "len({x}.shape) == 3",
    "len({x}.size()) == {y}.dim()",
    "{x}.dtype == torch.float32",
    "{x}.dtype == {y}.dtype",
    "{x}.is_floating_point()",
    "not {x}.is_floating_point() or flag",
    "{x}.requires_grad",
    "{x}.is_cuda",
    "{x}.device == {y}.device",
    "c is None",
    "c is not None",
)


class TypeQueryProgramWriter(TensorProgramWriter):
    """Writes a program that queries types of tensors."""

    def __init__(self, choose: Callable[[int], int], statements: int = 9) -> None:
        super().__init__(choose, statements)
        self.others: list[str] = []  # tensors that are only queried

    def source(self) -> str:
        return HEADER + super().source().partition("\n")[2]

    def tensor(self) -> str:
        return self.pick([*self.matrices, *self.vectors, *self.others])

    def condition(self) -> str:
        if self.choose(3) == 0:
            return super().condition()
        return self.pick(list(QUESTIONS)).format(x=self.tensor(), y=self.tensor())

    def statement(self, indent: int) -> list[str]:
        kind = self.choose(6)
        if kind == 0 and indent == 1:
            x = self.tensor()
            expression = self.pick([f"{x}.unsqueeze(0)", f"{x}.double()", f"({x} > 0)", f"{x}.sum(0)", f"{x}.reshape(-1)", f"({x} > 0).sum()"])
            self.others.append(self.fresh("o"))
            return [f"{self.others[-1]} = {expression}"]
        if kind == 1 and indent == 1 and self.choose(3) == 0:
            return [self.other_view()]
        if kind == 1 and self.others:
            x = self.pick(self.others)
            return [self.pick([f"{x}.unsqueeze_(0)", f"{x}.squeeze_()", f"{x} = {x}.unsqueeze(-1)", f"{x} = {x} + 1"])]
        if kind == 2:
            m = self.pick(self.matrices)
            return ["if c is not None:", f"    {m}.add_(c.to({m}.dtype))"]
        if kind == 3 and indent < 3:
            return self.nested(indent)
        return super().statement(indent)

    def other_view(self) -> str:
        """Return code that changes an argument's view in place and back, with a query in between."""
        x = self.pick(["a", "b"])
        then = f"{self.pick(self.matrices)}.mul_(0.5)"
        return f"{x}.unsqueeze_(0)\n    if {x}.dim() == {self.pick(['2', '3'])}:\n        {then}\n    {x}.squeeze_(0)"
