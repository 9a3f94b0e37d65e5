"""Just-in-time compilation of hot loops to machine code by LLVM, with the interpreter's exact results."""
