"""Generate stub files for names that are created at run time.

In: the registry of operators, the tables of names of the packages.  Out: stub texts by path.  `python -m
tests.regenerate` writes them.

    aten::sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor

becomes, in `ts/__init__.pyi` and, without `input`, in the class of methods that `Tensor` has:

    def sum(input: Tensor, dim: Int | Ints | None, keepdim: Bool = False, *, dtype: DType | None = None, out: ...) -> Tensor: ...

Python's other names for parameters (`axis`, `keepdims`) and integers in a row (`x.view(2, 3)`) are overloads of their own.
"""

from __future__ import annotations

import inspect
import keyword
import re
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import ts
from ts._core.dispatch.overloads import overloads
from ts._core.dispatch.signature import Return, Signature, signature
from ts.ops import functional, registry, doc_summaries

ROOT = Path(__file__).parent.parent
WIDTH = 110

HEAD = "# Made from the records of the operators by `python -m tests.regenerate`: change those, or tests/stubs.py.\n"
# Modules of the names in signatures; each stub imports the names that it uses.
FROM = {
    "collections.abc": ("Callable", "Sequence"),
    "typing": ("Any", "Literal", "NamedTuple", "overload"),
    "ts._core.dispatch": ("named_results",),
    "ts._core.tensor.dtype_kinds": (
        "Bool", "Bools", "DType", "Device", "Float", "Floats", "Int", "Ints", "Layout", "MemoryFormat", "Number", "Numbers",
        "OptionalTensors", "PyComplex", "PyFloat", "PyInt", "Real", "Str", "Tensors",
    ),
    "ts._core.tensor.tensor": ("Size", "Tensor"),
    "ts.devices": ("device",),
    "ts.dtypes": ("dtype",),
    "ts.ops.generator": ("Generator",),
}  # fmt: skip

# Python types of a schema type as an argument, and as a result.
TAKEN = {
    "Tensor": "Tensor", "Scalar": "Number", "int": "Int", "float": "Float", "bool": "Bool", "str": "Str", "complex": "Number",
    "int[]": "Ints", "float[]": "Floats", "bool[]": "Bools", "Scalar[]": "Numbers", "Tensor[]": "Tensors",
    "Tensor?[]": "OptionalTensors", "ScalarType": "DType", "Layout": "Layout", "MemoryFormat": "MemoryFormat",
    "Device": "Device", "Generator": "Generator",
}  # fmt: skip
GIVEN = {
    "Tensor": "Tensor", "Tensor?": "Tensor | None", "Tensor[]": "tuple[Tensor, ...]", "Scalar": "Real", "int": "PyInt",
    "float": "PyFloat", "bool": "Bool", "str": "Str", "complex": "PyComplex", "int[]": "tuple[PyInt, ...]", "ScalarType": "dtype", "Device": "device",
}  # fmt: skip
PLAIN = {"int": "Int", "float": "Real", "bool": "Bool", "str": "Str"}  # names that are something else where stubs stand

