"""Converts rows to bodies and back: a body is a MessagePack array of the fields without the key."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields
from operator import attrgetter
from typing import Annotated, Any, cast, get_type_hints

import msgspec

from shared.errors import Unreadable
from shared.strictly import strictly
from shared.wire.rows import (
    AnyRow,
    DeviceRow,
    EventRow,
    GateRow,
    KeyRow,
    PolicyRow,
    Row,
    RowKind,
    SupervisorRow,
    TicketRow,
    TicketTypeRow,
    ZoneRow,
)

MAX_BODY_BYTES = 65_536
"""The longest body of a row, in bytes."""

VALUE_OF: dict[RowKind, type[Any]] = {
    RowKind.EVENT: EventRow,
    RowKind.GATE: GateRow,
    RowKind.ZONE: ZoneRow,
    RowKind.TICKET_TYPE: TicketTypeRow,
    RowKind.TICKET: TicketRow,
    RowKind.KEY: KeyRow,
    RowKind.DEVICE: DeviceRow,
    RowKind.SUPERVISOR: SupervisorRow,
    RowKind.POLICY: PolicyRow,
}

_PublicKey = Annotated[bytes, msgspec.Meta(min_length=32, max_length=32)]


@dataclass(frozen=True, slots=True)
class _Form:
    """How one kind of row is encoded and decoded."""

    kind: RowKind
    key: Callable[[Any], int]
    columns: Callable[[Any], tuple[Any, ...]]
    decoder: msgspec.msgpack.Decoder[msgspec.Struct]
    build: Callable[..., Any]


def _columns_of(value: type[Any]) -> type[msgspec.Struct]:
    """A struct of all fields but the key; later columns have defaults, unknown ones are skipped."""
    hints = get_type_hints(value) | ({"public": _PublicKey} if "public" in get_type_hints(value) else {})
    columns: list[Any] = []
    for field in fields(value)[1:]:
        column = (field.name, hints[field.name])
        columns.append(column if field.default is MISSING else (*column, field.default))
    return msgspec.defstruct(f"{value.__name__}Columns", columns, array_like=True, frozen=True)


def _form(kind: RowKind, value: type[Any]) -> _Form:
    key, *columns = (field.name for field in fields(value))
    decoder = msgspec.msgpack.Decoder(_columns_of(value))
    return _Form(kind, attrgetter(key), attrgetter(*columns), decoder, value)


_FORMS = {kind: _form(kind, value) for kind, value in VALUE_OF.items()}
_FORM_OF_VALUE = {VALUE_OF[kind]: form for kind, form in _FORMS.items()}
_encode = msgspec.msgpack.Encoder().encode


def pack(row: AnyRow) -> Row:
    """Encodes a row."""
    form = _FORM_OF_VALUE[type(row)]
    return Row(form.kind, form.key(row), _encode(form.columns(row)))


def unpack(row: Row) -> AnyRow:
    """Decodes a live row; columns of later versions are skipped, missing ones get their defaults."""
    if row.body is None:
        raise Unreadable("This row is gone: there is nothing in it to read.")
    form = _FORMS[row.kind]
    columns = strictly(form.decoder, row.body, f"A row of kind {row.kind.name.lower()}", MAX_BODY_BYTES)
    return cast(AnyRow, form.build(row.key, *msgspec.structs.astuple(columns)))


def ticket_labels(row: Row) -> tuple[str, str]:
    """The number and the confirmation code of a live ticket's row, which is checked as by `unpack`."""
    if row.body is None:
        raise Unreadable("This row is gone: there is nothing in it to read.")
    columns: Any = strictly(_FORMS[RowKind.TICKET].decoder, row.body, "A row of kind ticket", MAX_BODY_BYTES)
    return columns.number, columns.confirmation_code
