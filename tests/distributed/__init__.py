"""Processes that talk to each other: what they say, who may, and what others send."""

SECRET = bytes(range(32))
