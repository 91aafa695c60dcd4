"""Connects mails to buyers with the facts that they tell of, and with the files that they carry."""

from __future__ import annotations

from sync_server.mail.ports import MailPorts
from sync_server.order_mails.attachments import makers
from sync_server.order_mails.news import BuyerNews
from sync_server.plumbing.parts import Parts


def wire(parts: Parts) -> None:
    parts.database.ports.connect(MailPorts(makers(parts)))
    news = BuyerNews(parts)
    parts.subscribers.append(news.subscriber())
    parts.jobs.extend([news.job(), news.forgetting()])
