"""Verifies signed requests of devices, and signs answers that are valid for that one request."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache, wraps
from typing import Any, TypeVar, cast

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from flask import Response, g, request

from shared.clock import Clock
from shared.errors import GatehouseError, InvalidRequest, TooLarge, Untrusted
from shared.wire import http_signatures, protocol
from shared.wire.http_signatures import Channel, SignedRequest
from sync_server.devices import counters, queries, rules, service
from sync_server.devices.identity import server_key
from sync_server.devices.queries import EnrolledDevice
from sync_server.devices.rules import DeviceAction
from sync_server.plumbing.parts import parts
from sync_server.plumbing.web import request_id
from sync_server.waiting.handing_over import Answer

M = TypeVar("M", bound=protocol.Message)
View = Callable[..., Response]

MAX_REQUEST_BYTES = 12 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class SigningDevice:
    """The device that signed the request, and the verified request."""

    device: EnrolledDevice
    request: SignedRequest


def signed_by_device(channel: Channel, action: DeviceAction | None) -> Callable[[View], View]:
    """Guard a view: an enrolled device must have signed the request, not sent it before, and be allowed `action`."""

    def guard(view: View) -> View:
        @wraps(view)
        def guarded(*args: Any, **kwargs: Any) -> Response:
            g.signing_device = _verified(channel)
            _use_up_counter(g.signing_device)
            if action is not None:
                rules.require(g.signing_device.device.profile, g.signing_device.device.revoked, action)
            return view(*args, **kwargs)

        return guarded

    return guard


def signing_device() -> SigningDevice:
    """The device that signed the current request."""
    return cast(SigningDevice, g.signing_device)


def message(kind: type[M]) -> M:
    """The request's body, decoded."""
    return protocol.decode(kind, body(), MAX_REQUEST_BYTES)


def body() -> bytes:
    """The request's body; raises TooLarge."""
    if (request.content_length or 0) > MAX_REQUEST_BYTES:
        raise TooLarge
    return request.get_data(cache=True)


@dataclass(frozen=True, slots=True)
class AnswerSigner:
    """Signs answers with the current time, valid for one request; works after the request's thread has gone on."""

    key: Ed25519PrivateKey
    clock: Clock
    request_signature: bytes
    request_id: str

    def sign(self, payload: protocol.Message, *, status: int = 200, position: str = "") -> Answer:
        """The answer with that message."""
        content = protocol.encode(payload)
        headers = http_signatures.sign_answer(
            status,
            content,
            key=self.key,
            server_time=self.clock(),
            position=position,
            request_signature=self.request_signature,
        )
        return Answer(status, [*headers.items(), ("Content-Type", protocol.MEDIA_TYPE)], content)

    def sign_error(self, error: GatehouseError) -> Answer:
        """An error, signed like any other answer."""
        error_body = protocol.ErrorBody(
            code=error.error_code, message=error.message, details=error.details or None, request_id=self.request_id
        )
        answer = self.sign(protocol.ErrorAnswer(error=error_body), status=error.status)
        if not error.retryable:
            return answer
        retry_after = ("Retry-After", str(error.details.get("retry_after", 2)))
        return replace(answer, headers=[*answer.headers, retry_after])


def signer(bound_to: bytes | None = None) -> AnswerSigner:
    """Signs answers to the current request."""
    signature = _signature_of_request() if bound_to is None else bound_to
    return AnswerSigner(server_key().private, parts().clock, signature, request_id())


def answer(payload: protocol.Message, *, position: str = "", bound_to: bytes | None = None) -> Response:
    """The response to this request with that message."""
    return as_response(signer(bound_to).sign(payload, position=position))


def error_answer(error: GatehouseError) -> Response:
    """The response to this request with an error."""
    return as_response(signer(g.get("bound_to")).sign_error(error))


def as_response(answered: Answer) -> Response:
    """A signed answer as the response of a view."""
    return Response(answered.body, answered.status, list(answered.headers))


def _verified(channel: Channel) -> SigningDevice:
    number = http_signatures.device_of(dict(request.headers))
    with parts().database.reading() as session:
        device = queries.by_number(session, number)
    if device is None:
        raise Untrusted(
            "This server does not know the device. Enrol the gate again with a new code.", code="unknown_device"
        )
    signed = http_signatures.verify_request(
        request.method,
        request.host,
        request.path,
        request.query_string.decode("latin-1"),
        body(),
        dict(request.headers),
        _public(device.public_key),
    )
    if signed.channel != channel:
        raise InvalidRequest(f"Requests to this address use the channel {channel!r}.", code="wrong_channel")
    return SigningDevice(device, signed)


@lru_cache(4096)
def _public(key: bytes) -> Ed25519PublicKey:
    return Ed25519PublicKey.from_public_bytes(key)


def _use_up_counter(signer: SigningDevice) -> None:
    with parts().database.writing() as session:
        device, sent = signer.device, signer.request
        counters.take(session, device.organisation_id, device.number, sent.channel, sent.counter)
        service.note_contact(session, device.id, device.organisation_id, parts().clock())


def _signature_of_request() -> bytes:
    """What the answer is bound to; for a refused request the signature it claims, so that its sender accepts it."""
    signer: SigningDevice | None = g.get("signing_device")
    if signer is not None:
        return signer.request.signature
    claimed = request.headers.get("Signature", "").removeprefix("gate=:").removesuffix(":")
    try:
        return b64decode(claimed, validate=True)[:64]
    except ValueError:
        return b""
