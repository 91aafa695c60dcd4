"""Drafts the next migration, or writes the first release anew for as long as it is not frozen.

scripts/draft-migration "tickets: when they were printed"   the difference between the models and the newest schema
scripts/draft-migration --first                             all migrations squashed into one, made from the models
scripts/draft-migration --freeze                            at a release: what there is never changes again
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import Engine

from scripts.checks import released
from scripts.private_services.postgres import PostgresServer
from sync_server.audit import guards
from sync_server.listings import search_index
from sync_server.migrations import schema
from sync_server.migrations.tables import metadata
from sync_server.plumbing.database import open_engine
from sync_server.plumbing.sql import append_only

ROOT = Path(__file__).parents[2]
VERSIONS = Path(schema.__file__).parent / "versions"
USAGE = 'Say what the migration changes: scripts/draft-migration "tickets: when they were printed"'
FIRST = "first release"
TESTS = (
    "tests/contracts/server/test_schema.py",
    "tests/contracts/server/test_upgrades.py",
    "tests/contracts/monitoring/test_tenant_checks.py",
)
_MADE_BY = '"""The first release: every table, made from the models by scripts/draft-migration --first."""'
_NATIVE = """
    for statement in NATIVE[op.get_bind().dialect.name]:
        op.execute(statement)
"""


def main(arguments: list[str]) -> int:
    """Exit status 2 where it is not said what to draft."""
    if arguments in (["-h"], ["--help"]):
        print(__doc__)
        return 0
    if len(arguments) != 1 or not arguments[0].strip() or _is_unknown_option(arguments[0]):
        print(USAGE, file=sys.stderr)
        return 2
    if arguments[0] == "--freeze":
        return _freeze()
    if arguments[0] == "--first" and released.released(ROOT):
        print("Databases have run the first release: draft the next migration.", file=sys.stderr)
        return 2
    with _private_engine() as engine:
        made = _first_release(engine) if arguments[0] == "--first" else _next(engine, arguments[0])
    subprocess.run([sys.executable, "-m", "ruff", "format", "-q", made], check=True)
    print(f"Written: {made}\nRead it through, then run scripts/test {' '.join(TESTS)}")
    return 0


def _is_unknown_option(argument: str) -> bool:
    return argument.startswith("-") and argument not in {"--first", "--freeze"}


def _freeze() -> int:
    try:
        added = released.freeze(ROOT)
    except ValueError as mistake:
        print(mistake, file=sys.stderr)
        return 2
    print("\n".join(f"Released: {name}" for name in added) or "Nothing is new since the last release.")
    return 0


@contextmanager
def _private_engine() -> Iterator[Engine]:
    server = PostgresServer()
    server.create()
    server.start()
    try:
        engine = open_engine(server.url())
        yield engine
        engine.dispose()
    finally:
        server.remove()


def _next(engine: Engine, message: str) -> Path:
    schema.upgrade(engine)
    return _draft(engine, message, f"{len(_versions()) + 1:04d}")


def _first_release(engine: Engine) -> Path:
    for file in _versions():
        file.unlink()
    made = _draft(engine, FIRST, "0001", batch=False)
    text = made.read_text()
    head, _, upgrade = text.partition('    """Forward."""\n')
    upgrade, _, _ = upgrade.partition("\n\ndef downgrade")
    first_line, _, rest = head.partition("\n")
    assert first_line.startswith('"""')  # noqa: S101 - the template begins with a docstring
    native = (
        f"#: What no model declares: the guards of what only grows and the search index.\nNATIVE = {_native()!r}\n\n\n"
    )
    upgrade_from, _, definition = rest.rpartition("def upgrade")
    made.write_text(
        f"{_MADE_BY}\n{upgrade_from}{native}def upgrade{definition}"
        f'    """Make every table."""\n{upgrade}\n{_NATIVE}\n\n'
        'def downgrade() -> None:\n    """Refuse: before the first release there is nothing to go back to."""\n'
        '    raise RuntimeError("Restore a backup instead.")\n'
    )
    return made


def _native() -> dict[str, tuple[str, ...]]:
    """By dialect; a function that several guards share is made once."""
    found = {}
    for dialect, guarded, search in (
        ("sqlite", guards.SQLITE, search_index.SQLITE),
        ("postgresql", guards.POSTGRESQL, search_index.POSTGRESQL),
    ):
        statements = [statement for table in guarded.values() for statement in table]
        statements += [statement for table in append_only.guarded(metadata()) for statement in table[dialect]]
        found[dialect] = (*dict.fromkeys(statements), *search)
    return found


def _draft(engine: Engine, message: str, revision: str, *, batch: bool = True) -> Path:
    before = set(_versions())
    schema.draft(engine, message, revision, batch=batch)
    (made,) = set(_versions()) - before
    lines = made.read_text().splitlines(keepends=True)
    made.write_text("".join(line for line in lines if not line.lstrip().startswith("# ###")))  # Alembic's remarks
    return made


def _versions() -> list[Path]:
    return sorted(VERSIONS.glob("[0-9]*.py"))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
