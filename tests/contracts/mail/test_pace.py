"""Many mails go over one connection."""

from __future__ import annotations

from typing import Any

import pytest

from sync_server.mail import sender
from sync_server.mail.sender import MailSender
from sync_server.mail.smtp import MailServer
from tests.app_server import ApiClient, AppServer
from tests.contracts.mail.test_sending import invite


def test_one_connection_takes_many_mails(
    app_server: AppServer, olga: ApiClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[MailServer] = []
    connected = MailServer.connected

    def counted(server: MailServer) -> Any:
        opened.append(server)
        return connected(server)

    monkeypatch.setattr(MailServer, "connected", counted)
    monkeypatch.setattr(sender, "BATCH_SIZE", 2)
    for number in range(5):
        invite(olga, f"nora.{number}@box-office.example")
    mails = MailSender(app_server.parts)
    assert (mails.run_once(), len(opened)) == (5, 1)
    monkeypatch.setattr(sender, "PER_CONNECTION", 2)
    for number in range(5, 9):
        invite(olga, f"nora.{number}@box-office.example")
    assert (mails.run_once(), mails.run_once(), len(opened)) == (2, 2, 3)
