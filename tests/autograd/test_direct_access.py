"""Tensors inside function transforms have no storage: direct access to memory raises an error."""

import copy
import io
import pickle
import re
import warnings

import numpy as np
import pytest

import ts
from ts.autograd import forward_ad
from ts.func import grad, jvp, vjp, vmap

STORAGE = "Cannot access storage of "
POINTER = "Cannot access data pointer of Tensor that doesn't have storage"
ITEM = re.escape("vmap: It looks like you're calling .item() on a Tensor")

STORED = {
    "deepcopy": copy.deepcopy,
    "copy": copy.copy,
    "pickle": pickle.dumps,
    "in a dictionary": lambda v: copy.deepcopy({"v": v}),
    "save": lambda v: ts.save({"v": v}, io.BytesIO()),
    "untyped_storage": lambda v: v.untyped_storage(),
    "storage": lambda v: v.storage(),
    "set_": lambda v: ts.ones(2).set_(v.untyped_storage()),
    "reduce": lambda v: v.__reduce_ex__(2),
}
POINTED = {
    "numpy": lambda v: v.numpy(),
    "force": lambda v: v.numpy(force=True),
    "asarray": np.asarray,
    "array": np.array,
    "ufunc": lambda v: np.add(v, 1),
    "data_ptr": lambda v: v.data_ptr(),
    "detached": lambda v: v.detach().data_ptr(),
    "dlpack": lambda v: v.__dlpack__(),
    "from_dlpack": ts.from_dlpack,
    "map_": lambda v: ts.ones(2).map_(v, lambda a, b: a + b),
    "apply_": lambda v: v.apply_(lambda a: a),
}
READ = {
    "item": lambda v: v.sum().item(),
    "float": lambda v: float(v.sum()),
    "int": lambda v: int(v.sum()),
    "complex": lambda v: complex(v.sum()),
    "index": lambda v: [1, 2, 3][v.sum().long()],
    "format": lambda v: f"{v.sum():.2f}",
    "list": lambda v: ts.tensor([v.sum(), v.sum()]),
    "contains": lambda v: 1.0 in v,
}


def in_vmap(f):
    return vmap(lambda v: (f(v), v)[1])(ts.arange(6.0).reshape(3, 2))


def in_jvp(f):
    return jvp(lambda v: (f(v), v)[1], (ts.arange(2.0),), (ts.ones(2),))


@pytest.mark.parametrize("name", STORED)
def test_storages(name):
    with pytest.raises(NotImplementedError, match=STORAGE + "BatchedTensorImpl"):
        in_vmap(STORED[name])
    with pytest.raises(NotImplementedError, match=STORAGE + "TensorWrapper"):
        in_jvp(STORED[name])


@pytest.mark.parametrize("name", POINTED)
def test_addresses(name):
    with pytest.raises(RuntimeError, match=POINTER):
        in_vmap(POINTED[name])
    with pytest.raises(RuntimeError, match=POINTER):
        in_jvp(POINTED[name])


@pytest.mark.parametrize("name", READ)
def test_numbers(name):
    """`item()` fails for a batched tensor and works for a dual tensor."""
    with pytest.raises(RuntimeError, match=ITEM):
        in_vmap(READ[name])
    in_jvp(READ[name])


def test_control_flow():
    with pytest.raises(RuntimeError, match=r"^vmap: It looks like you're attempting to use a Tensor in some data"):
        in_vmap(lambda v: bool(v.sum()))
    in_jvp(lambda v: bool(v.sum()))


def test_lists():
    with pytest.raises(RuntimeError, match=POINTER):
        in_vmap(lambda v: v.tolist())
    seen = []
    in_jvp(lambda v: seen.append(v.tolist()))
    assert seen == [[0, 1]]


def test_copies_by_data():
    """`tensor` detaches a batched view; the other constructors keep the batch."""
    for f in (ts.tensor, lambda v: v.new_tensor(v), lambda v: ts.ones(2).new_tensor(v)):
        with warnings.catch_warnings(), pytest.raises(RuntimeError, match=r"^Can't detach views"):
            warnings.simplefilter("ignore")
            in_vmap(f)
    x = ts.arange(6.0).reshape(3, 2)
    for f in (ts.as_tensor, ts.asarray, ts.FloatTensor, ts.Tensor, lambda v: v.new(v), lambda v: v.to(ts.float32)):
        assert vmap(lambda v, f=f: f(v) * 2)(x).tolist() == (x * 2).tolist()


