"""JIT compilation of hot loops by LLVM, entered by on-stack replacement (OSR) from the interpreter."""
