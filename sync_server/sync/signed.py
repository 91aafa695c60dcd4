"""Who signed this request, and answers that are good for this one request only: messages in, messages out."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, wraps
from typing import Any, TypeVar, cast

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from flask import Response, g, request

from shared import http_signatures, protocol
from shared.errors import GatehouseError, InvalidRequest, TooLarge, Untrusted
from shared.http_signatures import Channel, SignedRequest
from sync_server.devices import counters, queries, rules, service
from sync_server.devices.identity import server_key
from sync_server.devices.queries import KnownDevice
from sync_server.devices.rules import Act
from sync_server.plumbing.parts import parts
from sync_server.plumbing.web import request_id

M = TypeVar("M", bound=protocol.Message)
View = Callable[..., Response]

MAX_REQUEST_BYTES = 12 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Asker:
    """The device whose signature holds."""

    device: KnownDevice
    request: SignedRequest


def signed_by_device(channel: Channel, act: Act | None) -> Callable[[View], View]:
    """Let a view run only for a request that an enrolled device signed, sent once, and may make; None: any may."""

    def guard(view: View) -> View:
        @wraps(view)
        def guarded(*args: Any, **kwargs: Any) -> Response:
            g.asker = _known(channel)
            _use_up_counter(g.asker)
            if act is not None:
                rules.require(g.asker.device.profile, g.asker.device.revoked, act)
            return view(*args, **kwargs)

        return guarded

    return guard


def asker() -> Asker:
    """The device that is asking."""
    return cast(Asker, g.asker)


def message(kind: type[M]) -> M:
    """The request's message."""
    return protocol.decode(kind, body(), MAX_REQUEST_BYTES)


def body() -> bytes:
    """The request's bytes, if they are not too many."""
    if (request.content_length or 0) > MAX_REQUEST_BYTES:
        raise TooLarge
    return request.get_data(cache=True)


def answer(told: protocol.Message, *, status: int = 200, position: str = "", bound_to: bytes | None = None) -> Response:
    """A message as an answer to this request, signed with the time of now."""
    content = protocol.encode(told)
    headers = http_signatures.sign_answer(
        status,
        content,
        key=server_key().private,
        server_time=parts().clock(),
        position=position,
        request_signature=_signature_of_request() if bound_to is None else bound_to,
    )
    return Response(content, status, headers, content_type=protocol.MEDIA_TYPE)


def error_answer(error: GatehouseError) -> Response:
    """A refusal in the one shape of errors, signed like any other answer."""
    shape = protocol.ErrorBody(
        code=error.error_code, message=error.message, details=error.details or None, request_id=request_id()
    )
    told = answer(protocol.ErrorAnswer(error=shape), status=error.status, bound_to=g.get("bound_to"))
    if error.retryable:
        told.headers["Retry-After"] = str(error.details.get("retry_after", 2))
    return told


def _known(channel: Channel) -> Asker:
    number = http_signatures.device_of(dict(request.headers))
    with parts().database.reading() as session:
        device = queries.by_number(session, number)
    if device is None:
        raise Untrusted(
            "This server knows no such device. Enrol the gate again with a new code.", code="unknown_device"
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
        raise InvalidRequest(f"This address is asked on the channel {channel!r}.", code="wrong_channel")
    return Asker(device, signed)


@lru_cache(4096)
def _public(key: bytes) -> Ed25519PublicKey:
    return Ed25519PublicKey.from_public_bytes(key)


def _use_up_counter(who: Asker) -> None:
    with parts().database.writing() as session:
        counters.take(session, who.device.number, who.request.channel, who.request.counter)
        service.seen(session, who.device.id, who.device.organisation_id, parts().clock())


def _signature_of_request() -> bytes:
    """What the answer is bound to; a refused request's own claim, so that its sender may believe the refusal."""
    known: Asker | None = g.get("asker")
    if known is not None:
        return known.request.signature
    claimed = request.headers.get("Signature", "").removeprefix("gate=:").removesuffix(":")
    try:
        return b64decode(claimed, validate=True)[:64]
    except ValueError:
        return b""
