"""Untrusted files: declared sizes and types are verified, and no file crashes or blocks the process."""
