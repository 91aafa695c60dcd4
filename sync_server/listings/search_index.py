"""The search index: an FTS5 table on SQLite, a GIN index on PostgreSQL."""

from __future__ import annotations

from typing import Final

#: Triggers keep the index in step inside the transaction that writes a listing. Words are already separated by
#: spaces; the ascii tokenizer treats everything beyond ASCII as letters, so it finds the same words.
SQLITE: Final = (
    "CREATE VIRTUAL TABLE IF NOT EXISTS listing_words USING fts5"
    "(words, content='listings', content_rowid='number', tokenize='ascii', detail='none', prefix='1 2 3')",
    "CREATE TRIGGER IF NOT EXISTS listing_words_insert AFTER INSERT ON listings BEGIN "
    "INSERT INTO listing_words (rowid, words) VALUES (new.number, new.words); END",
    "CREATE TRIGGER IF NOT EXISTS listing_words_delete AFTER DELETE ON listings BEGIN "
    "INSERT INTO listing_words (listing_words, rowid, words) VALUES ('delete', old.number, old.words); END",
    "CREATE TRIGGER IF NOT EXISTS listing_words_update AFTER UPDATE OF number, words ON listings BEGIN "
    "INSERT INTO listing_words (listing_words, rowid, words) VALUES ('delete', old.number, old.words); "
    "INSERT INTO listing_words (rowid, words) VALUES (new.number, new.words); END",
)
POSTGRESQL: Final = ("CREATE INDEX ix_listings_words ON listings USING gin (words)",)


def is_search_object(name: str | None) -> bool:
    """Whether a database object belongs to the search index."""
    return (name or "").startswith(("listing_words", "ix_listings_words"))
