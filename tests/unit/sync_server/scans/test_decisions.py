"""The scope of a supervisor's decision at a gate, whatever the order in which journals arrive."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from shared.journal.scans import Entry, EntryKind
from sync_server.scans.decisions import Decision, Decisions, is_decision
from tests.unit.shared.wire_builders import EIGHT, an_entry


def doors(seq: int, *, opened: bool = True, gate: int = 0, **different: Any) -> Decision:
    fields: dict[str, Any] = {"kind": EntryKind.DOORS, "gate": gate, "override_by": 1, "details": {"opened": opened}}
    return _made(an_entry(seq=seq, **fields | different))


def emptied(seq: int, **different: Any) -> Decision:
    fields: dict[str, Any] = {"kind": EntryKind.COUNT_CORRECTION, "override_by": 1, "details": {"counts_from": EIGHT}}
    return _made(an_entry(seq=seq, **fields | different))


def _made(entry: Entry) -> Decision:
    return Decision(entry, entry.seq.to_bytes(32, "big"), EIGHT + entry.seq, 10)


def test_doors_are_open_after_the_entry_that_opened_them_and_on_that_device_only() -> None:
    known = Decisions([doors(5)])
    assert [known.opened(an_entry(seq=seq), 0) for seq in (4, 5, 6)] == [False, False, True]
    assert not known.opened(an_entry(seq=6, device=9), 0)


def test_the_events_doors_open_no_closed_gate_and_the_other_way_round() -> None:
    assert not Decisions([doors(5)]).opened(an_entry(seq=6), 2)
    assert Decisions([doors(5, gate=2)]).opened(an_entry(seq=6), 2)
    assert not Decisions([doors(5, gate=2)]).opened(an_entry(seq=6), 0)


def test_decisions_of_a_device_continue_in_its_next_branch() -> None:
    assert Decisions([doors(5)]).opened(an_entry(seq=1, branch=2), 0)


def test_an_emptied_venue_counts_for_everybody_from_that_time_on() -> None:
    known = Decisions([emptied(5), emptied(9, device=8)])
    assert [known.emptied(EIGHT + ms) for ms in (4, 5, 8, 9)] == [0, EIGHT + 5, EIGHT + 5, EIGHT + 9]
    assert known.emptied_on(an_entry(seq=20)) == EIGHT + 5


def test_only_supervisors_make_decisions() -> None:
    assert is_decision(emptied(1).entry, {1})
    assert not is_decision(emptied(1).entry, {2})
    assert not is_decision(emptied(1, event=0).entry, {1})
    assert not is_decision(emptied(1, details={"left": 4}).entry, {1})
    assert not is_decision(doors(1, details={"opened": "yes"}).entry, {1})


@given(st.permutations([doors(3), doors(5, opened=False), doors(7), emptied(4), emptied(6)]), st.integers(1, 9))
def test_only_the_set_matters(decisions: list[Decision], seq: int) -> None:
    entry = an_entry(seq=seq)
    mixed, sorted_ones = Decisions(decisions), Decisions(sorted(decisions, key=lambda one: one.place))
    for known in (mixed, sorted_ones):
        assert known.opened(entry, 0) is (seq in {4, 5} or seq > 7)
        assert known.emptied_on(entry) == (0 if seq < 5 else EIGHT + (4 if seq < 7 else 6))
