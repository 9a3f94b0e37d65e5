"""Trees of containers: `ts.utils._pytree` without PyTorch."""

import copy
import pickle
import subprocess
import sys
import threading
import time
from collections import OrderedDict, defaultdict, deque, namedtuple
from dataclasses import FrozenInstanceError, dataclass

import optree
import pytest

import ts
from ts.utils import _pytree as pytree

Point = namedtuple("Point", "x y")


class Pair:
    def __init__(self, left, right):
        self.left, self.right = left, right


@pytest.fixture
def registered():
    """Register `Pair` as a node for one test."""
    pytree.register_pytree_node(
        Pair,
        lambda pair: ([pair.left, pair.right], "context"),
        lambda values, context: Pair(*values),
        serialized_type_name="Pair",
    )
    yield
    pytree._deregister_pytree_node(Pair)


def test_round_trip():
    """Leaves are in tree order, and unflattening restores the types."""
    tree = {
        "b": [1, (2, None)],
        "a": OrderedDict(z=3, y=4),
        "c": defaultdict(list, k=5),
        "d": deque([6], 3),
        "e": Point(7, "leaf"),
        "f": {},
    }
    leaves, spec = pytree.tree_flatten(tree)
    assert leaves == [1, 2, None, 3, 4, 5, 6, 7, "leaf"]
    built = pytree.tree_unflatten(leaves, spec)
    assert built == tree and list(built) == list(tree) and list(built["a"]) == ["z", "y"]
    assert [type(value) for value in built.values()] == [type(value) for value in tree.values()]
    assert built["c"].default_factory is list and built["d"].maxlen == 3


def test_specs():
    """A spec has a type, context, children and counts, and is printed as in PyTorch."""
    spec = pytree.tree_structure({"b": 1, "a": Point(2, [3])})
    assert (spec.type, spec.context, spec.num_nodes, spec.num_leaves, spec.num_children) == (
        dict, ["b", "a"], 6, 3, 2,
    )  # fmt: skip
    first, second = spec.children()
    assert first.is_leaf() and first is pytree.treespec_leaf()
    assert second.type is namedtuple and second.context is Point and second == spec.child(1)
    assert repr(second) == f"TreeSpec(namedtuple, {Point}, [*,\n  TreeSpec(list, None, [*])])"
    assert spec == pytree.tree_structure({"b": 5, "a": Point(6, [7])})
    assert spec != pytree.tree_structure({"a": Point(2, [3]), "b": 1})
    assert spec == copy.deepcopy(spec) == pickle.loads(pickle.dumps(spec))
    assert len({spec, pickle.loads(pickle.dumps(spec)), copy.copy(spec)}) == 1
    with pytest.raises(FrozenInstanceError, match="cannot assign to field 'type'"):
        spec.type = list


def test_spec_by_hand(registered):
    """A spec created by hand builds trees, also of registered classes, and equals the spec of a tree."""
    leaf = pytree.treespec_leaf()
    inner = pytree.TreeSpec(Pair, "context", [leaf, pytree.TreeSpec(list, None, [leaf, leaf])])
    spec = pytree.treespec_dict(a=inner, b=pytree.treespec_tuple())
    assert spec == pytree.tree_structure({"a": Pair(1, [2, 3]), "b": ()})
    built = spec.unflatten(iter("xyz"))
    assert (built["a"].left, built["a"].right, built["b"]) == ("x", ["y", "z"], ())
    with pytest.raises(ValueError, match=r"`leaves` has length 1 but the spec refers to a pytree that holds 3"):
        spec.unflatten([1])


def test_is_leaf():
    """`is_leaf` is called on nodes before their children, accepts any true value, and its errors
    propagate."""
    calls = []
    assert pytree.tree_leaves([1, (2,)], lambda x: calls.append(x) or isinstance(x, tuple)) == [1, (2,)]
    assert calls == [[1, (2,)], 1, (2,)]
    assert pytree.tree_leaves([[], [1]], lambda x: x if x != [[], [1]] else None) == [[1]]
    with pytest.raises(ZeroDivisionError):
        pytree.tree_map(abs, [1], is_leaf=lambda x: 1 / 0)


def test_struct_sequences_of_python_are_leaves():
    """Python's struct sequences are leaves; operator results are nodes of their class, and sizes become
    tuples."""
    now = time.gmtime(0)
    assert pytree.tree_leaves([now]) == [now] == list(pytree.tree_iter([now]))
    assert pytree.is_structseq(now) and not pytree.is_namedtuple(now)
    result = ts.max(ts.tensor([[1.0, 3.0]]), 1)
    doubled = pytree.tree_map(lambda x: x * 2, {"result": result})["result"]
    assert type(doubled) is type(result) and doubled.values.tolist() == [6.0] and doubled.indices.tolist() == [2]
    assert repr(pytree.tree_structure(result)) == "TreeSpec(max, None, [*,\n  *])"
    assert pytree.tree_map(lambda n: n + 1, ts.ones(2, 3).shape) == (3, 4)


def test_result_classes_on_threads():
    """Result classes first seen by concurrent threads are nodes in all of them."""
    results = [ts.sort(ts.ones(2)), ts.topk(ts.ones(2), 1), ts.kthvalue(ts.ones(2), 1), ts.mode(ts.ones(2))]
    counts = []
    start = threading.Barrier(4)

    def work():
        start.wait()
        counts.append(len(pytree.tree_leaves(results)))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counts == [8] * 4


def test_only_registered_types_are_nodes():
    """Types registered globally with optree or in another namespace are leaves."""

    class Box:
        pass

    optree.register_pytree_node(Box, lambda box: ((1, 2), None), lambda c, v: Box(), namespace="tests of ts")
    partial = optree.functools.partial(abs, [1])
    box = Box()
    assert pytree.tree_leaves([box, partial]) == [box, partial]


