"""Reads statements as CSV, whose columns the organiser names once: every bank has its own."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sync_server.checkout.payments.bank_files.entries import Entry, cents_of, unreadable


@dataclass(frozen=True, slots=True)
class Mapping:
    """Which columns say what, by their headings."""

    amount: str
    date: str
    texts: Sequence[str]
    reference: str = ""
    currency: str = ""
    delimiter: str = ";"
    decimal: str = ","
    skipped_lines: int = 0  # before the headings


def read(content: str, mapping: Mapping) -> Iterator[Entry]:
    """The credits of a file; InvalidRequest where a column is missing, or an amount is not a number."""
    lines = io.StringIO(content.lstrip("\ufeff"), newline="")
    for _ in range(mapping.skipped_lines):
        lines.readline()
    reader = csv.DictReader(lines, delimiter=mapping.delimiter, strict=True)
    try:
        _require_columns(reader.fieldnames or (), mapping)
        for row in reader:
            entry = _entry(row, mapping, reader.line_num + mapping.skipped_lines)
            if entry is not None:
                yield entry
    except csv.Error:
        raise unreadable(f"line {reader.line_num + mapping.skipped_lines} is not valid CSV") from None


def _require_columns(headings: Sequence[str], mapping: Mapping) -> None:
    wanted = (mapping.amount, mapping.date, *mapping.texts, mapping.reference, mapping.currency)
    if missing := [name for name in wanted if name and name not in headings]:
        raise unreadable(f"it has no column “{missing[0]}”. Its columns are {', '.join(headings)[:300]}")


def _entry(row: dict[str, str], mapping: Mapping, line: int) -> Entry | None:
    """The credit of a row; None for a debit and an empty line."""
    said = (row.get(mapping.amount) or "").strip()
    if not said:
        return None
    grouping = "." if mapping.decimal == "," else ","
    plain = said.replace(" ", "").replace("\u00a0", "").replace("'", "").replace(grouping, "")
    try:
        cents = cents_of(plain.replace(mapping.decimal, "."))
    except ValueError:
        raise unreadable(f"the amount in line {line} is not a number. Is the decimal sign right?") from None
    text = " ".join(filter(None, ((row.get(name) or "").strip() for name in mapping.texts)))
    reference = (row.get(mapping.reference) or "").strip()[:120] if mapping.reference else ""
    currency = (row.get(mapping.currency) or "").strip().upper() if mapping.currency else ""
    return Entry(reference, cents, currency, (row.get(mapping.date) or "").strip(), text) if cents > 0 else None
