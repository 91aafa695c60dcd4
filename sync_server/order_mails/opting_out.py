"""Who wants no offers: one click in a mail is enough (RFC 8058), and nobody must sign in for it."""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error as NotBase64

from sqlalchemy.orm import Session

from shared.errors import NotFound, StorageError
from sync_server.order_mails.models import MailOptOutRow
from sync_server.plumbing.parts import Parts
from sync_server.plumbing.sealing import Sealer
from sync_server.plumbing.sql import writes

_PURPOSE = "address that may be opted out at"


def link_for(parts: Parts, organisation_id: str, slug: str, address: str) -> str:
    """The link in a mail to an address, which is sealed in it: no log of a server shows it."""
    sealed = parts.sealer.seal(address.encode(), f"{_PURPOSE} {organisation_id}")
    token = urlsafe_b64encode(sealed).decode().rstrip("=")
    return f"{parts.config.base_url.rstrip('/')}/o/{slug}/unsubscribe/{token}"


def address_in(sealer: Sealer, organisation_id: str, token: str) -> str:
    """The address that a link is for; NotFound for a link that was cut off or made up."""
    try:
        sealed = urlsafe_b64decode(token + "=" * (-len(token) % 4))
        return sealer.open(sealed, f"{_PURPOSE} {organisation_id}").decode()
    except (NotBase64, ValueError, StorageError):
        raise NotFound("This link is not complete. Open it from the mail once more.", code="bad_link") from None


def opt_out(session: Session, sealer: Sealer, organisation_id: str, address: str, now: int) -> None:
    """Send no more offers of an organisation to an address; doing it again changes nothing."""
    row = {"organisation_id": organisation_id, "address_hash": _hash(sealer, organisation_id, address)}
    added = writes.insert(session, MailOptOutRow).values(row | {"created_at": now})
    session.execute(added.on_conflict_do_nothing())


def is_opted_out(session: Session, sealer: Sealer, organisation_id: str, address: str) -> bool:
    """Whether an address wants no offers of an organisation."""
    return session.get(MailOptOutRow, (organisation_id, _hash(sealer, organisation_id, address))) is not None


def _hash(sealer: Sealer, organisation_id: str, address: str) -> str:
    return sealer.keyed_hash(address.casefold(), f"opted out at {organisation_id}")
