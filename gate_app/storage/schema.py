"""The schema of the gate's database, step by step: a step and the record that it was taken are one transaction."""

from __future__ import annotations

import sqlite3

from sqlite_utils import Database
from sqlite_utils.migrations import Migrations

STEPS = Migrations("gate")
"""Steps are only appended. Homes of the first versions have the tables of the first two, but no record of them."""


def bring_up_to_date(connection: sqlite3.Connection) -> None:
    """Takes every step that this file has not taken yet."""
    STEPS.apply(Database(connection, recursive_triggers=False, execute_plugins=False))


@STEPS()
def first_tables(database: Database) -> None:
    """The journal and what is known of the event, the server and the supervisors."""
    for statement in (
        """
        CREATE TABLE IF NOT EXISTS branches (
            local INTEGER PRIMARY KEY, device INTEGER NOT NULL, branch INTEGER NOT NULL, begun_from BLOB NOT NULL,
            acknowledged INTEGER NOT NULL DEFAULT 0, UNIQUE (device, branch))
        """,
        "CREATE TABLE IF NOT EXISTS journal (place INTEGER PRIMARY KEY, body BLOB NOT NULL)",
        """
        CREATE TABLE IF NOT EXISTS movements (
            ticket INTEGER NOT NULL, device INTEGER NOT NULL, branch INTEGER NOT NULL, seq INTEGER NOT NULL,
            kind INTEGER NOT NULL, issue INTEGER NOT NULL, code_hash BLOB NOT NULL, at INTEGER NOT NULL,
            gate INTEGER NOT NULL, zone INTEGER NOT NULL, event INTEGER NOT NULL,
            annuls_device INTEGER, annuls_branch INTEGER, annuls_seq INTEGER,
            PRIMARY KEY (ticket, device, branch, seq)) WITHOUT ROWID
        """,
        """
        CREATE TABLE IF NOT EXISTS quarantined (
            device INTEGER NOT NULL, branch INTEGER NOT NULL, seq INTEGER NOT NULL, why TEXT NOT NULL,
            PRIMARY KEY (device, branch, seq)) WITHOUT ROWID
        """,
        "CREATE TABLE IF NOT EXISTS emptied (event INTEGER PRIMARY KEY, at INTEGER NOT NULL)",
        "CREATE TABLE IF NOT EXISTS clashes (ticket INTEGER PRIMARY KEY)",
        """
        CREATE TABLE IF NOT EXISTS heard (
            event INTEGER PRIMARY KEY, lineage BLOB NOT NULL, arrival INTEGER NOT NULL)
        """,
        """
        CREATE TABLE IF NOT EXISTS wrong_pins (
            supervisor INTEGER PRIMARY KEY, wrong INTEGER NOT NULL, locked_until INTEGER NOT NULL)
        """,
        """
        CREATE TABLE IF NOT EXISTS openings (
            event INTEGER NOT NULL, gate INTEGER NOT NULL, PRIMARY KEY (event, gate)) WITHOUT ROWID
        """,
        "CREATE TABLE IF NOT EXISTS marks (name TEXT PRIMARY KEY, value) WITHOUT ROWID",
    ):
        database.execute(statement)


@STEPS()
def gaps(database: Database) -> None:
    """The ranges of entries that were lost and declared."""
    database.execute(
        """
        CREATE TABLE IF NOT EXISTS gaps (
            local INTEGER NOT NULL, seq INTEGER NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL,
            PRIMARY KEY (local, seq)) WITHOUT ROWID
        """
    )


@STEPS()
def paired_screens(database: Database) -> None:
    """The browsers that are screens of stewards and supervisors; a removed one stays, so that its link stays used."""
    database.execute(
        """
        CREATE TABLE IF NOT EXISTS screens (
            id TEXT PRIMARY KEY, role TEXT NOT NULL, paired_at INTEGER NOT NULL, until INTEGER NOT NULL,
            names_until INTEGER NOT NULL) WITHOUT ROWID
        """
    )


@STEPS()
def count_corrections(database: Database) -> None:
    """How many more or fewer people supervisors counted than were scanned; `gate` is where this device stood."""
    database.execute(
        """
        CREATE TABLE IF NOT EXISTS corrections (
            seq INTEGER NOT NULL, branch INTEGER NOT NULL, event INTEGER NOT NULL, at INTEGER NOT NULL,
            change INTEGER NOT NULL, gate INTEGER NOT NULL, zone INTEGER NOT NULL, PRIMARY KEY (branch, seq))
        """
    )


@STEPS()
def readers(database: Database) -> None:
    """What a telephone that reads tickets is called, and in which direction its guests go."""
    for column in ("name", "direction"):
        database.execute(f"ALTER TABLE screens ADD COLUMN {column} TEXT NOT NULL DEFAULT ''")
