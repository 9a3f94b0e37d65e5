"""Random programs on tensors: views, in-place writes, lists of tensors, branches and loops.

Input: `choose(n)`, a source of choices 0 .. n-1.  Output: source of `f(a, b, v, n: int, flag: bool)`, which
returns matrices and vectors, among them views of its arguments and of each other.

Matrices are square and as wide as vectors are long, so nearly every program runs on any size from three.
In-place writes go to new memory, because PyTorch defines no order for overlapping operands.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

HEADER = "def f(a: Tensor, b: Tensor, v: Tensor, n: int, flag: bool) -> Tuple[Tensor, Tensor, Tensor, int]:\n"


class TensorProgramWriter:
    """Writes a program; blocks assign only to variables that are defined outside."""

    def __init__(self, choose: Callable[[int], int], statements: int = 9) -> None:
        self.choose = choose
        self.statements = statements
        self.matrices = ["a", "b"]
        self.vectors = ["v"]
        self.ints = ["n", "1", "2"]
        self.lists: list[str] = []
        self.names = 0

    def source(self) -> str:
        lines = [*self.block(self.statements, 1)]
        result = f"({self.matrix()}, {self.vector()}, {self.pick(self.matrices)}, {self.pick(self.ints)})"
        return HEADER + "\n".join([*lines, f"    return {result}"]) + "\n"

    def pick(self, options: list[str]) -> str:
        return options[self.choose(len(options))]

    def fresh(self, letter: str) -> str:
        self.names += 1
        return f"{letter}{self.names}"

    # expressions ------------------------------------------------------------------------------

    def matrix(self, depth: int = 1) -> str:
        """Return an expression for a matrix: a variable, a view or a new matrix."""
        x = self.pick(self.matrices)
        if self.lists and self.choose(4) == 0:
            list_name = self.pick(self.lists)
            return self.pick([f"{list_name}[0]", f"{list_name}[-1]", f"({list_name}[0] + {list_name}[1])", f"torch.stack({list_name}).sum(0)"])
        forms = [x, f"{x}.t()", f"{x}.contiguous()", f"{x}[:, :]", self.new_matrix(depth), self.new_matrix(depth)]
        return self.pick(forms)

    def new_matrix(self, depth: int = 1) -> str:
        """Return an expression for a matrix in new memory."""
        x, y = self.pick(self.matrices), self.pick(self.matrices)
        if depth and self.choose(2):
            x = self.matrix(depth - 1)
        return self.pick(
            [
                f"({x} + {y})",
                f"(({x} - {y}) * 0.5)",
                f"({x} * {y})",
                f"(torch.mm({x}, {y}) * 0.25)",
                f"torch.relu({x} + {self.pick(self.ints)})",
                f"torch.tanh({x})",
                f"(-{x})",
                f"({x} + {self.pick(self.vectors)})",
                f"({x} + {self.pick(self.vectors)}.unsqueeze(1))",
                f"{x}.clone()",
                f"torch.cat([{x}[1:], {y}[:1]])",
                f"(torch.matmul({x}, {y}.t()) * 0.25)",
                f"((torch.mm({x}, {y}) + torch.mm({y}, {x}) + torch.mm({x}, {x}) + torch.mm({y}, {y})) * 0.1)",
            ]
        )

    def vector(self) -> str:
        x = self.pick(self.matrices)
        row = self.choose(3)
        return self.pick([f"{x}[{row}]", f"{x}[:, {row}]", self.pick(self.vectors), self.new_vector()])

    def new_vector(self) -> str:
        x, u = self.pick(self.matrices), self.pick(self.vectors)
        return self.pick(
            [f"({x}.sum(0) * 0.25)", f"({u} + {self.pick(self.vectors)})", f"({u} * 0.5)", f"torch.sigmoid({u})", f"({u} - 1)"]
        )

    def condition(self) -> str:
        conditions = ["flag", "n > 2", "n == 2", f"bool({self.pick(self.matrices)}.sum() > 0)", "not flag"]
        if self.lists:
            conditions.append(f"len({self.pick(self.lists)}) == 2")
        return self.pick(conditions)

    # statements -------------------------------------------------------------------------------

    def block(self, count: int, indent: int) -> Iterator[str]:
        for _ in range(1 + self.choose(count)):
            for line in self.statement(indent):
                yield "    " * indent + line

    def statement(self, indent: int) -> list[str]:
        kind = self.choose(12)
        if kind < 3:
            return [self.assignment(indent)]
        if kind < 7:
            return [self.write()]
        if kind < 9:
            return self.with_list(indent)
        if kind == 9:
            return self.unpacking(indent)
        return self.nested(indent)

    def assignment(self, indent: int) -> str:
        if self.choose(3) == 0:
            value = self.vector()
            return f"{self.target('v', self.vectors, indent)} = {value}"
        value = self.matrix()
        return f"{self.target('m', self.matrices, indent)} = {value}"

    def target(self, letter: str, known: list[str], indent: int) -> str:
        if indent > 1 or self.choose(3) == 0:
            return self.pick(known)
        known.append(self.fresh(letter))
        return known[-1]

    def write(self) -> str:
        x, u, i = self.pick(self.matrices), self.pick(self.vectors), self.choose(3)
        new, new_row = self.new_matrix(0), self.new_vector()
        return self.pick(
            [
                f"{x}.add_({new})",
                f"{x}.mul_(0.5)",
                f"{x}.copy_({new})",
                f"{x}[{i}] = {new_row}",
                f"{x}[:, {i}].add_({new_row})",
                f"{x}[{i}].relu_()",
                f"{x}.t().sub_({new})",
                f"{u}.copy_({new_row})",
                f"{u} += 1",
                f"{u}.zero_()",
            ]
        )

    def with_list(self, indent: int) -> list[str]:
        if indent > 1 or (self.lists and self.choose(2)):
            if not self.lists:
                return [self.write()]
            list_name = self.pick(self.lists)
            return [self.pick([f"{list_name}.append({self.matrix()})", f"{list_name}[0] = {self.matrix()}", f"{list_name}[1].mul_(0.5)"])]
        expression = f"[{self.matrix()}, {self.matrix()}]"
        if self.lists and self.choose(3) == 0:
            expression = self.pick([f"{self.lists[0]} + {expression}", f"{self.lists[0]}[0:1] + {expression}"])
        self.lists.append(self.fresh("l"))
        return [f"{self.lists[-1]} = {expression}"]

    def unpacking(self, indent: int) -> list[str]:
        x = self.matrix()
        p, q = self.fresh("p"), self.fresh("q")
        joined = f"torch.cat([{q}, {p}], 1)"
        if self.choose(2):
            return [f"{p}, {q} = {x}.chunk(2, 1)", f"{self.target('m', self.matrices, indent)} = {joined}"]
        return [f"{p}, {q} = [{x}, {self.matrix()}]", f"{self.target('m', self.matrices, indent)} = {p} + {q}"]

    def nested(self, indent: int) -> list[str]:
        if indent > 2:
            return [self.write()]
        inner = [line[4 * indent :] for line in self.block(3, indent + 1)]
        if self.choose(3) == 0:
            count = self.pick(["3", "n", "2"])
            return [f"for i{indent} in range({count}):", *inner]
        condition = self.condition()
        lines = [f"if {condition}:", *inner]
        if self.choose(2):
            lines += ["else:", *(line[4 * indent :] for line in self.block(3, indent + 1))]
        if self.choose(3) == 0:
            lines += [f"if {condition}:", *(line[4 * indent :] for line in self.block(2, indent + 1))]
        return lines
