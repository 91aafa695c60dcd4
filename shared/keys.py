"""Key ring: key id to public key, its organisation and its state."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from shared.errors import Unreadable


class KeyState(StrEnum):
    """What a signature of this key is worth."""

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
    verifier: Ed25519PublicKey = field(compare=False, repr=False)

    @classmethod
    def of(cls, id: int, organisation: str, public: bytes, state: KeyState | str) -> TicketKey:
        """Parse the public key once, so that a scan does not. Raises Unreadable where its bytes are no such key."""
        try:
            verifier = Ed25519PublicKey.from_public_bytes(public)
        except ValueError as error:
            raise Unreadable(f"Ticket key {id} is not the 32 bytes of a public key. Fetch the keys again.") from error
        return cls(id, organisation, public, _known_state(state), verifier)


def _known_state(state: str) -> KeyState:
    """A state that only a newer server knows is worth nothing here: doubt never opens a gate."""
    return KeyState(state) if state in _STATES else KeyState.REVOKED


_STATES = frozenset(KeyState)


@dataclass(frozen=True, slots=True)
class KeyRing:
    """Every ticket key that a device holds, revoked ones included."""

    keys: Mapping[int, TicketKey]

    @classmethod
    def of(cls, keys: Iterable[TicketKey]) -> KeyRing:
        """A ring of these keys."""
        return cls(MappingProxyType({key.id: key for key in keys}))

    def get(self, key_id: int) -> TicketKey | None:
        """The key by that id, whatever its state."""
        return self.keys.get(key_id)
