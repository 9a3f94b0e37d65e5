"""`torch.export.passes`, module names of PyTorch, and kinds of export errors."""

import pytest

import ts
from tests.export.functions import FunctionOfOne
from ts import nn
from ts.errors import UserError
from ts.export import Dim, export
from ts.export.passes import move_to_device_pass


class Holds(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(2, 2)
        self.register_buffer("offset", ts.ones(2))
        self.constant = ts.ones(2)

    def forward(self, x):
        return self.linear(x) + self.offset + self.constant + ts.zeros(2) + x.to("cpu")


def test_move_to_another_device():
    program = export(Holds(), (ts.ones(3, 2),))
    assert move_to_device_pass(program, "meta") is program
    assert {x.device.type for x in (*program.state_dict.values(), *program.constants.values())} == {"meta"}
    assert isinstance(program.state_dict["linear.weight"], nn.Parameter)
    assert program.example_inputs[0][0].device.type == "meta"
    nodes = {n.name: n for n in program.graph.nodes}
    assert nodes["zeros"].kwargs == {"device": ts.device("meta"), "pin_memory": False}
    assert {
        n.meta["val"].device.type for n in nodes.values() if isinstance(n.meta.get("val"), ts.Tensor)
    } == {"meta"}
    assert program.module()(ts.ones(3, 2, device="meta")).device.type == "meta"


def test_move_some_devices():
    program = export(Holds(), (ts.ones(3, 2),))
    move_to_device_pass(program, {"cuda": "meta"})
    assert program.state_dict["offset"].device.type == "cpu"
    move_to_device_pass(program, {"cpu": "meta"})
    assert program.state_dict["offset"].device.type == "meta"


def test_devices_of_factories():
    """Factory nodes contain the device, as in PyTorch."""

    def program(x):
        return ts.zeros(2), x.new_zeros(2), ts.zeros_like(x)

    nodes = {n.name: dict(n.kwargs) for n in export(FunctionOfOne(program), (ts.ones(2),)).graph.nodes}
    assert nodes["zeros"] == {"device": ts.device("cpu"), "pin_memory": False}
    assert nodes["new_zeros"] == nodes["zeros_like"] == {"pin_memory": False}


def test_modules():
    from ts.export.exported_program import ExportedProgram
    from ts.export.graph_signature import InputKind, TensorArgument

    program = export(Holds(), (ts.ones(3, 2),))
    assert isinstance(program, ExportedProgram)
    spec = program.graph_signature.input_specs[0]
    assert spec.kind is InputKind.PARAMETER and isinstance(spec.arg, TensorArgument)
    again = program._update(program.graph_module, program.graph_signature)
    assert again is not program and ts.equal(again.module()(ts.ones(3, 2)), program.module()(ts.ones(3, 2)))


@pytest.mark.parametrize(
    ("shapes", "kind"), [({"y": {0: Dim("b")}}, "INVALID_INPUT"), (({0: Dim("b")},), "CONSTRAINT_VIOLATION")]
)
def test_kinds_of_errors(shapes, kind):
    with pytest.raises(UserError) as raised:
        export(FunctionOfOne(lambda x: x + ts.ones(4)), (ts.ones(4),), dynamic_shapes=shapes)
    assert raised.value.error_type is getattr(ts._dynamo.exc.UserErrorType, kind)
    advice = "\n\nThe error above occurred when calling torch.export.export. If you would like"
    assert str(raised.value).partition(advice)[0] == raised.value.msg and raised.value.case_name is None
