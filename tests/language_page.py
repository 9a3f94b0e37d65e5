"""Rules of the TorchScript language reference, with the programs that test each rule.

Input: the program files of `tests/programs`, which name the rules they test:

    # rule: optional.refined, statements.assert

Output: `docs/reference/language/`, tables of the rules with their programs. Command:

    python -m tests.language_page
"""

from __future__ import annotations

import re
from pathlib import Path

from tests.program_files import FOLDER, all_programs

PAGES = Path(__file__).parent.parent / "docs" / "reference" / "language"
_RULE = re.compile(r"^# rule: (.*)$", re.MULTILINE)

HEAD = """\
# Language

These pages list every rule of the TorchScript language reference, of its type system and of the language part of PyTorch's user guide. The
column *Tested in* links to the programs in `tests/programs/` that test the rule. The tests run each program in `tests/programs/` as a script,
as plain Python if it is legal Python, and with PyTorch 2.13 if it is installed. Comments in the programs state the expected output.
`python -m tests.language_page` generates these pages from the programs in `tests/programs/`.

The language is a subset of Python with static types. A parameter without an annotation is a tensor. Types of local variables
are inferred. Scripts can use classes, enums, named tuples, modules, functions and constants of the surrounding Python program by their names.

| Page | Sections |
|---|---|
"""

# Sections of each page.
SECTIONS = {
    "types": ("Types", "Annotations", "Conversions"),
    "expressions": ("Expressions", "Resolution of Python values"),
    "statements": ("Statements", "Concurrency", "Metaprogramming", "Modules and traces", "Inspection"),
    "builtins": ("Python's built-in functions",),
}

