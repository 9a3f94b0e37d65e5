"""`torch.utils._pytree` compared with PyTorch: leaves, specs, their text, unflattening, errors, names."""

import copy
import dataclasses
import enum
import inspect
import os
import pickle
import random
import time
import warnings
from collections import OrderedDict, defaultdict, deque, namedtuple

import pytest

torch = pytest.importorskip("torch")
import torch.utils._pytree as theirs  # noqa: E402

import ts  # noqa: E402
import ts.utils._pytree as ours  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning")


@pytest.fixture(autouse=True)
def without_cxx_pytree(monkeypatch):
    """Disable PyTorch's C++ pytree, which stores registered classes."""
    monkeypatch.setattr(theirs, "_cxx_pytree_exists", False)


Point = namedtuple("Point", "x y")
Named = namedtuple("Named", "a")  # registered with a name for JSON
Twin = namedtuple("Twin", "x y")  # the fields of `Point`


class Inherited(Point):
    """A subclass of a named tuple, which is a named tuple node too."""


class Pair:
    """Class registered with keys and a context."""

    def __init__(self, left, right, note=None):
        self.left, self.right, self.note = left, right, note

    def __repr__(self):
        return f"Pair({self.left!r}, {self.right!r}, {self.note!r})"


class Bare(Pair):
    """A pair registered without keys."""


class Plain(list):
    """An unregistered list class, which is a leaf."""


class Color(enum.Enum):
    RED = 1


@dataclasses.dataclass
class Fields:
    a: object
    b: object = None
    c: int = dataclasses.field(default=3, init=False)


@dataclasses.dataclass(frozen=True)
class Setting:
    value: int


class Loose:
    """A class that is not a dataclass."""

    def __init__(self, first, second):
        self.first, self.second = first, second

    def __repr__(self):
        return f"Loose({self.first!r}, {self.second!r})"


def register(pytree):
    def keys(pair):
        return [(pytree.GetAttrKey("left"), pair.left), (pytree.GetAttrKey("right"), pair.right)], pair.note

    def flatten(pair):
        return [pair.left, pair.right], pair.note

    pytree.register_pytree_node(
        Pair,
        flatten,
        lambda values, note: Pair(*values, note),
        serialized_type_name="Pair",
        flatten_with_keys_fn=keys,
    )
    pytree.register_pytree_node(Bare, flatten, lambda values, note: Bare(*values, note))
    pytree.register_dataclass(Fields, serialized_type_name="Fields")
    pytree.register_dataclass(Loose, field_names=["first", "second"])
    pytree.register_constant(Setting)
    pytree._register_namedtuple(Named, serialized_type_name="Named")


@pytest.fixture(scope="module", autouse=True)
def registered():
    """Register the classes above in both libraries for the tests of this file."""
    for pytree in (theirs, ours):
        register(pytree)
    yield
    for pytree in (theirs, ours):
        for cls in (Pair, Named, Fields):
            pytree._deregister_pytree_node(cls)
        for cls in (Bare, Loose, Setting):  # registered without a name for JSON
            del pytree.SUPPORTED_NODES[cls], pytree.SUPPORTED_SERIALIZED_TYPES[cls]
            pytree.CONSTANT_NODES.discard(cls)


TREES = [
    1,
    None,
    "text",
    (),
    [],
    {},
    (1,),
    [None],
    {"b": 1, "a": [2, (3,)]},
    {2: 1, "x": {None: (), "y": {}}, (1, 2): 5},
    OrderedDict(z=1, a=(2, None)),
    OrderedDict(),
    defaultdict(list, q=1, b=[2]),
    defaultdict(None),
    deque([1, [2]], 3),
    deque([1]),
    deque(),
    Point(1, [2, 3]),
    Point(Point(1, 2), Twin(3, 4)),
    Inherited(1, 2),
    Named({"a": 1}),
    time.gmtime(0),
    [os.terminal_size((1, 2)), (3,)],
    {1, 2},
    frozenset(),
    range(3),
    Plain([1, 2]),
    [Plain([1]), {"a": Plain()}],
    Pair(1, [2, 3], "note"),
    Pair(Pair(1, 2), None, ["a", 1]),
    [Pair({"k": 1}, (2,), {"a": Color.RED})],
    Bare(1, 2),
    (0, Bare([1], 2, "note")),
    Fields(1, [2]),
    Fields(1),
    Fields(None, None),
    [Fields((1, 2), Fields(3))],
    Loose(1, None),
    Loose([1], 2),
    Setting(3),
    {"a": Setting(3), "b": [Setting(4), 1]},
    [{}, (), [], OrderedDict(), 1],
    [[[[[[1]]]]]],
    [int, len, ...],
]


