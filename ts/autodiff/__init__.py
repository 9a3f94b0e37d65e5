"""Parts of programs that are differentiated as one: what the tape does with them, written down as graphs."""
