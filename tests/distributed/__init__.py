"""Tests of communicating processes: messages, authentication and untrusted data."""

SECRET = bytes(range(32))
