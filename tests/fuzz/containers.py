"""Random programs over strings, dicts, optionals and lists of tuples, in addition to `programs.py`.

Input: `choose(n)` as there.  Output: `f(a, b, x, flag, xs, s: str, d: Dict[str, int], o: Optional[int])`.

Excluded, since Python, PyTorch and `ts` differ: floats as text, empty patterns, negative ends of searches,
non-ASCII characters, and changes to a container during a loop over it (PyTorch loops over a copy of the keys).
"""

from __future__ import annotations

from collections.abc import Callable

from tests.fuzz.programs import HELPER, RESULTS, Form, ProgramWriter

HEADER = (
    "def f(a: int, b: int, x: float, flag: bool, xs: List[int], s: str, d: Dict[str, int], o: Optional[int]) "
    "-> {result}:\n"
)
SEPARATORS = ['"-"', '""']
PADDINGS = ["zfill", "ljust", "rjust", "center"]
PARTS = ['"a"', '"bc"', '"k"']
CASES = ["upper", "lower", "title", "strip", "swapcase", "capitalize"]
OPTIONAL_HELPER = """def maybe(n: int) -> Optional[int]:
    if n % 3 == 0:
        return None
    return n // 2

"""


class ContainerProgramWriter(ProgramWriter):
    """Writes programs whose state also lives in strings and dicts."""

    header = HEADER
    helper = HELPER + OPTIONAL_HELPER
    results = RESULTS | {
        "str": "{s}",
        "Dict[str, int]": "d",
        "Tuple[str, Dict[str, int], List[int]]": "({s}, d, xs)",
        "Optional[int]": "maybe({i})",
    }

    def __init__(self, choose: Callable[[int], int], depth: int = 3, pytorch: bool = False) -> None:
        super().__init__(choose, depth, pytorch)
        self.strs = ["s"]

    # expressions ------------------------------------------------------------------------------

    def str_atom(self) -> str:
        if self.choose(3) == 0:
            return self.pick(['"a"', '"bc"', '""', '"k"', '"Xy z"', '",q"'])
        return self.pick(self.strs)

    def str_expr(self, depth: int = 2) -> str:
        if depth == 0:
            return self.str_atom()
        text, other = self.str_expr(depth - 1), self.str_atom()
        cut = self.choose(5) - 2
        forms: list[Form] = [
            lambda: text,
            lambda: f"({text} + {other})",
            lambda: f"{text}[{cut}:]",
            lambda: f"{text}[:{cut}]",
            lambda: f"{text}[{self.choose(3)}:{cut}:{self.choose(2) + 1}]",
            lambda: f"({text}[abs({self.int_atom()}) % len({text})] if len({text}) > 0 else {other})",
            lambda: f"str({self.int_expr(1)})",
            lambda: f"{text}.{self.pick(CASES)}()",
            lambda: f'{text}.replace("a", {other})',
            lambda: f'("%d:%s" % ({self.int_atom()}, {text}))',
            lambda: f'"{{}}/{{}}".format({text}, {self.int_atom()})',
            lambda: f'f"<{{{self.pick(self.strs)}}} {{{self.pick(self.ints)}}}>"',
            lambda: f'{self.pick(SEPARATORS)}.join({text}.split(","))',
            lambda: '"+".join([str(n) for n in xs[:3]])',
            lambda: f"({text} if {self.bool_expr(0)} else {other})",
            lambda: f'{text}.{self.pick(PADDINGS)}(7)' if text in self.strs else text,
        ]
        return forms[self.choose(len(forms))]()

    def key(self) -> str:
        return self.pick(['"k"', '"a"', '"zz"', "s[:1]", *self.strs])

    def int_forms(self, left: str, right: str, depth: int) -> list[Form]:
        key, text = self.key(), self.str_atom()
        return super().int_forms(left, right, depth) + [
            lambda: f"len({self.str_expr(1)})",
            lambda: f'{self.str_atom()}.{self.pick(["find", "rfind", "count"])}("a")',
            lambda: f"(d[{key}] if {key} in d else {right})",
            lambda: f"d.get({key}, {left})",
            lambda: "len(d)",
            lambda: "sum(xs[:3])",
            lambda: f"(o if o is not None else {left})",
            lambda: f"max([{left}, {right}])",
            lambda: f"(ord({text}[0]) if len({text}) > 0 else {right})",
            lambda: f"xs.count({self.int_atom()})",
            lambda: "sum([v % 11 for v in d.values()])",
        ]

    def bool_forms(self, comparison: str, depth: int) -> list[Form]:
        return super().bool_forms(comparison, depth) + [
            lambda: f"({self.str_atom()} {comparison} {self.str_atom()})",
            lambda: f'({self.pick(PARTS)} in {self.str_atom()})',
            lambda: f"({self.key()} {self.pick(['in', 'not in'])} d)",
            lambda: f"(o is not None and o > {self.int_atom()})",
            lambda: f"(o is None or o {comparison} {self.int_atom()})",
            lambda: f'{self.str_atom()}.{self.pick(["startswith", "endswith"])}("a")',
            lambda: f'{self.str_atom()}.{self.pick(["isdigit", "isalpha", "isupper", "islower", "isspace"])}()',
            lambda: f"bool({self.pick(['xs', 'd', *self.strs])})",
            lambda: f"(xs[:2] {self.pick(['==', '!='])} [1, {self.int_atom()}])",
        ]

    # statements -------------------------------------------------------------------------------

    def assign(self) -> list[str]:
        if self.choose(3):
            return super().assign()
        which = self.choose(5)
        if which <= 1:
            name = self.pick([*self.strs, ""]) or self.fresh("t")
            text = self.str_expr()
            if name not in self.strs:
                self.strs.append(name)
            return [f"{name} = ({text})[:24]"]
        if which == 2:
            return [f"{self.pick(self.strs)} += {self.str_atom()}[:5]"]
        if which == 3:
            return [f"d[{self.key()}] = ({self.int_expr(1)}) % 1000"]
        return self.dict_statement()

    def dict_statement(self) -> list[str]:
        key = self.key()
        forms = [
            lambda: [f"if {key} in d:", f"    d[{key}] {self.pick(['+=', '-=', '*='])} {self.choose(4)}"],
            lambda: [f"if {key} in d:", f"    del d[{key}]"],
            lambda: [f"d.pop({key}, 0)"],
            lambda: [f"d.setdefault({key}, {self.int_atom()})"],
            lambda: [f"d.update({{{key}: {self.int_atom()}}})"],
            lambda: ["d = {key: value % 100 for key, value in d.items()}"],
            lambda: ["d = {w: len(w) for w in s.split(\",\")}"],
            lambda: ["d = dict(d, q=len(xs))"],
            lambda: ["d = d.copy()"],
            lambda: ["xs = [v % 90 for v in d.values()]"],
            lambda: [f"xs = [len(c) + {self.int_atom()} % 9 for c in s]"],
            lambda: [f"xs.insert({self.int_atom()}, {self.int_atom()} % 70)"],
            lambda: ["xs = xs[::2]"],
            lambda: ["xs = [l * 3 % 997 - m for l, m in zip(xs, [4, 5, 6])]"],
            lambda: ["xs = [l + m % 40 for l, m in enumerate(xs)]"],
            lambda: ["xs = sorted(xs)"],
            lambda: ["if len(xs) > 2:", "    del xs[1]"],
            lambda: ["if len(xs) > 1:", "    xs[0], xs[-1] = xs[-1], xs[0]"],
        ]
        return forms[self.choose(len(forms))]()

    def block(self, depth: int) -> list[str]:
        outer = list(self.strs)
        lines = super().block(depth)
        self.strs = outer
        return lines

    def statement(self, depth: int) -> list[str]:
        if depth == 0 or self.choose(5):
            return super().statement(depth)
        which = self.choose(6)
        if which == 0:
            return self.dict_statement()
        if which == 1:
            return self.text_loop("for {} in list(d.keys()):", depth - 1)
        if which == 2:
            return self.text_loop("for {} in s[:5]:", depth - 1)
        if which == 3:
            return self.text_loop('for {} in s.split(","):', depth - 1)
        if which == 4:
            counter, value = self.fresh("n"), self.fresh("v")
            return self.loop(f"for {counter}, {value} in enumerate(xs[:4]):", counter, depth - 1)
        name, value = self.fresh("m"), self.int_expr(1)
        self.ints.append(name)  # refined below: an int from here on
        return [f"{name} = maybe({value})", f"if {name} is None:", f"    {name} = {self.choose(9)}"]

    def text_loop(self, head: str, depth: int) -> list[str]:
        name = self.fresh("c")
        self.loops += 1
        self.strs.append(name)
        body = self.block(depth)
        self.strs.remove(name)
        self.loops -= 1
        return [head.format(name), *body]

    def returned(self) -> str:
        return self.results[self.result].format(
            i=self.int_expr(1), f=self.float_expr(1), b=self.bool_expr(1), s=self.str_expr(1)
        )
