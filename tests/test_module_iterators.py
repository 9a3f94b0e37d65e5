"""Attribute lists of a scripted module have PyTorch's names, order and paths."""

import ts
from ts import nn
from ts.jit import debug_module_iterators


class Sub(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(ts.ones(1))
        self.register_buffer("b", ts.ones(2))
        self.c = 3

    def forward(self, x):
        return x


class Top(nn.Module):
    def __init__(self):
        super().__init__()
        self.sub = Sub()
        self.v = nn.Parameter(ts.zeros(1))
        self.label = "q"

    def forward(self, x):
        return self.sub(x)


def paths(lists, name):
    return [path for path, _ in lists[name]]


def test_lists():
    top = ts.jit.script(Top())
    lists = debug_module_iterators(top)
    assert lists["children"] == [top.sub] and lists["modules"] == [top, top.sub]
    assert paths(lists, "named_modules") == ["", "sub"]
    assert paths(lists, "named_parameters") == ["v"] and paths(lists, "named_parameters_r") == ["v", "sub.w"]
    assert lists["buffers"] == [] and paths(lists, "named_buffers_r") == ["sub.b"]
    names = ["v", "training", "_is_full_backward_hook", "label", "sub"]
    assert paths(lists, "named_attributes") == names
    below = ["sub.w", "sub.b", "sub.training", "sub._is_full_backward_hook", "sub.c"]
    assert paths(lists, "named_attributes_r") == names + below


def test_handle():
    """Attributes of a handle are handles."""
    top = ts.jit.script(Top())
    handle = top._c
    lists = debug_module_iterators(handle)
    assert lists["modules"][0] is handle
    assert all(isinstance(each, ts._C.ScriptModule) for each in lists["modules"])