# Functions whose parameters or results no schema tells: how they are called.  {} is `input: Tensor` or `self`.
WRITTEN = {
    "unique": ("{}, sorted: Bool = True, *, return_inverse: Literal[False] = False, return_counts: Literal[False] = False, dim: Int | None = None", "Tensor",
               "{}, sorted: Bool = True, return_inverse: Bool = False, return_counts: Bool = False, dim: Int | None = None", "Any"),
    "unique_consecutive": ("{}, *, return_inverse: Literal[False] = False, return_counts: Literal[False] = False, dim: Int | None = None", "Tensor",
                           "{}, return_inverse: Bool = False, return_counts: Bool = False, dim: Int | None = None", "Any"),
    "nonzero": ("{}, *, as_tuple: Literal[False] = False, out: Tensor | None = None", "Tensor",
                "{}, *, as_tuple: Literal[True]", "tuple[Tensor, ...]"),
    "norm": ("{}, p: Number | Str | None = 'fro', dim: Int | Ints | None = None, keepdim: Bool = False, out: Tensor | None = None, dtype: DType | None = None", "Tensor"),
    "lu": ("{}, pivot: Bool = True, *, get_infos: Literal[False] = False, out: Tensors | None = None", "tuple[Tensor, Tensor]",
           "{}, pivot: Bool = True, *, get_infos: Literal[True], out: Tensors | None = None", "tuple[Tensor, Tensor, Tensor]"),
    "stft": ("{}, n_fft: Int, hop_length: Int | None = None, win_length: Int | None = None, window: Tensor | None = None, center: Bool = True, "
             "pad_mode: Str = 'reflect', normalized: Bool = False, onesided: Bool | None = None, return_complex: Bool | None = None, "
             "align_to_window: Bool | None = None", "Tensor"),
    "tensordot": ("a: Tensor, b: Tensor, dims: Int | Tensor | Sequence[Ints] = 2, out: Tensor | None = None", "Tensor"),
    "cdist": ("x1: Tensor, x2: Tensor, p: Float = 2.0, compute_mode: Str = 'use_mm_for_euclid_dist_if_necessary'", "Tensor"),
    "unravel_index": ("indices: Tensor, shape: Int | Ints", "tuple[Tensor, ...]"),
    "broadcast_tensors": ("*tensors: Tensor", "tuple[Tensor, ...]", "tensors: Tensors, /", "tuple[Tensor, ...]"),
    "broadcast_shapes": ("*shapes: Int | Ints", "Size"),
    "block_diag": ("*tensors: Tensor", "Tensor", "tensors: Tensors, /", "Tensor"),
    "cartesian_prod": ("*tensors: Tensor", "Tensor", "tensors: Tensors, /", "Tensor"),
    "chain_matmul": ("*matrices: Tensor, out: Tensor | None = None", "Tensor", "matrices: Tensors, /, *, out: Tensor | None = None", "Tensor"),
    "meshgrid": ("*tensors: Tensor, indexing: Str | None = None", "tuple[Tensor, ...]", "tensors: Tensors, /, *, indexing: Str | None = None", "tuple[Tensor, ...]"),
    "einsum": ("equation: Str, *operands: Tensor", "Tensor", "equation: Str, operands: Tensors, /", "Tensor", "operand: Tensor, subscripts: Ints, /, *rest: Any", "Tensor"),
    **{f"atleast_{n}d": ("input: Tensor, /", "Tensor", "tensors: Tensors, /", "tuple[Tensor, ...]", "*tensors: Tensor", "tuple[Tensor, ...]") for n in (1, 2, 3)},
}  # fmt: skip


@dataclass(frozen=True)
class Argument:
    """A parameter of a stub."""

    name: str
    type: str
    default: str = ""  # "" where there is none
    keyword: bool = False

    def __str__(self) -> str:
        return f"{self.name}: {self.type}" + (f" = {self.default}" if self.default else "")


# ---------------------------------------------------------------------------------------- schemas


def functions(name: str, *, method: bool = False) -> list[str]:
    """Return the Python signatures of an operator, without `def` and name, in overload order."""
    made: list[tuple[list[Argument], str]] = []
    operators = [op for op in overloads(name).operators() if op.record is not None] or overloads(name).operators()
    outputs = {id(op.record.base): op for op in operators if op.record is not None and op.record.variant == "out"}
    functional = {id(op.record) for op in operators if op.record is not None}
    for op in operators:
        record = op.record
        is_out = record is not None and record.variant == "out"
        if is_out and (method or id(record.base) in functional):
            continue
        s = op.signature
        arguments = [_argument(p, record) for p in s.parameters]
        if not is_out and id(record) in outputs and not method:
            arguments.append(Argument("out", _outputs(outputs[id(record)].signature), "None", keyword=True))
        elif is_out:
            arguments = [a for a, p in zip(arguments, s.parameters, strict=True) if not (p.written and p.keyword_only)]
            arguments.append(Argument("out", _outputs(s).removesuffix(" | None"), keyword=True))
        if {"dtype", "layout", "device"} <= {a.name for a in arguments} and "requires_grad" not in {a.name for a in arguments}:
            arguments.append(Argument("requires_grad", "Bool", "False", keyword=True))
        in_place = record is not None and record.variant == "inplace"
        for variant in _variants(arguments, s, other_names=not in_place and not name.startswith("_")):
            shown = _as_python(variant, method)
            if shown is not None and not any(_covers(other, shown) for other, _ in made):
                made.append((shown, _result(name, s)))
    return [f"({_shown(arguments, method)}) -> {result}" for arguments, result in made]


