"""What visitors find: listed events with their search index, trending places, interest."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

_INDEXES = {
    "ix_listings_starts_at": ["starts_at", "number", "listed_until", "moved_at", "moved_from"],
    "ix_listings_city_norm": ["city_norm", "starts_at", "number"],
    "ix_listings_city_norm_city": ["city_norm", "city", "listed_until"],
    "ix_listings_category_norm": ["category_norm", "starts_at", "number"],
    "ix_listings_city_norm_category_norm": ["city_norm", "category_norm", "starts_at", "number"],
    "ix_listings_organisation_id": ["organisation_id", "starts_at", "number"],
    "ix_listings_listed_until": ["listed_until"],
}
_SEARCH = {
    "sqlite": (
        "CREATE VIRTUAL TABLE listing_words USING fts5"
        "(words, content='listings', content_rowid='number', tokenize='ascii', detail='none', prefix='1 2 3')",
        "CREATE TRIGGER listing_words_insert AFTER INSERT ON listings BEGIN "
        "INSERT INTO listing_words (rowid, words) VALUES (new.number, new.words); END",
        "CREATE TRIGGER listing_words_delete AFTER DELETE ON listings BEGIN "
        "INSERT INTO listing_words (listing_words, rowid, words) VALUES ('delete', old.number, old.words); END",
        "CREATE TRIGGER listing_words_update AFTER UPDATE OF number, words ON listings BEGIN "
        "INSERT INTO listing_words (listing_words, rowid, words) VALUES ('delete', old.number, old.words); "
        "INSERT INTO listing_words (rowid, words) VALUES (new.number, new.words); END",
    ),
    "postgresql": ("CREATE INDEX ix_listings_words ON listings USING gin (words)",),
}
_DAY = 86_400_000
_EVER = 1 << 62
_AT_ONCE = 1_000


def upgrade() -> None:
    """Forward; every event that visitors may see is listed."""
    by_letter = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
    op.create_table(
        "listings",
        sa.Column("number", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("event_id", sa.String(length=36), nullable=False),
        sa.Column("organisation_id", sa.String(length=36), nullable=False),
        sa.Column("starts_at", sa.BigInteger(), nullable=False),
        sa.Column("listed_until", sa.BigInteger(), nullable=False),
        sa.Column("city", sa.Text(), nullable=False),
        sa.Column("city_norm", by_letter, nullable=False),
        sa.Column("category_norm", sa.Text(), nullable=False),
        sa.Column("words", sa.Text().with_variant(postgresql.TSVECTOR(), "postgresql"), nullable=False),
        sa.Column("moved_at", sa.BigInteger(), nullable=False),
        sa.Column("moved_from", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["event_id"], ["events.id"], name=op.f("fk_listings_event_id_events"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_listings")),
        sa.UniqueConstraint("event_id", name=op.f("uq_listings_event_id")),
    )
    op.create_table(
        "trending_generations",
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("made_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_trending_generations")),
    )
    op.create_table(
        "trending_places",
        sa.Column("generation", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("place", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["generation"],
            ["trending_generations.number"],
            name=op.f("fk_trending_places_generation_trending_generations"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("generation", "place", name=op.f("pk_trending_places")),
    )
    op.create_index("uq_trending_places_generation_number", "trending_places", ["generation", "number"], unique=True)
    op.create_table(
        "event_interest",
        sa.Column("event_id", sa.String(length=36), nullable=False),
        sa.Column("hour", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("weight", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("event_id", "hour", name=op.f("pk_event_interest")),
    )
    op.create_index("ix_event_interest_hour", "event_interest", ["hour"], unique=False)
    _list_events()
    for name, columns in _INDEXES.items():
        op.create_index(name, "listings", columns, unique=False)
    op.create_index("ix_events_slug", "events", ["slug"], unique=False)


def downgrade() -> None:
    """Back; all of it can be computed again, but for the interest of the last days."""
    op.drop_index("ix_events_slug", "events")
    if op.get_bind().dialect.name == "sqlite":
        op.execute("DROP TABLE listing_words")
    for table in ("event_interest", "trending_places", "trending_generations", "listings"):
        op.drop_table(table)


def _list_events() -> None:
    connection = op.get_bind()
    for statement in _SEARCH[connection.dialect.name]:
        op.execute(statement)
    words = "CAST(:words AS tsvector)" if connection.dialect.name == "postgresql" else ":words"
    write = sa.text(
        "INSERT INTO listings (number, event_id, organisation_id, starts_at, listed_until, city, city_norm, "  # noqa: S608
        "category_norm, words, moved_at, moved_from) VALUES (:number, :id, :organisation_id, :starts_at, "
        f":listed_until, :city, :city_norm, :category_norm, {words}, 0, 0)"
    )
    for rows in _visible(connection):
        connection.execute(write, [_listing(row) for row in rows])


def _visible(connection: sa.Connection) -> Iterator[Sequence[Any]]:
    """By the thousand, so that a million does not have to be held at once."""
    wanted = sa.text(
        "SELECT id, number, organisation_id, status, start_at, end_at, rescheduled_at, end_at_auto, city, city_norm, "
        "category, search_text FROM events WHERE number > :after AND status IN ('published', 'live', 'postponed') "
        "ORDER BY number LIMIT :most"
    )
    after = -1
    while rows := connection.execute(wanted, {"after": after, "most": _AT_ONCE}).all():
        yield rows
        after = rows[-1].number


def _listing(row: Any) -> dict[str, Any]:
    start = row.start_at if row.rescheduled_at is None else row.rescheduled_at
    undated = row.status == "postponed" and row.rescheduled_at is None
    until = row.end_at + 30 * _DAY if undated else start + row.end_at - row.start_at
    if row.status == "live":
        until = _EVER if row.end_at_auto is None else row.end_at_auto
    kept = ("id", "number", "organisation_id", "city", "city_norm")
    return {name: getattr(row, name) for name in kept} | {
        "starts_at": start,
        "listed_until": until,
        "category_norm": _fold(row.category),
        "words": " ".join(_words(row.search_text)),
    }


# How words were folded and taken apart when this was written: a migration does not follow the program.
_PLAIN = str.maketrans(
    {"ø": "o", "đ": "d", "ð": "d", "ł": "l", "ħ": "h", "\u0131": "i", "æ": "ae", "œ": "oe", "þ": "th", "\u2019": "'"}
)


def _fold(text: str) -> str:
    apart = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", text).casefold())
    bare = "".join(letter for letter in apart if not unicodedata.combining(letter))
    return " ".join(unicodedata.normalize("NFC", bare).translate(_PLAIN).split())


def _words(text: str) -> list[str]:
    return [*dict.fromkeys(word[:60] for word in "".join(map(_spaced, _fold(text))).split())]


def _spaced(letter: str) -> str:
    kind = unicodedata.category(letter)
    if kind == "So":
        return f" {letter} "
    if "\ufe00" <= letter <= "\ufe0f":
        return ""
    return letter if kind[0] in "LMN" else " "
