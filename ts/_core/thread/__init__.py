"""Per-thread state: context flags, deadline and memory budget."""
