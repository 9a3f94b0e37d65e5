"""Soundness regressions: an exported program equals eager mode or is rejected."""

import copy
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


def test_sizes_decided_by_the_example_are_kept():
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


def test_powers_of_integers():
    def forward(self, x):
        return x * 1, pow(2, x.shape[0])

    run = exported(forward, (ts.rand(5),), ({0: Dim.AUTO},)).module()
    for _ in range(3):
        found = run(ts.rand(3))[1]
        assert found == 8 and type(found) is int


def test_uncompiled_programs_run_in_python():
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


@pytest.mark.parametrize("dim", [Dim.AUTO, Dim("n"), Dim("n", min=1)])
@pytest.mark.parametrize(
    ("forward", "minimum"),
    [
        (lambda self, x: x * 7 if x.shape[0] == 1 else x * 1, 2),
        (lambda self, x: x * max(x.shape[0], 2), 0),
        (lambda self, x: x * ts.sym_min(x.shape[0], 1), 1),
        (lambda self, x: x + x.shape[0] // x.shape[0], 1),
        (lambda self, x: (x + 1, x[:2].shape[0]), 2),
        (lambda self, x: x * 2 if x.shape[0] else x.sum(), 1),
        (lambda self, x: x * 3, 0),
    ],
)
def test_conditions_that_fail_for_sizes_0_and_1(forward, minimum, dim):
    program = exported(forward, (ts.rand(5),), ({0: dim},))
    for each in (program.module(), program.run_decompositions().module()):
        for n in (0, 1, 2, 5):
            x = ts.rand(n)
            if n < minimum:
                with pytest.raises(AssertionError, match=f"Guard failed: .* >= {minimum}"):
                    each(x)
            else:
                ts.testing.assert_close(each(x), module(forward)(x))


@pytest.mark.parametrize(
    ("forward", "shape", "refused", "accepted"),
    [
        (lambda self, x: x.narrow(0, 0, 2).add_(2) * 1, (5,), (1,), (2,)),
        (lambda self, x: x.roll(1, 0), (5,), (0,), (1,)),
        (lambda self, x: x.logsumexp(0), (5,), (0,), (1,)),
        (lambda self, x: ts.nn.functional.pad(x, (2, 1), mode="replicate"), (5, 3), (0, 3), (1, 3)),
    ],
)
def test_guards_missing_in_a_decomposition(forward, shape, refused, accepted):
    low = exported(forward, (ts.rand(*shape),), ({0: Dim("n")},)).run_decompositions().module()
    x = ts.rand(*accepted)
    ts.testing.assert_close(low(x.clone()), module(forward)(x.clone()))
    with pytest.raises(AssertionError, match="Guard failed"):
        low(ts.rand(*refused))


def test_a_diagonal_as_long_as_the_shorter_dimension():
    def forward(self, x):
        y = x.diagonal()
        y[0] = 5
        return y * 1, y.shape[-1]

    program = exported(forward, (ts.rand(3, 2, 3),), ({1: Dim.DYNAMIC},))
    for each in (program.module(), program.run_decompositions().module()):
        for n in (2, 3, 9):
            x = ts.rand(3, n, 3)
            ts.testing.assert_close(each(x.clone()), module(forward)(x.clone()))


@pytest.mark.parametrize(
    "view",
    [
        lambda x: x.chunk(2, 1)[1], lambda x: x.split(3)[-1], lambda x: x.tensor_split(3)[1], lambda x: x.tensor_split([2, 4])[1],
        lambda x: x.unbind(1)[2], lambda x: x.narrow(0, 1, 3), lambda x: x.expand_as(x).view(-1)[:2], lambda x: x.diagonal(),
    ],
)  # fmt: skip
@pytest.mark.parametrize("dim", [None, Dim.AUTO])
def test_writes_to_views(view, dim):
    def forward(self, x):
        view(x).mul_(2)
        return x + 1

    program = exported(forward, (ts.rand(8, 6),), ({0: dim, 1: dim},))
    low = program.run_decompositions().module()
    for rows in (8, 9) if dim else (8,):
        x = ts.rand(rows, 6)
        wanted, found = x.clone(), x.clone()
        result = module(forward)(wanted)
        try:
            ts.testing.assert_close(low(found), result)
        except AssertionError as error:
            assert rows != 8 and "Guard failed" in str(error)
        else:
            ts.testing.assert_close(found, wanted)


def test_decided_size_as_a_result():
    def forward(self, x):
        return ts.addmm(x, x, x.t()), x.shape[0]

    assert exported(forward, (ts.rand(5, 5),), ({0: Dim.AUTO},)).module()(ts.rand(5, 5))[1] == 5


def test_conditions_in_files():
    def forward(self, x):
        return [t * 1 for t in x.tensor_split(3)], x.flatten().tensor_split(3)[-1].shape[0]

    program = exported(forward, (ts.rand(7, 2),), ({0: Dim.AUTO, 1: Dim.AUTO},))
    buffer = io.BytesIO()
    ts.export.save(program, buffer)
    buffer.seek(0)
    x = ts.rand(10, 2)
    loaded = ts.export.load(buffer).module()
    for each in (program.module(), program.run_decompositions().module(), loaded):
        ts.testing.assert_close(each(x), module(forward)(x))


def test_a_division_by_a_size_of_0_is_rejected():
    def forward(self, x):
        y = ts.nn.functional.layer_norm(x, x.shape[-1:])
        return y + len(y.chunk(4))

    run = exported(forward, (ts.rand(6, 8),), ({0: Dim.AUTO},)).module()
    with pytest.raises(AssertionError, match="Guard failed"):
        run(ts.rand(0, 8))


def test_shapes_that_change_in_place():
    def forward(self, x):
        x = x * 2
        x.unsqueeze_(0)
        x.t_()
        x.squeeze_(1)
        y = x.view(-1)
        x.add_(1)
        return x + 1, y

    program = exported(forward, (ts.rand(3),), ({0: Dim.AUTO},))
    x = ts.rand(5)
    for each in (program.module(), program.run_decompositions().module()):
        ts.testing.assert_close(each(x), module(forward)(x))

    program = exported(lambda self, x: x.unsqueeze_(0) * 2, (ts.rand(3),))
    x = ts.rand(3)
    assert program.module()(x).shape == x.shape == (1, 3)
    with pytest.raises(RuntimeError, match="changes the shape of x in place"):
        program.run_decompositions()


def test_copies_inside_of_a_program():
    def forward(self, x):
        y, z = copy.deepcopy(x), copy.copy(x)
        y.add_(1)
        return x * 1, y, z * 2

    program = exported(forward, (ts.rand(3),))
    for each in (program.module(), program.run_decompositions().module()):
        x = ts.rand(3)
        ts.testing.assert_close(each(x), module(forward)(x))
    assert repr(copy.deepcopy(program.graph).find_nodes(op="placeholder")[0].meta["val"]).startswith(
        "FakeTensor"
    )


def test_gradients_inside_of_a_program():
    def of_grad(self, x):
        w = x.clone().requires_grad_(True)
        return ts.autograd.grad((w * x).sum(), w)[0]

    def of_backward(self, x):
        w = x.clone().requires_grad_(True)
        (w * x).sum().backward()
        return w.grad

    def of_func(self, x):
        return ts.func.grad(lambda t: (t * t).sum())(x)

    for forward in (of_grad, of_backward, of_func):
        run, x = exported(forward, (ts.rand(3),)).module(), ts.rand(3)
        ts.testing.assert_close(run(x).detach(), module(forward)(x))


def test_data_dependent_number_declared_equal_to_a_size():
    """A data-dependent number declared equal to a size is checked at run time before the size replaces it."""

    def forward(self, x, k):
        n = k.item()
        ts._check(n == x.shape[0] - 3)
        return ts.ones(n) + x[3:]

    program = exported(forward, (ts.rand(6), ts.tensor(3)), ({0: Dim.AUTO}, None))
    x = ts.rand(8)
    for each in (program.module(), program.run_decompositions().module()):
        for _ in range(3):
            ts.testing.assert_close(each(x, ts.tensor(5)), 1 + x[3:])
            with pytest.raises(
                RuntimeError, match=r"Runtime assertion failed for expression Eq\(u0, s0 - 3\)"
            ):
                each(x, ts.tensor(4))


def test_map_with_a_captured_operand():
    from ts._higher_order_ops.map import map

    def forward(self, x):
        return map(lambda row: row + x.sum(0), x)

    program = exported(forward, (ts.rand(4, 3),))
    x = ts.rand(4, 3)
    for each in (program.module(), program.run_decompositions().module()):
        ts.testing.assert_close(each(x), module(forward)(x))


def test_batches_are_decomposed():
    program = exported(lambda self, x: ts.vmap(lambda t: t.sum() * ts.tensor(2.0))(x), (ts.rand(4, 3),))
    x = ts.rand(4, 3)
    for each in (program, program.run_decompositions()):
        ts.testing.assert_close(each.module()(x), x.sum(1) * 2)


def test_copy_decomposed_to_views_is_independent():
    def forward(self, x):
        y = ts.nn.functional.pixel_shuffle(x, 1)
        x.view(-1)[0] = 7
        return y * 1

    low = exported(forward, (ts.rand(1, 2, 3),)).run_decompositions().module()
    x = ts.rand(1, 2, 3)
    ts.testing.assert_close(low(x.clone()), x)


def test_arguments_keep_their_memory():
    class M(ts.nn.Module):
        def forward(self, x):
            x.data = x * 3
            return x * 2

    with pytest.raises(ts.errors.UserError, match=r"x\.data = .* would change the argument"):
        ts.export.export(M(), (ts.ones(2),))


def test_backward_twice_adds_in_place():
    class M(ts.nn.Module):
        def forward(self, x):
            x = x.detach().requires_grad_()
            (x * x).sum().backward()
            first = x.grad
            (x * 3).sum().backward()
            return first * 1

    program = ts.export.export(M(), (ts.ones(2),))
    for run in (program.module(), program.run_decompositions().module()):
        for _ in range(2):
            assert ts.equal(run(ts.full((2,), 2.0)), ts.full((2,), 7.0))


@pytest.mark.parametrize("divide", [lambda n: n % 1, lambda n: n % n, lambda n: (n * 7) % 7], ids=["1", "n", "7"])
def test_remainders_of_floats(divide):
    """The remainder of a float and an int is a float."""
    program = exported(lambda self, x: divide(x.sum().item()), (ts.ones(3),))
    file = io.BytesIO()
    ts.export.save(program, file)
    file.seek(0)
    for run in (program.module(), ts.export.load(file).module()):
        for _ in range(2):
            assert run(ts.full((3,), 0.5)) == divide(1.5)
