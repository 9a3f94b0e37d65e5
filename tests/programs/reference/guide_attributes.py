"""Attributes of any type, wrapped with torch.jit.Attribute."""
# rule: annotation.attribute

from typing import Dict, List

import ts as torch


class Foo(torch.jit.ScriptModule):
    def __init__(self, a_dict):
        super(Foo, self).__init__()
        self.words = torch.jit.Attribute([], List[str])
        self.some_dict = torch.jit.Attribute(a_dict, Dict[str, int])

    @torch.jit.script_method
    def forward(self, input):
        # type: (str) -> int
        return self.some_dict[input]


print(Foo({"a": 3})("a"))  # expect: 3