# Text of each rule, by section and rule name.
RULES: dict[str, dict[str, str]] = {
    "Types": {
        "any.bind": "`Any` takes a value of every type, in assignments, parameters and returns",
        "any.is": "`is` and `is not` on `Any`",
        "any.isinstance": "`isinstance` tests the type of a value annotated as `Any`",
        "any.print": "values of type `Any` can be printed",
        "any.containers": "containers of `Any`",
        "primitive": "`int`, `float`, `complex`, `bool`, `str`, `None`",
        "tuple": "`Tuple[T0, T1, ...]`, elements of different types",
        "namedtuple.class": "`NamedTuple` as a class",
        "namedtuple.functional": "`NamedTuple(name, fields)`",
        "namedtuple.collections": "`collections.namedtuple`",
        "list": "`List[T]`, all elements of one type",
        "dict": "`Dict[K, V]`; keys are `str`, `int`, `float`, `bool`, `complex` or tensors",
        "optional": "`Optional[T]`",
        "optional.refined": "an `Optional` is refined by comparisons with `None`, through `and`, `or`, `not`",
        "union": "`Union[A, B]` and `A | B`, refined by `isinstance`",
        "pep585": "`list[T]`, `dict[K, V]`, `tuple[T, ...]` without `typing`",
        "future": "`Future[T]`",
        "typing.import": "names of structural types come from `typing`, as in Python",
        "builtin_class": "builtin classes: tensors, `torch.device`, `torch.dtype`, ...",
        "class": "custom classes: `__init__`, attributes, methods",
        "class.attributes": "attributes are declared by assignments in `__init__`",
        "class.variables": "class variables are not attributes of instances",
        "class.inheritance": "a class does not inherit",
        "class.magic": "operators call the magic methods of a class",
        "class.static": "static methods",
        "class.property": "properties",
        "class.default_types": "a parameter of a method without annotation is a tensor",
        "class.lazy": "if a method does not compile, only calls of the method raise an error (beyond PyTorch)",
        "class.dataclass": "data classes",
        "class.interchange": "objects can be passed between Python and scripts",
        "interface": "interfaces: signatures that classes implement",
        "enum": "enumerations: members, `.name`, `.value`, comparison",
        "enum.values": "the values of an enumeration have one type: `int`, `float` or `str`",
        "enum.subclass": "an enumeration without members may be subclassed",
        "enum.iterate": "iteration over an enumeration",
        "module.instance": "the type of a module is inferred from the instance",
        "module.constructor": "a module cannot be constructed in script",
        "module.export": "`forward`, exported methods and the methods that they call are compiled",
        "module.annotation": "attributes of a module annotated in its class",
        "module.annotated": "a submodule annotated with its class has the type of the instance (beyond PyTorch)",
        "module.interface": "module interfaces",
    },
    "Annotations": {
        "annotation.default": "a parameter without an annotation is a tensor; return types are inferred",
        "annotation.python3": "annotations on the signature",
        "annotation.mypy": "type comments",
        "annotation.string": "annotations in quotes, and `from __future__ import annotations`",
        "annotation.local": "a local variable of a wider type than its first value",
        "annotation.annotate": "`torch.jit.annotate`",
        "annotation.attribute": "`torch.jit.Attribute`",
        "annotation.final": "`Final` attributes are constants",
        "annotation.empty": "empty lists and dicts without annotations contain tensors",
    },
    "Conversions": {
        "conversion.tensor": "a tensor of one element where a number is expected",
        "conversion.device": "a string where a device is expected",
        "conversion.tuple_list": "a tuple where a list is expected",
        "conversion.explicit": "`float`, `int`, `bool`, `str` as conversions",
    },
    "Expressions": {
        "literals": "literals of numbers and strings",
        "parentheses": "parentheses and tuples",
        "displays": "list and dict displays",
        "comprehensions": "list and dict comprehensions, with a separate scope",
        "attributes": "attribute references",
        "subscripts": "subscripts of lists, tuples, strings, dicts",
        "slices": "slices of strings, tuples, lists and tensors",
        "slices.tensor": "several slices and indices of a tensor",
        "calls": "calls with positional and keyword arguments, defaults",
        "calls.methods": "calls of methods of builtin types",
        "power": "`**`",
        "unary": "`-`, `~`, `not`",
        "arithmetic": "`* @ // / % + -` on numbers and tensors",
        "list_repetition": "`list * int`",
        "shifts": "`<<` and `>>`",
        "bitwise": "`& ^ |`",
        "comparison": "comparisons, also chained comparisons",
        "comparison.containers": "comparison of strings, lists, tuples and dicts",
        "membership": "`in` and `not in`",
        "identity": "`is` and `is not`",
        "boolean": "`and`, `or`, `not` with short-circuit evaluation",
        "conditional": "`x if c else y`",
        "starred": "starred targets",
        "formatting": "f-strings, `format` and `%`",
    },
    "Statements": {
        "statements.expression": "expressions as statements",
        "statements.assignment": "assignments with several targets and patterns",
        "statements.augmented": "augmented assignments to names, attributes and subscripts",
        "statements.annotated": "annotated assignments",
        "statements.raise": "`raise`",
        "statements.assert": "`assert`",
        "statements.return": "`return`, also early",
        "statements.del": "`del`",
        "statements.pass": "`pass`",
        "statements.print": "`print`",
        "statements.break": "`break`",
        "statements.continue": "`continue`",
        "if": "`if`, `elif`, `else`",
        "if.tensor": "tensors, numbers and containers as conditions",
        "if.ambiguous": "a tensor of several elements has no truth value",
        "if.final": "a condition known at compile time prunes its branch",
        "while": "`while`",
        "while.else": "`while ... else` does not compile",
        "for": "`for` over ranges, lists, strings, tensors, dicts",
        "for.else": "`for ... else` does not compile",
        "for.tuple": "`for` over a tuple is unrolled",
        "for.module_list": "`for` over a `ModuleList` is unrolled",
        "with": "`with` calls `__enter__` and `__exit__`, also on early exits",
        "try": "`try` does not compile",
        "unpacking": "unpacking of tuples and lists",
        "getattr": "`getattr` with a literal name",
        "hasattr": "`hasattr` with a literal name",
        "zip": "`zip`",
        "zip.mixed": "`zip` of a tuple and a list does not compile",
        "enumerate": "`enumerate`",
        "types.one": "a variable has one type on all paths",
        "variables.defined": "a variable is defined on all paths where it is used",
    },
    "Resolution of Python values": {
        "resolve.python": "a Python function that compiles",
        "resolve.operator": "a wrapper of an operator",
        "resolve.identity": "objects that the compiler maps to builtin operators, by identity",
        "resolve.name": "builtin functions, by name",
        "resolve.snapshot": "values of Python modules become constants",
        "resolve.constants": "constants of a module's class",
        "resolve.callback": "functions that scripts call in Python",
    },
    "Python's built-in functions": {
        **{
            f"builtin.{name}": f"`{name}()`"
            for name in (
                "abs all any bin bool chr complex dict divmod enumerate float format getattr hasattr hash hex id int "
                "isinstance len list max min oct ord pow print range reversed round slice sorted staticmethod str sum "
                "super tuple zip"
            ).split()
        },
        "builtin.refused": "functions that the language does not support: `ascii`, `bytes`, `callable`, `compile`, "
        "`delattr`, `dir`, `eval`, `exec`, `filter`, `frozenset`, `globals`, `input`, `issubclass`, `iter`, `map`, "
        "`open`, `property`, `repr`, `set`, `setattr`, `type`, `vars`, `__import__`",
        "builtin.values": "`True`, `False`, `None`, `Ellipsis`",
        "builtin.math": "the module `math`",
    },
    "Concurrency": {
        "fork": "`torch.jit.fork` and `torch.jit.wait`",
    },
    "Metaprogramming": {
        "is_scripting": "`torch.jit.is_scripting`",
        "ignore": "`@torch.jit.ignore`",
        "unused": "`@torch.jit.unused`",
        "export": "`@torch.jit.export`",
        "jit_isinstance": "`torch.jit.isinstance` over containers",
    },
    "Modules and traces": {
        "script_module": "`ScriptModule` and `script_method`",
        "trace.function": "`torch.jit.trace` of functions",
        "trace.module": "`torch.jit.trace` of modules",
        "trace.mixed": "scripts that call traces, traces that call scripts, scripted modules that contain traces",
        "trace.check": "a trace is compared with the function, also for other inputs",
        "trace.warnings": "warnings of the tracer",
        "save": "saving and loading",
        "disable": "with `PYTORCH_JIT=0`, programs run as Python",
    },
    "Inspection": {
        "code": "`.code`",
        "graph": "`.graph`",
    },
}


