"""A mail server for tests: it really speaks SMTP, keeps what it takes, and refuses whom it is told to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default
from pathlib import Path
from typing import Any

import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult, LoginPassword

from scripts.processes.ports import free_port
from tests.services.certificates import own_certificate

__all__ = ["MailBox", "mail_box"]

USER, WORD = "gatehouse", "let the letters out"


@dataclass
class MailBox:
    """What arrived, and how the server answers."""

    port: int
    arrived: list[EmailMessage] = field(default_factory=list)
    refusals: dict[str, str] = field(default_factory=dict)  # by recipient: what RCPT TO gets
    _controller: Controller | None = None

    @property
    def url(self) -> str:
        """Where it listens, without encryption."""
        return f"smtp://127.0.0.1:{self.port}"

    async def handle_RCPT(self, _server: Any, _session: Any, envelope: Any, address: str, _options: Any) -> str:  # noqa: N802
        """aiosmtpd calls it for each recipient."""
        if address in self.refusals:
            return self.refusals[address]
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, _server: Any, _session: Any, envelope: Any) -> str:  # noqa: N802
        """aiosmtpd calls it for each mail."""
        self.arrived.append(message_from_bytes(envelope.content, policy=default))
        return "250 taken"

    def start(self, **options: Any) -> None:
        """Listen; `options` are the controller's."""
        self._controller = Controller(self, hostname="127.0.0.1", port=self.port, **options)
        self._controller.start()

    def start_encrypted(self, folder: Path, *, at_once: bool) -> Path:
        """Listen with TLS, from the start or after STARTTLS, and ask for USER and WORD; its certificate."""
        certificate, context = own_certificate(folder, "mail")
        options: dict[str, Any] = {"authenticator": _authenticate, "auth_required": True}
        if at_once:
            self.start(ssl_context=context, auth_require_tls=False, **options)
        else:
            self.start(tls_context=context, require_starttls=True, **options)
        return certificate

    def stop(self) -> None:
        """Listen no longer; what arrived stays."""
        if self._controller is not None:
            self._controller.stop()
            self._controller = None

    def link(self) -> str:
        """The link in the plain text of the last mail."""
        body = self.arrived[-1].get_body(("plain",))
        assert body is not None
        return next(word for word in str(body.get_content()).split() if "://" in word)


def _authenticate(_server: Any, _session: Any, _envelope: Any, _mechanism: str, given: Any) -> AuthResult:
    known = isinstance(given, LoginPassword) and (given.login, given.password) == (USER.encode(), WORD.encode())
    return AuthResult(success=known, handled=False)


@pytest.fixture
def mail_box() -> Iterator[MailBox]:
    """A mail server that takes everything; stop it, start it otherwise, or name refusals."""
    box = MailBox(free_port())
    box.start()
    yield box
    box.stop()
