"""Frontend: compilation of Python source to graphs."""
