"""Random programs over script classes, enums, named tuples, unions, `with` and exceptions.

Input: `choose(n)` as in `programs.py`.  Output: the source of a module: an enum, a named tuple, the classes
`Item` and `Box` (boxes contain items: one, an Optional, a list, a dict), helpers, and a function `f` with the
parameters of `containers.py`.  Attributes are variables, too, so statements of the base writers read and write
them; the names `xs`, `s`, `d` and `o` of a method are aliases of the attributes.

A method calls only methods written before it, so every program ends.  Excluded, since neither PyTorch nor `ts`
supports it: refining an Optional by the condition of a `while`, and `in` over a list of objects.

With `pytorch`, constructs are excluded that PyTorch 2.13 rejects (recursion, early exits of `with` blocks,
static methods of objects, unions with None, refinement by `break`) or runs incorrectly: sorting may swap equal
objects, and the left operand of `%` is evaluated twice, so calls with side effects are separate statements.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from tests.fuzz.containers import ContainerProgramWriter
from tests.fuzz.programs import Form

PRELUDE = """class Color(Enum):
    RED = 3
    GREEN = 5
    BLUE = -2

class Pair(NamedTuple):
    n: int
    y: float

"""
HELPERS = """def either(n: int) -> Union[int, str]:
    if n % 2 == 0:
        return n
    return "u" + str(n)

def many(n: int, xs: List[int]) -> Union[int, str, List[int], None]:
    if n % 4 == 0:
        return n
    elif n % 4 == 1:
        return str(n)
    elif n % 4 == 2:
        return xs
    return None

def painted(n: int) -> Color:
    if n % 3 == 0:
        return Color.RED
    return Color.GREEN if n % 3 == 1 else Color.BLUE

def paired(n: int, y: float = 0.25) -> Pair:
    return Pair(n % 10007, y)

"""
RECURSION = """def down(n: int, k: int) -> int:
    if n <= 0:
        return k
    return down(n - 1, k + n) - n % 2

"""
ITEM_HELPERS = """def no_item() -> Optional[Item]:
    return None

def kept(item: Item, k: int) -> Item:
    item.n += k
    if k > 3:
        return Item(item.n, item.y, s=item.s)
    return item

def found(box: Box, k: int) -> Optional[Item]:
    for item in box.items:
        if item.n > k:
            return item
    return box.maybe if k % 2 == 0 else None

"""
ITEM = """class Item:
    def __init__(self, n: int, y: float = 0.5, flag: bool = True, s: str = "k,a"):
        self.n = n % 10007
        self.y = y
        self.flag = flag
        self.s = s[:12]
        self.xs = [n % 5, 7]
        self.d = {"k": n}
        self.o: Optional[int] = None if n % 3 == 0 else n

"""
BOX = """class Box:
    def __init__(self, n: int, item: Item, color: Color = Color.GREEN):
        self.n = n
        self.item = item
        self.maybe: Optional[Item] = None
        self.items = [item, Item(n)]
        self.table = {"k": item}
        self.color = color
        self.pair = Pair(n, 1.5)
        self.left = 0

    def __enter__(self) -> int:
        self.n += 1
        return self.n

    def __exit__(self, type: Any, value: Any, tb: Any):
        self.left += 1
        self.n -= 2

    def state(self) -> int:
        total = self.n + 3 * self.left + 5 * self.color.value + len(self.table) + self.pair.n
        for item in self.items:
            total = (total * 31 + item.n + sum(item.xs) % 100) % 100003
        maybe = self.maybe
        if maybe is not None:
            total += maybe.n % 100
        return total

"""
PROPERTY = """    @property
    def twice(self) -> int:
        return self.n * 2

    @twice.setter
    def twice(self, value: int):
        self.n = value // 2 % 10007

    @staticmethod
    def largest(a: int, b: int) -> int:
        return a if a > b else b