def tested() -> dict[str, list[Path]]:
    """Return the programs of each rule."""
    results: dict[str, list[Path]] = {}
    for path in all_programs():
        for line in _RULE.findall(path.read_text()):
            for rule in line.split(","):
                results.setdefault(rule.strip(), []).append(path)
    return results


def pages() -> dict[Path, str]:
    """Return the texts of docs/reference/language by their paths."""
    programs = tested()
    index, texts = HEAD, {}
    for name, sections in SECTIONS.items():
        title = " and ".join(part[0].lower() + part[1:] for part in sections[:2])
        lines = [f"# {title[0].upper()}{title[1:]}\n", "Rules of the [language](index.md), with the programs that test them.\n"]
        for section in sections:
            lines += [f"## {section}\n", "| Rule | Tested in |", "|---|---|"]
            for rule, text in RULES[section].items():
                names = (str(path.relative_to(FOLDER)) for path in programs.get(rule, []))
                links = ", ".join(f"[{name.removesuffix('.py')}](../../../tests/programs/{name})" for name in names)
                lines.append(f"| {text.replace('|', chr(92) + '|')} | {links} |")
            lines.append("")
        texts[PAGES / f"{name}.md"] = "\n".join(lines)
        index += f"| [{title[0].upper()}{title[1:]}]({name}.md) | {', '.join(sections)} |\n"
    return {PAGES / "index.md": index, **texts}


if __name__ == "__main__":
    for path, text in pages().items():
        path.write_text(text)