def _covers(one: list[Argument], other: list[Argument]) -> bool:
    """Return True if a signature accepts all calls of another signature."""
    positional, others = ([a for a in arguments if not a.keyword] for arguments in (one, other))
    keywords = {a.name: a for a in one if a.keyword}
    pairs = [*zip(positional, others, strict=False)]
    pairs += [(keywords.pop(a.name), a) for a in other if a.keyword and a.name in keywords]
    if len(pairs) < len(other) or any(not a.default for a in [*positional[len(others) :], *keywords.values()]):
        return False
    def taken(kind: str) -> set[str]:
        return {*kind.split(" | "), *(("Tensors",) if "OptionalTensors" in kind else ())}

    return all(
        a.name == b.name and (a.default or not b.default) and taken(b.type) <= taken(a.type) for a, b in pairs
    )


def _argument(p: Any, record: Any) -> Argument:
    kind = TAKEN.get(p.kind, "Any")
    if kind == "Tensor" and record is not None and record.wraps_numbers:
        kind = "Tensor | Number"
    if p.size and kind in ("Ints", "Floats", "Bools"):
        kind = f"{kind[:-1]} | {kind}"
    if (p.optional or (p.has_default and p.default is None) or (p.has_default and p.kind == "int[]" and p.default == [])) and kind != "Any":
        kind += " | None"
    default = ""
    if p.has_default or (p.optional and p.keyword_only):
        default = repr(p.default) if isinstance(p.default, (bool, int, float, str)) and p.kind in ("bool", "int", "float", "str", "Scalar") else "..."
        if p.default is None:
            default = "None"
        if default in ("inf", "-inf", "nan"):
            default = "..."
    return Argument(p.name, kind, default, p.keyword_only)


def _outputs(s: Signature) -> str:
    """The type of `out=`."""
    count = sum(p.written and p.keyword_only for p in s.parameters)
    if count == 1:
        return "Tensor | None" if next(p for p in s.parameters if p.written and p.keyword_only).kind == "Tensor" else "Tensors | None"
    return "Tensors | None"


def _result(name: str, s: Signature) -> str:
    if not s.returns:
        return "None"
    each = [GIVEN.get(r.kind, "Any") for r in s.returns]
    if len(each) == 1:
        return each[0]
    return f"named_results.{name}" if _fields(s.returns) else f"tuple[{', '.join(each)}]"


def _fields(returns: tuple[Return, ...]) -> list[str]:
    """Return the names of the results, or an empty list if one result is unnamed."""
    names = [r.name for r in returns]
    return names if all(names) else []


def _variants(arguments: list[Argument], s: Signature, other_names: bool) -> Iterator[list[Argument]]:
    """Yield the argument lists of a schema: unchanged, with a variadic list of ints, and with NumPy's
    names."""
    yield arguments
    positional = [a for a in arguments if not a.keyword]
    first = 1 if len(positional) > 1 and s.parameters[0].kind == "Tensor" else 0
    if len(positional) == first + 1 and s.parameters[first].kind == "int[]":
        row = Argument("*" + positional[first].name, "Int")
        yield [*positional[:first], row, *(a for a in arguments if a.keyword)]
    if not other_names:
        return
    names = [a.name for a in arguments]
    if "dim" in names:
        at = names.index("dim")
        new = {"dim": "axis", "keepdim": "keepdims"}
        yield [*arguments[:at], *(replace(a, name=new.get(a.name, a.name), keyword=True) for a in arguments[at:])]
    if "keepdim" in names:
        at = names.index("keepdim")
        yield [*arguments[:at], Argument("keepdims", "Bool", "", keyword=True), *(replace(a, keyword=True) for a in arguments[at + 1 :])]


