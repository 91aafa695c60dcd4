"""The owner of the database changes the audit log: refused by triggers, and found without them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Engine, text
from sqlalchemy.exc import DBAPIError

from sync_server.audit import guards, sealer
from sync_server.audit.chain_check import ChainPosition
from sync_server.audit.proof import prove
from sync_server.migrations import schema
from sync_server.migrations.tables import metadata
from sync_server.plumbing.database import open_engine
from tests.app_server import AppServer
from tests.contracts.server.test_audit_sealing import MARQUEE, RIVALS, order, proof, seal, write

REFUSED = (
    "UPDATE audit_lines SET reason = 'nothing happened'",
    "UPDATE audit_lines SET seq = 9",
    "UPDATE audit_lines SET seal = NULL, seq = NULL",
    "DELETE FROM audit_lines",
    "UPDATE audit_personal SET content = '{}'",
    "UPDATE audit_personal SET person_id = 'somebody else'",
    "DELETE FROM audit_personal",
    "UPDATE audit_chains SET seq = 0",
    "DELETE FROM audit_chains",
)


@pytest.fixture
def sealed(app_server: AppServer) -> AppServer:
    """Six sealed lines of one organisation."""
    write(app_server, MARQUEE, *"123456")
    seal(app_server)
    return app_server


def do(app_server: AppServer, *statements: str) -> None:
    with app_server.database.writing() as session:
        for statement in statements:
            session.execute(text(statement))


def unguard(app_server: AppServer) -> None:
    """What the owner of the database can always do."""
    tables = guards.SQLITE if app_server.database.embedded else guards.POSTGRESQL
    for table, statements in tables.items():
        on = "" if app_server.database.embedded else f" ON {table}"
        names = [statement.split()[2] for statement in statements if statement.startswith("CREATE TRIGGER")]
        do(app_server, *(f"DROP TRIGGER {name}{on}" for name in names))


def broken_at(app_server: AppServer) -> int:
    broken = proof(app_server, MARQUEE).broken
    assert broken is not None
    return broken.seq


@pytest.mark.parametrize("statement", REFUSED)
def test_the_database_refuses(sealed: AppServer, statement: str) -> None:
    with pytest.raises(DBAPIError, match="only ever added"):
        do(sealed, statement)
    assert proof(sealed, MARQUEE).broken is None


@pytest.mark.parametrize("table", ["audit_lines", "audit_personal", "audit_chains"])
def test_the_database_refuses_to_empty_the_log(postgres_url: str, tmp_path: Path, table: str) -> None:
    app_server = AppServer(postgres_url, tmp_path)
    with pytest.raises(DBAPIError, match="only ever added"):
        do(app_server, f"TRUNCATE {table}")
    app_server.close()


TAMPERED: dict[str, tuple[int, list[str]]] = {
    "a reason altered": (3, ["UPDATE audit_lines SET reason = 'nothing happened' WHERE seq = 3"]),
    "an actor altered": (2, ["UPDATE audit_lines SET actor_id = 'stan' WHERE seq = 2"]),
    "what came of it altered": (4, ['UPDATE audit_lines SET after = \'{"state": "valid"}\' WHERE seq = 4']),
    "a line removed": (4, ["DELETE FROM audit_lines WHERE seq = 4"]),
    "a line removed and the rest moved up": (
        4,
        [
            "DELETE FROM audit_lines WHERE seq = 4",
            "UPDATE audit_lines SET seq = 4 WHERE seq = 5",
            "UPDATE audit_lines SET seq = 5 WHERE seq = 6",
        ],
    ),
    "two lines swapped": (
        2,
        [
            "UPDATE audit_lines SET seq = 99 WHERE seq = 2",
            "UPDATE audit_lines SET seq = 2 WHERE seq = 3",
            "UPDATE audit_lines SET seq = 3 WHERE seq = 99",
        ],
    ),
    "the last lines cut off": (5, ["DELETE FROM audit_lines WHERE seq >= 5"]),
    "the last lines cut off and the head set back": (
        4,
        [
            "DELETE FROM audit_lines WHERE seq >= 5",
            "UPDATE audit_chains SET seq = 4, seal = (SELECT seal FROM audit_lines WHERE seq = 4)",
        ],
    ),
    "a line unsealed": (6, ["UPDATE audit_lines SET seq = NULL, seal = NULL WHERE seq = 6"]),
    "a line given to another organisation": (2, [f"UPDATE audit_lines SET organisation_id = '{RIVALS}' WHERE seq = 2"]),
    "the head gone": (6, ["DELETE FROM audit_chains"]),
    "the signature gone": (6, ["UPDATE audit_chains SET signature = NULL"]),
    "an address altered": (1, ['UPDATE audit_personal SET content = \'{"ip":"198.51.100.1"}\'']),
    "an address removed otherwise than by an erasure": (1, ["DELETE FROM audit_personal"]),
}


@pytest.mark.parametrize("trouble", TAMPERED)
def test_the_first_broken_line_is_found(sealed: AppServer, trouble: str) -> None:
    expected, statements = TAMPERED[trouble]
    unguard(sealed)
    do(sealed, *statements)
    assert broken_at(sealed) == expected


def reseal_without_the_key(app_server: AppServer) -> None:
    """Alter a line and recompute every seal."""
    unguard(app_server)
    do(
        app_server,
        "UPDATE audit_lines SET reason = 'nothing happened' WHERE seq = 3",
        "UPDATE audit_lines SET seq = NULL, seal = NULL",
        "DELETE FROM audit_chains",
    )
    with app_server.database.writing() as session:
        sealer.seal_waiting(session, app_server.context())


def test_a_forger_who_reseals_everything_lacks_the_key(sealed: AppServer) -> None:
    reseal_without_the_key(sealed)
    assert "not signed" in (proof(sealed, MARQUEE).broken or pytest.fail("not found")).problem


def test_the_server_does_not_make_a_forgery_genuine_by_sealing_on_top_of_it(sealed: AppServer) -> None:
    reseal_without_the_key(sealed)
    write(sealed, MARQUEE, "7")
    write(sealed, RIVALS, "8")
    seal(sealed)
    assert order(sealed, RIVALS) == ["8"]
    found = proof(sealed, MARQUEE)
    assert found.waiting == 1 and found.broken is not None


def test_a_noted_seal_exposes_even_a_forger_with_the_key(sealed: AppServer) -> None:
    noted = proof(sealed, MARQUEE).reached
    unguard(sealed)
    do(
        sealed,
        "UPDATE audit_lines SET reason = 'nothing happened' WHERE seq = 3",
        "UPDATE audit_lines SET seq = NULL, seal = NULL",
        "DELETE FROM audit_chains",
    )
    seal(sealed)
    assert proof(sealed, MARQUEE).broken is None
    with sealed.database.reading() as session:
        known = prove(session, MARQUEE, public=None, known=[ChainPosition(noted.seq, noted.seal)])
    assert known.broken is not None


def test_tampering_with_one_organisation_leaves_the_others_intact(sealed: AppServer) -> None:
    write(sealed, RIVALS, "7")
    seal(sealed)
    unguard(sealed)
    do(sealed, f"DELETE FROM audit_chains WHERE organisation_id = '{MARQUEE}'")
    write(sealed, MARQUEE, "8")
    write(sealed, RIVALS, "9")
    seal(sealed)
    assert order(sealed, RIVALS) == ["7", "9"] and proof(sealed, RIVALS).broken is None
    assert "beyond the head" in (proof(sealed, MARQUEE).broken or pytest.fail("not found")).problem


def triggers(engine: Engine) -> list[tuple[str, str]]:
    """Every trigger of the audit log, with its SQL."""
    embedded = engine.dialect.name == "sqlite"
    wanted = (
        "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' ORDER BY name"
        if embedded
        else "SELECT tgname, pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal ORDER BY tgname"
    )
    with engine.connect() as connection:
        found = connection.execute(text(wanted)).all()
    return [(name, " ".join(sql.split())) for name, sql in found if name.startswith("audit")]


@pytest.fixture
def engine(empty_database_url: str) -> Iterator[Engine]:
    """An empty database."""
    made = open_engine(empty_database_url)
    yield made
    made.dispose()


def test_migrated_and_declared_tables_are_guarded_alike(engine: Engine) -> None:
    schema.upgrade(engine)
    migrated = triggers(engine)
    declared = metadata()
    declared.drop_all(engine)
    declared.create_all(engine)
    assert len(migrated) == (10 if engine.dialect.name == "sqlite" else 9) and migrated == triggers(engine)
