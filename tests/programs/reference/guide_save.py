"""Saving to a file and to a buffer, with extra files; loading, with all tensors on the CPU."""
# rule: save

import io
import os
import tempfile

import ts as torch


class M(torch.nn.Module):
    def __init__(self):
        super(M, self).__init__()
        self.weight = torch.nn.Parameter(torch.ones(2))

    def forward(self, x):
        return x + self.weight


m = torch.jit.script(M())
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "scriptmodule.pt")

    # Save to file
    torch.jit.save(m, path)

    # Save to io.BytesIO buffer
    buffer = io.BytesIO()
    torch.jit.save(m, buffer)

    # Save with extra files
    extra_files = {"foo.txt": b"bar"}
    torch.jit.save(m, os.path.join(folder, "extra.pt"), _extra_files=extra_files)

    print(torch.jit.load(path)(torch.zeros(2)).tolist())  # expect: [1.0, 1.0]

    # Load ScriptModule from io.BytesIO object
    with open(path, "rb") as f:
        buffer = io.BytesIO(f.read())
    print(torch.jit.load(buffer)(torch.ones(2)).tolist())  # expect: [2.0, 2.0]

    # Load all tensors onto CPU, using a device, or a string
    for location in (torch.device("cpu"), "cpu"):
        buffer.seek(0)
        print(torch.jit.load(buffer, map_location=location).weight.device)
    # expect: cpu
    # expect: cpu

    # Load with extra files.
    files = {"foo.txt": ""}
    torch.jit.load(os.path.join(folder, "extra.pt"), _extra_files=files)
    print(files["foo.txt"])  # expect: b'bar'
