"""Enrols this machine as a device: each side proves to the other that it knows the enrolment code."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from ipaddress import ip_address
from urllib.parse import urlsplit

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from gate_app.installation.identity import Identity
from gate_app.sync.client import RESPONSE_TIMEOUT_S, HttpRequest, HttpResponse, Transport
from gate_app.sync.exchange import refusal
from shared.errors import InvalidRequest, Unavailable, Unreadable, Untrusted
from shared.ids import Entropy
from shared.layouts import normalise
from shared.trace import HEADER, begin
from shared.wire import enrolment
from shared.wire.http_signatures import verify_answer
from shared.wire.protocol import ENROL, MEDIA_TYPE, Assignment, EnrolAnswer, EnrolRequest, decode, encode


@dataclass(frozen=True, slots=True)
class Enrolled:
    """The result of enrolment: an identity to store, and the check number that both screens show."""

    identity: Identity
    check: str
    gate: str | None
    events: list[Assignment]


def enrol(
    url: str, code_text: str, transport: Transport, entropy: Entropy, *, name: str = "", software: str = ""
) -> Enrolled:
    """Enrols with the server. Raises InvalidRequest for a bad address or code, Unavailable, Untrusted, or Refused."""
    server = server_address(url)
    code = parse_code(code_text)
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
    response = _send(transport, _build_request(server, encode(request)), url)
    answer = _decode_answer(response)
    _require_issuing_server(code, answer, public, nonce)
    _require_unaltered(response, answer, request.proof)
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


def parse_code(text: str) -> enrolment.Code:
    """The enrolment code that was typed or scanned. Raises InvalidRequest."""
    return enrolment.parse(normalise(text))


def server_address(url: str) -> str:
    """The server's address in the form it is stored in. Raises InvalidRequest."""
    try:
        parts = urlsplit(url if "://" in url else f"https://{url}")
        port = parts.port
    except ValueError as why:
        raise InvalidRequest(f"{url} is not a server address: {why}.") from why
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.query or port == 0:
        raise InvalidRequest(f"{url} is not a server address. It should look like https://tickets.example.org.")
    return f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}"


def _send(transport: Transport, request: HttpRequest, typed: str) -> HttpResponse:
    try:
        return transport.send(request)
    except Unavailable as why:
        if "://" in typed or not _is_local(request.url):
            raise
        raise Unavailable(
            f"Nothing answered at https://{typed}. A server on this machine or on the venue's own network often uses"
            f" plain HTTP: then enter http://{typed}."
        ) from why


def _is_local(url: str) -> bool:
    """Whether this is a local address, for which there is rarely a certificate."""
    host = urlsplit(url).hostname or ""
    try:
        return ip_address(host).is_private
    except ValueError:
        return "." not in host or host.endswith((".local", ".lan", ".internal", ".home.arpa"))


def _build_request(server: str, body: bytes) -> HttpRequest:
    trace = begin(sha256(body).digest())  # each body has a random number
    headers = {"Content-Type": MEDIA_TYPE, "Accept": MEDIA_TYPE, HEADER: trace.header()}
    return HttpRequest("POST", server + ENROL, headers, body, RESPONSE_TIMEOUT_S)


def _decode_answer(response: HttpResponse) -> EnrolAnswer:
    try:
        if 200 <= response.status < 300:
            return decode(EnrolAnswer, response.body)
        refused = refusal(response.body)
    except Unreadable as why:
        raise Unreadable(
            f"What answers at this address (HTTP {response.status}) is not a Gatehouse server. Check the address."
        ) from why
    raise refused


def _require_issuing_server(code: enrolment.Code, answer: EnrolAnswer, public: bytes, nonce: bytes) -> None:
    expected = enrolment.server_proof(code, public, answer.server_public, nonce)
    known = enrolment.same(enrolment.fingerprint(answer.server_public), code.fingerprint)
    if not known or not enrolment.same(expected, answer.server_proof):
        raise Untrusted("The server that answered did not issue this code. Nothing was stored; check the address.")


def _require_unaltered(response: HttpResponse, answer: EnrolAnswer, proof: bytes) -> None:
    # The code only proves the server's key; the signature by that key proves the rest of the answer.
    verify_answer(
        response.status,
        response.body,
        response.headers,
        Ed25519PublicKey.from_public_bytes(answer.server_public),
        proof,
    )
