"""The page that specifies the sync protocol tells the truth about its examples, messages and columns."""

from __future__ import annotations

import json
import re
from dataclasses import fields
from pathlib import Path

import pytest

from shared.journal import journal_time
from shared.journal.journal_entries import MAX_ENTRY_BYTES, MAX_TEXT, Entry, EntryKind
from shared.wire import http_signatures, protocol
from shared.wire.enrolment import ALPHABET, PREFIX
from shared.wire.protocol import Message
from shared.wire.row_bodies import VALUE_OF
from shared.wire.rows import RowKind
from sync_server.scans.reconcile import ConflictKind

PAGE = Path("docs/sync-protocol.md").read_text()
LINES = [line.strip() for line in PAGE.splitlines()]
UNBROKEN = re.sub(r"\s", "", PAGE)
SNAPSHOT, CHAINS, REQUESTS = (
    json.loads(Path(f"tests/vectors/{name}.json").read_text()) for name in ("snapshot", "chains", "requests")
)


def cells(first: str) -> list[str]:
    """The table row that begins with this cell."""
    (line,) = (line for line in LINES if line.startswith(f"| {first} |"))
    return [cell.strip() for cell in line.strip("|").split("|")]


def words(text: str) -> list[str]:
    """Names as they stand in code."""
    return re.findall(r"[a-z][a-z0-9_]+", text)


@pytest.mark.parametrize("case", [REQUESTS["requests"][0], REQUESTS["answers"][0]], ids=["request", "answer"])
def test_the_signed_texts_and_signatures_stand_there(case: dict[str, object]) -> None:
    base, headers = str(case["base"]), case["headers"]
    assert isinstance(headers, dict)
    assert "\n".join(LINES).count(base) == 1
    assert headers["Signature"] in LINES


def test_the_example_of_enrolment_stands_there() -> None:
    example = REQUESTS["enrolments"][1]
    for name in ("text", "fingerprint", "proof", "server_proof", "check_number"):
        assert re.search(rf"^ +{name} +{example[name]}$", PAGE, re.MULTILINE), name
    assert f"code_id{example['id']}" in UNBROKEN
    assert ALPHABET in PAGE
    assert f'"{PREFIX}"' in PAGE


def test_the_examples_of_rows_frames_and_entries_stand_there() -> None:
    gate, entry, frame = SNAPSHOT["rows"][1], CHAINS["entries"][2], SNAPSHOT["frames"][3]
    for piece in (f"body{gate['body']}", f"hash{gate['hash']}", f"body{entry['body']}", f"hash{entry['hash']}"):
        assert piece in UNBROKEN
    assert f"`{frame['frame']}`" in PAGE


@pytest.mark.parametrize("kind", Message.__subclasses__(), ids=lambda kind: kind.__name__)
def test_every_field_of_every_message_is_named(kind: type[Message]) -> None:
    names = [name for name in kind.__struct_fields__ if name != "critical"]
    if kind in {protocol.ErrorAnswer, protocol.ErrorBody}:
        assert all(f'"{name}"' in PAGE for name in names)
    else:
        assert sorted(names) == sorted(set(words(cells(f"`{kind.__name__}`")[1])) & set(names))


@pytest.mark.parametrize("kind", RowKind)
def test_the_columns_of_every_row_stand_in_their_order(kind: RowKind) -> None:
    names = [column.name for column in fields(VALUE_OF[kind])][1:]
    said = words(cells(f"{kind.value} {kind.name.lower().replace('_', ' ')}")[2])
    assert [word for word in said if word in names] == names


def test_the_columns_of_an_entry_stand_in_their_order() -> None:
    (paragraph,) = re.findall(r"^device, branch, seq, kind, event.*?details$", PAGE, re.MULTILINE | re.DOTALL)
    assert words(paragraph) == list(Entry.__struct_fields__)


def test_every_kind_of_entry_and_conflict_is_named() -> None:
    (kinds,) = re.findall(r"^- Kinds: (.*?)\. Any other", PAGE, re.MULTILINE | re.DOTALL)
    assert set(words(kinds)) == {kind.value for kind in EntryKind} - {EntryKind.LAMP}
    assert [cells(f"`{kind}`")[0] for kind in ConflictKind] == [f"`{kind}`" for kind in ConflictKind]


def test_addresses_tags_and_bounds_are_those_of_the_program() -> None:
    for address in (protocol.ENROL, protocol.HELLO, protocol.SNAPSHOT, protocol.CHANGES, protocol.JOURNAL):
        assert f"{address}" in PAGE
    assert http_signatures.REQUEST_TAG in PAGE
    assert http_signatures.ANSWER_TAG in PAGE
    assert f"{MAX_ENTRY_BYTES:,}" in PAGE
    assert f"{MAX_TEXT:,} characters" in PAGE
    assert journal_time.UNKNOWN_MS == 2**42
    assert journal_time.DRIFT_PPM == 100