def random_tree(source, depth):
    """Return a random tree with all kinds of nodes."""
    if depth == 0 or source.random() < 0.2:
        return source.choice([0, 1.5, None, "leaf", Color.RED, Plain([1]), time.gmtime(0)])
    items = [random_tree(source, depth - 1) for _ in range(source.randrange(4))]
    two = (items * 2 + [1, 2])[:2]
    keys = source.sample(["a", "b", "c", "d", 1, 2, None], len(items))
    pairs = list(zip(keys, items))
    return source.choice(
        [
            lambda: items,
            lambda: tuple(items),
            lambda: dict(pairs),
            lambda: OrderedDict(pairs),
            lambda: defaultdict(source.choice([list, int, None]), pairs),
            lambda: deque(items, source.choice([None, 5])),
            lambda: Point(*two),
            lambda: Twin(*two),
            lambda: Pair(*two, source.choice([None, "n", [1]])),
            lambda: Fields(*two),
            lambda: Loose(*two),
            lambda: Setting(source.randrange(2)),
        ]
    )()


TREES += [random_tree(random.Random(seed), 4) for seed in range(60)]
RULES = [
    None,
    lambda x: isinstance(x, tuple),
    lambda x: isinstance(x, dict) and len(x) > 1,
    lambda x: x is None or [] if isinstance(x, Pair) else [1] if isinstance(x, deque) else "",  # truth values
    lambda x: True,
]


def normalized_repr(value):
    """Return the `repr` of a value with the module names of both libraries unified."""
    text = repr(value).replace("ts.utils._pytree_nodes", "_pytree").replace("ts.utils._pytree_specs", "_pytree")
    return text.replace("ts.utils._pytree", "_pytree").replace("torch.utils._pytree", "_pytree")


def outcome(run):
    """Return the result or the error of a call, and its warnings."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        try:
            result = normalized_repr(run())
        except Exception as error:
            result = type(error), normalized_repr(str(error))
    return result, sorted({(w.category, str(w.message)) for w in seen}, key=repr)


def assert_equal_in_both(run):
    """Check that `run(pytree)` is equal in both libraries and return the result."""
    expected, found = outcome(lambda: run(theirs)), outcome(lambda: run(ours))
    assert found == expected
    return found[0]


def spec_attributes(spec):
    """Return the attributes of a spec and of its children."""
    return (
        spec.type,
        spec.context,
        spec.num_nodes,
        spec.num_leaves,
        spec.num_children,
        spec.is_leaf(),
        type(spec).__name__,
        [spec_attributes(child) for child in spec.children()],
        [child is spec.child(i) for i, child in enumerate(spec.children())],
    )


@pytest.mark.parametrize("rule", range(len(RULES)))
def test_flatten(rule):
    """Flattening returns PyTorch's leaves, specs and paths, and unflattening restores the tree."""
    for tree in TREES:
        is_leaf = RULES[rule]
        assert_equal_in_both(lambda pytree: pytree.tree_flatten(tree, is_leaf))
        assert_equal_in_both(lambda pytree: spec_attributes(pytree.tree_structure(tree, is_leaf)))
        assert_equal_in_both(lambda pytree: pytree.tree_leaves(tree, is_leaf))
        assert_equal_in_both(lambda pytree: list(pytree.tree_iter(tree, is_leaf)))
        assert_equal_in_both(lambda pytree: pytree.tree_is_leaf(tree, is_leaf))
        assert_equal_in_both(lambda pytree: pytree.tree_flatten_with_path(tree, is_leaf))
        assert_equal_in_both(lambda pytree: pytree.tree_leaves_with_path(tree, is_leaf=is_leaf))
        assert_equal_in_both(lambda pytree: pytree.tree_map(lambda x: (x,), tree, is_leaf=is_leaf))
        assert_equal_in_both(lambda pytree: pytree.tree_map_with_path(lambda p, x: pytree.keystr(p), tree, is_leaf=is_leaf))
        assert_equal_in_both(lambda pytree: pytree.tree_map_only(int, lambda x: -x, tree, is_leaf))
        assert_equal_in_both(lambda pytree: pytree.tree_any(lambda x: x is None, tree, is_leaf))
        assert_equal_in_both(lambda pytree: pytree.tree_all(lambda x: x is None, tree, is_leaf))


