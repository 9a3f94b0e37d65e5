"""Copies, pickles and files of tensors and subclasses of Tensor, with attributes, slots and gradients."""

import copy
import io
import pickle
from collections.abc import Callable
from typing import Any

import pytest

import ts
from ts import Tensor


class Plain(Tensor):
    pass


class Slots(Tensor):
    __slots__ = ("tag",)


class MoreSlots(Slots):
    __slots__ = ("more",)


class OwnState(Tensor):
    def __getstate__(self) -> Any:
        return {"saved": 1}

    def __setstate__(self, state: Any) -> None:
        self.loaded = state


class OwnReduction(Tensor):
    def __reduce_ex__(self, protocol: Any) -> Any:
        return Tensor.as_subclass, (ts.zeros(1), OwnReduction)


class Copyable(Tensor):
    __slots__ = ("tag",)

    def new_empty(self, *args: Any, **options: Any) -> Tensor:
        return super().new_empty(*args, **options).as_subclass(Copyable)


class Logged(Tensor):
    calls: list[str] = []

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        cls.calls.append(func.__name__)
        return super().__torch_function__(func, types, args, kwargs or {})


class NamedParameter(ts.nn.Parameter):
    pass


def _saved(x: Any) -> Any:
    file = io.BytesIO()
    ts.save(x, file)
    return ts.load(io.BytesIO(file.getvalue()), weights_only=False)


COPIES = [copy.copy, _saved, *(lambda x, n=n: pickle.loads(pickle.dumps(x, n)) for n in (0, 2, 4, 5))]
Copy = Callable[[Any], Any]


@pytest.mark.parametrize("make_copy", COPIES)
@pytest.mark.parametrize("cls", [Tensor, Plain, Slots, MoreSlots, Copyable, Logged])
def test_attributes_and_slots(cls: type[Tensor], make_copy: Copy) -> None:
    x: Any = ts.tensor([1.0, 2.0]).as_subclass(cls)
    x.tag = "tag"
    x.attribute = [1]
    if cls is MoreSlots:
        x.more = 5
    y = make_copy(x)
    assert type(y) is cls
    assert y.tolist() == [1, 2]
    assert (y.tag, y.attribute, getattr(y, "more", 5)) == ("tag", [1], 5)
    assert sorted(y.__dict__) == (["attribute"] if hasattr(cls, "tag") else ["attribute", "tag"])


@pytest.mark.parametrize("make_copy", COPIES)
def test_tensors_without_state(make_copy: Copy) -> None:
    for cls in (Tensor, Plain, Slots):
        x = ts.arange(4.0).as_subclass(cls)[1::2]
        y = make_copy(x)
        assert (type(y), y.tolist(), y.stride(), y.__dict__) == (cls, [1, 3], (2,), {})
        assert not hasattr(y, "tag")


@pytest.mark.parametrize("make_copy", COPIES)
def test_gradients(make_copy: Copy) -> None:
    """Shallow copies and pickles have no `grad`. Those of subclasses are views of the rebuilt tensor."""
    for cls, is_leaf in ((Tensor, True), (Plain, False)):
        x = ts.tensor([1.0, 2.0]).as_subclass(cls).requires_grad_()
        x.grad = ts.ones(2)
        y = make_copy(x)
        assert (type(y), y.requires_grad, y.is_leaf, y.grad) == (cls, True, is_leaf, None)


@pytest.mark.parametrize("make_copy", COPIES)
def test_own_state_and_reduction(make_copy: Copy) -> None:
    y = make_copy(ts.ones(2).as_subclass(OwnState))
    assert (type(y), y.tolist(), y.loaded) == (OwnState, [1, 1], {"saved": 1})
    y = make_copy(ts.ones(2).as_subclass(OwnReduction))
    assert (type(y), y.tolist()) == (OwnReduction, [0])


@pytest.mark.parametrize("make_copy", COPIES)
def test_parameters(make_copy: Copy) -> None:
    p = NamedParameter(ts.ones(2))
    p.tag = "tag"
    y = make_copy(p)
    assert (type(y), y.requires_grad, y.tag) == (ts.nn.Parameter, True, "tag")
    copied = copy.deepcopy(p)
    assert (type(copied), copied.requires_grad, copied.__dict__) == (NamedParameter, True, {})
    pair = copy.deepcopy([p, p])
    assert pair[0] is pair[1]


def test_deep_copies() -> None:
    x = ts.tensor([1.0, 2.0], requires_grad=True)
    x.grad = ts.ones(2)
    x.tag = [1]
    y = copy.deepcopy(x)
    assert (y.tolist(), y.requires_grad, y.grad.tolist(), y.tag) == ([1, 2], True, [1, 1], [1])
    assert y.grad is not x.grad and y.tag is not x.tag
    x = ts.tensor([1.0, 2.0]).as_subclass(Copyable)
    x.tag, x.attribute = [1], [2]
    y = copy.deepcopy([x, x])
    assert y[0] is y[1] and type(y[0]) is Copyable
    assert (y[0].tolist(), y[0].tag, y[0].attribute) == ([1, 2], [1], [2])
    assert y[0].tag is not x.tag


@pytest.mark.parametrize("cls", [Plain, Slots, Logged])
def test_classes_without_deep_copies(cls: type[Tensor]) -> None:
    message = r"^The default implementation of __deepcopy__\(\) for non-wrapper subclasses only works for"
    with pytest.raises(RuntimeError, match=message):
        copy.deepcopy(ts.ones(2).as_subclass(cls))
    with pytest.raises(RuntimeError, match=r"^Only Tensors created explicitly by the user \(graph leaves\)"):
        copy.deepcopy(ts.ones(2, requires_grad=True).as_subclass(cls) * 1)


def test_torch_function_receives_reductions() -> None:
    x = ts.ones(2).as_subclass(Logged)
    Logged.calls.clear()
    copy.copy(x)
    pickle.dumps(x)
    assert Logged.calls == ["__reduce_ex__", "__reduce_ex__"]


def test_untrusted_slots() -> None:
    """Files cannot set attributes of the class by the names of slots."""
    x = ts.ones(2)
    x.tag = 1
    file = io.BytesIO()
    ts.save(x, file)
    assert ts.load(io.BytesIO(file.getvalue())).tag == 1
    from ts.archive.torch_save import _set_attributes
    from ts.errors import ArchiveError

    with pytest.raises(ArchiveError, match="the slots of an object must be a dictionary of slots of its class"):
        _set_attributes(x, ({}, {"data": ts.zeros(3)}))
