"""A house that was there before: the change of the schema lists what its visitors may see."""

from __future__ import annotations

from typing import Any

from alembic import command
from sqlalchemy import text

from sync_server.migrations import schema
from tests.builders import DAY, EVENING
from tests.contracts.programme.town import Town


def listings(town: Town) -> list[dict[str, Any]]:
    with town.office.database.reading() as session:
        rows = session.execute(text("SELECT * FROM listings ORDER BY number")).mappings()
        return [{**row, "words": {*str(row["words"]).replace("'", "").split()}} for row in rows]


def test_what_stood_before_is_listed_as_if_it_had_always_been(town: Town) -> None:
    town.draft("Draft")
    town.publish("Émilie Söngs 🎸", city="Zürich", category="Rock & Roll", days=2)
    town.walk(town.publish("Live", days=3), "go-live")
    town.walk(town.publish("Ends by itself", days=4, end_at_auto=EVENING + 5 * DAY), "go-live")
    town.walk(town.publish("Waiting", days=5), "postpone")
    dated = town.publish("Dated", days=6)
    town.walk(dated, "postpone")
    town.walk(dated, "reschedule", rescheduled_at=EVENING + 20 * DAY)
    before = listings(town)
    moved = {"moved_at": 0, "moved_from": 0}
    engine = town.office.database.engine
    with engine.execution_options(writes=True).begin() as connection:
        command.downgrade(schema._config(connection), "0008")
    schema.upgrade(engine)
    assert len(before) == 5
    assert listings(town) == [row | moved for row in before]
    town.forget()
    assert town.find(q="emil") == ["Émilie Söngs 🎸"]
    assert town.find() == ["Émilie Söngs 🎸", "Live", "Ends by itself", "Waiting", "Dated"]
