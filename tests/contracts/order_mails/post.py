"""Reads the mails of a test as their readers do."""

from __future__ import annotations

from email.message import EmailMessage
from typing import Any

from sync_server.workers import Worker
from tests.app_server import AppServer
from tests.services.mail_server import MailBox


def delivered(app_server: AppServer, mail_box: MailBox, rounds: int = 3) -> list[EmailMessage]:
    """What has arrived once the worker has nothing left to do; the box is empty afterwards."""
    worker = Worker(app_server.parts)  # one that goes on: each job is run when it is due, not in every round
    for _ in range(rounds):
        worker.run_once()
        app_server.advance(3_000)
    arrived, mail_box.arrived[:] = list(mail_box.arrived), []
    return arrived


def text_of(mail: EmailMessage, kind: str = "plain") -> str:
    """What it says, in one line, with ordinary spaces."""
    body = mail.get_body((kind,))
    assert body is not None
    return " ".join(str(body.get_content()).split())


def files_of(mail: EmailMessage) -> dict[str, bytes]:
    """What it carries, by name."""
    found: dict[str, Any] = {part.get_filename() or "": part.get_content() for part in mail.iter_attachments()}
    return {name: content.encode() if isinstance(content, str) else content for name, content in found.items()}


def link_in(mail: EmailMessage) -> str:
    """The first link."""
    return next(word for word in text_of(mail).split() if word.startswith("https://"))
