"""PyTorch's passes that no pipeline runs: programs call them by their names in `ts._C`."""
