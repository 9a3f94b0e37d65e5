"""`warnings.warn` in scripts: location, once per run, and filters."""

import warnings

import pytest

import ts


def careful(n: int) -> int:
    for _ in range(3):
        warnings.warn("careful")  # line 12
    return n


def twice(n: int) -> int:
    return careful(careful(n))


def sometimes(n: int) -> int:
    for i in range(n):
        if i % 2 == 1:
            warnings.warn("odd")
        else:
            warnings.warn("even")
    return n


def warnings_of(function, *args):
    """Return the warnings issued by a call."""
    with warnings.catch_warnings(record=True) as records:
        warnings.simplefilter("always")
        function(*args)
    return [(str(w.message), w.category, w.filename, w.lineno) for w in records]


def test_location():
    """A warning has the file and line of the script."""
    assert warnings_of(ts.jit.script(careful), 1) == [("careful", UserWarning, __file__, 12)]


def test_again_in_the_next_run():
    """Each call from Python warns again."""
    scripted = ts.jit.script(careful)
    assert len(warnings_of(scripted, 1)) == len(warnings_of(scripted, 1)) == 1


def test_inlined_twice():
    """Inlined copies of one call warn once."""
    assert len(warnings_of(ts.jit.script(twice), 1)) == 1


def test_each_call_warns():
    """Separate calls in one function warn once each, in execution order."""
    assert [warning[0] for warning in warnings_of(ts.jit.script(sometimes), 5)] == ["even", "odd"]
    assert [warning[0] for warning in warnings_of(ts.jit.script(sometimes), 1)] == ["even"]


def test_as_error():
    """A warning turned into an error by a filter propagates out of the script."""
    scripted = ts.jit.script(careful)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match=r"^careful$"):
            scripted(1)


def test_graph_read_from_text():
    """A graph parsed from text has no call numbers and still warns."""
    graph = ts.parse_ir(str(ts.jit.script(careful).graph))
    assert [warning[0] for warning in warnings_of(ts.jit.create_function_from_graph("f", graph), 1)] == ["careful"]


def test_warning_without_location():
    """A warning node without a source location warns too."""
    graph = ts.parse_ir(
        'graph(%n : int):\n  %m : str = prim::Constant[value="here"]()\n  %s : int = prim::Constant[value=2]()\n'
        "   = aten::warn(%m, %s)\n  return (%n)\n"
    )
    assert [warning[0] for warning in warnings_of(ts.jit.create_function_from_graph("f", graph), 1)] == ["here"]


def mixed():
    return [1, "a"]


def test_location_of_compiler_warnings():
    """Warnings of the compiler have the location of the user's line."""
    ((message, _, *location),) = warnings_of(ts.jit.script, mixed)
    assert message.startswith("List consists of heterogeneous types")
    assert location == [__file__, mixed.__code__.co_firstlineno + 1]


def test_operators_warn_where_the_program_called_them():
    """Warnings of operators have the caller's line, so that calls in other lines warn again."""
    x, mask = ts.ones(3), ts.ones(3, dtype=ts.uint8)
    with warnings.catch_warnings(record=True) as records:
        x[mask]
        x[mask]
        ts.add(x, 1, out=ts.empty(2))
        ts.ones(1).var()
        ts.range(0, 2)
    assert [w.filename for w in records] == [__file__] * 5
    assert [w.lineno - records[0].lineno for w in records] == [0, 1, 2, 3, 4]
