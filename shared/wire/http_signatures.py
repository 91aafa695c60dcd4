"""Signed requests and answers: a small, strict subset of HTTP message signatures (RFC 9421), without clocks."""

from __future__ import annotations

import re
from base64 import b64decode, b64encode
from binascii import Error as NotBase64
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Literal

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from shared.errors import Untrusted

Channel = Literal["pull", "push", "other"]
CHANNELS: tuple[Channel, ...] = ("pull", "push", "other")

REQUEST_TAG = "gatehouse-sync-1"
ANSWER_TAG = "gatehouse-answer-1"
_REQUEST_PARTS = '("@method" "@authority" "@path" "@query" "content-digest")'
_ANSWER_PARTS = '("@status" "content-digest" "gatehouse-time" "gatehouse-position" "signature";req;key="gate")'
_ANSWER_PARAMS = f'{_ANSWER_PARTS};keyid="server";tag="{ANSWER_TAG}"'
_REQUEST_INPUT = re.compile(
    r"gate="
    + re.escape(_REQUEST_PARTS)
    + r';keyid="(0|[1-9][0-9]{0,9})";nonce="(pull|push|other):(0|[1-9][0-9]{0,17})";tag="'
    + re.escape(REQUEST_TAG)
    + '"',
    re.ASCII,
)
_NUMBER = re.compile(r"0|[1-9][0-9]{0,15}", re.ASCII)


@dataclass(frozen=True, slots=True)
class SignedRequest:
    """A request with a valid signature; the counter window decides whether its counter is new."""

    device: int
    channel: Channel
    counter: int
    signature: bytes


@dataclass(frozen=True, slots=True)
class SignedAnswer:
    """A verified response to one request."""

    server_time: int
    position: str


def sign_request(
    method: str,
    authority: str,
    path: str,
    query: str,
    body: bytes,
    *,
    key: Ed25519PrivateKey,
    device: int,
    channel: Channel,
    counter: int,
) -> dict[str, str]:
    """The headers of a signed request by `device`; an empty body has a digest too."""
    params = f'{_REQUEST_PARTS};keyid="{device}";nonce="{channel}:{counter}";tag="{REQUEST_TAG}"'
    digest = _digest(body)
    signature = key.sign(request_base(method, authority, path, query, digest, params))
    return {"Content-Digest": digest, "Signature-Input": f"gate={params}", "Signature": f"gate={_bytes(signature)}"}


def device_of(headers: Mapping[str, str]) -> int:
    """The device that a request claims to come from, for looking up its key; not verified yet."""
    return int(_claims(headers)[1])


def verify_request(  # noqa: PLR0917 - the parts of a request in the order of its text
    method: str,
    authority: str,
    path: str,
    query: str,
    body: bytes,
    headers: Mapping[str, str],
    public: Ed25519PublicKey,
) -> SignedRequest:
    """Verifies a request. Raises Untrusted if any part differs from what was signed."""
    claims = _claims(headers)
    digest = _require_digest(headers, body)
    signature = _signature(headers, "gate")
    params = claims[0].removeprefix("gate=")
    _verify(public, signature, request_base(method, authority, path, query, digest, params))
    channel = next(known for known in CHANNELS if known == claims[2])
    return SignedRequest(int(claims[1]), channel, int(claims[3]), signature)


def sign_answer(
    status: int, body: bytes, *, key: Ed25519PrivateKey, server_time: int, position: str, request_signature: bytes
) -> dict[str, str]:
    """The headers that bind a response to the request whose signature it includes."""
    digest = _digest(body)
    base = answer_base(status, digest, str(server_time), position, request_signature)
    return {
        "Content-Digest": digest,
        "Gatehouse-Time": str(server_time),
        "Gatehouse-Position": position,
        "Signature-Input": f"server={_ANSWER_PARAMS}",
        "Signature": f"server={_bytes(key.sign(base))}",
    }


