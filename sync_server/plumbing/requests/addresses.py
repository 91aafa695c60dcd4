"""Addresses: which tell guests apart, which networks they belong to, and which lead inside the server's own network."""

from __future__ import annotations

import socket
from collections.abc import Iterable, Sequence
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Final

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

_INSIDE: Final = tuple(
    map(
        ip_network,
        (
            "127.0.0.0/8",
            "10.0.0.0/8",
            "172.16.0.0/12",
            "192.168.0.0/16",
            "169.254.0.0/16",
            "::1/128",
            "fc00::/7",
            "fe80::/10",
        ),
    )
)

_NAT64: Final = IPv6Network("64:ff9b::/96")


@lru_cache(1024)
def tells_apart(address: str) -> bool:
    """Whether different guests have different addresses of this kind.

    From outside they have. An address of the machine or its network is that of a proxy that is not in
    `trusted_proxies`, and so everybody's.
    """
    parsed = _parsed(address)
    return parsed is not None and not _within(parsed, _INSIDE)


def within(address: str, networks: Sequence[str]) -> bool:
    """Whether the address belongs to one of these networks."""
    parsed = _parsed(address)
    return parsed is not None and _within(parsed, map(_network, networks))


def network_of(address: str) -> str:
    """What one client has: an IPv4 address, or the /64 of IPv6 from which it may take any."""
    parsed = _parsed(address)
    return str(ip_network((parsed, 64), strict=False)) if isinstance(parsed, IPv6Address) else str(parsed or address)


def canonical_network(text: str) -> str:
    """The network, as it is stored; ValueError where the text names none."""
    return str(_network(text))


def leads_inside(address: str) -> bool:
    """Whether the address belongs to this machine or to its network, or to nobody on the internet.

    Of neighbours with public IPv4 addresses that cannot be told: no program knows how large its network is.
    """
    parsed = _parsed(address.partition("%")[0])
    return parsed is None or not all(map(_is_public, (parsed, *_within_it(parsed)))) or _is_own(parsed)


def _is_public(address: Address) -> bool:
    return address.is_global and not address.is_multicast and not _within(address, _INSIDE)


def _within_it(address: Address) -> Iterable[Address]:
    """The IPv4 addresses that gateways take from an IPv6 address."""
    if isinstance(address, IPv6Address):
        carried = (address.sixtofour, *(address.teredo or ()), _translated(address))
        yield from (each for each in carried if each is not None)


def _translated(address: IPv6Address) -> IPv4Address | None:
    return IPv4Address(int(address) & 0xFFFFFFFF) if address in _NAT64 else None


def _is_own(address: Address) -> bool:
    """Whether it is an address of this machine, or of the same /64: asked without sending anything."""
    kind = socket.AF_INET if address.version == 4 else socket.AF_INET6
    try:
        with socket.socket(kind, socket.SOCK_DGRAM) as probe:
            probe.connect((str(address), 9))
            return network_of(probe.getsockname()[0]) == network_of(str(address))
    except OSError:  # no way leads there
        return False


@lru_cache(4096)
def _network(text: str) -> Network:
    return ip_network(text)


def _within(address: Address, networks: Iterable[Network]) -> bool:
    return any(address in network for network in networks)


@lru_cache(1024)
def _parsed(address: str) -> Address | None:
    try:
        parsed = ip_address(address)
    except ValueError:
        return None
    return getattr(parsed, "ipv4_mapped", None) or parsed
