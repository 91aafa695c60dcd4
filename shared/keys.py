"""Key ring: key id to public key, its organisation and its state."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey


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
        """Parse the 32 public bytes once, so that a scan does not."""
        return cls(id, organisation, public, KeyState(state), Ed25519PublicKey.from_public_bytes(public))


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
