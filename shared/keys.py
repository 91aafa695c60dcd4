"""The key ring: public ticket keys with their organisation and state, and the events that they are held for."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from nacl.bindings import crypto_sign_open, crypto_sign_PUBLICKEYBYTES
from nacl.exceptions import BadSignatureError

from shared.errors import Unreadable


class KeyState(StrEnum):
    """Whether signatures of this key are accepted."""

    ACTIVE = "active"
    RETIRED = "retired"
    DISTRUSTED = "distrusted"
    REVOKED = "revoked"


@dataclass(frozen=True, slots=True)
class TicketKey:
    """One public key that signs tickets of one organisation."""

    id: int
    organisation: str
    public: bytes
    state: KeyState

    @classmethod
    def of(cls, id: int, organisation: str, public: bytes, state: KeyState | str) -> TicketKey:
        """Makes a key. Raises Unreadable if the public key has the wrong length."""
        if len(public) != crypto_sign_PUBLICKEYBYTES:
            raise Unreadable(f"Ticket key {id} is not the 32 bytes of a public key. Fetch the keys again.")
        return cls(id, organisation, public, _known_state(state))

    def verifies(self, signature: bytes, message: bytes) -> bool:
        """Whether this key made the signature; libsodium checks it in half the time of OpenSSL."""
        try:
            crypto_sign_open(signature + message, self.public)
        except BadSignatureError:
            return False
        return True


def _known_state(state: str) -> KeyState:
    """Treats an unknown state of a newer server as revoked: when in doubt, do not admit."""
    return KeyState(state) if state in _STATES else KeyState.REVOKED


_STATES = frozenset(KeyState)


@dataclass(frozen=True, slots=True)
class KeyRing:
    """All ticket keys of a device, including revoked ones, and the numbers of the events that it holds."""

    keys: Mapping[int, TicketKey]
    events: Container[int]

    @classmethod
    def of(cls, keys: Iterable[TicketKey], events: Container[int]) -> KeyRing:
        """Makes a ring of these keys, held for these events."""
        return cls(MappingProxyType({key.id: key for key in keys}), events)

    def get(self, key_id: int) -> TicketKey | None:
        """The key with this id in any state; None if it is unknown."""
        return self.keys.get(key_id)