def verify_answer(
    status: int, body: bytes, headers: Mapping[str, str], server_public: Ed25519PublicKey, request_signature: bytes
) -> SignedAnswer:
    """Verifies a response. Raises Untrusted if it was altered, replayed, or did not come from the server."""
    if _header(headers, "Signature-Input") != f"server={_ANSWER_PARAMS}":
        raise Untrusted("This response is not signed like our server's. It was discarded.")
    time, position = _header(headers, "Gatehouse-Time"), _header(headers, "Gatehouse-Position")
    digest = _require_digest(headers, body)
    base = answer_base(status, digest, time, position, request_signature)
    _verify(server_public, _signature(headers, "server"), base)
    if not _NUMBER.fullmatch(time):
        raise Untrusted("The server's signed time is invalid. The response was discarded.")
    return SignedAnswer(int(time), position)


def request_base(  # noqa: PLR0917 - the lines of the base in their order
    method: str, authority: str, path: str, query: str, digest: str, params: str
) -> bytes:
    """The bytes that a request's signature covers."""
    return _printable(
        ('"@method"', method.upper()),
        ('"@authority"', _normal(authority)),
        ('"@path"', path or "/"),
        ('"@query"', "?" + query.removeprefix("?")),
        ('"content-digest"', digest),
        ('"@signature-params"', params),
    )


def answer_base(status: int, digest: str, time: str, position: str, request_signature: bytes) -> bytes:
    """The bytes that a response's signature covers."""
    return _printable(
        ('"@status"', str(status)),
        ('"content-digest"', digest),
        ('"gatehouse-time"', time),
        ('"gatehouse-position"', position),
        ('"signature";req;key="gate"', _bytes(request_signature)),
        ('"@signature-params"', _ANSWER_PARAMS),
    )


def _printable(*parts: tuple[str, str]) -> bytes:
    """The signature base. Raises Untrusted for control characters, which could make one line look like two."""
    if not all(value.isascii() and value.isprintable() for _, value in parts):
        raise Untrusted("The message contains characters that a signed message must not contain.")
    return "\n".join(f"{name}: {value}" for name, value in parts).encode()


def _normal(authority: str) -> str:
    """The authority in lower case without a default port of either scheme, because proxies may change the scheme."""
    name = authority.lower()
    return name.removesuffix(":443").removesuffix(":80")


def _digest(body: bytes) -> str:
    return f"sha-256={_bytes(sha256(body).digest())}"


def _bytes(value: bytes) -> str:
    return f":{b64encode(value).decode()}:"


def _claims(headers: Mapping[str, str]) -> re.Match[str]:
    claims = _REQUEST_INPUT.fullmatch(_header(headers, "Signature-Input"))
    if claims is None:
        raise Untrusted("The request is not signed like a gate's request.")
    return claims


def _require_digest(headers: Mapping[str, str], body: bytes) -> str:
    digest = _header(headers, "Content-Digest")
    if digest != _digest(body):
        raise Untrusted("The body is not the one that was signed.")
    return digest


def _signature(headers: Mapping[str, str], label: str) -> bytes:
    text = _header(headers, "Signature")
    try:
        signature = b64decode(text.removeprefix(f"{label}=:").removesuffix(":"), validate=True)
    except (NotBase64, ValueError) as problem:
        raise Untrusted("The signature is damaged.") from problem
    # Base64 has several forms for the same bytes; only the canonical one is accepted.
    if text != f"{label}={_bytes(signature)}":
        raise Untrusted("The signature is damaged.")
    return signature


def _verify(public: Ed25519PublicKey, signature: bytes, base: bytes) -> None:
    try:
        public.verify(signature, base)
    except InvalidSignature as problem:
        raise Untrusted from problem


def _header(headers: Mapping[str, str], name: str) -> str:
    value = headers.get(name, headers.get(name.lower()))
    if value is None:
        raise Untrusted(f"The header {name} is missing: this message is not signed.")
    return value


@dataclass(frozen=True, slots=True)
class CounterWindow:
    """The used counters of one channel: the highest, and the `size` below it as bits."""

    size: int = 64
    highest: int = 0
    seen: int = 0  # bit n: highest - n was used

    def accept(self, counter: int) -> tuple[CounterWindow, bool]:
        """The window after using a counter, and whether it was new; a counter below the window never is."""
        ahead = counter - self.highest
        if ahead > 0:
            seen = (self.seen << min(ahead, self.size) | 1) & (1 << self.size) - 1
            return CounterWindow(self.size, counter, seen), True
        bit = 1 << -ahead if -ahead < self.size else 0
        if counter <= 0 or not bit or self.seen & bit:
            return self, False
        return CounterWindow(self.size, self.highest, self.seen | bit), True
