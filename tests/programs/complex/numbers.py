"""Complex numbers: constructors, arithmetic, the module cmath, lists, printing."""

import cmath
from typing import Dict, List


def main():
    z = complex(1.0, 2.0)
    print(z, z * 2, -z)  # expect: 1.+2.j 2.+4.j -1.-2.j (python: (1+2j) (2+4j) (-1-2j))
    print(z == 1 + 2j, z != 2j, abs(3 + 4j))  # expect: True True 5. (python: True True 5.0)
    print(z + 1, 2.0 * z)  # expect: 2.+2.j 2.+4.j (python: (2+2j) (2+4j))
    print(cmath.phase(1 + 0j), abs(cmath.exp(0j)) == 1.0)  # expect: 0. True (python: 0.0 True)
    print(abs(cmath.sqrt(-4 + 0j) - 2j) < 1e-12, cmath.isnan(z))  # expect: True False
    print(abs(cmath.rect(2.0, 0.0) - 2) < 1e-12, cmath.pi > 3)  # expect: True True
    several: List[complex] = [z, 1j]
    several.append(2.5 + 0j)
    print(len(several), several[1] + several[2])  # expect: 3 2.5+1.j (python: 3 (2.5+1j))
    named: Dict[complex, int] = {1j: 5}
    print(named[1j])  # expect: 5
