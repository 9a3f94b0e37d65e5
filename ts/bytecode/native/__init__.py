"""JIT compilation of hot loops to machine code through LLVM, bit-identical to the interpreter."""
