"""The step debugger: breakpoints, stepping, and a look at a program that stands still."""
