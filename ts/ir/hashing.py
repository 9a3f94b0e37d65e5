"""BLAKE2, a cryptographic hash function, without `hashlib`, which would load megabytes of OpenSSL."""

from __future__ import annotations

try:
    from _blake2 import blake2b
except ImportError:  # this Python was built without the module `_blake2`
    from hashlib import blake2b

__all__ = ["blake2b"]
