"""The private interface of scripted modules, `_c`, and the cache of scripted functions."""

import io

import pytest

import ts
from ts import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.drop = nn.Dropout()
        self.linear = nn.Linear(2, 2)
        self.steps = 3

    def forward(self, x):
        return nn.functional.dropout(x, 0.5, False) * self.steps


def test_attributes_and_methods():
    """A handle finds attributes and compiled methods only, and errors contain the type name."""
    module = ts.jit.script(Net())
    handle = module._c
    assert handle._method_names() == ["forward"] and handle._has_method("forward") and not handle.hasattr("forward")
    assert handle.steps == 3 and handle.forward(ts.ones(1)).item() == 3
    assert handle.linear == module.linear._c and handle.qualified_name.endswith("Net")
    handle.setattr("steps", 4)
    assert module.steps == 4
    with pytest.raises(AttributeError, match="does not have a field with name 'state_dict'"):
        handle.state_dict()
    with pytest.raises(RuntimeError, match="does not have an attribute with name 'other'"):
        handle.other = 1
    with pytest.raises(RuntimeError, match="Method 'other' is not defined"):
        handle._get_method("other")
    assert [name for name, _ in ts._C.ModuleDict(handle).items()] == ["drop", "linear"]
    assert [name for name, _ in ts._C.ParameterDict(handle.linear).items()] == ["weight", "bias"]
    assert not ts._C.BufferDict(handle).contains("weight")


def test_passes_on_modules():
    """Passes change the graphs of the methods in place; dropout is not removed in training mode."""
    module = ts.jit.script(Net())
    with pytest.raises(RuntimeError, match="training mode is not yet supported"):
        ts._C._jit_pass_remove_dropout(module._c)
    module.eval()
    ts._C._jit_pass_inline(module._c)
    ts._C._jit_pass_remove_dropout(module._c)
    assert "aten::dropout" not in str(module.graph)
    assert module(ts.ones(1)).item() == 3


def test_pattern_rewriting_of_modules():
    """Pattern rewriting of a module applies to the graphs of all methods."""
    module = ts.jit.script(ts.nn.Sequential(ts.nn.ReLU()))
    relu = "graph(%x):\n  %y = aten::relu(%x)\n  return (%y)\n"
    ts._C._jit_pass_inline(module._c)
    ts._C._jit_pass_custom_pattern_based_rewrite(relu, relu.replace("relu", "neg"), module._c)
    assert "aten::relu(" not in str(module.graph) and module(ts.ones(1)).item() == -1


def test_freeze_and_save():
    """`_freeze_module` returns a handle, which can be saved."""
    frozen = ts._C._freeze_module(ts.jit.script(Net().eval())._c, ["linear"])
    assert frozen.hasattr("linear") and not frozen.hasattr("drop")
    buffer = io.BytesIO()
    ts.jit.save(frozen, buffer)
    buffer.seek(0)
    assert ts.jit.load(buffer)(ts.ones(1)).item() == 3


def test_function_cache():
    """`_jit_caching_layer` lists compiled functions; a deleted entry is compiled again."""
    from ts.unsupported import names_for

    state = names_for("ts.jit")("_state")

    def doubled(x):
        return x * 2

    assert state._try_get_jit_cached_function(doubled) is None
    script = ts.jit.script(doubled)
    assert state._try_get_jit_cached_function(doubled) is script and state._jit_caching_layer[doubled] == script.qualified_name
    assert doubled in list(state._jit_caching_layer) and state._try_get_jit_cached_overloads(doubled) is None
    del state._jit_caching_layer[doubled]
    assert ts.jit.script(doubled) is not script
