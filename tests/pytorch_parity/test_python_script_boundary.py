"""Arguments of scripts compared with PyTorch: accepted values, conversions and errors."""

import collections
from typing import Dict, List, Optional, Tuple, Union

import pytest

import ts

torch = pytest.importorskip("torch")


def tensor(module, *args, **kwargs):
    return module.tensor(*args, **kwargs)


PLAIN = (1, True, 1.5, "a", b"a", 1j, 2**70, [1], (1,), {"a": 1}, {1, 2}, range(2))
LISTS = ([1, 2], (1, 2), {1: 1}, "ab", range(2), {1, 2}, [1.5], [True], ["a"], [], collections.deque([1]), 3)
TUPLES = ([1, 2], (1, 2), {1: 1, 2: 2}, "ab", range(2), [1], (1, 2, 3), 3, None, {1, 2}, (1, "a"), (1, 2.5))
DICTS = ({"a": 1}, {}, collections.OrderedDict(a=1), [("a", 1)], {1: 1}, {"a": "b"}, 3)
CASES = [
    *[(kind, PLAIN) for kind in (int, float, complex, Optional[int])],
    (Union[int, str], [1, True, 1.5, "a", 1j, 2**70, [1], (1,)]),
    (str, [value for value in PLAIN if value != b"a"]),  # PyTorch accepts bytes
    (Tuple[int, int], TUPLES),
    (Tuple[str, str], ["ab", ("a", "b"), ["a", 1]]),
    (List[int], LISTS),
    (List[str], [value for value in LISTS if value != "ab"]),  # PyTorch splits a string
    (Optional[List[int]], LISTS),
    (List[Tuple[int, str]], [[(1, "a")], [[1, "a"]], [("a", 1)]]),
    (List[List[int]], [[[1], (2,)], [1]]),
    (Dict[str, int], DICTS),
]


def outcome(module, kind, value):
    """Return the result, or the class and the first line of the error."""
    namespace = {"kind": kind}

    def same(x: kind):
        return x

    same.__globals__.update(namespace)
    try:
        return repr(module.jit.script(same)(value))
    except (RuntimeError, TypeError) as error:
        return type(error).__name__, str(error).split("Cast error")[0].split("Python error")[0].rstrip()


@pytest.mark.parametrize(("kind", "values"), CASES, ids=[str(kind) for kind, _ in CASES])
def test_arguments(kind, values):
    """Both libraries accept the same arguments with equal results, and reject others with equal messages."""
    for value in values:
        assert outcome(ts, kind, value) == outcome(torch, kind, value), value


def test_generators():
    for kind in (List[int], Tuple[int, int]):
        assert outcome(ts, kind, (x for x in [1, 2])) == outcome(torch, kind, (x for x in [1, 2]))
    assert outcome(ts, List[int], iter([]))[0] == outcome(torch, List[int], iter([]))[0] == "RuntimeError"


@pytest.mark.parametrize("values", [[1.0, 2.0], [1, 2], [[1.0], [2.0]], [1.0], 3.0])
def test_tensors_as_tuples(values):
    """A tensor argument for a tuple is unpacked into its rows."""
    for kind in (lambda module: Tuple[int, int], lambda module: Tuple[module.Tensor, module.Tensor]):
        ours, theirs = (outcome(m, kind(m), tensor(m, values)) for m in (ts, torch))
        assert ours[0] == theirs[0] if isinstance(theirs, tuple) else ours == theirs


@pytest.mark.parametrize("value", [1, 1.5, "a", [1], True, 1j])
def test_cast_error_of_tensors(value):
    def same(x):
        return x

    messages = []
    for module in (ts, torch):
        with pytest.raises(RuntimeError) as failure:
            module.jit.script(same)(value)
        messages.append(str(failure.value))
    assert messages[0] == messages[1]


def test_cast_error_names_the_class():
    """A cast error names the class of the object, as in PyTorch, and then the expected type."""

    def first(x: List[int]) -> int:
        return x[0]

    with pytest.raises(
        RuntimeError, match="Unable to cast Python instance of type <class 'str'> to"
    ) as theirs:
        torch.jit.script(first)("a")
    with pytest.raises(
        RuntimeError, match=r"Unable to cast Python instance of type <class 'str'> to List\[int\]"
    ) as ours:
        ts.jit.script(first)("a")
    assert str(ours.value).split(" to ")[0] == str(theirs.value).split(" to ")[0]


def test_results_of_python_functions():
    """The result of an ignored function is cast like an argument."""
    pair = collections.namedtuple("pair", "first second")
    messages = []
    for module in (ts, torch):

        class Layer(module.nn.Module):
            @module.jit.ignore
            def pairs(self, x) -> Tuple[pair, pair]:
                return pair(x, x)

            def forward(self, x):
                return self.pairs(x)

        scripted = module.jit.script(Layer())
        result = scripted(module.ones(2, 1))  # each tensor with two rows is a pair
        assert repr(result[0]) == "pair(first=tensor([1.]), second=tensor([1.]))"
        with pytest.raises(RuntimeError) as failure:
            scripted(module.ones(3, 3))
        messages.append([line for line in str(failure.value).splitlines() if "value of type" in line])
    ours, theirs = (
        line.replace("Tuple[", "(").replace("]", ")") for (line,) in messages
    )  # the notation of tuples differs
    assert ours == theirs


def test_type_of_a_tensor():
    messages = []
    for module in (ts, torch):

        def kind(x):
            return type(x)

        with pytest.raises(RuntimeError, match="value of type _TensorMeta") as failure:
            module.jit.script(kind)(module.ones(1))
        messages.append(str(failure.value).split("\nValue")[0].split("RuntimeError")[1])
    assert messages[0] == messages[1]
