"""Flags of PyTorch's executor are stored and returned, without effect."""

import io

import pytest

import ts


def test_setters_return_the_previous_value():
    assert ts._C._jit_set_profiling_executor(False) is True
    assert ts._C._jit_set_profiling_executor(True) is False
    before = ts._C._jit_set_bailout_depth(3)
    assert ts._C._jit_set_bailout_depth(before) == 3
    runs = ts._C._jit_get_num_profiled_runs()
    assert ts._C._jit_set_num_profiled_runs(5) == runs and ts._C._jit_get_num_profiled_runs() == 5
    ts._C._jit_set_num_profiled_runs(runs)
    assert ts._C._jit_set_texpr_fuser_enabled(False) is None and ts._C._jit_texpr_fuser_enabled() is False
    ts._C._jit_set_texpr_fuser_enabled(True)
    with pytest.raises(AttributeError):
        ts._C._jit_set_no_such_switch


def test_fusers_are_contexts():
    f = ts.jit.CompilationUnit("def f(x: Tensor):\n    return (x * 2 + 1).relu()\n").f
    x = ts.tensor([-1.0, 2.0])
    for name in ("fuser0", "fuser1", "fuser2", "fuser3"):
        with ts.jit.fuser(name):
            assert f(x).tolist() == [0, 5]
    with pytest.raises(Exception, match="unrecognized fuser option"), ts.jit.fuser("nvfuser"):
        pass
    ts.jit.enable_onednn_fusion(True)
    assert ts.jit.onednn_fusion_enabled()
    ts.jit.enable_onednn_fusion(False)
    assert not ts.jit.onednn_fusion_enabled()


def test_strict_fusion_is_a_block_of_scripts():
    """`strict_fusion` has no effect in scripts, and warns elsewhere as in PyTorch."""

    @ts.jit.script
    def f(x):
        with ts.jit.strict_fusion():
            return x + x

    assert f(ts.ones(1)).tolist() == [2] and "__torch__.torch.jit.strict_fusion = prim::CreateObject" in str(f.graph)
    assert ts.jit.load(io.BytesIO(f.save_to_buffer()))(ts.ones(1)).tolist() == [2]
    with pytest.warns(UserWarning, match="Only works in script mode"), ts.jit.strict_fusion():
        pass
