"""Random typed programs on scalars and lists that have equal results in Python, PyTorch and `ts`.

Input: `choose(n)`, a source of choices 0 .. n-1 (hypothesis, which can shrink them, or `random`).  Output:
source of a function `f(a: int, b: int, x: float, flag: bool, xs: List[int])` and its return type.

Every program terminates, and avoids differences of the three: ints stay small (Python's do not overflow),
float divisors are not zero (PyTorch returns inf, Python raises an error), `//` on floats divides by powers
of two (PyTorch rounds the quotient first).  Integer division by zero and invalid indices occur: all
three must raise an error.
"""

from __future__ import annotations

from collections.abc import Callable

Form = Callable[[], str]

HEADER = "def f(a: int, b: int, x: float, flag: bool, xs: List[int]) -> {result}:\n"
HELPER = """def helper(n: int, y: float) -> int:
    if y > 2.5:
        return n - 1
    elif n % 2 == 0:
        return n // 2
    return n + 3

"""
RESULTS = {
    "int": "{i}",
    "float": "{f}",
    "bool": "{b}",
    "List[int]": "xs",
    "Tuple[int, float, bool]": "({i}, {f}, {b})",
    "Tuple[List[int], int]": "(xs, {i})",
}


class ProgramWriter:
    """Writes a random program; each choice restricts later choices."""

    header = HEADER
    helper = HELPER
    results = RESULTS

    def __init__(self, choose: Callable[[int], int], depth: int = 3, pytorch: bool = False) -> None:
        self.choose = choose
        self.depth = depth
        # PyTorch drops an expression that would raise when its value is not used, lacks `//=` and
        # conditions in comprehensions, and makes `%=` on an int a float.
        self.pytorch = pytorch
        self.ints = ["a", "b"]
        self.floats = ["x"]
        self.bools = ["flag"]
        self.fixed: set[str] = set()  # loop counters: read, never assigned
        self.loops = 0
        self.names = 0
        self.result = list(self.results)[choose(len(self.results))]

    def pick(self, options: list[str]) -> str:
        return options[self.choose(len(options))]

    def fresh(self, letter: str) -> str:
        self.names += 1
        return f"{letter}{self.names}"

    # expressions ------------------------------------------------------------------------------

    def int_atom(self) -> str:
        which = self.choose(4)
        if which == 0:
            return str(self.choose(21) - 5)
        return self.pick(self.ints)

    def int_expr(self, depth: int = 2) -> str:
        if depth == 0:
            return self.int_atom()
        left, right = self.int_expr(depth - 1), self.int_expr(depth - 1)
        forms = self.int_forms(left, right, depth)
        return forms[self.choose(len(forms))]()

    def int_forms(self, left: str, right: str, depth: int) -> list[Form]:
        """Return expressions of type int with two operands."""
        forms = [
            lambda: self.int_atom(),
            lambda: f"({left} + {right})",
            lambda: f"({left} - {right})",
            lambda: f"({self.int_atom()} * {self.int_atom()})",
            lambda: f"({left} // (abs({right}) % 7 + 1))",
            lambda: f"({left} % (abs({right}) % 9 + 1))",
            lambda: f"({left} & {right})",
            lambda: f"({left} | {right})",
            lambda: f"({left} ^ {right})",
            lambda: f"({left} << (abs({self.int_atom()}) % 5))",
            lambda: f"({left} >> (abs({self.int_atom()}) % 5))",
            lambda: f"(-{left})",
            lambda: f"abs({left})",
            lambda: f"min({left}, {right})",
            lambda: f"max({left}, {right})",
            lambda: f"({left} if {self.bool_expr(depth - 1)} else {right})",
            lambda: f"int({self.bool_expr(depth - 1)})",
            lambda: "len(xs)",
            lambda: f"(xs[abs({left}) % len(xs)] if len(xs) > 0 else {right})",
            lambda: f"helper({left}, {self.float_atom()})",
        ]
        if not self.pytorch:
            forms += [
                lambda: f"({left} // {self.int_atom()})",
                lambda: f"({left} % {self.int_atom()})",
                lambda: f"xs[{self.int_atom()}]",
            ]
        return forms

    def float_atom(self) -> str:
        which = self.choose(4)
        if which == 0:
            return self.pick(["0.5", "1.0", "-2.25", "3.0", "0.1", "1e3"])
        return self.pick(self.floats)

    def float_expr(self, depth: int = 2) -> str:
        if depth == 0:
            return self.float_atom()
        left, right = self.float_expr(depth - 1), self.float_expr(depth - 1)
        forms = [
            lambda: self.float_atom(),
            lambda: f"({left} + {right})",
            lambda: f"({left} - {right})",
            lambda: f"({left} * {self.pick(['0.5', '0.25', '-1.5'])})",
            lambda: f"({left} / (abs({right}) + 1.0))",
            lambda: f"({left} // {self.pick(['2.0', '0.5', '4.0'])})",
            lambda: f"(-{left})",
            lambda: f"abs({left})",
            lambda: f"min({left}, {right})",
            lambda: f"max({left}, {right})",
            lambda: f"float({self.int_expr(depth - 1)})",
            lambda: f"({left} + {self.int_atom()})",
            lambda: f"({self.int_atom()} / {self.pick(['2', '4', '8'])})",
            lambda: f"({left} if {self.bool_expr(depth - 1)} else {right})",
        ]
        return forms[self.choose(len(forms))]()

    def bool_expr(self, depth: int = 2) -> str:
        if depth == 0:
            return self.pick([*self.bools, "True", "False"])
        forms = self.bool_forms(self.pick(["<", "<=", ">", ">=", "==", "!="]), depth)
        return forms[self.choose(len(forms))]()

    def bool_forms(self, comparison: str, depth: int) -> list[Form]:
        """Return conditions."""
        return [
            lambda: f"({self.int_expr(depth - 1)} {comparison} {self.int_expr(depth - 1)})",
            lambda: f"({self.float_expr(depth - 1)} {comparison} {self.float_expr(depth - 1)})",
            lambda: f"({self.int_atom()} {comparison} {self.float_atom()})",
            lambda: f"(not {self.bool_expr(depth - 1)})",
            lambda: f"({self.bool_expr(depth - 1)} and {self.bool_expr(depth - 1)})",
            lambda: f"({self.bool_expr(depth - 1)} or {self.bool_expr(depth - 1)})",
            lambda: f"({self.int_atom()} in xs)",
            lambda: f"({self.int_atom()} <= {self.int_atom()} < {self.int_atom()})",
            lambda: self.pick(self.bools),
        ]

    # statements -------------------------------------------------------------------------------

    def assignable(self, names: list[str]) -> list[str]:
        return [name for name in names if name not in self.fixed]

    def assign(self) -> list[str]:
        """Return an assignment to an old or a new variable; ints are folded into -5000 .. 5006."""
        which = self.choose(7)
        if which <= 2:
            name = self.pick([*self.assignable(self.ints), ""]) or self.fresh("i")
            text = f"{name} = ({self.int_expr()}) % 10007 - 5000"
            if name not in self.ints:
                self.ints.append(name)
        elif which == 3:
            name = self.pick(self.assignable(self.ints))
            operator = self.pick(["+=", "-=", "*=", *([] if self.pytorch else ["//=", "%="])])
            operand = self.int_atom() if not self.pytorch else str(self.choose(9) + 1)
            return [f"{name} {operator} {operand}", f"{name} = {name} % 10007 - 5000"]
        elif which == 4:
            name = self.pick([*self.floats, ""]) or self.fresh("y")
            text = f"{name} = {self.float_expr()}"
            if name not in self.floats:
                self.floats.append(name)
        elif which == 5:
            name = self.pick([*self.bools, ""]) or self.fresh("p")
            text = f"{name} = {self.bool_expr()}"
            if name not in self.bools:
                self.bools.append(name)
        else:
            names = self.assignable(self.ints)
            one, two = self.pick(names), self.pick(names)
            return [f"{one}, {two} = {two}, {one}"]
        return [text]

    def list_statement(self) -> list[str]:
        forms = [
            lambda: [f"xs.append({self.int_atom()} % 100)"],
            lambda: [
                "if len(xs) > 0:",
                f"    xs[abs({self.int_atom()}) % len(xs)] = {self.int_atom()} % 1000",
            ],
            lambda: ["if len(xs) > 1:", "    xs.pop()"],
            lambda: ["xs = [n % 50 for n in xs]"],
            lambda: [f"xs = xs[{self.choose(3)}:]"],
            lambda: [f"xs = xs + [{self.int_atom()} % 77]"],
            lambda: ["xs.sort()"],
            lambda: ["xs.reverse()"],
        ]
        return forms[self.choose(len(forms))]()

    def block(self, depth: int) -> list[str]:
        """Return the statements of a block; names defined inside are not visible after it."""
        outer = (list(self.ints), list(self.floats), list(self.bools))
        lines: list[str] = []
        for _ in range(1 + self.choose(3)):
            lines += self.statement(depth)
        self.ints, self.floats, self.bools = outer
        return ["    " + line for line in lines]

    def branch(self, depth: int) -> list[str]:
        lines = [f"if {self.bool_expr()}:", *self.block(depth)]
        if self.choose(3) == 0:
            lines += [f"elif {self.bool_expr()}:", *self.block(depth)]
        if self.choose(2) == 0:
            lines += ["else:", *self.block(depth)]
        return lines

    def counted_loop(self, depth: int) -> list[str]:
        counter = self.fresh("k")
        over = self.pick(
            [str(self.choose(6)), f"1, {self.choose(8)}", f"{self.choose(9)}, 0, -2", "len(xs) % 5"]
        )
        return self.loop(f"for {counter} in range({over}):", counter, depth)

    def list_loop(self, depth: int) -> list[str]:
        counter = self.fresh("e")
        return self.loop(f"for {counter} in xs[:4]:", counter, depth)

    def loop(self, head: str, counter: str, depth: int) -> list[str]:
        self.loops += 1
        self.ints.append(counter)
        self.fixed.add(counter)
        body = self.block(depth)
        self.ints.remove(counter)
        self.loops -= 1
        return [head, *body]

    def statement(self, depth: int) -> list[str]:
        if depth == 0:
            return self.assign()
        which = self.choose(12)
        if which <= 4:
            return self.assign()
        if which == 5:
            return self.list_statement()
        if which <= 7:
            return self.branch(depth - 1)
        if which == 8:
            return self.counted_loop(depth - 1)
        if which == 9:
            return self.list_loop(depth - 1)
        if which == 10:
            return self.bounded_while(depth - 1)
        if self.loops and self.choose(2) == 0:
            return [f"if {self.bool_expr(1)}:", "    " + self.pick(["break", "continue"])]
        return [f"if {self.bool_expr(1)}:", "    return " + self.returned()]

    def bounded_while(self, depth: int) -> list[str]:
        """Return a while loop that increments its counter first, so that `continue` cannot make it
        endless."""
        counter = self.fresh("w")
        condition = f"{counter} < {self.choose(6)} and {self.bool_expr(1)}"
        head, *body = self.loop(f"while {condition}:", counter, depth)
        return [f"{counter} = 0", head, f"    {counter} += 1", *body]

    def returned(self) -> str:
        return self.results[self.result].format(i=self.int_expr(1), f=self.float_expr(1), b=self.bool_expr(1))

    def program(self) -> str:
        """Return the source of a program, including `helper`."""
        lines: list[str] = []
        for _ in range(2 + self.choose(5)):
            lines += self.statement(self.depth)
        lines.append("return " + self.returned())
        return self.helper + self.header.format(result=self.result) + "\n".join("    " + line for line in lines) + "\n"
