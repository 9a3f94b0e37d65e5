"""Just-in-time compilation of hot loops to machine code by LLVM, bit-identical to the interpreter."""