@pytest.mark.parametrize("number", range(len(TREES)))
def test_specs(number):
    """Specs have PyTorch's text, copies, JSON, equality and errors."""
    tree = TREES[number]
    assert_equal_in_both(lambda pytree: pytree.treespec_pprint(pytree.tree_structure(tree)))
    assert_equal_in_both(lambda pytree: pytree.treespec_dumps(pytree.tree_structure(tree)))
    assert_equal_in_both(lambda pytree: pytree.treespec_loads(pytree.treespec_dumps(pytree.tree_structure(tree))))
    assert_equal_in_both(lambda pytree: pytree.tree_unflatten(range(100), pytree.tree_structure(tree)))
    assert_equal_in_both(lambda pytree: pytree.arg_tree_leaves(tree, 1, key=tree))
    assert_equal_in_both(lambda pytree: [pytree.tree_structure(tree) == pytree.tree_structure(other) for other in TREES])
    for pytree in (theirs, ours):
        leaves, spec = pytree.tree_flatten(tree)
        assert normalized_repr(copy.deepcopy(spec)) == normalized_repr(spec)
        assert normalized_repr(pickle.loads(pickle.dumps(spec))) == normalized_repr(spec)
        assert hash(spec) == hash(pytree.tree_structure(tree))
        written = rewritten(pytree, spec)
        assert written == spec and hash(written) == hash(spec)
        assert normalized_repr(pytree.tree_unflatten(leaves, written)) == normalized_repr(pytree.tree_unflatten(spec, iter(leaves)))


def rewritten(pytree, spec):
    """Rebuild a spec from `TreeSpec` constructors."""
    if spec.is_leaf():
        return pytree.treespec_leaf()
    return pytree.TreeSpec(spec.type, spec.context, [rewritten(pytree, child) for child in spec.children()])


@pytest.mark.parametrize("number", range(len(TREES)))
def test_several_trees(number):
    """Operations on several trees accept prefixes and reject trees of different structure, as PyTorch
    does."""
    tree = TREES[number]
    for other in TREES:
        assert_equal_in_both(lambda pytree: pytree.tree_structure(tree).flatten_up_to(other))
        assert_equal_in_both(lambda pytree: rewritten(pytree, pytree.tree_structure(tree)).flatten_up_to(other))
        assert_equal_in_both(lambda pytree: pytree.tree_map(lambda *leaves: leaves, tree, other, tree))
        assert_equal_in_both(lambda pytree: pytree.tree_map_with_path(lambda *leaves: leaves, tree, other))
        assert_equal_in_both(lambda pytree: pytree._broadcast_to_and_flatten(tree, pytree.tree_structure(other)))
        assert_equal_in_both(lambda pytree: pytree._broadcast_to_and_flatten(tree, pytree.tree_structure(other), RULES[1]))


def test_dictionaries_with_equal_keys_match():
    """Dictionaries of different classes or key orders match if their keys are equal."""
    one = {"a": 1, "b": 2}
    for other in [
        {"b": 3, "a": 4},
        OrderedDict(b=3, a=4),
        defaultdict(list, b=3, a=4),
        {"a": 1},
        {"a": 1, "c": 2},
        {"a": 1, "b": 2, "c": 3},
        [1, 2],
        None,
    ]:
        for first in (one, OrderedDict(one), defaultdict(int, one)):
            assert_equal_in_both(lambda pytree: pytree.tree_map(lambda x, y: (x, y), first, other))
            assert_equal_in_both(lambda pytree: pytree.tree_structure(first) == pytree.tree_structure(other))


