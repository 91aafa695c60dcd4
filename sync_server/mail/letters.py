"""Mails from templates: one file each for plain text, whose first line is the subject, and for HTML."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime
from functools import cache
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape

from shared.clock import Millis

_FOLDER: Final = Path(__file__).with_name("templates")
DEFAULT_LANGUAGE: Final = "en"


@dataclass(frozen=True, slots=True)
class Letter:
    """What is to be said to whom."""

    template: str
    to: str
    values: Mapping[str, Any]
    language: str = DEFAULT_LANGUAGE


@cache
def languages() -> frozenset[str]:
    """The languages that every template exists in."""
    found = {tuple(file.name.split(".")[:2]) for file in _FOLDER.glob("*.txt")}
    names = {name for name, _ in found}
    return frozenset(language for _, language in found if all((name, language) in found for name in names))


@cache
def _templates() -> Environment:
    return Environment(
        loader=FileSystemLoader(_FOLDER), autoescape=select_autoescape(["html"]), undefined=StrictUndefined
    )


def message(letter: Letter, *, sender: str, id: str, now: Millis) -> EmailMessage:
    """The mail, as it goes over the wire."""
    language = letter.language if letter.language in languages() else DEFAULT_LANGUAGE
    subject, _, text = _rendered(f"{letter.template}.{language}.txt", letter).partition("\n")
    mail = EmailMessage(policy=SMTP)
    mail["Subject"] = " ".join(subject.split())
    mail["From"], mail["To"] = sender, letter.to
    mail["Date"] = format_datetime(datetime.fromtimestamp(now / 1000, UTC))
    mail["Message-ID"] = f"<{id}>"
    mail["Auto-Submitted"] = "auto-generated"  # no answering machine answers
    mail.set_content(text.lstrip("\n"))
    mail.add_alternative(_rendered(f"{letter.template}.{language}.html", letter), subtype="html")
    return mail


def _rendered(file: str, letter: Letter) -> str:
    return _templates().get_template(file).render(letter.values)
