"""Checks the Host header, so that another site cannot reach this screen by DNS rebinding."""

from __future__ import annotations

from collections.abc import Collection
from ipaddress import ip_address


def host_allowed(header: str, names: Collection[str]) -> bool:
    """True for an IP address, for localhost, and for a configured name.

    DNS rebinding needs a name that its owner can point elsewhere; an IP address cannot be redirected.
    """
    host = without_port(header).lower().rstrip(".")
    return host == "localhost" or is_address(host) or host in {name.lower() for name in names}


def without_port(header: str) -> str:
    if header.startswith("["):
        return header[1:].partition("]")[0]
    return header.partition(":")[0]


def is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True
