"""PyTorch's passes that no pipeline runs. Programs call them by their names in `ts._C`."""