def _as_python(arguments: list[Argument], method: bool) -> list[Argument] | None:
    """Return the parameters of a function or method, or None for an operator without a tensor method."""
    receiver = next((a for a in arguments if a.name == "self"), arguments[0] if arguments else None)
    if method:
        if receiver is None or "Tensor" not in receiver.type or receiver.type == "Tensors":
            return None
        arguments = [a for a in arguments if a is not receiver]
    else:
        taken = {a.name for a in arguments}
        arguments = [replace(a, name="input") if a.name == "self" and "input" not in taken else a for a in arguments]
    # the keyword `from` can be passed by position only
    return [replace(a, name=a.name + "_") if keyword.iskeyword(a.name) else a for a in arguments]


def _shown(arguments: list[Argument], method: bool) -> str:
    """Return parameters as source text."""
    shown = ["self"] if method else []
    starred = late = False
    for a in arguments:
        if a.keyword and not starred:
            shown.append("*")
            starred = True
        starred = starred or a.name.startswith("*")
        if late and not a.default and not a.keyword and not a.name.startswith("*"):
            a = replace(a, default="...")
        late = late or bool(a.default)
        shown.append(str(a))
    return ", ".join(shown)


def _defined(name: str, signatures: list[str], indent: str = "", operator: str = "") -> str:
    """Return the `def` lines of a function, with `@overload` for several signatures; the first has the
    operator's description."""
    lines = []
    # A signature with a variadic integer list would hide the equal signature without it, and follows that
    # one.
    hiding = [text for text in signatures if re.sub(r", \*\w+: Int(?=[,)])", "", text) in set(signatures) - {text}]
    signatures = [text for text in signatures if text not in hiding] + hiding
    sentence = doc_summaries.SENTENCES.get(operator or name, ("", ""))[0]
    for text in signatures:
        if len(signatures) > 1:
            lines.append(f"{indent}@overload")
        line = f"{indent}def {name}{text}: ..."
        if len(line) > WIDTH:
            inside, _, result = text[1:].rpartition(") -> ")
            line = f"{indent}def {name}(\n{indent}    {inside}\n{indent}) -> {result}: ..."
            if any(len(part) > WIDTH for part in line.split("\n")):
                each = "".join(f"{indent}    {part},\n" for part in _parts(inside))
                line = f"{indent}def {name}(\n{each}{indent}) -> {result}: ..."
        if sentence and text is signatures[0]:
            line = f'{line.removesuffix(" ...")}\n{indent}    """{sentence}"""'
        lines.append(line)
    return "\n".join(lines) + "\n"


def _parts(text: str) -> list[str]:
    """Split a text at commas outside of brackets."""
    parts, depth, start = [], 0, 0
    for i, c in enumerate(text):
        depth += (c in "([") - (c in ")]")
        if c == "," and not depth:
            parts.append(text[start:i].strip())
            start = i + 1
    return [*parts, text[start:].strip()]


def _by_hand(name: str, method: bool = False) -> list[str]:
    """The signatures of a function whose parameters no schema tells."""
    row = WRITTEN[name]
    receiver = "self" if method else "input: Tensor"
    return [f"({parameters.format(receiver)}) -> {result}" for parameters, result in zip(row[::2], row[1::2], strict=True)]


# ---------------------------------------------------------------------------------------- functions written in Python