def test_changed_nodes_are_rejected():
    """Custom nodes with another context, and containers of different lengths, are rejected."""
    for first, second in [
        (Pair(1, 2, "a"), Pair(3, 4, "b")),
        (Pair(1, 2), Bare(1, 2)),
        (Fields(1), Fields(1, 2)),
        (Setting(1), Setting(2)),
        (deque([1, 2], 3), deque([1, 2], 4)),
        (deque([1, 2], 3), deque([1])),
        ((1, 2), (1, 2, 3)),
        (Point(1, 2), Twin(1, 2)),
        (Point(1, 2), (1, 2)),
        ([1], 1),
    ]:
        assert_equal_in_both(lambda pytree: pytree.tree_map(lambda x, y: (x, y), first, second))


def test_order_of_calls():
    """`is_leaf` is called for a node before its children, and for every leaf."""
    for tree in TREES:

        def visited(pytree):
            seen = []
            pytree.tree_flatten(tree, lambda x: seen.append(x))
            return seen

        assert_equal_in_both(visited)


def test_constructed_specs():
    """Specs of tuples and dictionaries are constructed explicitly; invalid ones are rejected."""
    assert_equal_in_both(lambda pytree: pytree.treespec_tuple([pytree.treespec_leaf(), pytree.treespec_tuple()]))
    assert_equal_in_both(lambda pytree: pytree.treespec_tuple([1]))
    assert_equal_in_both(lambda pytree: pytree.treespec_dict({"a": pytree.treespec_leaf()}, b=pytree.treespec_tuple()))
    assert_equal_in_both(lambda pytree: pytree.treespec_dict([("a", pytree.treespec_leaf())]).unflatten([5]))
    assert_equal_in_both(lambda pytree: pytree.treespec_dict(a=1))
    assert_equal_in_both(lambda pytree: pytree.TreeSpec(None, 1, []))
    assert_equal_in_both(lambda pytree: pytree.TreeSpec(None, None, [pytree.treespec_leaf()]))
    assert_equal_in_both(lambda pytree: pytree.TreeSpec(None, None, []) == pytree.treespec_leaf())
    assert_equal_in_both(lambda pytree: pytree.TreeSpec(list, None, [pytree.treespec_leaf()]).children_specs)
    assert_equal_in_both(lambda pytree: pytree.tree_structure([1]).children_specs)
    assert_equal_in_both(lambda pytree: pytree.LeafSpec())
    assert_equal_in_both(lambda pytree: (pytree.LeafSpec() == pytree.treespec_leaf(), pytree.LeafSpec().num_leaves))
    assert_equal_in_both(lambda pytree: pytree.TreeSpec(Plain, None, [pytree.treespec_leaf()]))
    assert_equal_in_both(lambda pytree: pytree.TreeSpec(Plain, None, [pytree.treespec_leaf()]).unflatten([1]))
    assert_equal_in_both(lambda pytree: pytree.TreeSpec(list, None, []) == [])
    assert_equal_in_both(lambda pytree: setattr(pytree.tree_structure([1]), "type", 1))
    assert_equal_in_both(lambda pytree: setattr(pytree.treespec_leaf(), "num_leaves", 1))
    assert_equal_in_both(lambda pytree: delattr(pytree.tree_structure([1]), "type"))
    assert_equal_in_both(lambda pytree: pytree.tree_structure([1]).nothing)


