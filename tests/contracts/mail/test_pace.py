"""Mails go out as soon as they are posted, many over one connection."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from sync_server.mail import sender
from sync_server.mail.sender import MailSender
from sync_server.mail.smtp import MailServer
from tests.app_server import ApiClient, AppServer
from tests.builders import DAY
from tests.contracts.mail.test_sending import NORA, invite
from tests.services.mail_server import MailBox


def test_a_mail_is_sent_when_it_is_posted(
    app_server: AppServer, olga: ApiClient, mail_box: MailBox, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked, stop = threading.Event(), threading.Event()
    mails = MailSender(app_server.parts)
    once = mails.run_once

    def look() -> int:
        count = once()
        looked.set()
        return count

    monkeypatch.setattr(mails, "run_once", look)
    monkeypatch.setattr(sender, "LOOK_EVERY_S", float(DAY))
    thread = threading.Thread(target=mails.run, args=(stop,))
    thread.start()
    try:
        assert looked.wait(30) and mail_box.arrived == []
        looked.clear()
        invite(olga)
        assert looked.wait(30), "nobody told the sender"
        assert [mail["To"] for mail in mail_box.arrived] == [NORA]
    finally:
        stop.set()
        thread.join(30)


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
