"""`cupy.ndarray`: a NumPy array that cannot be converted to NumPy implicitly."""

import json
import threading
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import numpy as np

from tests.fake_cupy.graph_capture import check_not_capturing, record_calls, reject_capture

API = json.loads(Path(__file__).with_name("api.json").read_text())
METHODS = API["ndarray"]
ALIGNED = 512

current_device = [0]


class BaseMemory:
    """Memory on a device. Subclasses release it in `__del__`."""

    ptr = size = 0
    device_id = 0


class MemoryPointer:
    """A pointer into a memory block, with an offset in bytes."""

    def __init__(self, mem, offset):
        assert isinstance(mem, BaseMemory)
        self.mem, self.ptr, self.device_id = mem, mem.ptr + offset, mem.device_id

    def __add__(self, offset):
        return MemoryPointer(self.mem, self.ptr - self.mem.ptr + int(offset))

    def array(self, shape, dtype, strides):
        """Return an array that begins at this address."""
        steps = np.lib.stride_tricks.as_strided(np.empty(1, dtype), shape, strides).strides
        reach = dtype.itemsize + sum((n - 1) * s for n, s in zip(shape, steps))
        if 0 in shape:
            return np.empty(shape, dtype)
        return np.ndarray(shape, dtype, np.asarray(MemoryBytes(self.mem, self.ptr, reach)), 0, steps)


class MemoryBytes:
    """The bytes at an address. NumPy arrays of them hold a reference to the memory block."""

    def __init__(self, mem, ptr, size):
        self.mem = mem
        self.__array_interface__ = {"shape": (size,), "typestr": "|u1", "data": (ptr, False), "version": 3}


class PooledMemory(BaseMemory):
    """A block of a pool, which returns to the free list of its device and stream with its last reference."""

    def __init__(self, pool, key, buffer):
        self._pool, self._key, self._buffer = pool, key, buffer
        self.device_id, self.ptr, self.size = key[0], buffer.ctypes.data, buffer.nbytes
        pool.used[key[0]] = pool.used.get(key[0], 0) + self.size

    def __del__(self):
        self._pool.used[self._key[0]] -= self.size
        self._pool.free.setdefault(self._key, {}).setdefault(self.size, []).append(self._buffer)


