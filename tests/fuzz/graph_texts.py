"""Run mutated graph texts: texts that the parser and the checks accept must return or raise, but not crash.

    python -m tests.fuzz.graph_texts FIRST LAST

Input: a range of seeds.  Each selects the graph of a random program, mutates types, operators, operands,
attributes or the order of lines, and calls the function of the result.  Output: exit status 0, and the number
of executed texts on the last line. The tests run this file in a new process, because a bug may end it.
"""

from __future__ import annotations

import copy
import random
import re
import sys
from typing import Any

import ts
from tests.fuzz.containers import ContainerProgramWriter
from tests.fuzz.programs import ProgramWriter
from ts.errors import TsError

TYPES = """int float bool str int[] Tensor Dict(str,int) int? NoneType (int,int) str[] Any Scalar float[] Device
    Union(int,str) complex int[][] t""".split()
KINDS = """aten::add aten::append aten::len aten::__getitem__ aten::str aten::_set_item aten::sub aten::mul aten::Int
    aten::keys aten::items aten::extend aten::slice aten::sum aten::sort aten::pop aten::insert aten::__is__ aten::eq
    aten::floordiv aten::format aten::copy aten::clear aten::Float aten::ord aten::join aten::relu prim::unchecked_cast
    prim::unchecked_unwrap_optional prim::TupleIndex prim::ListUnpack prim::TupleUnpack prim::ListConstruct
    prim::TupleConstruct prim::DictConstruct prim::Uninitialized prim::GetAttr prim::SetAttr prim::If prim::Loop
    prim::Constant prim::isinstance prim::Print prim::min prim::RaiseException prim::CallFunction prim::CallMethod
    prim::CreateObject prim::Enter prim::Exit""".split()
ATTRIBUTES = ["", "[value=3]", '[value="a"]', "[value=1.5]", "[types=[int]]", "[value=[1, 2]]", '[name="n"]']
VALUES: dict[str, Any] = {
    "int": 3, "float": 1.5, "bool": True, "str": "a,bc", "int[]": [1, 2, 3], "Dict(str, int)": {"k": 4}, "int?": None,
    "(int, int)": (1, 2), "str[]": ["a"], "float[]": [1.5],
}  # fmt: skip
_VALUE = re.compile(r"%[\w.]+")


def sources(count: int) -> list[str]:
    """Return the graphs of random programs as text without source locations."""
    texts = []
    for seed in range(count):
        writer = (ProgramWriter, ContainerProgramWriter)[seed % 2]
        program = ts.jit.CompilationUnit(writer(random.Random(seed).randrange).program())
        texts.append(re.sub(r" # .*", "", str(program.f.inlined_graph)))
    return texts


def mutated(text: str, generator: random.Random) -> str:
    """Return the text with one to three mutated lines."""
    lines = text.split("\n")
    for _ in range(generator.choice([1, 1, 2, 3])):
        i = generator.randrange(len(lines))
        lines[i] = _changed(lines[i], lines, generator)
    return "\n".join(lines)


def _changed(line: str, lines: list[str], generator: random.Random) -> str:
    values = _VALUE.findall("\n".join(lines)) or ["%x"]
    match generator.randrange(8):
        case 0:
            return _replaced(line, r"(?<=: )[^=,]+?(?= =|,|\)|$)", generator.choice(TYPES), generator)
        case 1:
            return _replaced(line, r"(aten|prim)::\w+", generator.choice(KINDS), generator)
        case 2:
            return _replaced(line, _VALUE.pattern, generator.choice(values), generator)
        case 3:
            return re.sub(r"\(%[\w.]+(, )?", "(", line, count=1)
        case 4:
            return line.replace("(%", f"({generator.choice(values)}, %", 1)
        case 5:
            return ""
        case 6:
            return _replaced(line, r"\[\w+=[^\]]*\]", generator.choice(ATTRIBUTES), generator)
        case _:
            return generator.choice(lines)


def _replaced(line: str, pattern: str, text: str, generator: random.Random) -> str:
    found = list(re.finditer(pattern, line))
    if not found:
        return line
    place = generator.choice(found)
    return line[: place.start()] + text + line[place.end() :]


def run(text: str) -> bool:
    """Return True if a graph text is accepted and its function returns or raises a script error."""
    try:
        graph = ts.parse_ir(text)
        function = ts.jit.create_function_from_graph("f", graph)
    except TsError:
        return False
    arguments = [
        ts.ones(2) if v.type().str() == "Tensor" else VALUES.get(v.type().str()) for v in graph.inputs()
    ]
    try:
        with ts.limits(fuel=1_000_000):
            repr(function(*copy.copy(arguments)))
    except (RuntimeError, LookupError, ValueError, ArithmeticError):
        pass  # expected; other exceptions fail the test
    return True


def main(first: int, last: int) -> None:
    """Run the texts of these seeds."""
    texts = sources(30)
    accepted = 0
    for seed in range(first, last):
        generator = random.Random(seed)
        text = mutated(generator.choice(texts), generator)
        try:
            accepted += run(text)
        except Exception:
            print(text)
            raise
    print(accepted)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
