"""BLAKE2 without `hashlib`, which would load OpenSSL: megabytes in a process that only runs a model."""

from __future__ import annotations

try:
    from _blake2 import blake2b
except ImportError:  # a Python that has it elsewhere
    from hashlib import blake2b

__all__ = ["blake2b"]
