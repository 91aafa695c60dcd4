"""What mail asks of higher packages."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from sqlalchemy.orm import Session

from sync_server.mail.letters import File


@dataclass(frozen=True, slots=True)
class MailPorts:
    """Answered by the packages whose mails carry files."""

    attachments: Mapping[str, Callable[[Session, str, str], File | None]]
    """By kind: makes the file of an organisation's row, by its id; None where there is none any more."""
