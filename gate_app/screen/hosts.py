"""Checks the Host header, so that another site cannot reach this screen by DNS rebinding, and knows its own address."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress
from ipaddress import ip_address
from socket import AF_INET, SOCK_DGRAM, socket


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


def address_for_others(host: str, port: int) -> str:
    """Where telephones find the screen: the host it listens on, or this machine's own address on its network."""
    if host not in {"0.0.0.0", "::"}:  # noqa: S104 - compared, not bound
        return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"
    own = "127.0.0.1"
    # Nothing is sent: the system only chooses the way it would take.
    with suppress(OSError), socket(AF_INET, SOCK_DGRAM) as probe:
        probe.connect(("192.0.2.1", 9))
        own = probe.getsockname()[0]
    return f"http://{own}:{port}/"
