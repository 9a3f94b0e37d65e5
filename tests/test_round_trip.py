"""Graph text and source text can be parsed back for all compiled programs."""

import pytest

import ts
from tests.program_files import all_programs, read
from tests.round_trip import OTHER_GRAPH, REJECTED, check, check_source_text, compiled_by
from ts.errors import FrontendError
from ts.ops import registry


def compiled(path):
    """Return every function and method that a program compiles."""
    program = read(path)

    def run():
        main = program.load()
        if main is not None:
            ts.jit.script(main)

    return compiled_by(run, may_fail=bool(program.compile_error or program.runtime_error))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("path", all_programs(), ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_programs(path):
    """Graph and source text of all functions, methods, classes and modules of a program can be parsed."""
    for function in compiled(path):
        check(function)


@pytest.mark.parametrize("name", [*OTHER_GRAPH, *REJECTED])
def test_exceptions_to_round_trips(name):
    """The exceptions to round trips have another graph or are rejected."""
    stem, *_, function_name = name.split(".")
    (path,) = [path for path in all_programs() if path.stem == stem]
    (function,) = [function for function in compiled(path) if function.name == function_name]
    with pytest.raises(AssertionError if name in OTHER_GRAPH else FrontendError):
        check_source_text(function)


def printed(text, *functions):
    """Return the printed source of several functions of a text."""
    unit = ts.jit.CompilationUnit(text)
    return [getattr(unit, name).code for name in functions]


def uses_of(operator):
    """Yield functions that call an operator with several results, returning or unpacking them."""
    arguments = [
        (a, f"{a.name}_") for a in operator.schema.arguments if not (a.kwarg_only and a.has_default)
    ]
    parameters = ", ".join(f"{name}: {a.type.annotation_str}" for a, name in arguments)
    parameters = parameters.replace("number", "float")
    given = ", ".join(f"{a.name}={name}" if a.kwarg_only else name for a, name in arguments)
    call = f"torch.ops.{operator.schema.name.replace('::', '.')}({given})"
    names = ", ".join(f"r{i}" for i in range(len(operator.schema.returns)))
    for body in (f"return {call}", f"r = {call}\n    return r[1], r", f"{names} = {call}\n    return r1, r0"):
        try:
            yield ts.jit.CompilationUnit(f"def f({parameters}):\n    {body}\n").f
        except FrontendError:  # selects another overload
            assert operator.schema.overload_name


def test_operators_with_several_results():
    """Operators with several results print as source that can be parsed back."""
    registry.load()
    checked = 0
    for name in registry.names():
        for operator in registry.lookup(name):
            if name.startswith("aten::") and len(operator.schema.returns) > 1:
                for function in uses_of(operator):
                    check(function)
                    checked += 1
    assert checked > 200


def test_tasks_keep_their_order():
    """A `wait` before the definition of a task stays before it in printed source."""
    (source,) = printed(
        "def g(x: int) -> int:\n  return x\n"
        "def f(x: int) -> int:\n"
        "  return torch.jit.wait(torch.jit.fork(g, x)) + torch.jit.wait(torch.jit.fork(g, 2))\n",
        "f",
    )
    lines = [line.strip() for line in source.splitlines()]
    assert lines.index("_1 = torch.wait(_0)") < lines.index("def __forked_function0():")


def test_equal_default_of_another_type_is_printed():
    """An explicit `1.0` equal to an int default is printed, because the operator would get an int."""
    (source,) = printed("def f(x):\n  return torch.softplus(x, 1.0, 20.0), torch.add(x, x, alpha=1)\n", "f")
    assert "torch.softplus(x, 1., 20.)" in source and "torch.add(x, x)" in source
