"""What answered wrongly once: each program gives what eager code gives, or is refused."""

import io

import pytest

import ts

pytest.importorskip("sympy")
from ts.export import Dim


def exported(forward, args, shapes=None):
    return ts.export.export(module(forward), args, dynamic_shapes=shapes)


def module(forward):
    class Program(ts.nn.Module):
        pass

    Program.forward = forward
    return Program()


@pytest.mark.parametrize("derive", [lambda n: 2 * n, lambda n: n + 4])
def test_a_derived_size_before_its_root(derive):
    def forward(self, x, y):
        return x * 1 if x.shape[0] > y.shape[0] else x * 0

    n = Dim("n", min=2)
    program = exported(forward, (ts.ones(8), ts.ones(4)), ({0: derive(n)}, {0: n}))
    for each in (program.module(), program.run_decompositions().module()):
        for _ in range(3):
            assert each(ts.ones(8), ts.ones(4)).sum() == 8
            with pytest.raises(AssertionError, match="Guard failed"):
                each(ts.ones(10), ts.ones(4))


def test_what_the_example_alone_would_decide_stays():
    def forward(self, x):
        return [t * 1 for t in x.tensor_split(2)]

    program = exported(forward, (ts.rand(5),), ({0: Dim.AUTO},))
    for each in (program.module(), program.run_decompositions().module()):
        for n in (5, 8, 7, 4):
            x = ts.rand(n)
            try:
                found = each(x)
            except AssertionError:
                continue
            ts.testing.assert_close(found, module(forward)(x))


def test_arguments_that_share_memory():
    def forward(self, x, y):
        x.add_(1)
        return y * 2, x + y

    program = exported(forward, (ts.arange(4.0), ts.arange(4.0)))
    low = program.run_decompositions().module()
    x, same = ts.arange(4.0), ts.arange(4.0)
    ts.testing.assert_close(program.module()(x, x), module(forward)(same, same))
    with pytest.raises(RuntimeError, match="memory"):
        low(x, x)
    with pytest.raises(RuntimeError, match="memory"):
        low(x, x.view(4))


def test_powers_of_whole_numbers():
    def forward(self, x):
        return x * 1, pow(2, x.shape[0])

    run = exported(forward, (ts.rand(5),), ({0: Dim.AUTO},)).module()
    for _ in range(3):
        found = run(ts.rand(3))[1]
        assert found == 8 and type(found) is int


def test_what_the_compiler_refuses_runs_as_before():
    def forward(self, x):
        k = x.item()
        ts._check(k >= 0)
        return ts.ones(k)

    run = exported(forward, (ts.tensor(3),)).module()
    assert [len(run(ts.tensor(2))) for _ in range(3)] == [2, 2, 2]


def test_quotients_in_conditions_of_files():
    def forward(self, x):
        return [t * 1 for t in x.chunk(2)]

    program = exported(forward, (ts.rand(5),), ({0: Dim.AUTO},))
    buffer = io.BytesIO()
    ts.export.save(program, buffer)
    buffer.seek(0)
    x = ts.rand(7)
    ts.testing.assert_close(ts.export.load(buffer).module()(x), program.module()(x))


def test_a_slice_up_to_a_number_of_data():
    def forward(self, x, y):
        k = y.item()
        ts._check(k >= 0)
        ts._check(k <= x.shape[0])
        return x[:k] * 2

    run = exported(forward, (ts.rand(6), ts.tensor(3)), ({0: Dim.AUTO}, None)).module()
    x = ts.rand(8)
    for k in (0, 3, 8):
        ts.testing.assert_close(run(x, ts.tensor(k)), x[:k] * 2)
