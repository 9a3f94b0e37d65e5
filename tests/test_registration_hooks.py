"""Global hooks for registration of parameters, buffers and submodules."""

import ts
from ts import nn
from ts.nn.modules import module


def test_hooks():
    """Registration hooks are called in order by constructors and assignments until they are removed."""
    seen = []
    handles = [
        module.register_module_parameter_registration_hook(lambda m, name, p: seen.append(("p", name))),
        module.register_module_buffer_registration_hook(lambda m, name, b: seen.append(("b", name))),
        module.register_module_module_registration_hook(lambda m, name, s: seen.append(("m", name))),
    ]
    net = nn.Sequential(nn.Linear(1, 1))
    net.other = nn.Linear(1, 1, bias=False)
    net.register_parameter("q", None)
    net.buffer = nn.Buffer(ts.ones(1))
    for handle in handles:
        handle.remove()
    nn.Linear(1, 1)
    expected = [("p", "weight"), ("p", "bias"), ("m", "0"), ("p", "weight"), ("m", "other")]
    assert seen == [*expected, ("b", "buffer")] and not module._global_parameter_registration_hooks


def test_replacement():
    """The result of a registration hook replaces the registered object."""
    handle = module.register_module_parameter_registration_hook(lambda m, name, p: nn.Parameter(p * 0 + 3))
    try:
        net = nn.Module()
        net.weight = nn.Parameter(ts.ones(1))
        assert net.weight.tolist() == [3.0]
    finally:
        handle.remove()
