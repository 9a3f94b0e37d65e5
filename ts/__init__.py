"""`ts` runs TorchScript without PyTorch."""
