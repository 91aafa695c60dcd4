"""Which values of a line are personal, its canonical bytes, and how seals chain lines together: pure."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from shared.errors import Forbidden
from shared.ids import NIL_ID
from sync_server.plumbing.requests.principals import Actor

PERSONAL: Final = frozenset({"email", "phone", "holder_name", "holder_email", "customer_name", "ip", "user_agent"})
NAMED_PEOPLE: Final = frozenset({"user", "member", "supervisor", "customer", "ticket", "order"})
"""Kinds of subjects whose `name` is a person's; a venue's, for example, is not."""
HIDDEN: Final = "[personal]"
"""Replaces a personal value in the line; the value itself is stored separately."""
ERASED: Final = "[erased]"

INITIAL_SEAL: Final = bytes(32)
_LINE: Final = b"gatehouse:audit-line:1\x00"
_PERSON: Final = b"gatehouse:audit-person:1\x00"
_HEAD: Final = b"gatehouse:audit-head:1\x00"

Values = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Line:
    """What a seal covers."""

    id: str
    organisation_id: str | None
    at: int
    actor_kind: str
    actor_id: str
    action: str
    subject_kind: str
    subject_id: str
    before: Any
    after: Any
    reason: str
    approval: str
    request_id: str | None
    actor_digest: bytes | None
    subject_digest: bytes | None

    def as_dict(self) -> dict[str, Any]:
        """The line as JSON values, from which the seal is computed."""
        plain = {name: getattr(self, name) for name in Line.__slots__}
        for name in ("actor_digest", "subject_digest"):
            plain[name] = plain[name].hex() if plain[name] is not None else None
        return plain


def require_reason(actor: Actor, reason: str, *, own_login: bool) -> None:
    """Raise Forbidden where platform staff change an organisation without a reason, or without its approval."""
    if actor.kind != "platform" or own_login:
        return
    if actor.platform_role == "tenant_manager" and not actor.approval:
        raise Forbidden(
            "Name the tenant's approval in `approval`, or in the header X-Tenant-Approval (letters outside ASCII "
            "percent-encoded).",
            code="tenant_approval_required",
        )
    if not reason:
        raise Forbidden(
            "You act on this organisation from outside: give a reason, in `reason` or in the header X-Reason. "
            "It is recorded in the organisation's audit log.",
            code="reason_required",
        )


INSTALLATION: Final = NIL_ID
"""The organisation of lines that belong to no single one: logins, platform staff. They have a chain of their own."""


_CANONICAL = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=True)
"""`json.dumps` would make one for each value."""


def canonical(value: Any) -> str:
    """Canonical JSON, as it is hashed: keys sorted, no whitespace, ASCII only."""
    return _CANONICAL.encode(value)


def digest(salt: bytes, content: str) -> bytes:
    """The hash of personal values that a line holds; without the salt it reveals nothing about them."""
    return hashlib.sha256(_PERSON + salt + content.encode(errors="surrogatepass")).digest()


def seal(previous: bytes, seq: int, line: Mapping[str, Any]) -> bytes:
    """The seal of a line, as a dict, at this position in the chain; it covers every seal before it."""
    return hashlib.sha256(_LINE + previous + seq.to_bytes(8, "big") + canonical(line).encode()).digest()


def head_message(chain: str, seq: int, head: bytes, at: int) -> bytes:
    """What the server's key signs: how far this chain was sealed at that time."""
    return (
        _HEAD + chain.encode(errors="surrogatepass") + b"\x00" + seq.to_bytes(8, "big") + head + at.to_bytes(8, "big")
    )


_PLAIN: Final = (str, int, type(None))
"""What holds no other values."""
_NAMES: Final = PERSONAL | {"name"}
_PLAIN_TYPES: Final = frozenset({*_PLAIN, bool})


def split_personal(values: Values | None, subject_kind: str) -> tuple[dict[str, Any] | None, dict[str, Any]]:
    """The values with personal ones hidden, and the personal values."""
    if values is None:
        return None, {}
    if _NAMES.isdisjoint(values) and _PLAIN_TYPES.issuperset(map(type, values.values())):
        return {**values}, {}  # most lines are like this
    people = subject_kind in NAMED_PEOPLE
    personal = {name: value for name, value in values.items() if _is_personal(name, value, people=people)}
    if not personal:
        return {**values}, personal
    return {name: HIDDEN if name in personal else value for name, value in values.items()}, personal


def _is_personal(name: str, value: Any, *, people: bool) -> bool:
    if value is None:
        return False
    return name in PERSONAL or (people and name == "name") or _holds_personal(value, people=people)


def _holds_personal(value: Any, *, people: bool) -> bool:
    if isinstance(value, _PLAIN):  # nearly all values are; the checks below cost more
        return False
    if isinstance(value, Mapping):
        return any(_is_personal(str(name), inner, people=people) for name, inner in value.items())
    return isinstance(value, list | tuple) and any(_holds_personal(inner, people=people) for inner in value)


def merge_personal(shown: Any, personal: Values | None) -> Any:
    """The values as they were, or with `[erased]` where personal ones were erased."""
    if not isinstance(shown, dict):
        return shown
    if personal is None:
        return {name: ERASED if value == HIDDEN else value for name, value in shown.items()}
    return {**shown, **personal}


def person_of(kind: str, id: str, subject_kind: str, subject_id: str) -> tuple[str, str]:
    """Whom an actor's address belongs to; without a known actor (a failed sign-in) the subject."""
    if not id:
        return subject_kind, subject_id
    return ("user" if kind == "platform" else kind), id