@pytest.mark.parametrize(
    "run",
    [
        lambda pytree: pytree.tree_unflatten([1], [1]),
        lambda pytree: pytree.tree_unflatten([1], None),
        lambda pytree: pytree.tree_unflatten(5, pytree.tree_structure([1])),
        lambda pytree: pytree.tree_map_only(5, lambda x: x, [1]),
        lambda pytree: pytree.tree_map_only((int, str), lambda x: x * 2, [1, "a", 2.5]),
        lambda pytree: pytree.tree_map_only(int | str, lambda x: x * 2, [1, "a", 2.5]),
        lambda pytree: pytree.tree_map_only(lambda x: x == 1, lambda x: x * 2, [1, "a", 2.5]),
        lambda pytree: pytree.map_only(int)(abs)(-1.0),
        lambda pytree: pytree.map_only(int)(abs).__name__,
        lambda pytree: pytree.tree_all_only(int, lambda x: x > 1, [1, "a"]),
        lambda pytree: pytree.tree_any_only((int, str), lambda x: x == "a", [1, "a"]),
        lambda pytree: pytree.tree_map_(lambda x: 1 / x, [1, 0]),
        lambda pytree: pytree.tree_map(lambda x: 1 / x, [1, 0]),
        lambda pytree: pytree.tree_leaves([1, 2], lambda x: 1 / 0),
        lambda pytree: pytree.tree_map(lambda x, y: x, {}, {}),
        lambda pytree: pytree.treespec_dumps(pytree.tree_structure([1]), 2),
        lambda pytree: pytree.treespec_dumps([1]),
        lambda pytree: pytree.treespec_dumps(pytree.tree_structure({(1, 2): len, len: 1})),
        lambda pytree: pytree.treespec_dumps(pytree.tree_structure(Pair(1, 2, len))),
        lambda pytree: pytree.treespec_dumps(pytree.tree_structure({Color.RED: 1})),
        lambda pytree: pytree.treespec_dumps(pytree.tree_structure(defaultdict(None, a=1))),
        lambda pytree: pytree.treespec_loads("[2, {}]"),
        lambda pytree: pytree.treespec_loads('[1, {"type": "x", "context": null, "children_spec": []}]'),
        lambda pytree: pytree.treespec_loads(
            '[1, {"type": "collections.namedtuple", "context": "x", "children_spec": []}]'
        ),
        lambda pytree: pytree.treespec_loads(
            '[1, {"type": "builtins.list", "context": null, "children_spec": []}]'
        ),
        lambda pytree: pytree.treespec_loads(
            '[1, {"type": "collections.defaultdict", "context": [], "children_spec": []}]'
        ),
        lambda pytree: pytree.pytree_to_str(pytree.tree_structure({"a": 1})),
        lambda pytree: pytree.str_to_pytree(pytree.treespec_dumps(pytree.tree_structure({"a": 1}))),
        lambda pytree: pytree._is_leaf(1),
        lambda pytree: pytree._is_namedtuple_instance(Point(1, 2)),
        lambda pytree: pytree.register_pytree_node(list, list, list),
        lambda pytree: pytree.register_pytree_node(Pair, list, list),
        lambda pytree: pytree.register_dataclass(Plain),
        lambda pytree: pytree.register_dataclass(Fields, field_names=["a"]),
        lambda pytree: pytree.register_dataclass(Fields, field_names=["a", "b", "z"]),
        lambda pytree: pytree.register_dataclass(Fields, field_names=["a", "b"], drop_field_names=["b"]),
        lambda pytree: pytree.register_constant(Color),
        lambda pytree: pytree.register_constant(Pair),
        lambda pytree: pytree.register_constant(Plain),
        lambda pytree: [pytree.is_constant_class(cls) for cls in (Setting, Pair, 5)],
        lambda pytree: pytree._retrieve_constant(pytree.tree_structure(Setting(3))),
        lambda pytree: pytree._retrieve_constant(pytree.tree_structure([1])),
        lambda pytree: pytree.keystr(
            (pytree.SequenceKey(0), pytree.MappingKey("a"), pytree.GetAttrKey("x"), pytree.MappingKey(1))
        ),
        lambda pytree: [pytree.SequenceKey(0), pytree.MappingKey("a"), pytree.GetAttrKey("x")],
        lambda pytree: {pytree.SequenceKey(0), pytree.SequenceKey(0)},
        lambda pytree: pytree.key_get({"a": [Point(1, 2)]}, pytree.tree_leaves_with_path({"a": [Point(1, 2)]})[1][0]),
        lambda pytree: pytree.key_get({}, (pytree.MappingKey("a"),)),
        lambda pytree: setattr(pytree.SequenceKey(0), "idx", 1),
        lambda pytree: pytree.enum_object_hook({"a": 1}),
    ],
)  # fmt: skip
def test_functions(run):
    """A function of pytree returns PyTorch's result, error and warnings."""
    assert_equal_in_both(run)


