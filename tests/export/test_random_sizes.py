"""Random programs with dynamic sizes: an exported program equals eager mode or rejects the sizes.

TS_RANDOM_PROGRAMS=2000 pytest tests/export/test_random_sizes.py
"""

import io

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import ts

pytest.importorskip("sympy")
from tests.export.random_size_programs import Random, programs
from tests.fuzz import how_many
from ts.errors import ConstraintViolationError, GuardOnDataDependentSymNode, UserError

REJECTION_ERRORS = (ConstraintViolationError, GuardOnDataDependentSymNode, UserError)


def module_of(program: Random):
    class Made(ts.nn.Module):
        forward = program.function()

    return Made()


def assert_equal(found, wanted):
    assert len(found) == len(wanted)
    for a, b in zip(found, wanted, strict=True):
        if isinstance(b, ts.Tensor):
            assert a.shape == b.shape and a.dtype is b.dtype, (
                f"{a.dtype}{list(a.shape)} for {b.dtype}{list(b.shape)}"
            )
            ts.testing.assert_close(a, b, equal_nan=True, rtol=1e-4, atol=1e-4)
        else:
            assert type(a) is type(b) and a == b, f"{a!r} for {b!r}"


def is_refusal(error):
    """Return True if an error is a failed guard or assertion of the program."""
    message = str(error)
    return (isinstance(error, AssertionError) and message.startswith("Guard failed")) or (
        isinstance(error, RuntimeError) and message.startswith("Runtime assertion failed")
    )


def check(program: Random, with_file: bool) -> None:
    """Check that each form of the program equals eager mode or rejects the sizes."""
    module = module_of(program)
    try:
        exported = ts.export.export(
            module, program.arguments(program.shapes), dynamic_shapes=program.dynamic_shapes()
        )
    except REJECTION_ERRORS:
        return
    try:
        decomposed = exported.run_decompositions()
    except RuntimeError as error:
        assert "cannot be replaced by an operator without writes" in str(error)
        decomposed = exported
    forms = [exported.module(), decomposed.module()]
    if with_file:
        buffer = io.BytesIO()
        ts.export.save(exported, buffer)
        buffer.seek(0)
        forms.append(ts.export.load(buffer).module())
    for k, sizes in enumerate([program.shapes, *program.sizes]):
        given = program.arguments(sizes)
        try:
            wanted = module(*given)
        except Exception:
            wanted = None
        for form, name in zip(forms, ("module", "decomposed", "loaded"), strict=False):
            arguments = program.arguments(sizes)
            try:
                found = form(*arguments)
            except Exception as error:
                if wanted is not None and (k == 0 or not is_refusal(error)):
                    raise AssertionError(f"{name} raises at {sizes}") from error
                continue
            if name != "loaded":
                check_what_is_known(exported if name == "module" else decomposed, program.arguments(sizes))
            assert wanted is not None, f"{name} answers at {sizes}, where eager code raises"
            try:
                assert_equal([*found, *arguments], [*wanted, *given])
            except AssertionError as error:
                raise AssertionError(f"{name} is wrong at {sizes}") from error


def check_what_is_known(exported, arguments):
    """Check that the shapes in an exported program hold for other sizes."""
    from ts.export import sympy_functions
    from ts.fx.interpreter import Interpreter
    from ts.utils._pytree import tree_leaves

    numbers = {}

    class Watching(Interpreter):
        def run_node(self, n):
            found = super().run_node(n)
            known = n.meta.get("val")
            if isinstance(known, ts.Tensor) and isinstance(found, ts.Tensor):
                assert known.dtype is found.dtype, n.format_node()
                declared = [
                    s
                    if isinstance(s, int)
                    else sympy_functions.value(s.node.expr, numbers)
                    if s.node.expr.free_symbols <= set(numbers)
                    else None
                    for s in known.array.shape
                ]
                if n.op == "placeholder":
                    for s, size in zip(known.array.shape, found.shape, strict=True):
                        if not isinstance(s, int) and s.node.expr.is_Symbol:
                            numbers[s.node.expr] = size
                else:
                    assert len(declared) == len(found.shape) and all(
                        a is None or a == b for a, b in zip(declared, found.shape, strict=True)
                    ), f"{list(known.array.shape)} is {list(found.shape)}: {n.format_node()}"
            return found

    state = {**exported.state_dict, **exported.constants}
    lifted = [state[s.target] for s in exported.graph_signature.input_specs if s.target is not None]
    Watching(exported.graph_module).run(*lifted, *tree_leaves(arguments))


USUAL = 40
EXAMPLES = how_many(USUAL)
RANDOM = settings(
    phases=(Phase.explicit, Phase.generate),  # no shrinking: it takes minutes, and programs are short
    derandomize=EXAMPLES == USUAL,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    database=None,
)


@settings(RANDOM, max_examples=EXAMPLES)
@given(programs(), st.booleans())
def test_programs_over_sizes(program, with_file):
    check(program, with_file)


@pytest.mark.long
@settings(RANDOM, max_examples=150)
@given(programs(), st.booleans())
def test_many_programs_over_sizes(program, with_file):
    check(program, with_file)
