"""The browsers that were paired with this gate by a signed link that works once: screens of staff, and readers."""

from __future__ import annotations

import hmac
from collections.abc import Callable
from dataclasses import astuple, dataclass, replace
from enum import StrEnum

from gate_app.storage.database import Database
from gate_app.words import say
from shared.errors import Forbidden
from shared.ids import Entropy

LINK_MS = 10 * 60_000
"""How long a link waits to be opened."""
SCREEN_MS = 14 * 3_600_000
"""How long a paired screen stays paired: the longest shift."""
READER_MS = 8 * 3_600_000
"""How long a telephone stays a reader: one evening."""
LONGEST_NAME = 20
NAMES_MS = 60 * 60_000
"""How long a screen shows names after a supervisor's PIN."""
_KEY = "screen_key"
_ALL = "SELECT id, role, paired_at, until, names_until, name, direction FROM screens"
_KEEP = "UPDATE screens SET until = ?, names_until = ? WHERE id = ?"
# One statement: of two browsers that show one link only one is the first, and no two readers have one number.
_CLAIM = """
    INSERT INTO screens (id, role, paired_at, until, names_until, name, direction)
    VALUES (?1, ?2, ?3, ?4, ?5, CASE ?2 WHEN 'reader'
        THEN trim('phone ' || (SELECT 1 + count(*) FROM screens WHERE role = 'reader') || ' ' || ?6) ELSE '' END, ?7)
    ON CONFLICT (id) DO NOTHING RETURNING name
"""


class Role(StrEnum):
    """What a screen is for. A kiosk is not paired: guests see it."""

    KIOSK = "kiosk"
    STEWARD = "steward"
    SUPERVISOR = "supervisor"
    READER = "reader"
    """A telephone whose camera reads tickets."""


@dataclass(frozen=True, slots=True)
class Screen:
    """One paired browser."""

    id: str
    role: Role
    paired_at: int
    until: int
    names_until: int = 0
    name: str = ""
    """Of a reader, in the journal too; no other reader was ever called so."""
    direction: str = ""
    """Of a reader, where it is not that of the gate."""


FOREVER = 2**62
OWNER = Screen("command line", Role.SUPERVISOR, 0, FOREVER, FOREVER)
"""Whoever may read the token may read the gate's whole folder."""


class Screens:
    """All paired screens. They survive a restart of the gate, and end when a supervisor removes them."""

    def __init__(self, database: Database, entropy: Entropy, now: Callable[[], int]) -> None:
        """`now` is the gate's time in ms."""
        self._database = database
        self._entropy = entropy
        self._now = now
        self._key = self._kept_key()
        rows = database.connection.execute(_ALL).fetchall()
        self._known = {row[0]: Screen(row[0], Role(row[1]), *row[2:]) for row in rows}

    def link(self, role: Role, name: str = "", direction: str = "") -> str:
        """A token that makes the first browser which shows it a screen of this role, within ten minutes."""
        told = f".{direction}.{name[:LONGEST_NAME].encode(errors='replace').hex()}" if role is Role.READER else ""
        body = f"{self._entropy(9).hex()}.{role}.{self._now() + LINK_MS}{told}"
        return f"{body}.{self._signature('link', body)}"

    def pair(self, token: str) -> str:
        """Redeems a link and returns what the browser keeps. Raises Forbidden for one that is old, used or not ours."""
        body, _, signature = token.rpartition(".")
        if not same(signature, self._signature("link", body)):
            raise Forbidden(say("pairing.not_ours"), code="bad_link")
        number, role, until, *told = body.split(".")
        if self._now() >= int(until):
            raise Forbidden(say("pairing.too_late"), code="link_expired")
        screen = self._reader(number, *told) if told else self._screen(number, Role(role))
        with self._database.writing() as connection:
            first = connection.execute(_CLAIM, astuple(screen)).fetchone()
        if first is None:
            raise Forbidden(say("pairing.used"), code="link_used")
        self._known[number] = replace(screen, name=first[0])
        return f"{number}.{self._signature('screen', number)}"

    def of(self, kept: str) -> Screen | None:
        """The screen that a browser is, by what it keeps; None if it is none, or no longer."""
        number, _, signature = kept.partition(".")
        screen = self._known.get(number)
        signed = same(signature, self._signature("screen", number))
        return screen if screen is not None and signed and self._now() < screen.until else None

    def paired(self) -> list[Screen]:
        """The screens that are paired now, newest first."""
        alive = [screen for screen in list(self._known.values()) if self._now() < screen.until]
        return sorted(alive, key=lambda screen: -screen.paired_at)

    def remove(self, number: str) -> None:
        """Ends a screen at once, such as that of a lost telephone. Its link cannot be used again either."""
        if (screen := self._known.get(number)) is not None:
            self._keep(replace(screen, until=0, names_until=0))

    def show_names(self, number: str) -> None:
        """Lets this screen show names for an hour."""
        if (screen := self._known.get(number)) is not None:
            self._keep(replace(screen, names_until=self._now() + NAMES_MS))

    def shows_names(self, screen: Screen | None) -> bool:
        """Whether a supervisor has let this screen show names a short while ago."""
        return screen is not None and self._now() < min(screen.names_until, screen.until)

    def _screen(self, number: str, role: Role) -> Screen:
        return Screen(number, role, self._now(), self._now() + SCREEN_MS)

    def _reader(self, number: str, direction: str, name: str) -> Screen:
        """Readers are numbered for good, when they are kept: what one of them read is never taken for another's."""
        called = bytes.fromhex(name).decode()
        return Screen(number, Role.READER, self._now(), self._now() + READER_MS, name=called, direction=direction)

    def _keep(self, screen: Screen) -> None:
        self._known[screen.id] = screen
        with self._database.writing() as connection:
            connection.execute(_KEEP, (screen.until, screen.names_until, screen.id))

    def _kept_key(self) -> bytes:
        kept = self._database.get(_KEY)
        if isinstance(kept, bytes):
            return kept
        fresh = self._entropy(32)
        if not self._database.cannot_write:
            self._database.put(_KEY, fresh)
        return fresh

    def _signature(self, purpose: str, body: str) -> str:
        return hmac.new(self._key, f"{purpose}.{body}".encode(errors="replace"), "sha256").hexdigest()


def same(shown: str, right: str) -> bool:
    """Whether two secrets are the same, in a time that tells nothing."""
    return hmac.compare_digest(shown.encode(errors="replace"), right.encode())