class MemoryPool:
    """Fake memory pool with free lists for each device, stream and size."""

    current_stream = None  # a function, which `runtime` sets

    def __init__(self, allocator=None):
        self.used, self.total, self.free = {}, {}, {}
        self.allocations = 0

    def malloc(self, size):
        if size == 0:
            return MemoryPointer(BaseMemory(), 0)
        self.allocations += 1
        size = -(-size // ALIGNED) * ALIGNED
        key = current_device[0], MemoryPool.current_stream()
        unused = self.free.get(key, {}).get(size)
        if unused:
            return MemoryPointer(PooledMemory(self, key, unused.pop()), 0)
        if MemoryPool.limit is not None and self.used_bytes() + size > MemoryPool.limit:
            raise OutOfMemoryError(size, self.total_bytes())
        self.total[key[0]] = self.total.get(key[0], 0) + size
        return MemoryPointer(PooledMemory(self, key, np.empty(size, np.uint8)), 0)

    limit = None  # bytes in use of a pool on a device, above which `malloc` raises OutOfMemoryError

    def used_bytes(self):
        return self.used.get(current_device[0], 0)

    def total_bytes(self):
        return self.total.get(current_device[0], 0)

    def free_all_blocks(self, stream=None):
        device = current_device[0]
        self.free = {key: sizes for key, sizes in self.free.items() if key[0] != device}
        self.total[device] = self.used.get(device, 0)


class OutOfMemoryError(MemoryError):
    """Error of a pool that has no memory."""

    def __init__(self, size, total, limit=0):
        super().__init__(f"Out of memory allocating {size:,} bytes (allocated so far: {total:,} bytes).")


default_pool = MemoryPool()
default_allocator = [default_pool.malloc]  # the allocator of all threads
_thread = threading.local()  # `allocator`: the allocator of one thread


def get_allocator():
    return getattr(_thread, "allocator", None) or default_allocator[0]


def set_allocator(allocator=None):
    if getattr(_thread, "allocator", None) is not None:
        raise ValueError("Can't change the global allocator inside `using_allocator` context manager")
    default_allocator[0] = allocator or default_pool.malloc


@contextmanager
def using_allocator(allocator=None):
    before = getattr(_thread, "allocator", None)
    _thread.allocator = allocator or default_pool.malloc
    try:
        yield
    finally:
        _thread.allocator = before


def check_operand(x, what="operand"):
    """Raise TypeError for NumPy arrays with dimensions and for sequences, which CuPy rejects as operands."""
    if isinstance(x, (np.ndarray, list, tuple)):
        raise TypeError(f"Unsupported type {type(x)} as {what}")
    return x


class ndarray:
    """Fake `cupy.ndarray`."""

    __array_priority__ = 100

    def __init__(self, shape, dtype=float, memptr=None, strides=None, order="C", _host=None, _memory=None):
        if memptr is not None:
            _host, _memory = memptr.array(shape, np.dtype(dtype), strides), memptr.mem
        if _memory is None:
            pointer = get_allocator()(np.empty(shape, dtype).nbytes if _host is None else _host.nbytes)
            if not pointer.ptr:
                pointer.mem.device_id = current_device[0]
            if _host is None:
                like = np.empty(shape, dtype, order=order)
                _host = pointer.array(like.shape, like.dtype, like.strides)
            elif _host.size and (_host.flags.c_contiguous or _host.flags.f_contiguous):
                values, _host = _host, pointer.array(_host.shape, _host.dtype, _host.strides)
                _host[...] = values
            _memory = pointer.mem
        self._host = _host
        self._memory = _memory

    # ---- attributes

    dtype = property(lambda self: self._host.dtype)
    shape = property(lambda self: self._host.shape)
    strides = property(lambda self: self._host.strides)
    ndim = property(lambda self: self._host.ndim)
    size = property(lambda self: self._host.size)
    itemsize = property(lambda self: self._host.itemsize)
    nbytes = property(lambda self: self._host.nbytes)
    T = property(lambda self: view(self, self._host.T))
    mT = property(lambda self: view(self, self._host.mT))
    device = property(lambda self: SimpleNamespace(id=self._memory.device_id))
    data = property(lambda self: MemoryPointer(self._memory, self._host.ctypes.data - self._memory.ptr))

    @property
    def base(self):
        owner = self._host.base
        return view(self, owner) if isinstance(owner, np.ndarray) else None

    @property
    def flags(self):
        found = self._host.flags
        return SimpleNamespace(c_contiguous=found.c_contiguous, f_contiguous=found.f_contiguous, owndata=found.owndata)

    @property
    def real(self):
        return view(self, self._host.real)

    @real.setter
    def real(self, value):
        self.real[...] = value

    @property
    def imag(self):
        return view(self, self._host.imag) if self.dtype.kind == "c" else wrap(np.zeros_like(self._host))

    @imag.setter
    def imag(self, value):
        self.imag[...] = value

    # ---- rejected NumPy protocols

    def __array__(self, dtype=None, copy=None):
        raise TypeError("Implicit conversion to a NumPy array is not allowed. Please use `.get()`")

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        from tests.fake_cupy.functions import NAMESPACE

        if method != "__call__" or any(isinstance(x, np.ndarray) and x.ndim for x in inputs):
            return NotImplemented
        return getattr(NAMESPACE, ufunc.__name__)(*inputs, **kwargs)

    def __array_function__(self, function, types, args, kwargs):
        raise TypeError(f"numpy.{function.__name__} was called on an array of the device")

    # ---- copies and conversions

    @reject_capture
    def get(self, stream=None, order="C", out=None, blocking=True):
        if out is not None:
            out[...] = self._host
            return out
        return self._host.copy(order)

    @record_calls
    def set(self, host, stream=None):
        self._host[...] = host

    @reject_capture
    def item(self):
        return self._host.item()

    @reject_capture
    def tolist(self):
        return self._host.tolist()

    @reject_capture
    def __bool__(self):
        return bool(self._host)

    @reject_capture
    def __int__(self):
        return int(self._host)

    @reject_capture
    def __float__(self):
        return float(self._host)

    def __complex__(self):
        return complex(self._host)

    def __len__(self):
        return len(self._host)

    def __iter__(self):
        if not self.ndim:
            raise TypeError("iteration over a 0-d array")
        return (self[i] for i in range(len(self)))

    def __repr__(self):
        return f"double of a {self._host!r}"

    __hash__ = None

    # ---- indexing and iteration

    @record_calls
    def __getitem__(self, key):
        found = self._host[self._key(key)]
        if isinstance(found, np.ndarray) and np.shares_memory(found, self._host):
            return view(self, found)
        plain = not any(isinstance(k, (ndarray, list)) for k in (key if isinstance(key, tuple) else (key,)))
        if plain:  # a single element: a view in CuPy, an element in NumPy
            parts = self._key(key)
            return view(self, self._host[parts if any(p is Ellipsis for p in parts) else (*parts, ...)])
        return wrap(found)

    @record_calls
    def __setitem__(self, key, value):
        if isinstance(value, ndarray) and value._memory.device_id != self._memory.device_id:
            raise ValueError("Array device must be same as the current device")
        self._host[self._key(key, True)] = unwrap(check_operand(value))

    def _key(self, key, writes=False):
        """Return the index with out-of-range integers wrapped around, for which NumPy raises an error."""
        parts = list(key) if isinstance(key, tuple) else [key]
        consumed = [1 if isinstance(k, (ndarray, list)) and _dtype(k).kind != "b" else
                    k.ndim if isinstance(k, ndarray) else k is not None and k is not Ellipsis and not isinstance(k, bool)
                    for k in parts]
        dim, out = 0, []
        for k, n in zip(parts, consumed):
            if k is Ellipsis:
                dim += self.ndim - sum(consumed)
            if isinstance(k, np.ndarray):
                raise TypeError("an array of NumPy's as an index of an array of the device is a hidden transfer")
            if isinstance(k, ndarray):
                if k.dtype.kind not in "iub":
                    raise IndexError("arrays used as indices must be of integer or boolean type.")
                host = k._host
                if k.dtype.kind == "b" and not writes:
                    check_not_capturing()  # the number of selected elements is read
                if k.dtype.kind != "b" and dim < self.ndim and self.shape[dim]:
                    host = host.astype(np.int64) % self.shape[dim]
                out.append(host)
            else:
                out.append(k)
            dim += int(n)
        return tuple(out)


def _dtype(k):
    return k.dtype if isinstance(k, ndarray) else np.asarray(k).dtype


def wrap(x):
    """Wrap NumPy results, including scalars, as device arrays."""
    if isinstance(x, (np.ndarray, np.generic)):
        return ndarray(None, _host=np.asarray(x))
    if type(x) in (list, tuple):
        return type(x)(map(wrap, x))
    if isinstance(x, tuple) and hasattr(x, "_fields"):
        return type(x)(*map(wrap, x))
    return x


def view(of, host):
    return ndarray(None, _host=host, _memory=of._memory)


def unwrap(x):
    if isinstance(x, ndarray):
        return x._host
    return type(x)(map(unwrap, x)) if type(x) in (list, tuple) else x


VIEWS = {"reshape", "transpose", "swapaxes", "squeeze", "diagonal", "view", "ravel"}


def _method(name, parameters):
    @record_calls
    def called(self, *args, **kwargs):
        unknown = set(kwargs) - set(parameters) if parameters is not None else set()
        if unknown:
            raise TypeError(f"cupy.ndarray.{name}() got an unexpected keyword argument {unknown}")
        from tests.fake_cupy.functions import check_dtype

        check_dtype(name, [self])
        result = getattr(self._host, name)(*map(unwrap, args), **{k: unwrap(v) for k, v in kwargs.items()})
        if name in VIEWS and np.shares_memory(result, self._host):
            return view(self, result)
        return wrap(result)

    called.__name__ = name
    return called


for _name, _parameters in METHODS.items():
    if not _name.startswith("_") and not hasattr(ndarray, _name) and callable(getattr(np.ndarray, _name, None)):
        setattr(ndarray, _name, _method(_name, _parameters))


def _operator(name, reflected=False):
    @record_calls
    def called(self, other):
        from tests.fake_cupy.functions import NAMESPACE

        if not isinstance(other, (ndarray, int, float, complex, np.generic)):
            check_operand(other)
            return NotImplemented
        return getattr(NAMESPACE, name)(*((other, self) if reflected else (self, other)))

    return called


def _inplace(name):
    @record_calls
    def called(self, other):
        from tests.fake_cupy.functions import NAMESPACE

        getattr(NAMESPACE, name)(self, other, out=self)
        return self

    return called


for _name, _ufunc in {
    "add": "add", "sub": "subtract", "mul": "multiply", "truediv": "true_divide", "floordiv": "floor_divide",
    "mod": "remainder", "pow": "power", "and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor",
    "lshift": "left_shift", "rshift": "right_shift", "matmul": "matmul",
}.items():  # fmt: skip
    setattr(ndarray, f"__{_name}__", _operator(_ufunc))
    setattr(ndarray, f"__r{_name}__", _operator(_ufunc, reflected=True))
    setattr(ndarray, f"__i{_name}__", _inplace(_ufunc))
for _name, _ufunc in {
    "lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal", "eq": "equal", "ne": "not_equal",
}.items():  # fmt: skip
    setattr(ndarray, f"__{_name}__", _operator(_ufunc))


def _unary(name):
    @record_calls
    def called(self):
        from tests.fake_cupy.functions import NAMESPACE

        return getattr(NAMESPACE, name)(self)

    return called


for _name, _ufunc in {"neg": "negative", "abs": "absolute", "invert": "invert", "pos": "positive"}.items():
    setattr(ndarray, f"__{_name}__", _unary(_ufunc))
