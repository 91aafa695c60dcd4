"""Corrected times from stored boots equal those from the whole journal, however it was split."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from shared.journal.scans import Entry, EntryKind, Timeline
from sync_server.scans import boots
from tests.unit.sync_server.scans.test_batches import an_entry


def a_night(anchored: list[bool]) -> list[Entry]:
    """A minute between entries; some are anchors, with a clock that drifts."""
    entries = []
    for seq, anchor in enumerate(anchored, start=1):
        now = 60_000 * seq
        entry = an_entry(seq, boot=b"boot" + bytes([seq // 10]), monotonic=now % 600_000, wall=now)
        if anchor:
            details = {"server": now + seq % 7, "monotonic": entry.monotonic, "rtt": 30}
            entry = replace(entry, kind=EntryKind.TIME_ANCHOR, details=details)
        entries.append(entry)
    return entries


@given(st.lists(st.booleans(), min_size=1, max_size=40), st.data())
def test_pieces_in_any_order_give_the_times_of_the_whole(anchored: list[bool], data: st.DataObject) -> None:
    night = a_night(anchored)
    stored: dict[bytes, boots.StoredBoot] = {}
    for entry in data.draw(st.permutations(night)):
        boots.note(stored, [entry])
    stored = boots.read(boots.write(stored))
    whole = Timeline.of(night)
    piece = data.draw(st.lists(st.sampled_from(night), min_size=1, max_size=5))
    timeline = boots.timeline(stored, piece)
    assert [timeline.at(entry) for entry in piece] == [whole.at(entry) for entry in piece]
