"""Every fact the server tells, by name: what it means, what it names and carries, and in which version."""

from __future__ import annotations


def version_of(name: str) -> int:
    """The version of what a fact of this name carries; it rises when a field goes or changes its meaning."""
    return 1
