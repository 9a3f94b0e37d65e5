"""Values of scripts: the 16-byte IValue, and the lists, dicts, tuples and objects that own IValues."""