def test_enums_in_contexts():
    """Enum members in contexts are serialized to JSON and back."""
    assert_equal_in_both(
        lambda pytree: pytree.treespec_loads(
            pytree.treespec_dumps(pytree.tree_structure(Pair(1, 2, {"a": Color.RED})))
        ).context
    )


def test_kinds_of_types():
    """Named tuples, struct sequences and other types are classified as in PyTorch."""

    class Odd(tuple):
        _fields = ("x",)

    class Bad(Point):
        _fields = (1, 2)

    values = [Point, Point(1, 2), Inherited, Odd, Bad, tuple, (1, 2), 5, int, time.gmtime(0), time.struct_time, None]
    for name in ("namedtuple", "structseq"):
        for ending in ("", "_class", "_instance"):
            assert_equal_in_both(lambda pytree: [getattr(pytree, f"is_{name}{ending}")(value) for value in values])
    assert_equal_in_both(lambda pytree: [pytree._get_node_type(value) for value in values])
    assert_equal_in_both(lambda pytree: type("Child", (pytree.structseq,), {}))
    assert_equal_in_both(lambda pytree: pytree.structseq([1]))


def test_registering_again():
    """Registering a class again replaces it with a warning; a deregistered class is a leaf."""

    class Box:
        def __init__(self, items):
            self.items = items

    def flatten(box):
        return box.items, None

    def run(pytree):
        pytree._register_pytree_node(
            Box, flatten, lambda v, c: ["first", *v], lambda spec, texts: "", lambda text: None
        )
        first = pytree.tree_map(lambda x: x, Box([1, 2]))
        pytree._private_register_pytree_node(Box, flatten, lambda v, c: ["second", *v])
        second = pytree.tree_map(lambda x: x, Box([1, 2]))
        spec = pytree.tree_structure(Box([1]))
        pytree.SUPPORTED_NODES.pop(Box)
        pytree.SUPPORTED_NODES.pop(Box, None)
        return first, second, len(pytree.tree_leaves(Box([1, 2]))), outcome(lambda: spec.unflatten([1]))[0][0]

    def half(pytree):
        pytree.register_pytree_node(Box, flatten, list, to_dumpable_context=str)

    assert_equal_in_both(run)
    assert "must be None or registered" in assert_equal_in_both(half)[1].replace("\n", " ")
    for pytree in (theirs, ours):
        del pytree.SUPPORTED_NODES[Box]


def test_named_tuple_without_a_name():
    """JSON serialization of named tuples requires registration."""
    assert_equal_in_both(lambda pytree: pytree.treespec_dumps(pytree.tree_structure(Point(1, 2))))
    assert_equal_in_both(lambda pytree: pytree.treespec_dumps(pytree.tree_structure(Named(2))))
    assert_equal_in_both(lambda pytree: pytree.treespec_loads(pytree.treespec_dumps(pytree.tree_structure(Named(2)))).unflatten([1]))


def test_results_of_operators():
    """Named results and sizes of operators are nodes, as in PyTorch."""

    def run(library, pytree):
        result = library.max(library.tensor([[1.0, 3.0], [5.0, 2.0]]), 1)
        leaves, spec = pytree.tree_flatten(result)
        built = pytree.tree_unflatten(leaves, spec)
        size = library.ones(2, 3).shape
        return (
            [leaf.tolist() for leaf in leaves],
            normalized_repr(spec),
            spec.context,
            pytree.is_namedtuple(result),
            pytree.is_structseq(result),
            type(built).__name__,
            built.values.tolist(),
            [pytree.keystr(path) for path, _ in pytree.tree_leaves_with_path([result])],
            normalized_repr(pytree.tree_flatten(size)),
            type(pytree.tree_map(lambda x: x, size)),
            pytree.treespec_dumps(pytree.tree_structure(size)),
            outcome(lambda: pytree.treespec_dumps(spec))[0][0],
            pytree.tree_is_leaf(library.min(library.ones(2, 2), 1)),
        )

    assert run(ts, ours) == run(torch, theirs)


