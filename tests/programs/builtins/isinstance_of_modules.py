"""`isinstance` of a submodule checks the class of the instance."""
# rule: builtin.isinstance
# not in PyTorch, which compares the names of script classes that were compiled before

import ts as torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList([torch.nn.Linear(1, 1), torch.nn.ReLU()])

    def forward(self) -> int:
        n = 0
        for layer in self.layers:
            if isinstance(layer, torch.nn.Linear):
                n += 1
        return n


print(torch.jit.script(Net())())  # expect: 1
