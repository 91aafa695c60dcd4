"""Enrolment: a one-time code for people, and the proofs by which device and server trust each other's keys."""

from __future__ import annotations

import hmac
from base64 import b32decode, b32encode
from binascii import Error as NotBase32
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
_BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
_TO_SIGNS, _TO_BASE32 = str.maketrans(_BASE32, ALPHABET), str.maketrans(ALPHABET, _BASE32)
_ADDRESS_CHECK_BYTES = 3
_FEWEST_OF_AN_ADDRESS = 7
LONGEST_ADDRESS = 300


@dataclass(frozen=True, slots=True)
class Code:
    """One enrolment code; only `id` is ever sent."""

    text: str  # for people: in groups
    id: bytes
    secret: bytes
    fingerprint: bytes

    def shown(self, address: str) -> str:
        """The text for the QR code, with the server's address: letters and digits survive every keyboard layout."""
        signs = self.text.replace("-", "")
        content = address.encode()
        if not 0 < len(content) <= LONGEST_ADDRESS:
            return signs
        return signs + b32encode(content + self._check_of(content)).decode().rstrip("=").translate(_TO_SIGNS)

    def address_in(self, signs: str) -> str | None:
        """The server's address that follows the code itself; None if it is not whole."""
        base32 = signs.translate(_TO_BASE32)
        try:
            content = b32decode(base32 + "=" * (-len(base32) % 8))
            address = content[:-_ADDRESS_CHECK_BYTES].decode()
        except (NotBase32, UnicodeDecodeError):
            return None
        return address if address and self.shown(address).endswith(signs) else None

    def _check_of(self, address: bytes) -> bytes:
        return sha256(b"gatehouse:enrolment-address:1\x00" + self.id + address).digest()[:_ADDRESS_CHECK_BYTES]


@dataclass(frozen=True, slots=True)
class Offer:
    """What a gate's reader reads of an enrolment code: the code, and where its server is."""

    code: Code
    address: str
    """Empty where somebody typed the code alone."""


def new_code(entropy: Entropy, server_public: bytes) -> Code:
    """A new code that includes the fingerprint of the server's key."""
    return _code(entropy(_SECRET_BYTES) + fingerprint(server_public))


def is_offer(text: str) -> bool:
    """Whether this looks like an enrolment code, so that it is worth saying what is wrong with it."""
    return _bare(text).startswith(PREFIX)


def parse(text: str) -> Code:
    """Parses a typed or scanned code. Raises InvalidRequest, which says what is wrong."""
    return offered(text).code


def offered(text: str) -> Offer:
    """Parses a code with the server's address, if that is there. Raises InvalidRequest, which says what is wrong."""
    signs = _signs(text)
    code, rest = _of_signs(signs[:_LENGTH]), signs[_LENGTH:]
    address = code.address_in(rest) if rest else ""
    if address is None:
        raise InvalidRequest(
            f"This enrolment code has {len(signs)} characters after {PREFIX}; it needs {_LENGTH}. Type it again,"
            " or show the picture once more."
        )
    return Offer(code, address)


def _of_signs(signs: str) -> Code:
    number = 0
    for sign in signs:
        number = number << 5 | ALPHABET.index(sign)
    content = (number >> _CHECK_BITS).to_bytes(_SECRET_BYTES + _FINGERPRINT_BYTES, "big")
    if number & (1 << _CHECK_BITS) - 1 != _check(content):
        raise InvalidRequest("This enrolment code is mistyped. Compare it with the admin page, group by group.")
    return _code(content)


def _bare(text: str) -> str:
    return "".join(normalise(text).upper().split()).replace("-", "")


def _signs(text: str) -> str:
    signs = _bare(text)
    if not signs.startswith(PREFIX):
        raise InvalidRequest(f"This is not an enrolment code: those begin with {PREFIX}. The admin page shows it.")
    signs = signs[len(PREFIX) :].translate(_MISTAKEN)
    if len(signs) < _LENGTH or 0 < len(signs) - _LENGTH < _FEWEST_OF_AN_ADDRESS:
        raise InvalidRequest(
            f"This enrolment code has {len(signs)} characters after {PREFIX}; it needs {_LENGTH}. Type it again."
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
