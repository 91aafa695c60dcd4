"""Reads the fields of forms into the requests that the API takes, and says beside which field a mistake is."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal, InvalidOperation
from typing import Any, TypeVar
from zoneinfo import ZoneInfo

from flask import request
from pydantic import BaseModel, ValidationError

from shared.clock import Millis
from shared.errors import ChangedMeanwhile, GatehouseError, InvalidRequest
from shared.words.mistakes import in_words
from shared.words.numerals import whole
from sync_server.plumbing.api.edits import EditedView
from sync_server.plumbing.api.schemas import PatchBody
from sync_server.plumbing.language.text import as_shown
from sync_server.plumbing.requests.form_fields import typed_line
from sync_server.plumbing.storable_json import visible
from sync_server.plumbing.web import invalid_fields

M = TypeVar("M", bound=BaseModel)
P = TypeVar("P", bound=PatchBody)

_LARGEST = 2**31 - 1


def text(name: str, longest: int = 2_000) -> str:
    """What was typed in a field of one line, as it is stored."""
    return typed_line(name, longest)


def lines(name: str, longest: int = 2_000) -> str:
    """What was typed in a field of several lines, as it is stored."""
    return as_shown(visible(request.form.get(name, "")).strip()[:longest])


def text_or_none(name: str, longest: int = 2_000) -> str | None:
    """What was typed, or None where nothing was."""
    return text(name, longest) or None


def number(name: str) -> int | None:
    """A whole number, or None where none was typed."""
    return whole(text(name, 12), _LARGEST)


def number_as_typed(name: str) -> int | str | None:
    """A whole number; what is none stays as it was typed, so that the schema says beside the field what is wrong."""
    typed = text(name, 12)
    found = whole(typed, _LARGEST)
    return typed or None if found is None else found


def cents(name: str) -> int | None:
    """An amount of money as people write it, in hundredths; None for what is none."""
    return cents_of(text(name, 20))


def amount(name: str, field: str) -> int | None:
    """The same for a field that must not be dropped in silence: InvalidRequest, named as `field`, for what is none."""
    found = cents(name)
    if found is None and text(name, 20):
        raise InvalidRequest("must be an amount, such as 12 or 12.50", field=field)
    return found


def cents_of(written: str) -> int | None:
    """The hundredths of `12`, `12.5` or `12,50`; None for anything else."""
    try:
        amount = Decimal(written.replace(" ", "").replace(",", "."))
    except InvalidOperation:
        return None
    exact = amount * 100 if amount.is_finite() else Decimal("0.5")
    return int(exact) if exact == exact.to_integral_value() and 0 <= exact <= _LARGEST else None


def moment(name: str, timezone: str) -> Millis | None:
    """A date and time of the venue's clock, or None where none was typed."""
    return moment_of(text(name, 30), timezone)


def moment_of(written: str, timezone: str) -> Millis | None:
    """The moment that is written like this by the clocks of the venue; None for what is none."""
    try:
        local = datetime.fromisoformat(written[:30])
    except ValueError:
        return None
    aware = local.replace(tzinfo=ZoneInfo(timezone)) if local.tzinfo is None else local
    return int(aware.timestamp() * 1000)


def ticked(name: str) -> bool:
    """Whether a box is ticked."""
    return name in request.form


def only_looks() -> bool:
    """Whether the page asks what its form would come to, before anybody has sent it: nothing is changed."""
    return ticked("looks")


def read(schema: type[M], values: Mapping[str, Any]) -> M:
    """The request that these values make; InvalidRequest that names each field and its problem."""
    try:
        return schema.model_validate({name: value for name, value in values.items() if value is not None})
    except ValidationError as error:
        raise _in_fields(error) from None


def _in_fields(error: ValidationError) -> InvalidRequest:
    return invalid_fields((str(one["loc"][0]) if one["loc"] else "", in_words(one["msg"])) for one in error.errors())


def problems_of(error: GatehouseError) -> dict[str, str]:
    """The mistakes beside their fields; the one that is of no field under an empty name."""
    listed = {one["field"]: one["problem"] for one in error.details.get("fields", ())}
    if listed:
        return listed
    field = error.details.get("field", "")
    return {field: error.message.removeprefix(f"{field}: ")}


def read_changes(schema: type[P], values: Mapping[str, Any]) -> dict[str, Any]:
    """The changes of these values, where None clears a field."""
    try:
        return schema.model_validate(values).changes()
    except ValidationError as error:
        raise _in_fields(error) from None


def require_unchanged(now: EditedView) -> None:
    """ChangedMeanwhile unless the form was made of what is stored still."""
    if text("etag", 80) not in {"", now.etag}:
        raise ChangedMeanwhile(etag=now.etag)
