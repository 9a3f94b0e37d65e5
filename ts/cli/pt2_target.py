"""Exported programs on the command line, where a `.pt2` file can be used instead of an archive.

Input: the path of a `.pt2` file. Output: a function for `ts run`, `graph`, `code`, `info` and `check`.
Example:

    function = load_exported(path)
    function.schema.arguments        parameters, such as x, batch_a, n=3
    function(x, batch_a=a)           the result of the program

Arguments of an exported program may be nested containers. The leaves of the containers become the parameters
of the function, with the names of the graph's inputs. Numbers and strings that were constant at export may be
omitted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from ts._core.tensor.tensor import Tensor
from ts.cli import console
from ts.cli.errors import UsageError, report_read_errors
from ts.errors import MissingSympyError
from ts.export import ExportedProgram, load
from ts.export.pt2_format.symbols import require_sympy
from ts.export.signature import InputKind
from ts.ir import types
from ts.ir.schema import Argument
from ts.utils import _pytree as pytree

_TYPES: Final = {int: types.INT, float: types.FLOAT, bool: types.BOOL, str: types.STR}


class Schema(NamedTuple):
    """Signature of an exported program."""

    arguments: list[Argument]


class ExportedFunction:
    """Exported program with the interface of a function.

    Its parameters are the leaves of the program's inputs.
    """

    name = "forward"

    def __init__(self, program: ExportedProgram) -> None:
        self.program = program
        self.module = program.module()
        self.inputs = list(_leaves(program))
        self.schema = Schema([_argument(name, value) for name, value in self.inputs])

    def __call__(self, *positional: Any, **keywords: Any) -> Any:
        """Run the exported program. An input that is not given gets its example value."""
        names = [name for name, _ in self.inputs]
        values = dict(zip(names, positional, strict=False)) | keywords
        leaves = [values.get(name, value) for name, value in self.inputs]
        args, kwargs = pytree.tree_unflatten(leaves, self.program.call_spec[0])
        return self.module(*args, **kwargs)

    @property
    def graph(self) -> Any:
        """Graph of an exported program, which supports printing but not drawing."""
        return _Graph(self.program)

    @property
    def code(self) -> str:
        """Return the code of the graph, annotated with the properties of each value."""
        return str(self.program.graph_module.print_readable(print_output=False))

    @property
    def bytecode(self) -> str:
        """Raise UsageError: an exported program has no bytecode."""
        raise UsageError("an exported program has no bytecode; `ts code` prints its Python code")


class _Graph:
    def __init__(self, program: ExportedProgram) -> None:
        self.program = program

    def __str__(self) -> str:
        lines = [str(self.program.graph), "", "inputs:"]
        lines += [f"  {spec}" for spec in self.program.graph_signature.input_specs]
        lines += ["outputs:", *(f"  {spec}" for spec in self.program.graph_signature.output_specs)]
        if self.program.range_constraints:
            lines += ["sizes:", *ranges(self.program)]
        return "\n".join(lines)

    def draw(self, path: str) -> None:
        """Raise UsageError: exported programs cannot be drawn."""
        raise UsageError("exported programs cannot be drawn; `ts graph` prints the graph as text")


def load_exported(path: Path) -> ExportedFunction:
    """Load an exported program. Raise a one-line ProgramError if that fails."""
    with report_read_errors(path), console.progress(f"loading {path.name}"):
        return ExportedFunction(load(path))


def function_of(path: Path, name: str) -> ExportedFunction:
    """Return the exported program of a file. `name` must be empty or "forward"."""
    if name not in ("", "forward"):
        raise UsageError(f"{path} is an exported program: it has no {name!r}, only forward")
    return load_exported(path)


def _leaves(program: ExportedProgram) -> Iterator[tuple[str, Any]]:
    """Yield the name and the example value of each user input."""
    nodes = {node.name: node for node in program.graph.nodes if node.op == "placeholder"}
    for spec in program.graph_signature.input_specs:
        if spec.kind is InputKind.USER_INPUT:
            yield spec.arg.name, nodes[spec.arg.name].meta.get("val")


def _argument(name: str, value: Any) -> Argument:
    if isinstance(value, Tensor):
        return Argument(name, types.TENSOR)
    if value is None:
        return Argument(name, types.NONE, None, True)
    kind = _TYPES.get(type(value))
    if kind is None:  # the value is a symbolic int
        return Argument(name, types.INT)
    return Argument(name, kind, value, True)


# ---- summaries for `ts info` and `ts check` ----------------------------------------------------------


def format_value(value: Any) -> str:
    """Format a value such as `float32[s0, 3]`."""
    if isinstance(value, Tensor):
        return f"{str(value.dtype).rpartition('.')[2]}[{', '.join(map(str, value.array.shape))}]"
    return repr(value)


def describe_inputs(function: ExportedFunction) -> str:
    """Format the signature of a program such as `forward(x: float32[s0, 3], n = 3)`."""
    inputs = [
        f"{n}: {format_value(v)}" if isinstance(v, Tensor) else f"{n} = {v!r}" for n, v in function.inputs
    ]
    results = function.program.graph.output_node().meta.get("val") or ()
    return f"forward({', '.join(inputs)}) -> ({', '.join(map(format_value, results))})"


def ranges(program: ExportedProgram) -> Sequence[str]:
    """Return one line per symbol, with the range of its values."""
    return [f"  {symbol} from {r.lower} to {r.upper}" for symbol, r in program.range_constraints.items()]


def operators(program: ExportedProgram) -> Counter[str]:
    """Count the operator calls of a program, including those in branches and loops."""
    counts: Counter[str] = Counter()
    for module in program.graph_module.modules():
        for node in getattr(module, "graph", program.graph).nodes:
            if node.op == "call_function":
                target: Any = node.target
                name = target.name() if hasattr(target, "overloadpacket") else getattr(target, "__name__", "")
                counts[name] += 1
    return counts


def find_shape_errors(program: ExportedProgram) -> list[str]:
    """Return a list with an error message if declared shapes are inconsistent, else an empty list.

    Without sympy, the shapes are not checked.
    """
    try:
        require_sympy()
    except MissingSympyError:
        return []
    from ts.export.shape_check import ShapeError, check_shapes

    try:
        check_shapes(program)
    except ShapeError as error:
        return [str(error)]
    return []


def conditions(program: ExportedProgram) -> list[str]:
    """Return the conditions on the arguments that the guards check."""
    return [check.text for check in program._guards]
