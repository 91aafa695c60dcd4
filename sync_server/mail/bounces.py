"""Reads what mail servers send back: delivery status notifications (RFC 3464)."""

from __future__ import annotations

from dataclasses import dataclass
from email import message_from_binary_file
from email.message import Message
from email.policy import compat32
from typing import IO


@dataclass(frozen=True, slots=True)
class Bounce:
    """A mail that came back for good."""

    message_id: str
    status: str


def read(file: IO[bytes]) -> Bounce | None:
    """The bounce in a notification; None if it is none, or tells of a delay only."""
    notification: Message = message_from_binary_file(file, policy=compat32)
    parts = list(notification.walk())
    failed = next((part for part in parts if str(part.get("Action", "")).strip().casefold() == "failed"), None)
    returned = next((part for part in parts if part is not notification and part.get("Message-ID")), None)
    headers = next((part for part in parts if part.get_content_type() == "text/rfc822-headers"), None)
    message_id = str(returned["Message-ID"]) if returned is not None else _in_text(headers)
    if failed is None or not message_id:
        return None
    return Bounce(message_id.strip(), str(failed.get("Status", "")).strip()[:20])


def _in_text(headers: Message | None) -> str:
    text = "" if headers is None else str(headers.get_payload())
    lines = (line.partition(":") for line in text.splitlines())
    return next((value.strip() for name, _, value in lines if name.casefold() == "message-id"), "")
