"""Frequently asked questions: a model is moved before tracing and saving; attributes of a ScriptModule."""
# rule: save, resolve.constants, annotation.attribute

import os
import tempfile

import ts as torch
from ts import nn

gpu_model = nn.Linear(2, 2)
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "cpu.pt")
    cpu_model = gpu_model.cpu()
    sample_input_cpu = torch.ones(1, 2).cpu()
    traced_cpu = torch.jit.trace(cpu_model, sample_input_cpu)
    torch.jit.save(traced_cpu, path)

    # ... later, when using the model:
    model = torch.jit.load(path)
print(torch.equal(model(sample_input_cpu), cpu_model(sample_input_cpu)))  # expect: True


class Model(torch.jit.ScriptModule):
    __constants__ = ["x"]

    def __init__(self):
        super(Model, self).__init__()
        self.x = 2
        self.y = torch.jit.Attribute(3, int)
        self.z = nn.Parameter(torch.ones(1))
        self.register_buffer("b", torch.ones(1) * 5)

    @torch.jit.script_method
    def forward(self):
        self.y += 1
        return self.x, self.y, self.z, self.b


model = Model()
model()
x, y, z, b = model()
print(x, y, z.item(), b.item())  # expect: 2 5 1.0 5.0
