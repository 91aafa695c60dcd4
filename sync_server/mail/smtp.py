"""Speaks SMTP, over TLS unless the mail server is on this machine or the settings say otherwise."""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from email.message import EmailMessage
from email.utils import parseaddr
from pathlib import Path
from smtplib import (
    SMTP,
    SMTP_SSL,
    SMTPException,
    SMTPNotSupportedError,
    SMTPRecipientsRefused,
    SMTPResponseException,
    SMTPSenderRefused,
)
from typing import Final
from urllib.parse import unquote, urlsplit

from sync_server.config import Config
from sync_server.mail.rules import Outcome, State, outcome

TIMEOUT_S: Final = 30.0
_LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})


class Unreachable(Exception):
    """The mail server cannot be used; the text is for operators, and holds no address and no password."""

    def __init__(self, code: str, problem: str) -> None:
        super().__init__(problem)
        self.code = code


class MailServer:
    """The mail server of the settings."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._url = urlsplit(config.mail_url or "")
        self.sender = config.mail_sender
        self.host = parseaddr(self.sender)[1].rpartition("@")[2]

    @contextmanager
    def connected(self) -> Iterator[SMTP]:
        """A connection that may send; Unreachable with what to do."""
        try:
            connection = self._open()
        except SMTPResponseException as problem:
            raise Unreachable(str(problem.smtp_code), _answer(problem.smtp_code)) from None
        except ssl.SSLError as problem:
            raise Unreachable(
                "tls", f"Its certificate is not trusted ({problem.reason}). Name its authority in mail_ca_file."
            ) from None
        except (OSError, SMTPException) as problem:
            raise Unreachable(
                "away",
                f"It does not answer ({type(problem).__name__}). Is GATEHOUSE_MAIL_URL right, and is it running?",
            ) from None
        try:
            yield connection
        finally:
            with suppress(SMTPException, OSError):
                connection.quit()

    def _open(self) -> SMTP:
        host, user = self._url.hostname or "localhost", unquote(self._url.username or "")
        if self._url.scheme == "smtps":
            connection: SMTP = SMTP_SSL(host, self._url.port or 465, timeout=TIMEOUT_S, context=self._tls())
        else:
            connection = SMTP(host, self._url.port or (587 if user else 25), timeout=TIMEOUT_S)
            wanted = self._config.mail_tls == "starttls" or (self._config.mail_tls == "auto" and host not in _LOOPBACK)
            if wanted:
                self._start_tls(connection)
        if user:
            connection.login(user, self._password())
        return connection

    def _start_tls(self, connection: SMTP) -> None:
        connection.ehlo_or_helo_if_needed()
        if not connection.has_extn("starttls"):
            connection.close()
            raise Unreachable(
                "no_tls", "It offers no encryption (STARTTLS). Use smtps://, or allow plain text with mail_tls = none."
            )
        connection.starttls(context=self._tls())

    def _tls(self) -> ssl.SSLContext:
        authority = self._config.mail_ca_file
        return ssl.create_default_context(cafile=authority and str(authority))

    def _password(self) -> str:
        file: Path | None = self._config.mail_password_file
        return unquote(self._url.password or "") if file is None else file.read_text(encoding="utf-8").strip()

    def send(self, connection: SMTP, message: EmailMessage, to: str) -> Outcome:
        """Hand one mail over. Problems of the connection are raised: they concern every mail."""
        try:
            connection.send_message(message, parseaddr(self.sender)[1], [to])
        except SMTPRecipientsRefused as refused:
            code, words = next(iter(refused.recipients.values()))
            return outcome(code, words.decode("ascii", "replace"))
        except SMTPSenderRefused as refused:
            # Our own address is refused: nothing is wrong with this mail.
            return Outcome(State.WAITING, f"sender {refused.smtp_code}")
        except SMTPNotSupportedError:
            return Outcome(State.FAILED, "smtputf8")
        except SMTPResponseException as refused:
            said = refused.smtp_error
            return outcome(refused.smtp_code, said if isinstance(said, str) else said.decode("ascii", "replace"))
        return Outcome(State.SENT)


def _answer(code: int) -> str:
    if code in {530, 534, 535}:
        return f"It refuses user name or password (status {code})."
    return f"It refuses the connection (status {code})."
