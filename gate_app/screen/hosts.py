"""Checks the Host header, so that another site cannot reach this screen by DNS rebinding, and knows its own address."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress
from ipaddress import ip_address
from socket import AF_INET, SOCK_DGRAM, gethostname, socket

EVERYWHERE = frozenset({"0.0.0.0", "::"})  # noqa: S104 - compared, not bound


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
    own = own_address() if host in EVERYWHERE else host
    return f"http://[{own}]:{port}/" if ":" in own else f"http://{own}:{port}/"


def own_address() -> str:
    """This machine's address on its network."""
    # Nothing is sent: the system only chooses the way it would take.
    with suppress(OSError), socket(AF_INET, SOCK_DGRAM) as probe:
        probe.connect(("192.0.2.1", 9))
        return str(probe.getsockname()[0])
    return "127.0.0.1"


def own_names(more: Collection[str]) -> set[str]:
    """By what browsers may call this machine."""
    machine = gethostname().lower()
    named = {machine, f"{machine.partition('.')[0]}.local"} if machine else set()
    return {"localhost", "127.0.0.1", own_address(), *(name for name in named | set(more) if name.isascii())}


def is_here(host: str) -> bool:
    """Whether only this machine itself can use that address."""
    name = without_port(host)
    return name == "localhost" or (is_address(name) and ip_address(name).is_loopback)