"""
ASSIGNED = ["n", "y", "flag", "s"]  # attributes of an Item that programs assign


class Method(NamedTuple):
    """A generated method: its class, its name and its result type."""

    owner: str
    name: str
    result: str


class ClassProgramWriter(ContainerProgramWriter):
    """Writes programs whose state also lives in objects."""

    results = ContainerProgramWriter.results | {
        "Tuple[int, List[int], str]": "({i}, p.xs + [p.n, q.n, q.item.n], p.s)",
        "Tuple[int, int, float]": "(q.state(), {i}, q.item.y)",
        "List[str]": "[e.s for e in q.items] + [{s}]",
        "Dict[str, List[int]]": "{{key: e.xs for key, e in q.table.items()}}",
        "Tuple[Optional[int], Color]": "(q.item.o, q.color)",
    }

    def __init__(self, choose: Callable[[int], int], depth: int = 3, pytorch: bool = False) -> None:
        super().__init__(choose, depth, pytorch)
        self.items: list[str] = []
        self.boxes: list[str] = []
        self.options: list[str] = []  # Optional[Item]
        self.colors: list[str] = []
        self.pairs: list[str] = []
        self.withs = 0
        self.methods: list[Method] = []
        self.in_method = False

    # scopes -----------------------------------------------------------------------------------

    def scope(self) -> list[list[str]]:
        return [
            self.ints, self.floats, self.bools, self.strs,
            self.items, self.boxes, self.options, self.colors, self.pairs,
        ]  # fmt: skip

    def set_scope(self, scope: list[list[str]]) -> None:
        (
            self.ints, self.floats, self.bools, self.strs,
            self.items, self.boxes, self.options, self.colors, self.pairs,
        ) = scope  # fmt: skip

    def block(self, depth: int) -> list[str]:
        outer = [list(names) for names in self.scope()]
        lines = super().block(depth)
        self.set_scope(outer)
        return lines

    def add_item(self, name: str) -> None:
        """Make an object's attributes available as variables."""
        if name not in self.items:
            self.items.append(name)
            self.ints.append(f"{name}.n")
            self.floats.append(f"{name}.y")
            self.bools.append(f"{name}.flag")
            self.strs.append(f"{name}.s")

    def add_box(self, name: str) -> None:
        self.boxes.append(name)
        self.ints.append(f"{name}.n")
        self.add_item(f"{name}.item")
        self.options.append(f"{name}.maybe")
        self.colors.append(f"{name}.color")
        self.pairs.append(f"{name}.pair")

    # expressions ------------------------------------------------------------------------------

    def called(self, left: str, right: str, result: str) -> str | None:
        """Return a call of a method with the given result type, or None."""
        known = [m for m in self.methods if m.result == result]
        # Calls in the inner loops of methods would make programs run for hours.
        if not known or self.loops > (0 if self.in_method else 2):
            return None
        method = known[self.choose(len(known))]
        owners = self.items if method.owner == "Item" else self.boxes
        if not owners:
            return None
        arguments = self.pick([f"{left}, {right}", f"{left}, t={right}", f"t={right}, k={left}", left])
        if arguments == left and self.in_method and self.pytorch:
            arguments = f"{left}, 3"  # PyTorch cannot resolve the default of a method that is being compiled
        return f"{self.pick(owners)}.{method.name}({arguments})"

    def item_expr(self) -> str:
        n = self.int_atom()
        forms: list[Form] = [
            lambda: self.pick(self.items),
            lambda: self.pick(self.items),
            lambda: f"Item({n})",
            lambda: f"Item({n}, {self.float_atom()}, s={self.str_atom()})",
            lambda: f"kept({self.pick(self.items)}, {n})",
            lambda: f"({self.pick(self.items)} + {self.pick(self.items)})",
            lambda: f"({self.pick(self.items)} if {self.bool_expr(1)} else {self.pick(self.items)})",
        ]
        if self.boxes:
            box = self.pick(self.boxes)
            forms += [
                lambda: f"{box}.items[{n} % len({box}.items)]",
                lambda: f'{box}.table["k"]',
            ]
        return forms[self.choose(len(forms) if not self.in_method else 2)]()

    def int_forms(self, left: str, right: str, depth: int) -> list[Form]:
        forms = super().int_forms(left, right, depth)
        extra: list[Form] = [
            lambda: f"paired({left}).n",
            lambda: f"painted({left}).value",
        ]
        if not self.pytorch:
            extra += [
                lambda: self.called(left, right, "int") or left,
                lambda: self.called(left, right, "int") or right,
                lambda: f"down({left} % 6, {right})",
            ]
        if self.items:
            item = self.pick(self.items)
            extra += [
                lambda: f"{item}.twice",
                lambda: f"len({item})",
                lambda: f"{item}[{left}]",
            ]
            if not self.in_method:
                extra += [
                    lambda: f"Item.largest({left}, {right})",
                    lambda: f"({item} + {self.pick(self.items)}).n",
                ]
            if not self.pytorch:
                extra += [
                    lambda: f"{item}.largest({left}, {right})",
                    lambda: f"(-{item})",
                    lambda: f"{item}({left})",
                    lambda: f"({self.item_expr() if not self.in_method else item}).n",
                ]
        if self.boxes:
            box = self.pick(self.boxes)
            extra += [
                lambda: f"sum([e.n % 7 for e in {box}.items])",
                lambda: f"{box}.color.value",
                lambda: f"len({box}.items)",
            ]
        if self.pairs:
            extra += [lambda: f"{self.pick(self.pairs)}.n", lambda: f"{self.pick(self.pairs)}[0]"]
        return forms + extra

    def float_expr(self, depth: int = 2) -> str:
        if depth == 0 or not self.pairs or self.choose(8):
            return super().float_expr(depth)
        return f"{self.pick(self.pairs)}.y"

    def str_atom(self) -> str:
        if self.colors and self.choose(9) == 0:
            return f"{self.pick(self.colors)}.name"
        return super().str_atom()

    def bool_forms(self, comparison: str, depth: int) -> list[Form]:
        forms = super().bool_forms(comparison, depth)
        if self.items:
            one, two = self.pick(self.items), self.pick(self.items)
            forms += [
                lambda: f"({one} == {two})",
                lambda: f"({one} < {two})",
                lambda: f"({one} is {self.pick(['', 'not '])}{two})",
                lambda: f"({self.int_atom()} {self.pick(['in', 'not in'])} {one})",
                lambda: f"bool({one})",
                lambda: f"({one}.o is not None)",
            ]
        if self.colors:
            forms += [
                lambda: f"({self.pick(self.colors)} {self.pick(['==', '!='])} {self.pick(self.colors)})",
                lambda: f"({self.pick(self.colors)} == Color.GREEN)",
            ]
        if self.options:
            forms += [lambda: f"({self.pick(self.options)} is {self.pick(['', 'not '])}None)"]
        return forms

    # statements -------------------------------------------------------------------------------

    def exit(self, refines: bool = False) -> str:
        """Return a statement that leaves the block; PyTorch does not accept `break` as a refinement."""
        message = f'"#E %d %s" % ({self.int_atom()}, {self.str_atom()})'
        kinds = [
            f"raise {self.pick(['ValueError', 'RuntimeError', 'IndexError', 'NotImplementedError'])}({message})",
        ]
        if not (self.pytorch and self.withs):
            kinds += ["return " + self.returned()] * 2
            if self.loops and not (refines and self.pytorch):
                kinds += ["break", "continue"] * 2
        return self.pick(kinds)

    def statement(self, depth: int) -> list[str]:
        if self.choose(2):
            if depth and self.pytorch and self.withs:
                return self.assign()  # other statements may leave the block
            return super().statement(depth)
        forms: list[Callable[[int], list[str]]] = [self.object_statement, self.object_statement]
        if depth:
            forms += [self.refinement, self.refinement, self.union, self.leaving]
            if self.boxes:
                forms += [self.context, self.item_loop, self.option]
        return forms[self.choose(len(forms))](depth)

    def object_statement(self, depth: int) -> list[str]:
        forms: list[Form] = [
            lambda: f"{self.fresh('h')} = {self.bool_expr()}",
            self.bind_call,
            self.bind_call,
        ]
        if self.items:
            item = self.pick(self.items)
            forms += [
                lambda: f"{item}.twice = {self.int_expr(1)}",
                lambda: f"{item}.twice += {self.int_atom()}",
                lambda: f"{item}[{self.int_atom()}] = {self.int_expr(1)}",
                lambda: f"{item}.xs.append({self.int_atom()} % 100)",
                lambda: f"{item}.xs = [{self.int_atom()}, 2]",
                lambda: f"{item}.d[{self.key()}] = {self.int_atom()}",
                lambda: f"{item}.o = maybe({self.int_atom()})",
                lambda: f"xs = {item}.xs",
                lambda: f"d = {item}.d",
                lambda: f"{item}.xs = xs",
                lambda: f"kept({item}, {self.int_atom()})" if not self.in_method else "pass",
            ]
        if self.boxes:
            box = self.pick(self.boxes)
            forms += [
                lambda: f"{box}.item = {self.item_expr()}",
                lambda: f"{box}.maybe = {self.item_expr()}",
                lambda: f"{box}.maybe = None",
                lambda: f"{box}.items = {box}.items[:5] + [{self.item_expr()}]",
                lambda: f"{box}.items.append({self.item_expr()})" if not self.loops else "pass",
                lambda: f"{box}.table[{self.key()}[:2]] = {self.item_expr()}",
                lambda: f"{box}.color = painted({self.int_atom()})",
                lambda: f"{box}.pair = paired({self.int_atom()}, {self.float_atom()})",
            ]
            if not self.pytorch:
                forms += [lambda: f"{box}.items = sorted({box}.items)"]
        if self.items and not self.in_method:
            forms += [self.bind_item, self.bind_item, self.bind_pair, self.bind_color]
        return forms[self.choose(len(forms))]().split("\n")

    def bind_item(self) -> str:
        old = [name for name in self.items if "." not in name and name not in ("p", "self", *self.fixed)]
        name, value = self.pick([*old, ""]) or self.fresh("r"), self.item_expr()
        self.add_item(name)
        return f"{name} = {value}"

    def bind_call(self) -> str:
        """Return a line that binds the folded result of a method call."""
        which = self.choose(5)
        left, right = self.int_expr(1), self.int_atom()
        if which <= 1:
            call = self.called(left, right, "int")
        elif which == 2:
            call = self.called(left, right, "bool")
        elif which == 3:
            call = self.called(left, right, "str")
        else:
            call = self.pick([f"-{item}" for item in self.items] + [f"{item}({left})" for item in self.items])
        if call is None:
            return "pass"
        if which == 2:
            self.bools.append(name := self.fresh("h"))
            return f"{name} = {call}"
        if which == 3:
            self.strs.append(name := self.fresh("t"))
            return f"{name} = {call}\n{name} = {name}[:20]"
        self.ints.append(name := self.fresh("i"))
        return f"{name} = {call}\n{name} = {name} % 10007 - 5000"

    def bind_pair(self) -> str:
        pair = f"{self.pick(['paired', 'Pair'])}({self.int_expr(1)} % 10007, {self.float_atom()})"
        if self.choose(2):
            name = self.fresh("t")
            self.pairs.append(name)
            return f"{name} = {pair}"
        n, y = self.fresh("i"), self.fresh("y")
        self.ints.append(n)
        self.floats.append(y)
        return f"{n}, {y} = {pair}"

    def bind_color(self) -> str:
        name, value = self.fresh("g"), f"painted({self.int_expr(1)})"
        self.colors.append(name)
        return f"{name} = {value}"

    def leaving(self, depth: int) -> list[str]:
        if self.choose(3) == 0:
            return [f'assert {self.bool_expr(1)}, f"#E {{{self.pick(self.ints)}}}"']
        return [f"if {self.bool_expr(1)}:", "    " + self.exit()]

    def item_loop(self, depth: int) -> list[str]:
        name, box = self.fresh("e"), self.pick(self.boxes)
        head = f"for {name} in {box}.items[:3]:"
        if self.choose(3) == 0:
            key = self.fresh("c")
            head = f"for {key}, {name} in list({box}.table.items())[:3]:"
        outer = [list(names) for names in self.scope()]
        self.loops += 1
        self.add_item(name)
        self.fixed.add(name)
        body = self.block(depth - 1)
        self.loops -= 1
        self.set_scope(outer)
        return [head, *body]

    def context(self, depth: int) -> list[str]:
        box = self.pick(self.boxes)
        self.withs += 1
        outer = [list(names) for names in self.scope()]
        head = f"with {box}:"
        if self.choose(2):
            name = self.fresh("n")
            self.ints.append(name)
            head = f"with {box} as {name}:"
            if self.choose(4) == 0:
                head = f"with {box} as {name}, {self.pick(self.boxes)}:"
        body = self.block(depth - 1)
        self.set_scope(outer)
        self.withs -= 1
        return [head, *body]

    def option(self, depth: int) -> list[str]:
        """Return code that refines an Optional[Item]."""
        box, name = self.pick(self.boxes), self.fresh("m")
        make = f"{name} = " + self.pick([f"{box}.maybe", f"found({box}, {self.int_atom()})"])
        if self.in_method:
            make = f"{name} = {box}.maybe"
        which = self.choose(5)
        if which == 0:
            self.add_item(name)
            self.fixed.add(name)
            return [make, f"if {name} is None:", f"    {name} = {box}.item"]
        if which == 1 and not (self.pytorch and self.withs):
            lines = [make, f"if {name} is None:", "    " + self.exit(refines=True)]
            self.add_item(name)
            self.fixed.add(name)
            return lines
        outer = [list(names) for names in self.scope()]
        self.add_item(name)
        self.fixed.add(name)
        if which == 2:
            head = f"if {name} is not None and {name}.n {self.pick(['<', '>'])} {self.int_atom()}:"
        else:
            head = f"if {name} is not None:"
        body = self.block(depth - 1)
        self.set_scope(outer)
        lines = [make, head, *body]
        if self.choose(2):
            lines += ["else:", *self.block(depth - 1)]
        return lines

    def refined(self, names: list[str], depth: int) -> list[str]:
        """Return a block that may read the names as ints."""
        outer = list(self.ints)
        self.ints += names
        self.fixed.update(names)
        lines = self.block(depth)
        self.ints = outer
        return lines

    def refinement(self, depth: int) -> list[str]:
        """Return code that tests whether an Optional[int] has a value, in one of several forms."""
        v, w = self.fresh("v"), self.fresh("v")
        option = f"{self.pick(self.items)}.o" if self.items else "o"
        lines = [f"{v} = maybe({self.int_expr(1)})", f"{w} = {option}"]
        bound = self.int_atom()
        match self.choose(11 if self.pytorch else 12):
            case 0 | 1:
                lines += [f"if {v} is None:", "    " + self.exit(refines=True)]
                self.ints.append(v)
                self.fixed.add(v)
            case 2:
                lines += [
                    f"if {v} is not None:",
                    *self.refined([v], depth - 1),
                    "else:",
                    *self.block(depth - 1),
                ]
            case 3:
                lines += [f"if {v} is None or {v} > {bound}:", *self.block(depth - 1), "else:"]
                lines += self.refined([v], depth - 1)
            case 4:
                lines += [f"if not ({v} is None):", *self.refined([v], depth - 1)]
            case 5:
                lines += [f"if {v} is not None and {w} is not None and {v} > {w}:"]
                lines += self.refined([v, w], depth - 1)
            case 6:
                lines += [f"assert {v} is not None"]
                self.ints.append(v)
                self.fixed.add(v)
            case 7:
                lines += [f"while {v} is not None and {v} > 0:"]
                self.loops += 1
                lines += [f"    if {v} is not None:", f"        {v} = maybe({v})", *self.block(depth - 1)]
                self.loops -= 1
            case 8:
                name = self.fresh("i")
                lines += [f"{name} = 0 if {v} is None else {v}"]
                self.ints.append(name)
            case 9:
                lines += [f"if {v} is None or {w} is None:", "    " + self.exit(refines=True)]
                self.ints += [v, w]
                self.fixed.update([v, w])
            case 10:
                lines += [f"if isinstance({v}, int):", *self.refined([v], depth - 1)]
            case 11:
                counter = self.fresh("w")
                lines = [
                    f"{counter} = 0",
                    "while True:",
                    f"    {counter} += 1",
                    f"    {v} = maybe({counter})",
                ]
                lines += [f"    if {v} is None or {counter} > 5:", "        break"]
                self.loops += 1
                lines += self.refined([v, counter], depth - 1)
                self.loops -= 1
        return lines

    def union(self, depth: int) -> list[str]:
        """Return code that refines a union."""
        u = self.fresh("u")
        lines = [f"{u} = either({self.int_expr(1)})"]
        strs = list(self.strs)
        match self.choose(4 if self.pytorch else 5):
            case 0:
                lines += [f"if isinstance({u}, int):", *self.refined([u], depth - 1), "else:"]
                lines += self.block_of_strings(u, depth - 1)
            case 1:
                lines += [f"if not isinstance({u}, int):", "    " + self.exit(refines=True)]
                self.ints.append(u)
                self.fixed.add(u)
                return lines
            case 2:
                name = self.fresh("i")
                lines += [f"{name} = {u} if isinstance({u}, int) else {self.int_atom()}"]
                self.ints.append(name)
            case 4:
                lines = [f"{u}: Union[int, str, List[int], None] = many({self.int_expr(1)}, xs)"]
                lines += [f"if isinstance({u}, str):"]
                lines += self.block_of_strings(u, depth - 1)
                lines += [f"elif isinstance({u}, int):", *self.refined([u], depth - 1)]
                lines += [f"elif {u} is not None:", f"    {u}.append({self.int_atom()} % 50)"]
            case 3:
                lines = [f"{u}: Union[int, str] = {self.int_expr(1)}"]
                lines += [f"if {self.bool_expr(1)}:", f'    {u} = "w"']
                lines += [f"if isinstance({u}, str):", *self.block_of_strings(u, depth - 1)]
        self.strs = strs
        return lines

    def block_of_strings(self, name: str, depth: int) -> list[str]:
        lines = self.block(depth)
        return [*lines, f"    s = ({name} + s)[:20]"]

    # module -----------------------------------------------------------------------------------

    def written(self, owner: str, head: str, result: str) -> str:
        """Return the source of a method, whose body is generated like a program."""
        outer, result_before = [list(names) for names in self.scope()], self.result
        self.set_scope([["k", "t"], [], [], ["s"], [], [], [], [], []])
        self.floats, self.bools = ["y"], ["flag"]
        opening = ["k, t = k % 997, t % 997", "y = 0.5", "flag = k > t"]
        item = "self"
        if owner == "Box":
            self.add_box("self")
            item = "self.item"
        else:
            self.add_item("self")
        opening += [f"xs = {item}.xs", f"s = {item}.s", f"d = {item}.d", f"o = {item}.o"]
        self.result, self.in_method = result, True
        lines = opening
        for _ in range(1 + self.choose(3)):
            lines += self.statement(2)
        lines.append("return " + self.returned())
        self.set_scope(outer)
        self.result, self.in_method = result_before, False
        return f"    {head}\n" + "".join(f"        {line}\n" for line in lines) + "\n"

    def returned(self) -> str:
        if self.in_method and self.result == "Optional[int]":
            return self.pick(["o", "None", f"maybe({self.int_expr(1)})"])
        return super().returned()

    def item_class(self) -> str:
        forms = [
            "self.n % 7", "len(self.xs)", "self.n", "len(self.s)",
        ]  # fmt: skip
        pick = self.pick
        text = ITEM + PROPERTY
        text += f"    def __len__(self) -> int:\n        return abs({pick(forms)}) % 50\n\n"
        item = (
            pick(["self.xs[i % len(self.xs)]", "self.xs[i]", "self.xs[-1]"])
            if not self.pytorch
            else "i + self.n"
        )
        text += f"    def __getitem__(self, i: int) -> int:\n        return {item}\n\n"
        text += "    def __setitem__(self, i: int, v: int):\n        self.xs.append(i % 10)\n        self.n = v % 1000\n\n"
        text += f"    def __contains__(self, v: int) -> bool:\n        return v in self.xs or v == {pick(forms)}\n\n"
        text += f'    def __eq__(self, other: "Item") -> bool:\n        return {pick(forms)} == other.n\n\n'
        text += f'    def __lt__(self, other: "Item") -> bool:\n        return self.{pick(["n", "y", "s"])} < other.'
        text = text + text.rsplit("self.", 1)[1].split(" ")[0] + "\n\n"
        text += f"    def __neg__(self) -> int:\n        self.n += 1\n        return -({pick(forms)})\n\n"
        text += f"    def __bool__(self) -> bool:\n        return {pick(forms)} > 2\n\n"
        text += f"    def __call__(self, k: int) -> int:\n        self.n = (self.n + k) % 500\n        return {pick(forms)}\n\n"
        text += '    def __add__(self, other: "Item") -> "Item":\n        if other.n > self.n:\n            return other\n'
        text += f"        return Item({pick(forms)} + other.n, self.y, other.flag, other.s)\n\n"
        return text + self.methods_of("Item")

    def methods_of(self, owner: str) -> str:
        text, made = "", []
        for number in range(self.choose(3) + 1):
            result = ["int", "int", "str", "Optional[int]", "bool"][self.choose(5)]
            default = self.pick(["", " = 3"]) or " = -1"
            name = f"{owner.lower()}{number}"
            text += self.written(owner, f"def {name}(self, k: int, t: int{default}) -> {result}:", result)
            self.methods.append(Method(owner, name, result))
            made.append(name)
        return text

    def program(self) -> str:
        """Return the source of a program: classes, helpers and `f`."""
        result = self.result
        box = BOX.replace("maybe: Optional[Item] = None", "maybe = no_item()") if self.pytorch else BOX
        classes = self.item_class() + box + self.methods_of("Box")
        self.result = result
        self.add_item("p")
        self.add_box("q")
        lines = ["p = Item(a, x, flag, s)", "q = Box(b, p)"]
        for _ in range(2 + self.choose(5)):
            lines += self.statement(self.depth)
        lines.append("return " + self.returned())
        helpers = self.helper + HELPERS + ("" if self.pytorch else RECURSION)
        body = "\n".join("    " + line for line in lines) + "\n"
        return PRELUDE + helpers + classes + ITEM_HELPERS + self.header.format(result=result) + body
