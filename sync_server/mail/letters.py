"""Mails from templates: one file each for plain text, whose first line is the subject, and for HTML."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape

from shared.clock import Millis

_FOLDER: Final = Path(__file__).with_name("templates")
DEFAULT_LANGUAGE: Final = "en"


class Attachment(NamedTuple):
    """What a mail carries: made when it is sent, of what its subject is then, and never stored."""

    kind: str
    id: str


class File(NamedTuple):
    """An attachment as it is sent."""

    name: str
    content_type: str
    content: bytes
    shown_as: str = ""  # a picture within the HTML part, by the name that the template gives it


@dataclass(frozen=True, slots=True)
class Letter:
    """What is to be said to whom."""

    template: str
    to: str
    values: Mapping[str, Any]
    language: str = DEFAULT_LANGUAGE
    attachments: tuple[Attachment, ...] = ()
    unsubscribe: str = ""  # an address that takes a POST (RFC 8058), in mails that one may do without


@cache
def _written() -> frozenset[tuple[str, str]]:
    """Templates and languages, but those whose words come with the letter."""
    return frozenset(
        (name, language) for name, language, _ in (file.name.split(".") for file in _FOLDER.glob("*.*.txt"))
    )


@cache
def languages() -> frozenset[str]:
    """The languages that every template exists in: an organisation chooses one of them."""
    names = {name for name, _ in _written()}
    return frozenset(language for _, language in _written() if all((name, language) in _written() for name in names))


@cache
def _templates() -> Environment:
    return Environment(
        loader=FileSystemLoader(_FOLDER), autoescape=select_autoescape(["html"]), undefined=StrictUndefined
    )


def message(letter: Letter, *, sender: str, id: str, now: Millis, files: Sequence[File] = ()) -> EmailMessage:
    """The mail, as it goes over the wire."""
    pictures = [file for file in files if file.shown_as]
    complete = len(files) == len(letter.attachments)
    subject, text, html = rendered(letter, {file.shown_as for file in pictures}, complete=complete)
    mail = EmailMessage(policy=SMTP)
    mail["Subject"] = subject
    mail["From"], mail["To"] = sender, letter.to
    mail["Date"] = format_datetime(datetime.fromtimestamp(now / 1000, UTC))
    mail["Message-ID"] = f"<{id}>"
    mail["Auto-Submitted"] = "auto-generated"  # no answering machine answers
    if letter.unsubscribe:
        mail["List-Unsubscribe"] = f"<{letter.unsubscribe}>"
        mail["List-Unsubscribe-Post"] = "List-Unsubscribe=One-Click"
    mail.set_content(text)
    mail.add_alternative(html, subtype="html")
    body = mail.get_body(("html",))
    for file in files:
        main, _, kind = file.content_type.partition("/")
        if file.shown_as and isinstance(body, EmailMessage):
            body.add_related(file.content, main, kind, cid=f"<{file.shown_as}>", filename=file.name)
        else:
            mail.add_attachment(file.content, maintype=main, subtype=kind, filename=file.name)
    return mail


class Rendered(NamedTuple):
    """What a mail says."""

    subject: str
    text: str
    html: str


def rendered(letter: Letter, pictures: Collection[str] = (), *, complete: bool = True) -> Rendered:
    """Subject, plain text and HTML of a letter, with those of its pictures that could be made.

    `complete`: whether all that it carries could be made; else it must not speak of it.
    """
    more = {"pictures": pictures, "complete": complete}
    subject, _, text = _filled(letter, "txt", more).partition("\n")
    return Rendered(_in_one_line(subject), text.lstrip("\n"), _filled(letter, "html", more))


def _in_one_line(words: str) -> str:
    """With single spaces; those that never break a line stay, as French wants them."""
    return re.sub(r"[^\S\xa0\u202f]+", " ", words).strip()


def _filled(letter: Letter, kind: str, more: Mapping[str, Any]) -> str:
    language = letter.language if (letter.template, letter.language) in _written() else DEFAULT_LANGUAGE
    own = f"{letter.template}.{kind}"  # of a template whose words come with the letter
    file = own if (_FOLDER / own).is_file() else f"{letter.template}.{language}.{kind}"
    return _templates().get_template(file).render({"language": letter.language, **more, **letter.values})
