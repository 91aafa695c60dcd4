"""Which names a browser may call this screen by: a page of somebody else's must not reach it under a name of theirs."""

from __future__ import annotations

from collections.abc import Collection
from ipaddress import ip_address


def host_allowed(header: str, names: Collection[str]) -> bool:
    """True for a plain address, for localhost, and for a name this gate was given.

    DNS rebinding needs a name that its owner can point elsewhere; an address cannot be pointed anywhere.
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
