"""Enrolment: a one-time code for people, and the proofs by which device and server trust each other's keys."""

from __future__ import annotations

import hmac
from dataclasses import dataclass
from hashlib import sha256

from shared.errors import InvalidRequest
from shared.ids import Entropy
from shared.layouts import normalise

PREFIX = "MAYE"
"""The letters by which keyboard layouts are recognised, and one letter that no ticket has there."""
ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
"""Thirty-two characters without I, L, O and U, which are easily misread."""
_SECRET_BYTES, _FINGERPRINT_BYTES = 10, 5
_LENGTH, _GROUP = 28, 4
_CHECK_BITS = 20
_MISTAKEN = str.maketrans("ILO", "110")


@dataclass(frozen=True, slots=True)
class Code:
    """One enrolment code; only `id` is ever sent."""

    text: str  # for people: in groups
    id: bytes
    secret: bytes
    fingerprint: bytes

    @property
    def scanned(self) -> str:
        """The text for the QR code: letters and digits only, which survive every keyboard layout."""
        return self.text.replace("-", "")


def new_code(entropy: Entropy, server_public: bytes) -> Code:
    """A new code that includes the fingerprint of the server's key."""
    return _code(entropy(_SECRET_BYTES) + fingerprint(server_public))


def parse(text: str) -> Code:
    """Parses a typed or scanned code. Raises InvalidRequest, which says what is wrong."""
    signs = _signs(text)
    number = 0
    for sign in signs:
        number = number << 5 | ALPHABET.index(sign)
    content = (number >> _CHECK_BITS).to_bytes(_SECRET_BYTES + _FINGERPRINT_BYTES, "big")
    if number & (1 << _CHECK_BITS) - 1 != _check(content):
        raise InvalidRequest("This enrolment code is mistyped. Compare it with the admin page, group by group.")
    return _code(content)


def _signs(text: str) -> str:
    signs = "".join(normalise(text[:200]).upper().split()).replace("-", "")
    if not signs.startswith(PREFIX):
        raise InvalidRequest(f"This is not an enrolment code: those begin with {PREFIX}. The admin page shows it.")
    signs = signs[len(PREFIX) :].translate(_MISTAKEN)
    if len(signs) != _LENGTH:
        raise InvalidRequest(
            f"This enrolment code has {len(signs)} signs after {PREFIX}; there must be {_LENGTH}. Type it again."
        )
    strange = sorted(set(signs) - set(ALPHABET))
    if strange:
        raise InvalidRequest(f"An enrolment code never contains {' '.join(strange)}. Compare it with the admin page.")
    return signs


def _code(content: bytes) -> Code:
    secret, mark = content[:_SECRET_BYTES], content[_SECRET_BYTES:]
    return Code(_text(content), sha256(b"gatehouse:enrolment-id:1\x00" + content).digest()[:8], secret, mark)


def _text(content: bytes) -> str:
    number = int.from_bytes(content, "big") << _CHECK_BITS | _check(content)
    signs = "".join(ALPHABET[number >> 5 * place & 31] for place in reversed(range(_LENGTH)))
    return "-".join((PREFIX, *(signs[start : start + _GROUP] for start in range(0, _LENGTH, _GROUP))))


def _check(content: bytes) -> int:
    return int.from_bytes(sha256(b"gatehouse:enrolment-check:1\x00" + content).digest()[:3], "big") >> 24 - _CHECK_BITS


def fingerprint(server_public: bytes) -> bytes:
    """The five bytes in a code that identify the server's key."""
    return sha256(b"gatehouse:server-key:1\x00" + server_public).digest()[:_FINGERPRINT_BYTES]


def proof(code: Code, device_public: bytes, nonce: bytes) -> bytes:
    """Proves that the device knows the code: binds its key to code, server and nonce."""
    return _mac(code, b"gatehouse:enrol-gate:1\x00", device_public, code.fingerprint, nonce)


def server_proof(code: Code, device_public: bytes, server_public: bytes, nonce: bytes) -> bytes:
    """Proves that the server issued the code: binds its whole key, of which the code has only a fingerprint."""
    return _mac(code, b"gatehouse:enrol-server:1\x00", device_public, server_public, nonce)


def same(one: bytes, other: bytes) -> bool:
    """Whether two proofs are equal, in constant time."""
    return hmac.compare_digest(one, other)


def check_number(device_public: bytes, server_public: bytes, nonce: bytes) -> str:
    """Six digits that both screens show for people to compare."""
    digest = sha256(b"gatehouse:check-number:1\x00" + device_public + server_public + nonce).digest()
    return f"{int.from_bytes(digest[:8], 'big') % 1_000_000:06d}"


def _mac(code: Code, domain: bytes, *parts: bytes) -> bytes:
    return hmac.new(code.secret, domain + code.id + b"".join(parts), sha256).digest()
