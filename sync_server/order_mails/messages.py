"""The messages to buyers: their words are data, one file for each language, and are filled in here."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any, Final

from jinja2 import StrictUndefined
from jinja2.sandbox import SandboxedEnvironment

from sync_server.mail.letters import DEFAULT_LANGUAGE

_FOLDER: Final = Path(__file__).with_name("words")
LANGUAGES: Final = ("en", "de", "fr", "af", "es")
TEMPLATE: Final = "to_buyer"


class Message(StrEnum):
    """What buyers are told."""

    INVOICE = "invoice"
    TICKETS = "tickets"
    ORDER_CANCELLED = "order_cancelled"
    ORDER_EXPIRED = "order_expired"
    REFUNDED = "refunded"
    CANCELLED = "cancelled"
    POSTPONED = "postponed"
    NEW_DATE = "new_date"
    TAKES_PLACE = "takes_place"
    MOVED = "moved"
    NEW_TIME = "new_time"
    OTHER_SEAT = "other_seat"
    DATE_OFFERED = "date_offered"
    WAITING_OFFER = "waiting_offer"
    WAITING_TWICE = "waiting_twice"


TRANSFER_PICTURE: Final = "transfer-code"
_OF_TRANSFERS: Final = ("due", "due_at", "account_holder", "iban", "bic", "reference")
OPTIONAL: Final = frozenset({Message.WAITING_OFFER, Message.WAITING_TWICE})
"""Not about a ticket that one has: whoever wants no more of them says so with one click."""


@dataclass(frozen=True, slots=True)
class Written:
    """A message as the template of mails takes it."""

    subject: str
    greeting: str
    paragraphs: list[str]
    action: str
    link: str
    facts: list[list[str]]
    sender: str
    unsubscribe: str
    unsubscribe_link: str
    picture: str = ""  # by the name of the file that is shown as it
    picture_words: str = ""
    paragraphs_without: list[str] = field(default_factory=list)  # instead, if a file that it carries could not be made

    def values(self) -> dict[str, Any]:
        """By name."""
        return asdict(self)


@cache
def _words(language: str) -> Mapping[str, Any]:
    return tomllib.loads((_FOLDER / f"{language}.toml").read_text(encoding="utf-8"))


@cache
def _environment() -> SandboxedEnvironment:
    # The template of the mail escapes: what is filled in here is plain text, in the HTML part, too.
    return SandboxedEnvironment(undefined=StrictUndefined, autoescape=False)


def write(message: Message, language: str, values: Mapping[str, str], *, unsubscribe_link: str = "") -> Written:
    """Fill in what is known; the link goes with the message that has an action."""
    words = _words(language if language in LANGUAGES else DEFAULT_LANGUAGE)
    its = words[message.value]

    def filled(text: str) -> str:
        return _environment().from_string(text).render(values)

    facts = [
        [words["event"], values["event"]],
        [words["when"], f"{values['day']}, {values['time']}"],
        [words["where"], ", ".join(part for part in (values["place"], values["address"]) if part)],
        [words["order"], values["number"]],
        [words["total"], values["total"]],
    ]
    if message is Message.INVOICE:
        facts += [[words[name], values[name]] for name in _OF_TRANSFERS]
    action = its.get("action", "")
    return Written(
        subject=filled(its["subject"]),
        greeting=filled(words["greeting" if values["name"] else "greeting_nobody"]),
        paragraphs=[filled(text) for text in its["text"]],
        action=action,
        link=values["link"] if action else "",
        facts=[[label, value] for label, value in facts if value],
        sender=filled(words["sender"]),
        unsubscribe=words["unsubscribe"] if unsubscribe_link else "",
        unsubscribe_link=unsubscribe_link,
        picture=TRANSFER_PICTURE if message is Message.INVOICE else "",
        picture_words=words["transfer_code"],
        paragraphs_without=[filled(text) for text in its.get("without", ())],
    )