def assert_equal_while_registered(cls, flatten, unflatten, run):
    """Compare `run(pytree)` in both libraries while a class is registered and afterwards."""

    def both(pytree):
        pytree.register_pytree_node(cls, flatten, unflatten)
        try:
            inside = outcome(lambda: run(pytree))
        finally:
            del pytree.SUPPORTED_NODES[cls], pytree.SUPPORTED_SERIALIZED_TYPES[cls]
        return inside, outcome(lambda: run(pytree))

    return assert_equal_in_both(both)


def test_registered_containers():
    """Struct sequences, named tuples, and subclasses of builtin containers can be registered."""

    class Items(list):
        pass

    class Row(tuple):
        pass

    class Table(dict):
        pass

    class Further(Table):
        pass

    class Checked(Point):
        def __new__(cls, x, y=5):
            return super().__new__(cls, x, y)

    cases = [
        (time.struct_time, time.gmtime(0), lambda v, c: time.struct_time(v)),
        (Items, Items([1, (2,)]), lambda v, c: Items(v)),
        (Row, Row([1, 2]), lambda v, c: Row(v)),
        (Table, Table(a=1), lambda v, c: Table(zip(c, v))),
        (Table, Further(a=1), lambda v, c: Table(zip(c, v))),
        (Checked, Checked(1), lambda v, c: "not called"),
    ]
    for cls, value, unflatten in cases:
        assert_equal_while_registered(
            cls,
            lambda node: (list(node.values()), list(node)) if isinstance(node, dict) else (list(node), None),
            unflatten,
            lambda pytree: (pytree.tree_map(lambda x: (x,), [value]), pytree.tree_structure(value)),
        )


def test_results_of_registered_functions():
    """Registered functions may return children of any kind; their errors are those of PyTorch."""

    class Box:
        def __init__(self, *items):
            self.items = items

        def __repr__(self):
            return f"Box{self.items}"

    def fails(error):
        def function(*arguments):
            raise error("of the function")

        return function

    flattens = [
        lambda box: (dict.fromkeys(box.items), None),
        lambda box: (box.items, [1]),
        lambda box: (box.items, None, None),
        lambda box: box.items,
        lambda box: (5, None),
        fails(ValueError),
        fails(KeyError),
    ]
    unflattens = [lambda values, context: (type(values), values, context), fails(ValueError)]
    for flatten in flattens:
        for unflatten in unflattens:
            for run in (
                lambda pytree: pytree.tree_map(lambda x: x, [Box(1, (2, 3))]),
                lambda pytree: pytree.tree_leaves(Box(1, (2, 3))),
                lambda pytree: pytree.tree_map(lambda x, y: (x, y), Box(1, 2), Box(3, 4)),
                lambda pytree: pytree.tree_map(lambda x, y: (x, y), Box(1, 2), Box(3)),
                lambda pytree: pytree.tree_leaves_with_path(Box(1, 2)),
            ):
                kinds = assert_equal_while_registered(Box, flatten, unflatten, lambda pytree: [type(run(pytree)), normalized_repr(run(pytree))])
                assert kinds


def test_signatures():
    """Functions have PyTorch's parameters."""
    for name in dir(theirs):
        function = getattr(theirs, name)
        if getattr(function, "__module__", None) == theirs.__name__ and callable(function) and hasattr(ours, name):
            expected, found = (
                [(p.name, p.kind, p.default is p.empty) for p in inspect.signature(f).parameters.values()]
                for f in (function, getattr(ours, name))
            )
            assert found == expected, name


def test_public_names():
    """The module has PyTorch's public names, and the private names that programs use."""
    assert set(ours.__all__) == set(theirs.__all__)
    modules = "dataclasses functools importlib json logging sys threading types warnings log".split()
    typing = "Any Callable ClassVar Enum Final Generic Hashable Iterable Mapping NamedTuple NoReturn Protocol Self".split()
    typing += "Sequence TYPE_CHECKING TypeAlias TypeIs TypeVar cast overload deprecated K _T_co".split()
    compiler = [name for name in dir(theirs) if name.startswith("_cxx_pytree") or name.endswith("_version")]
    excused = {*modules, *typing, *compiler, "OrderedDict", "defaultdict", "deque", "namedtuple", "_TorchVersion"}
    names = {name for name in dir(theirs) if not name.startswith("__")}
    assert names - excused - set(dir(ours)) == set()
