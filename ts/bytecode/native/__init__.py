"""Just-in-time compilation (JIT) of hot loops by LLVM, entered by on-stack replacement (OSR)."""