def of_python(function: Callable[..., Any]) -> list[str]:
    """Return the signatures of a scripted function with the Python types accepted for its arguments."""
    flag = getattr(function, "__flag__", None)
    if flag is not None:
        raise TypeError(flag)
    s = inspect.signature(function)
    shown: list[str] = []
    starred = False
    for p in s.parameters.values():
        if p.kind is p.KEYWORD_ONLY and not starred:
            shown.append("*")
            starred = True
        star = {p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**"}.get(p.kind, "")
        default = "" if p.default is p.empty else f" = {p.default!r}" if isinstance(p.default, (bool, int, float, str, type(None))) else " = ..."
        shown.append(f"{star}{p.name}: {_annotation(p.annotation, p.name)}{default}")
    return [f"({', '.join(shown)}) -> {_annotation(s.return_annotation, 'return')}"]


def _annotation(annotation: Any, name: str) -> str:
    """Return a script annotation as the type that Python accepts: a dtype is an int in scripts, and a list
    any sequence."""
    if annotation is inspect.Parameter.empty:
        return "Tensor" if name == "return" else "Any"
    text = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", str(annotation))
    text = text.replace("typing.", "").replace("ts.", "")
    if name == "dtype" and text.replace("int", "DType") != text:
        return re.sub(r"\bint\b", "DType", text)
    text = re.sub(r"BroadcastingList\d\[(\w+)\]", lambda m: f"{m[1].title()} | {m[1].title()}s", text)
    if name != "return":
        text = re.sub(r"\b[lL]ist\[Tensor\]", "Tensors", text)
        text = re.sub(r"\b[lL]ist\[(int|float|bool)\]", lambda m: f"{m[1].title()}s", text)
        text = re.sub(r"\b(int|float|bool|str)\b", lambda m: PLAIN[m[1]] if m[1] != "float" else "Float", text)
    else:
        text = re.sub(r"\b[lL]ist\[Tensor\]", "list[Tensor]", text)
    return re.sub(r"Optional\[(.*)\]$", r"\1 | None", text)


# ---------------------------------------------------------------------------------------- stubs


def named_results() -> str:
    """Return the stubs of named tuples of results, such as the result of `ts.max(x, 0)`."""
    classes: dict[str, str] = {}
    for name in sorted(registry.names()):
        for record in registry.records(name):
            s = signature(record.schema_text)
            if name.startswith("aten::") and record.variant != "out" and len(s.returns) > 1 and _fields(s.returns):
                body = "".join(f"    {r.name}: {GIVEN.get(r.kind, 'Any')}\n" for r in s.returns)
                classes.setdefault(name[6:], f"\nclass {name[6:]}(NamedTuple):\n{body}")
    return _stub("".join(classes.values()).lstrip("\n"))


def tensor_methods() -> str:
    """`OperatorMethods`, of which `Tensor` inherits."""
    text = (ROOT / "ts/_core/tensor/tensor.pyi").read_text()
    own = set(re.findall(r"^    (?:def )?(\w+)[(:]", text.partition("class Tensor(")[2], re.MULTILINE))
    lines = ["class OperatorMethods:\n"]
    for name in sorted({*registry.methods(), *functional.tensor_methods()} - own):
        by_hand = name in functional.tensor_methods()
        signatures = _by_hand(name, method=True) if by_hand else functions(name, method=True)
        if signatures:
            lines.append(_defined(name, signatures, "    "))
    return _stub("".join(lines))


def _stub(body: str, exported: str = "") -> str:
    """Return a stub file with its imports, re-exports and body."""
    lines = [HEAD, "\n"]
    own = set(re.findall(r"import \w+ as (\w+)$", exported, re.MULTILINE))
    for module, names in FROM.items():
        used = [name for name in names if name not in own and re.search(rf"(?<![\w.]){name}\b(?!:)|-> {name}:", body)]
        if len(used) > 6:
            lines.append(f"from {module} import (\n" + "".join(f"    {name},\n" for name in used) + ")\n")
        elif used:
            lines.append(f"from {module} import {', '.join(used)}\n")
        lines.append("\n" if module == "typing" and used else "")
    return "".join(lines) + exported + "\n" + body


def _operator_defs(names: dict[str, str]) -> str:
    """Functions of a package: the name there, and the operator's."""
    return "".join(_defined(name, functions(operator), operator=operator) for name, operator in sorted(names.items()))


def package() -> str:
    """Return `ts/__init__.pyi`."""
    homes = {name: module for module, names in ts._NAMES_OF.items() for name in names if name not in ts.WRITTEN}
    homes |= {"Generator": "ts.ops.generator", "default_generator": "ts.ops.generator"}
    exported = "".join(f"from {module} import {name} as {name}\n" for name, module in sorted(homes.items(), key=lambda x: x[::-1]))
    exported += "".join(f"from ts import {name} as {name}\n" for name in sorted({*ts._MODULES, "_C", "_VF"} - homes.keys()))
    lines = ["__version__: Str\nWRITTEN: frozenset[Str]\nnewaxis: None\n"]
    lines += [f"{name}: PyFloat\n" for name in ("e", "inf", "nan", "pi")]
    lines += [f"{name}: dtype\n" for name in sorted(ts.dtypes.NAMES)]
    lines.append("\n")
    for name in sorted({*registry.functions(), *functional.torch_functions(), *ts.WRITTEN} - homes.keys()):
        if name not in ts._MODULES and name not in ts.dtypes.NAMES:
            lines.append(_defined(name, _by_hand(name) if name in WRITTEN else functions(name)))
    return _stub("".join(lines), exported)


def namespace(name: str, more: str = "") -> str:
    """`ts/linalg.pyi` and its like."""
    operators = {n: full.removeprefix("aten::") for n, full in registry.namespace(name).items()}
    return _stub(_operator_defs(operators), more)


def nn() -> str:
    """`ts/nn/__init__.pyi`: where its names live."""
    from ts import nn
    from ts.nn import modules

    lines = [HEAD, "\n"]
    lines += [f"from ts.nn import {name} as {name}\n" for name in sorted(nn._MODULES)]
    lines += [f"from {home} import {name} as {name}\n" for name, home in sorted(modules.NAME_TO_MODULE.items(), key=lambda item: item[::-1])]
    lines.append("from ts.nn.parallel import DataParallel as DataParallel\n")
    lines += [f"from ts.nn.parameter import {name} as {name}\n" for name in sorted(nn._PARAMETERS)]
    return "".join(lines)


def nn_modules() -> str:
    """`ts/nn/modules/__init__.pyi`."""
    from ts.nn import modules

    lines = [HEAD, "\n"]
    lines += [f"from ts.nn.modules import {name} as {name}\n" for name in sorted({*modules._FAMILIES, "utils"})]
    lines += [f"from {home} import {name} as {name}\n" for name, home in sorted(modules.NAME_TO_MODULE.items(), key=lambda item: item[::-1])]
    lines.append("\nNAME_TO_MODULE: dict[str, str]\n")
    return "".join(lines)


def nn_functional() -> str:
    """`ts/nn/functional/__init__.pyi`: written functions as Python may call them, and operators."""
    from ts.nn import functional as F

    lines = []
    lines.append("NAME_TO_MODULE: dict[Str, Str]\nWRITTEN: frozenset[Str]\nOPERATORS: tuple[Str, ...]\n\n")
    for name in sorted({*F.NAME_TO_MODULE, *F.OPERATORS, *F._OPERATORS}):
        lines.append(_defined(name, _nn_signatures(F, name)))
    return _stub("".join(lines), "from ts.nn import grad as grad\n")


def _nn_signatures(F: Any, name: str) -> list[str]:
    if name not in F.NAME_TO_MODULE:
        return functions(F._OPERATORS.get(name, name))
    function = getattr(F, name)
    dispatched = getattr(function, "__wrapped__", function)
    if name.partition("_pool")[1] and "max" in name and not name.endswith("_indices"):  # what it gives, a flag says
        plain = of_python(getattr(F, f"{name}_with_indices"))[0]
        inside, _, _ = plain[1:].rpartition(") -> ")
        off = inside.replace("return_indices: Bool", "return_indices: Literal[False]")
        on = re.sub(r"return_indices: Bool = False", "return_indices: Literal[True]", inside)
        before, _, after = on.partition("return_indices: Literal[True]")
        starred = f"{before}*, return_indices: Literal[True]{after}" if "*" not in before else on
        return [f"({off}) -> Tensor", f"({starred}) -> tuple[Tensor, Tensor]", f"({inside}) -> Any"]
    return of_python(dispatched)


def jit() -> str:
    """`ts/jit/__init__.pyi`."""
    from ts import jit

    lines = [HEAD, "\n"]
    for name, (module, attribute) in sorted(jit._NAME_TO_MODULE.items()):
        lines.append(f"from {module} import {attribute} as {name}\n" if name.isidentifier() else "")
    lines += [f"from ts.jit import {name} as {name}\n" for name in ("annotations", "frontend", "logging")]
    return "".join(lines)


def method_names() -> str:
    """`ts/ops/method_names.py`: the operators that tensors have as methods."""
    names = textwrap.wrap(" ".join(sorted({*registry.methods(), *functional.tensor_methods()})), 100)
    table = "".join(f"    {line}\n" for line in names)
    head = "Names of the operators that are tensor methods, written by `python -m tests.regenerate`."
    return f'"""{head}"""\n\nfrom __future__ import annotations\n\nfrom typing import Final\n\nNAMES: Final = """\n{table}"""\n'


def documented(page: str) -> str:
    """Return `ts/ops/doc_data.py`: supported dtypes from docs/reference/operators, and results of the
    documentation examples."""
    taken: dict[str, set[str]] = {}
    for schema, letters in re.findall(r"^\| `(.+?)` \| [^|]*\| (\w*) \|", page, re.MULTILINE):
        taken.setdefault(re.split(r"[.(]", schema)[0], set()).update(letters)
    by_letters: dict[str, list[str]] = {}
    for name, found in taken.items():
        by_letters.setdefault("".join(letter for letter in "bihfc" if letter in found), []).append(name)
    head = "Dtypes that operators take, and what their examples give: found by `python -m tests.regenerate`."
    lines = [f'"""{head}"""\n\nfrom __future__ import annotations\n\nfrom typing import Final\n\n_DTYPES_TEXT: Final = {{\n']
    for letters in sorted(filter(None, by_letters), key=lambda letters: (-len(letters), letters)):
        lines.append(f'    "{letters}": """\n')
        lines += [f"        {line}\n" for line in textwrap.wrap(" ".join(sorted(by_letters[letters])), 100)]
        lines.append('    """,\n')
    lines.append("}\nDTYPES: Final = {name: letters for letters, names in _DTYPES_TEXT.items() for name in names.split()}\nRESULTS: Final = {\n")
    for name, (_, example) in doc_summaries.SENTENCES.items():
        lines.append(f'    "{name}": """\\\n{textwrap.dedent(repr(eval(example, {"ts": ts})))}""",\n')
    return "".join([*lines, "}\n"])


def stubs() -> dict[Path, str]:
    """Return the generated stubs by path."""
    registry.load()
    return {
        ROOT / "ts/ops/method_names.py": method_names(),
        ROOT / "ts/ops/doc_data.py": documented("".join(path.read_text() for path in sorted((ROOT / "docs/reference/operators").glob("*.md")))),
        ROOT / "ts/_core/dispatch/named_results.pyi": named_results(),
        ROOT / "ts/_core/tensor/methods.pyi": tensor_methods(),
        ROOT / "ts/__init__.pyi": package(),
        ROOT / "ts/linalg.pyi": namespace("linalg", "from ts.errors import LinAlgError as LinAlgError\n"),
        ROOT / "ts/fft.pyi": namespace("fft"),
        ROOT / "ts/special.pyi": namespace("special"),
        ROOT / "ts/nn/__init__.pyi": nn(),
        ROOT / "ts/nn/modules/__init__.pyi": nn_modules(),
        ROOT / "ts/nn/functional/__init__.pyi": nn_functional(),
        ROOT / "ts/jit/__init__.pyi": jit(),
    }