def test_several_trees():
    """The first tree must be a prefix of all other trees; dictionaries match by their keys."""
    assert pytree.tree_map(lambda x, y: (x, y), {"a": 1, "b": 2}, OrderedDict(b=[3], a=4)) == {
        "a": (1, 4), "b": (2, [3]),
    }  # fmt: skip
    for other, words in [
        ([1], "Node type mismatch; expected <class 'tuple'>, but got <class 'list'>."),
        ((1, 2, 3), "Node arity mismatch; expected 2, but got 3."),
    ]:
        with pytest.raises(ValueError) as caught:
            pytree.tree_map(lambda x, y: x, (1, 2), other)
        assert str(caught.value) == words
    with pytest.raises(ValueError, match=r"Node keys mismatch; missing key\(s\): {'a'}; extra key\(s\): {'b'}."):
        pytree.tree_map(lambda x, y: x, {"a": 1}, {"b": 1})


def test_broadcast():
    """`_broadcast_to_and_flatten` repeats leaves, and returns None for a mismatch."""
    spec = pytree.tree_structure([(1, 2), {"a": 3}])
    assert pytree._broadcast_to_and_flatten(0, spec) == [0, 0, 0]
    assert pytree._broadcast_to_and_flatten([0, None], spec) == [0, 0, None]
    assert pytree._broadcast_to_and_flatten([0, {"b": 1}], spec) is None


def test_paths(registered):
    """Paths contain keys, indices and attributes; classes registered without key functions are rejected."""
    tree = {"a": [Point(1, 2)]}
    pairs, spec = pytree.tree_flatten_with_path(tree)
    assert [pytree.keystr(path) for path, _ in pairs] == ["['a'][0].x", "['a'][0].y"]
    assert [pytree.key_get(tree, path) for path, _ in pairs] == [1, 2] and spec == pytree.tree_structure(tree)
    assert pytree.tree_map_with_path(lambda path, x, y: (len(path), x, y), [1], [2]) == [(1, 1, 2)]
    with pytest.raises(ValueError, match="Did not find a flatten_with_keys_fn for type"):
        pytree.tree_leaves_with_path(Pair(1, 2))


def test_json(registered):
    """Specs can be serialized to JSON and back."""
    for tree in ([1, {"a": (None,)}], Pair(1, deque([2], 5)), defaultdict(list, a=1), OrderedDict(b=1, a=2)):
        spec = pytree.tree_structure(tree)
        assert pytree.treespec_loads(pytree.treespec_dumps(spec)) == spec
    assert pytree.treespec_dumps(optree.tree_structure([1])) == pytree.treespec_dumps(pytree.tree_structure([1]))
    with pytest.raises(NotImplementedError, match="Can't serialize TreeSpec of namedtuple class"):
        pytree.treespec_dumps(pytree.tree_structure(Point(1, 2)))


def test_dataclasses_and_constants():
    """None fields of a dataclass are in its spec; a constant is a spec without leaves."""

    @dataclass
    class Fields:
        a: object
        b: object = None

    @dataclass(frozen=True)
    class Setting:
        value: int

    pytree.register_dataclass(Fields)
    pytree.register_constant(Setting)
    leaves, spec = pytree.tree_flatten([Fields(1), Fields(2, 3), Setting(4)])
    assert leaves == [1, 2, 3] and spec.child(0).context == [["a"], ["b"]]
    assert spec.unflatten([5, 6, 7]) == [Fields(5), Fields(6, 7), Setting(4)]
    assert spec != pytree.tree_structure([Fields(1), Fields(2, 3), Setting(5)])
    assert pytree._retrieve_constant(spec.child(2)) == Setting(4)
    with pytest.raises(ValueError, match=r"Missing fields in `field_names`: {'b'}"):
        pytree.register_dataclass(Fields, field_names=["a"])


def test_supported_nodes_is_the_registry():
    """A class is a node while it is in `SUPPORTED_NODES`; built-in nodes cannot be removed."""

    class Box(list):
        pass

    node = pytree.NodeDef(Box, lambda box: (list(box), None), lambda values, context: Box(values), None)
    assert pytree.tree_is_leaf(Box([1]))
    pytree.SUPPORTED_NODES.update({Box: node})
    assert type(pytree.tree_map(abs, Box([-1, 2]))) is Box
    assert pytree.SUPPORTED_NODES.setdefault(Box, None) is node
    assert pytree.SUPPORTED_NODES.pop(Box) is node and pytree.SUPPORTED_NODES.pop(Box, 5) == 5
    assert pytree.tree_leaves([Box([1])]) == [[1]]
    with pytest.raises(KeyError):
        pytree.SUPPORTED_NODES.pop(Box)
    with pytest.raises(ValueError, match="cannot be removed"):
        del pytree.SUPPORTED_NODES[dict]
    with pytest.warns(UserWarning, match="Overwriting"), pytest.raises(ValueError, match="cannot be registered"):
        pytree._private_register_pytree_node(list, list, list)


def test_deep_trees():
    """A tree that is too deep raises RecursionError."""
    tree = 1
    for _ in range(100_000):
        tree = [tree]
    with pytest.raises(RecursionError):
        pytree.tree_flatten(tree)


def test_optree_is_loaded_on_use():
    """optree is imported only by pytree functions."""
    code = "import sys, ts; ts.utils.checkpoint, ts.func.vmap(lambda x: x)(ts.ones(2)); print('optree' in sys.modules)\nts.utils._pytree\nprint('optree' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True"]
