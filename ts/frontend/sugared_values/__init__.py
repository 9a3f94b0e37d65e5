"""What names and expressions mean while a function is compiled, if they are no values of its graph."""
