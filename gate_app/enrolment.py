"""Makes this machine a device: it proves that it read the code, the server that it gave the code out."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import urlsplit

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from gate_app.identity import Identity
from gate_app.sync.client import ANSWER_S, Letter, Reply, Wire
from gate_app.sync.exchange import refusal
from shared import enrolment
from shared.errors import InvalidRequest, Unavailable, Unreadable, Untrusted
from shared.http_signatures import verify_answer
from shared.ids import Entropy
from shared.layouts import normalise
from shared.protocol import ENROL, MEDIA_TYPE, Assignment, EnrolAnswer, EnrolRequest, decode, encode


@dataclass(frozen=True, slots=True)
class Enrolled:
    """What enrolment gave: an identity to keep, and the number that both screens show."""

    identity: Identity
    check: str
    gate: str | None
    events: list[Assignment]


def enrol(url: str, code_text: str, wire: Wire, entropy: Entropy, *, name: str = "", software: str = "") -> Enrolled:
    """Raises InvalidRequest for a mistyped address or code, Unavailable, Untrusted, or the server's refusal."""
    server = server_address(url)
    code = enrolment.parse(normalise(code_text))
    private = Ed25519PrivateKey.from_private_bytes(entropy(32))
    public = private.public_key().public_bytes_raw()
    nonce = entropy(16)
    request = EnrolRequest(
        code_id=code.id,
        device_public=public,
        nonce=nonce,
        proof=enrolment.proof(code, public, nonce),
        name=name,
        software=software,
    )
    reply = _carried(wire, _letter(server, encode(request)), url)
    answer = _answer(reply)
    _require_the_code_s_server(code, answer, public, nonce)
    _require_unaltered(reply, answer, request.proof)
    identity = Identity(
        server=server,
        device_number=answer.device_number,
        device_id=answer.device_id,
        device_name=name,
        organisation=answer.organisation,
        organisation_name=answer.organisation_name,
        device_private=private.private_bytes_raw(),
        server_public=answer.server_public,
    )
    check = enrolment.check_number(public, answer.server_public, nonce)
    return Enrolled(identity, check, answer.gate, answer.events)


def server_address(url: str) -> str:
    """The server's address as it is kept. Raises InvalidRequest with words."""
    try:
        parts = urlsplit(url if "://" in url else f"https://{url}")
        port = parts.port
    except ValueError as why:
        raise InvalidRequest(f"{url} is no address of a server: {why}.") from why
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.query or port == 0:
        raise InvalidRequest(f"{url} is no address of a server. It looks like https://tickets.example.org.")
    return f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}"


def _carried(wire: Wire, letter: Letter, typed: str) -> Reply:
    try:
        return wire.carry(letter)
    except Unavailable as why:
        if "://" in typed or not _is_near(letter.url):
            raise
        raise Unavailable(
            f"Nothing answered at https://{typed}. A server on this machine or in the house's own network often speaks"
            f" plain http: then write http://{typed}."
        ) from why


def _is_near(url: str) -> bool:
    """Whether this is an address that certificates are rarely made for."""
    host = urlsplit(url).hostname or ""
    try:
        return ip_address(host).is_private
    except ValueError:
        return "." not in host or host.endswith((".local", ".lan", ".internal", ".home.arpa"))


def _letter(server: str, body: bytes) -> Letter:
    headers = {"Content-Type": MEDIA_TYPE, "Accept": MEDIA_TYPE}
    return Letter("POST", server + ENROL, headers, body, ANSWER_S)


def _answer(reply: Reply) -> EnrolAnswer:
    try:
        if 200 <= reply.status < 300:
            return decode(EnrolAnswer, reply.body)
        refused = refusal(reply.body)
    except Unreadable as why:
        raise Unreadable(
            f"What answers at this address (HTTP {reply.status}) is no Gatehouse server. Compare the admin page."
        ) from why
    raise refused


def _require_the_code_s_server(code: enrolment.Code, answer: EnrolAnswer, public: bytes, nonce: bytes) -> None:
    expected = enrolment.server_proof(code, public, answer.server_public, nonce)
    known = enrolment.same(enrolment.fingerprint(answer.server_public), code.fingerprint)
    if not known or not enrolment.same(expected, answer.server_proof):
        raise Untrusted(
            "The server that answered is not the one that gave out this code. Nothing was kept; check the address."
        )


def _require_unaltered(reply: Reply, answer: EnrolAnswer, proof: bytes) -> None:
    # The code proves the server's key alone; that key's signature proves the rest of the answer.
    verify_answer(
        reply.status, reply.body, reply.headers, Ed25519PublicKey.from_public_bytes(answer.server_public), proof
    )
