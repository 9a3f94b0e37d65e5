"""One function executes operators on meta tensors, for fake tensor modes, exports and previews of control flow."""

import ast
from pathlib import Path

import pytest

import ts
from ts.ops import registry
from ts.tracing.meta_execution import execute

ROOT = Path(__file__).resolve().parent.parent


def meta(x):
    return x.to("meta")


def run(key, values, **options):
    return execute(registry.operator(key), values, to_meta=meta, **options)


def test_tensors_in_lists_are_converted():
    result = run("aten::cat", [[ts.ones(2, 3), ts.ones(4, 3)], 0])
    assert (result.device, result.shape) == (ts.device("meta"), (6, 3))


@pytest.mark.parametrize("device", [None, ts.device("cpu"), ts.device("cuda", 0)])
def test_factories_create_meta_tensors(device):
    assert run("aten::zeros", [[2, 3], None, None, device, None]).is_meta


def test_a_conversion_to_another_device_copies():
    x = ts.ones(2)
    inner = meta(x)
    operator = registry.operator("aten::to.device")
    values = [x, ts.device("cuda"), ts.float32.code, False, False, None]
    for device, is_copy in ((ts.device("cpu"), False), (ts.device("cuda"), True), (None, False)):
        result = execute(operator, values, device=device, to_meta=lambda _: inner)
        assert (result is not inner) is is_copy


def test_the_caller_may_run_the_kernel():
    assert run("aten::add.Tensor", [ts.ones(2), ts.ones(2), 1], call=lambda arguments: len(arguments)) == 3


def test_no_tracer_replaces_devices_itself():
    """The meta device replaces the device arguments of operators in `execute` only."""
    for package in ("export", "_subclasses", "_higher_order_ops", "tracing"):
        for path in sorted((ROOT / "ts" / package).rglob("*.py")):
            if path.name == "meta_execution.py":
                continue
            for node in ast.walk(ast.parse(path.read_text())):
                is_device = isinstance(node, ast.Call) and ast.unparse(node.func).endswith("device")
                assert not (is_device and "'meta'" in map(ast.unparse, node.args)), (
                    f"{path}, line {node.lineno}"
                )
