"""Programs with tensor subclasses that define `__torch_dispatch__`, for `ts` and for PyTorch: `programs(lib)`.

Each program is a function without arguments; the handlers of `Logging` append the operators that run to `log`.
"""

import copy
import io
import pickle
import threading
import types

Programs = types.SimpleNamespace


def classes(lib, log):
    """Return the classes of the programs, derived from `lib.Tensor`."""
    pytree = __import__(f"{lib.__name__}.utils._pytree", fromlist=["tree_map"])
    dispatch = __import__(f"{lib.__name__}.utils._python_dispatch", fromlist=["TorchDispatchMode"])
    mode_utils = __import__(f"{lib.__name__}.utils._mode_utils", fromlist=["no_dispatch"])
    aten = lib.ops.aten

    class Logging(lib.Tensor):
        @staticmethod
        def __new__(cls, inner, requires_grad=False):
            tensor = lib.Tensor._make_wrapper_subclass(
                cls,
                inner.size(),
                strides=inner.stride(),
                storage_offset=inner.storage_offset(),
                dtype=inner.dtype,
                layout=inner.layout,
                device=inner.device,
                requires_grad=requires_grad or inner.requires_grad,
            )
            tensor.inner = inner.detach() if tensor.requires_grad else inner
            return tensor

        def __repr__(self, *, tensor_contents=None):
            return f"Logging({self.inner})"

        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            log.append(str(func))
            args, kwargs = pytree.tree_map_only(cls, lambda x: x.inner, (args, kwargs or {}))
            return pytree.tree_map_only(lib.Tensor, cls, func(*args, **kwargs))

    class Pair(lib.Tensor):
        """Two tensors with equal shapes; operators run on both."""

        @staticmethod
        def __new__(cls, a, b):
            return lib.Tensor._make_wrapper_subclass(
                cls, a.size(), strides=a.stride(), dtype=a.dtype, device=a.device
            )

        def __init__(self, a, b):
            self.a, self.b = a, b

        def __repr__(self):
            return f"Pair({self.a}, {self.b})"

        def __tensor_flatten__(self):
            return ["a", "b"], None

        @staticmethod
        def __tensor_unflatten__(inner, context, outer_size, outer_stride):
            return Pair(inner["a"], inner["b"])

        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            kwargs = kwargs or {}
            results = []
            for name in "ab":
                given, named = pytree.tree_map_only(cls, lambda x, n=name: getattr(x, n), (args, kwargs))
                results.append(pytree.tree_flatten(func(*given, **named)))
            (left, spec), (right, _) = results
            pairs = [cls(x, y) if isinstance(x, lib.Tensor) else x for x, y in zip(left, right, strict=True)]
            out = pytree.tree_unflatten(pairs, spec)
            return dispatch.return_and_correct_aliasing(func, args, kwargs, out)

    class Quantized(lib.Tensor):
        """Integers with a scale: views and copies stay quantized, other operators use the dequantized
        numbers."""

        @staticmethod
        def __new__(cls, integers, scale):
            return lib.Tensor._make_wrapper_subclass(cls, integers.shape, dtype=scale.dtype)

        def __init__(self, integers, scale):
            self.integers, self.scale = integers, scale

        def dequantize(self):
            return self.integers.to(self.scale.dtype) * self.scale

        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            kwargs = kwargs or {}
            if func in (aten.detach.default, aten.clone.default, aten.t.default):
                out = cls(func(args[0].integers), args[0].scale)
                return dispatch.return_and_correct_aliasing(func, args, kwargs, out)
            args, kwargs = pytree.tree_map_only(cls, lambda x: x.dequantize(), (args, kwargs))
            log.append(str(func))
            return func(*args, **kwargs)

    class Masked(lib.Tensor):
        """A tensor with a mask; operators that preserve the shape keep the mask."""

        @staticmethod
        def __new__(cls, data, mask):
            tensor = lib.Tensor._make_subclass(cls, data)
            tensor.mask = mask
            return tensor

        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            log.append(str(func))
            mask = next(x.mask for x in args if isinstance(x, cls))
            with mode_utils.no_dispatch():
                out = func(*args, **(kwargs or {}))
            return cls(out, mask) if isinstance(out, lib.Tensor) and out.shape == mask.shape else out

    class ReturnsNotImplemented(Logging):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            return NotImplemented

    class Wrong(Logging):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            return 3

    class Same(Logging):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            return args[0]

    class Plain(lib.Tensor):
        """A wrapper class without `__repr__`."""

        @staticmethod
        def __new__(cls, inner):
            return lib.Tensor._make_wrapper_subclass(cls, inner.shape, dtype=inner.dtype)

        def __init__(self, inner):
            self.inner = inner

        __torch_dispatch__ = Logging.__dict__["__torch_dispatch__"]

    class Mode(dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            log.append(f"mode {func} {[t.__name__ for t in types]}")
            return func(*args, **(kwargs or {}))

    for cls in (Logging, Pair, Quantized, Masked, Plain):
        cls.__qualname__, cls.__module__ = cls.__name__, __name__
        globals()[cls.__name__] = cls  # pickle looks up classes here
    return Programs(**{k: v for k, v in locals().items() if isinstance(v, type)})


def programs(lib, log):
    """Return programs by name; each returns its result."""
    c = classes(lib, log)
    f, nn = lib.nn.functional, lib.nn
    new = lib.Tensor._make_wrapper_subclass

    def x():
        return c.Logging(lib.arange(6.0).reshape(2, 3))

    def w():
        return c.Logging(lib.arange(1.0, 4.0), requires_grad=True)

    def pair():
        return c.Pair(lib.arange(4.0).reshape(2, 2), lib.ones(2, 2))

    def quantized():
        integers = (lib.arange(12).reshape(3, 4) - 6).to(lib.int8)
        return c.Quantized(integers, lib.tensor(0.5))

    def masked():
        return c.Masked(lib.arange(3.0), lib.tensor([True, False, True]))

    def metadata(t):
        return type(t).__name__, t.shape, t.stride(), t.dtype, t.device, t.is_leaf, t.requires_grad, t.layout

    def backward(y, of):
        y.backward()
        return type(of.grad).__name__, of.grad, of.grad.requires_grad

    def of_leaf(function):
        def run():
            leaf = w()
            return backward(function(leaf), leaf)

        return run

    def in_place_of_view():
        leaf = c.Pair(lib.arange(3.0), lib.ones(3)).requires_grad_()
        y = leaf * 2
        y[0].mul_(3)
        y.sum().backward()
        return leaf.grad

    def double_backward():
        leaf = w()
        (g,) = lib.autograd.grad((leaf * leaf * leaf).sum(), leaf, create_graph=True)
        (h,) = lib.autograd.grad(g.sum(), leaf)
        return g, h

    def gradient_of_plain():
        p = lib.ones(3, requires_grad=True)
        y = (p * c.Logging(lib.arange(3.0))).sum()
        y.backward()
        return type(y).__name__, p.grad

    def hooks():
        leaf, seen = w(), []
        y = leaf * 2
        y.register_hook(lambda g: seen.append(type(g).__name__))
        y.sum().backward()
        return seen

    def accumulated():
        leaf = w()
        leaf.sum().backward()
        leaf.sum().backward()
        return leaf.grad

    def in_module():
        m = nn.Linear(3, 2)
        with lib.no_grad():
            m.weight.copy_(lib.arange(6.0).reshape(2, 3))
            m.bias.zero_()
        m.weight = nn.Parameter(c.Logging(m.weight.detach()))
        y = m(lib.ones(1, 3))
        y.sum().backward()
        return y, m.weight.grad, m.bias.grad, list(m.state_dict())

    def module_to():
        m = nn.Linear(2, 2)
        m.weight = nn.Parameter(c.Pair(lib.ones(2, 2), lib.zeros(2, 2)))
        weight = m.weight
        m.double()
        return weight is m.weight, m.weight, m.weight.dtype, isinstance(m.weight, nn.Parameter)

    def optimizer(name):
        def run():
            p = nn.Parameter(c.Pair(lib.arange(1.0, 4.0), lib.zeros(3)))
            o = getattr(lib.optim, name)([p], lr=0.5)
            p.sum().backward()
            o.step()
            return p

        return run

    def quantized_module():
        m = nn.Linear(4, 3)
        with lib.no_grad():
            m.bias.zero_()
        m.weight = nn.Parameter(quantized(), requires_grad=False)
        y = m(lib.ones(1, 4))
        y.sum().backward()
        return type(y).__name__, y, m.bias.grad, type(m.weight).__name__

    def in_mode():
        t = x()
        with c.Mode():
            return t + 1

    def swapped():
        a, b = lib.ones(2), c.Logging(lib.zeros(3))
        a.mark = 1
        lib.utils.swap_tensors(a, b)
        return type(a).__name__, type(b).__name__, a, b, hasattr(a, "mark"), b.mark

    def in_thread():
        results, t = [], x()
        thread = threading.Thread(target=lambda: results.append(t + 1))
        thread.start()
        thread.join()
        return results

    def in_place():
        t = x()
        return t.add_(1) is t, t, t._version

    def viewed():
        t = x()
        v = t.view(-1)
        v.add_(1)
        return v._is_view(), v._base is t, v._version, t._version, t.detach()._is_view(), t.detach()._version

    def parts_of_split():
        t = x()
        return [(p._is_view(), p._base is t) for p in t.split(1)]

    def changed_strides():
        t = pair()
        u = t.t_()
        return u is t, t.stride(), t.shape, t.unsqueeze_(0).shape, t.a.shape

    def out():
        return lib.add(x(), 1, out=c.Logging(lib.zeros(2, 3)))

    def disabled():
        class Counting(lib.Tensor):
            @classmethod
            def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
                log.append(str(func))
                return super().__torch_dispatch__(func, types, args, kwargs)

        t = lib.arange(3.0).as_subclass(Counting)
        y = t * t
        return type(t).__name__, type(y).__name__, y, (t + 1).sum().item()

    def derived_first():
        class Derived(c.Logging):
            pass

        return type(c.Logging(lib.ones(2)) + Derived(lib.ones(2))).__name__

    def saved():
        file = io.BytesIO()
        lib.save({"w": pair()}, file)
        file.seek(0)
        return lib.load(file, weights_only=False)

    table = {
        "metadata": lambda: metadata(x()),
        "metadata of meta": lambda: metadata(new(c.Logging, (2, 3), device="meta", strides=(1, 2))),
        "offset": lambda: new(c.Logging, (2, 3), strides=(3, 1), storage_offset=5).storage_offset(),
        "cuda": lambda: (
            new(c.Logging, (2,), device="cuda").device,
            new(c.Logging, (2,), device="cuda").is_cuda,
        ),
        "add": lambda: x() + 1,
        "radd": lambda: 1 + x(),
        "sub": lambda: 2 - x(),
        "mul": lambda: x() * lib.ones(3),
        "plain first": lambda: lib.ones(2, 3) * x(),
        "linear": lambda: f.linear(x(), lib.ones(4, 3), lib.ones(4)),
        "max": lambda: tuple(x().max(1)),
        "sort": lambda: tuple(x().sort()),
        "select": lambda: x()[0],
        "slice": lambda: x()[:, 1:],
        "mask": lambda: (lambda t: t[t > 2])(x()),
        "assign": lambda: (lambda t: (t.__setitem__((0, 0), 5.0), t))(x())[1],
        "iterate": lambda: list(x()),
        "item": lambda: x().sum().item(),
        "bool": lambda: bool(x().sum() > 0),
        "float": lambda: float(x().sum()),
        "len": lambda: (len(x()), x().numel(), x().dim(), x().is_contiguous()),
        "to": lambda: x().to(lib.float64),
        "double": lambda: x().double(),
        "same device": lambda: (lambda t: t.to("cpu") is t)(x()),
        "reshape": lambda: x().reshape(3, 2),
        "flatten": lambda: x().flatten(),
        "T": lambda: x().T,
        "cat": lambda: lib.cat([x(), lib.ones(2, 3)]),
        "stack": lambda: lib.stack([x(), x()]),
        "split": lambda: x().split(1),
        "unbind": lambda: x().unbind(),
        "softmax": lambda: x().softmax(-1),
        "layer_norm": lambda: f.layer_norm(x(), (3,)),
        "where": lambda: (lambda t: lib.where(t > 1, t, 0.0))(x()),
        "matmul": lambda: (lambda t: t @ t.t())(x()),
        "einsum": lambda: lib.einsum("ij,kj->ik", x(), x()),
        "zeros_like": lambda: lib.zeros_like(x()),
        "new_zeros": lambda: x().new_zeros(2),
        "equal": lambda: lib.equal(x(), x()),
        "overload": lambda: lib.ops.aten.add.Tensor(x(), 1),
        "in place": in_place,
        "out": out,
        "copy to plain": lambda: lib.ones(2, 3).copy_(x()),
        "views": viewed,
        "split views": parts_of_split,
        "data": lambda: (x().data, x().data._version),
        "deepcopy": lambda: copy.deepcopy(x()),
        "copy": lambda: copy.copy(x()),
        "pickle": lambda: pickle.loads(pickle.dumps(pair())),
        "save": saved,
        "print": lambda: (str(x()), repr(x()), f"{x()}"),
        "gradient": of_leaf(lambda leaf: (leaf * leaf).sum()),
        "gradient of exp": of_leaf(lambda leaf: leaf.exp().sum()),
        "gradient of view": of_leaf(lambda leaf: leaf.view(3, 1)[0].sum()),
        "gradient of mm": of_leaf(lambda leaf: (leaf[None] @ leaf[:, None]).sum()),
        "gradient in place": in_place_of_view,
        "gradient of plain": gradient_of_plain,
        "double backward": double_backward,
        "hook": hooks,
        "accumulate": accumulated,
        "parameter": lambda: metadata(nn.Parameter(c.Logging(lib.ones(2)))),
        "module": in_module,
        "module to": module_to,
        "SGD": optimizer("SGD"),
        "Adam": optimizer("Adam"),
        "pair": lambda: (pair() + 1, pair() @ pair(), pair().sum(0)),
        "pair strides": changed_strides,
        "quantized mm": lambda: lib.ones(2, 3) @ quantized(),
        "quantized linear": lambda: f.linear(lib.ones(2, 4), quantized()),
        "quantized module": quantized_module,
        "quantized print": lambda: repr(quantized()),
        "masked": lambda: (type(masked() + 1).__name__, (masked() + 1).mask, masked().sum()),
        "masked in place": lambda: (lambda t: (t.add_(1) is t, t._version))(masked()),
        "mode": in_mode,
        "vmap": lambda: lib.vmap(lambda t: t * 2)(x()),
        "function gradient": lambda: lib.func.grad(lambda t: (t * t).sum())(c.Logging(lib.ones(3))),
        "swap": swapped,
        "thread": in_thread,
        "disabled": disabled,
        "derived first": derived_first,
    }
    refused = {
        "no handler": lambda: new(type("Empty", (lib.Tensor,), {}), (2,)),
        "no class": lambda: new(1, (2,)),
        "no tensor class": lambda: new(int, (2,)),
        "no size": lambda: new(c.Logging),
        "wrong size": lambda: new(c.Logging, "a"),
        "unknown option": lambda: new(c.Logging, (2,), foo=1),
        "wrong dtype": lambda: new(c.Logging, (2,), dtype=3),
        "gradient of integers": lambda: new(c.Logging, (2,), dtype=lib.int64, requires_grad=True),
        "wrong strides": lambda: new(c.Logging, (2, 3), strides=(1,)),
        "offset without strides": lambda: new(c.Logging, (2,), storage_offset=1),
        "wrong policy": lambda: new(c.Logging, (2,), dispatch_sizes_strides_policy="all"),
        "numpy": lambda: x().numpy(),
        "tolist": lambda: x().tolist(),
        "no result": lambda: new(c.ReturnsNotImplemented, (2,)) + 1,
        "no result of view": lambda: new(c.ReturnsNotImplemented, (2,)).view(2),
        "no result in place": lambda: lib.ones(2).add_(new(c.ReturnsNotImplemented, (2,))),
        "wrong result": lambda: new(c.Wrong, (2,)).exp(),
        "wrong results": lambda: new(c.Wrong, (2,)).max(0),
        "wrong list": lambda: new(c.Wrong, (2,)).split(1),
        "same view": lambda: new(c.Same, (2,)).view(2),
        "plain print": lambda: repr(c.Plain(lib.ones(2))),
        "quantized vector": lambda: repr(c.Quantized(lib.ones(2, dtype=lib.int8), lib.tensor(1.0))),
    }
    return table, refused
