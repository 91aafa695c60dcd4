"""The result of reconciling a ticket depends only on the set of its scans."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from shared.claims import Entitlement
from shared.wire.rows import TicketState
from sync_server.scans.reconcile import ConflictKind, Judged, reconcile
from tests.unit.shared.wire_builders import EIGHT, a_ticket_row
from tests.unit.sync_server.scans.server_history import MINUTE, ServerHistory, a_scan, past_of


@st.composite
def sets_of_scans(draw: st.DrawFn) -> list[Judged]:
    scans = []
    for seq in range(1, draw(st.integers(1, 7)) + 1):
        different: dict[str, Any] = draw(
            st.sampled_from(
                [
                    {},
                    {},
                    {"direction": "exit", "reason": "exited"},
                    {"admitted": False, "reason": "already_used"},
                    {"kind": "annulment", "admitted": False, "details": {"annuls": [3, 1, draw(st.integers(1, 7))]}},
                    {"mode": "test", "reason": "test_ok"},
                    {"revision": 2},
                    {"quarantined": True},
                    {"fork": True},
                    {"code_hash": b"other code hash!"},
                ]
            )
        )
        device, twin = draw(st.integers(3, 5)), draw(st.booleans())
        scan = a_scan(draw(st.integers(0, 4)), **{"device": device, **different})
        scans.append(structs.replace(scan, entry=structs.replace(scan.entry, seq=seq if twin else 1)))
    return scans


@given(sets_of_scans(), st.data())
def test_every_order_of_upload_and_every_repetition_has_the_same_result(
    scans: list[Judged], data: st.DataObject
) -> None:
    row = a_ticket_row(entitlement=data.draw(st.sampled_from(Entitlement)), limit=1)
    past = past_of(row, replace(row, state=TicketState.BLOCKED), since=(0, EIGHT + 2 * MINUTE))
    # Two uploads of one entry are the same entry: what the store found out about it is the same as well.
    known = list({(one.entry.device, one.entry.seq, repr(one.entry)): one for one in scans}.values())
    expected = reconcile(known, past)
    again = data.draw(st.permutations(known)) + data.draw(st.lists(st.sampled_from(known), max_size=4))
    assert reconcile(again, past) == expected


@given(sets_of_scans(), st.integers(0, 7))
def test_batches_have_the_same_result_as_all_at_once(scans: list[Judged], cut: int) -> None:
    known = list({(one.entry.device, one.entry.seq, repr(one.entry)): one for one in scans}.values())
    store: list[Judged] = []
    for batch in (known[cut:], known[:cut], known[cut:]):
        store += batch
        last = reconcile(store, ServerHistory())
    assert last == reconcile(known, ServerHistory())


@given(sets_of_scans())
def test_any_set_of_scans_can_be_reconciled(scans: list[Judged]) -> None:
    outcome = reconcile(scans, ServerHistory())
    assert set(outcome.history) <= set(outcome.counted)
    assert sum(one.kind == ConflictKind.DUPLICATE for one in outcome.conflicts) == len(outcome.counted) - len(
        outcome.history
    )
    assert outcome.rightful is None or outcome.rightful.entry.admitted
