"""Dispatch: operators, their arguments, and the one way to a kernel that all callers take."""
