"""Empty containers of a given type."""
# rule: annotation.empty

from typing import Dict, List, Tuple

import ts as torch


class EmptyDataStructures(torch.nn.Module):
    def __init__(self):
        super(EmptyDataStructures, self).__init__()

    def forward(self, x):
        # type: (Tensor) -> Tuple[List[Tuple[int, float]], Dict[str, int]]

        # This annotates the list to be a `List[Tuple[int, float]]`
        my_list = torch.jit.annotate(List[Tuple[int, float]], [])
        for i in range(3):
            my_list.append((i, 0.5))

        my_dict = torch.jit.annotate(Dict[str, int], {})
        return my_list, my_dict


print(torch.jit.script(EmptyDataStructures())(torch.ones(1)))  # expect: ([(0, 0.5), (1, 0.5), (2, 0.5)], {})
