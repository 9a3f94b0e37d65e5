"""Python source to graph."""