def test_the_attribute_data():
    with pytest.raises(RuntimeError, match=r"^accessing `data` under vmap transform is not allowed"):
        in_vmap(lambda v: v.data)
    in_jvp(lambda v: v.data)
    for run, where in ((in_vmap, "under vmap"), (in_jvp, "inside functorch")):
        for f in (lambda v: setattr(ts.ones(2), "data", v), lambda v: setattr(v, "data", ts.ones(2))):
            with pytest.raises(RuntimeError, match=rf"^mutating directly with `.data` {where} transform is not allowed"):
                run(f)


def test_unbatched_tensors_have_memory():
    """Tensors created inside of the function without batched operands are unbatched and have memory."""
    y = ts.arange(2.0)
    for f in (*STORED.values(), *POINTED.values(), *READ.values(), lambda v: v.tolist()):
        in_vmap(lambda _, f=f: f(y))
        in_vmap(lambda _, f=f: f(ts.ones(2)))


def test_tensor_attributes_need_no_memory():
    found = []

    def facts(v):
        found.append((
            v.shape, v.dtype, str(v.device), v.stride(), v.is_contiguous(), v.numel(), v.nbytes, v.is_meta, v.is_cpu,
            v.element_size(), v.storage_offset(), v.get_device(), v.requires_grad, v.is_leaf,
        ))  # fmt: skip
        return v

    plain = ts.arange(2.0)
    facts(plain)
    vmap(facts)(ts.arange(6.0).reshape(3, 2))
    jvp(facts, (plain,), (ts.ones(2),))
    vmap(vmap(facts))(ts.arange(6.0).reshape(3, 1, 2))
    assert len(set(map(str, found))) == 1
    strides = []
    vmap(lambda v: (strides.append((v.stride(), v.is_contiguous())), v)[1], in_dims=1)(ts.ones(2, 3))
    assert strides == [((3,), False)]


def test_views_of_batches():
    x = ts.arange(12.0).reshape(3, 4)

    def write(v):
        v = v * 1
        part = v[1:3]
        assert part._base is v and part._is_view()
        part.mul_(10)
        v.view(2, 2)[0].add_(1)
        return v

    expected = x.clone()
    expected[:, 1:3] *= 10
    expected[:, :2] += 1
    assert vmap(write)(x).tolist() == expected.tolist()
    assert jvp(write, (x[0],), (ts.ones(4),))[1].tolist() == [1, 10, 10, 1]


def test_escaped_tensors():
    """A batched tensor cannot be used outside `vmap`; a dual tensor can."""
    escaped = []
    vmap(lambda v: (escaped.append(v), v)[1])(ts.arange(6.0).reshape(3, 2))
    for f in (lambda v: v * 2, lambda v: ts.ones(2) + v, lambda v: v.clone(), lambda v: ts.ones(2).add_(v)):
        with pytest.raises(RuntimeError, match=r"^Either your tensor may have escaped from inside a function being vmapped"):
            f(escaped[0])
    assert escaped[0].shape == (2,)
    jvp(lambda v: (escaped.append(v), v)[1], (ts.arange(2.0),), (ts.ones(2),))
    assert (escaped[1] * 2).tolist() == [0, 2]
    assert escaped[1].numpy().tolist() == [0, 1]


def test_dual_tensors_outside_of_transforms_have_memory():
    with forward_ad.dual_level():
        x = forward_ad.make_dual(ts.arange(2.0), ts.ones(2))
        assert x.numpy().tolist() == [0, 1]
        assert x.untyped_storage().nbytes() == 8
        assert copy.deepcopy(x).tolist() == [0, 1]
        assert pickle.loads(pickle.dumps(x * 2)).tolist() == [0, 2]


def test_texts():
    texts = []
    jvp(lambda v: (texts.append(repr(v)), v)[1], (ts.arange(2.0),), (ts.ones(2),))
    assert texts == ["GradTrackingTensor(lvl=1, value=\n    tensor([0., 1.])\n)"]


def test_nested_transforms():
    """In nested transforms, the rule of the innermost transform applies."""
    x = ts.arange(6.0).reshape(3, 2)
    for f in (lambda v: v.untyped_storage(), copy.deepcopy):
        with pytest.raises(NotImplementedError, match=STORAGE):
            vmap(grad(lambda v, f=f: (f(v), v.sum())[1]))(x)
        with pytest.raises(NotImplementedError, match=STORAGE):
            vjp(vmap(lambda v, f=f: (f(v), v.sum())[1]), x)
    with pytest.warns(UserWarning, match=r"^To copy construct"):
        vmap(grad(lambda v: (ts.tensor(v), v.sum())[1]))(x)
    vmap(grad(lambda v: (v.data, v.sum())[1]))(x)
