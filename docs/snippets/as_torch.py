"""`install_as_torch`, which a process of its own runs."""

# --8<-- [start:install]
import ts

ts.install_as_torch()

import torch
import torch.nn.functional as F

print(torch.__version__)  # 2.13.0+ts...
print(F.relu(torch.tensor([-1.0, 2.0])))
# --8<-- [end:install]
assert torch is ts and torch.__version__.startswith("2.13.0+ts")
