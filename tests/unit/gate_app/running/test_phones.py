"""Telephones that read tickets: each a lane of its own, for as long as its pairing lasts and not a moment longer."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cv2
import pytest

from gate_app.display.view import for_guests
from gate_app.indicators import Indicators
from gate_app.running.phones import open_phones
from gate_app.running.run import LampAndScreen, _serve
from gate_app.scanning.gate import Presentation
from gate_app.scanning.gathering import ScanOptions
from gate_app.scanning.parties import Parties
from gate_app.screen.feed import Feed
from gate_app.screen.server import ScreenServer
from gate_app.supervision.desk import Desk
from gate_app.supervision.phones import MOST_PHONES, SecureWay
from gate_app.supervision.screens import LINK_MS, OWNER, READER_MS, Role, Screen
from gate_app.words import say
from hardware.devices import open_typed_page
from hardware.fakes import FakeBarrier, FakeIndicator
from hardware.ports import Signal
from shared.errors import Conflict, Forbidden
from tests.gate_builders import GateAtHome, a_code, a_gate, a_party_code, the_house
from tests.unit.hardware.images import code, held_up, room

WAY = SecureWay(8143, "AA:BB")
PICTURE = {"Content-Type": "image/jpeg"}


def photograph(text: str) -> bytes:
    return bytes(cv2.imencode(".jpg", held_up(code(text, 4), room(640, 520), (20, 20)))[1].tobytes())


class Door:
    """A gate with a lamp and a barrier, and telephones beside it."""

    def __init__(self, folder: Path) -> None:
        from contextlib import ExitStack
        from functools import partial

        self.home: GateAtHome = a_gate(folder, the_house(8))
        context = self.home.context
        self.feed = Feed(self.home.hands.monotonic)
        self.light, self.barrier = FakeIndicator(), FakeBarrier()
        outputs = Indicators([self.light], self.barrier, lambda _fault: None, lambda _device: None)
        self.lamp = LampAndScreen(outputs, self.feed)
        self.parties = Parties(context.gate, context.time.monotonic_ms, asks=True, show=self.feed.party)
        self.desk: Desk = context.desk(self.lamp, parties=self.parties)
        self.cleanup = ExitStack()
        serve = partial(_serve, self.parties, lamp=self.lamp, feed=self.feed)
        self.phones = self.desk.phones = open_phones(context, self.desk.screens, self.feed, serve, self.cleanup)
        self.desk.typed = open_typed_page(self.home.hands.monotonic, "screen")
        self.phones.open_way, self.phones.way = lambda: WAY, lambda: WAY
        self.server = ScreenServer(self.feed, port=0, desk=self.desk)
        self.app = self.server.open().app
        assert self.app is not None

    def browser(self) -> Any:
        assert self.app is not None
        return self.app.test_client()

    def paired(self, **fields: str) -> Any:
        """A telephone's browser that has opened the link of a supervisor."""
        token = self.desk.perform("pair", {"role": "reader", **fields}, OWNER)["token"]
        browser = self.browser()
        assert browser.post("/pair", json={"token": token}).json == {"role": "reader"}
        return browser

    def photographed(self, browser: Any, text: str) -> Any:
        return browser.post("/reader/photograph", data=photograph(text), headers=PICTURE)

    def scan(self, browser: Any, text: str) -> Any:
        """Photographs a ticket, and waits for its entry in the journal."""
        before = len(self.home.presentations())
        assert self.photographed(browser, text).json["read"]
        for _ in range(2_000):
            if len(self.home.presentations()) > before:
                return self.home.presentations()[-1]
            threading.Event().wait(0.01)
        pytest.fail("the scan was never recorded")

    def readers(self) -> list[dict[str, Any]]:
        return [one for one in self.desk.perform("paired", {}, OWNER)["screens"] if one["role"] == "reader"]

    def close(self) -> None:
        self.cleanup.close()
        self.server.close()


@pytest.fixture
def door(tmp_path: Path) -> Iterator[Door]:
    opened = Door(tmp_path)
    yield opened
    opened.close()


def reader_screen(door: Door) -> Screen:
    return next(one for one in door.desk.screens.paired() if one.role is Role.READER)


def test_it_reads_under_a_name_that_no_other_ever_had(door: Door) -> None:
    first = door.paired(name="side door")
    assert door.scan(first, a_code(1)).reader == "phone 1 side door"
    door.desk.perform("unpair", {"screen": door.readers()[0]["id"]}, OWNER)
    second = door.paired(name="side door")
    entry = door.scan(second, a_code(2))
    assert (entry.reader, entry.admitted) == ("phone 2 side door", True)


def test_its_verdict_is_on_its_own_screen_and_neither_lamp_nor_barrier_answers(door: Door) -> None:
    browser = door.paired()
    door.scan(browser, a_code(1))
    assert (door.light.shown, door.barrier.openings) == ([], 0)
    assert door.feed.view().verdict is None, "the guests at the gate see nothing of it"
    verdict = door.feed.view("phone 1").verdict
    assert verdict is not None
    assert (verdict.heading, door.feed.view().admitted, len(door.feed.view().recent)) == ("COME IN", 1, 1)


def test_a_guest_at_the_gate_is_not_shown_on_the_telephone(door: Door) -> None:
    door.paired()
    door.home.context.gate.handle(Presentation(a_code(1), "left lane", ScanOptions()), door.lamp)
    assert (door.light.shown, door.barrier.openings) == ([Signal.ADMIT], 1)
    assert door.feed.view("phone 1").verdict is None


def test_one_ticket_at_a_telephone_and_at_the_gate_admits_once(door: Door) -> None:
    browser = door.paired()
    assert door.scan(browser, a_code(1)).reason == "admitted"
    again = door.home.context.gate.handle(Presentation(a_code(1), "left lane", ScanOptions()), door.lamp)
    assert again["reason"] == "already_used"
    door.home.context.gate.handle(Presentation(a_code(2), "left lane", ScanOptions()), door.lamp)
    assert door.scan(browser, a_code(2)).reason == "already_used"


def test_a_lost_telephone_reads_nothing_from_the_moment_it_is_removed(door: Door) -> None:
    browser = door.paired()
    before = len(door.home.presentations())
    door.desk.perform("unpair", {"screen": door.readers()[0]["id"]}, OWNER)
    for where in ("frame", "photograph", "here"):
        answer = browser.post(f"/reader/{where}", data=photograph(a_code(1)), headers=PICTURE)
        assert (answer.status_code, answer.json["error"]["code"]) == (403, "not_paired")
    assert b"unpaired" in browser.get("/stream?as=reader").data
    assert (len(door.home.presentations()), door.readers(), door.phones.names()) == (before, [], [])


def test_a_pairing_ends_by_itself(door: Door) -> None:
    browser = door.paired()
    door.home.hands.pass_ms(READER_MS)
    assert door.photographed(browser, a_code(1)).status_code == 403
    door.phones.tidy()
    assert door.phones.names() == []


def test_the_link_works_once_and_not_for_long(door: Door) -> None:
    token = door.desk.perform("pair", {"role": "reader"}, OWNER)["token"]
    assert door.browser().post("/pair", json={"token": token}).status_code == 200
    assert door.browser().post("/pair", json={"token": token}).json["error"]["code"] == "link_used"
    late = door.desk.perform("pair", {"role": "reader"}, OWNER)["token"]
    door.home.hands.pass_ms(LINK_MS)
    assert door.browser().post("/pair", json={"token": late}).json["error"]["code"] == "link_expired"


def test_whoever_is_not_paired_sends_no_picture(door: Door) -> None:
    assert door.photographed(door.browser(), a_code(1)).status_code == 403
    steward = door.browser()
    steward.post("/pair", json={"token": door.desk.perform("pair", {"role": "steward"}, OWNER)["token"]})
    assert door.photographed(steward, a_code(1)).status_code == 403


def test_a_telephone_only_reads(door: Door) -> None:
    browser = door.paired()
    assert browser.post("/desk/latest", json={}).status_code == 403
    assert browser.get("/steward").status_code == 403
    for action in ("find", "admit", "names", "annul", "situation", "loudness", "paired"):
        with pytest.raises(Forbidden):
            door.desk.perform(action, {}, reader_screen(door))


def test_it_chooses_who_of_a_party_comes_in_and_its_lane_alone_lists_them(door: Door) -> None:
    browser = door.paired()
    assert door.photographed(browser, a_party_code(3, 4)).json["read"]
    for _ in range(2_000):
        if door.feed.view("phone 1").party:
            break
        threading.Event().wait(0.01)
    listed = door.feed.view("phone 1").party
    assert listed is not None
    assert door.feed.view().party is None
    assert browser.post("/party/choose", json={"party": listed.number}).status_code == 200
    assert [entry.reader for entry in door.home.presentations() if entry.admitted] == ["phone 1"] * 2
    assert (door.light.shown, door.barrier.openings) == ([], 0)


def test_one_that_is_away_is_named_and_the_others_go_on(door: Door) -> None:
    away, here = door.paired(name="anna"), door.paired(name="ben")
    door.phones.lane(reader_screen(door)).reader.sign()
    door.home.hands.pass_ms(7_000)
    here.post("/reader/here")
    for _ in range(2_000):
        here.post("/reader/here")
        if (warnings := door.feed.view().condition.warnings) and len(warnings) == 1:
            break
        threading.Event().wait(0.01)
    (warning,) = door.feed.view().condition.warnings
    assert warning.startswith("phone 1 anna is away")
    assert door.scan(here, a_code(1)).admitted
    away.post("/reader/here")
    for _ in range(2_000):
        here.post("/reader/here")
        if not door.feed.view().condition.warnings:
            break
        threading.Event().wait(0.01)
    assert door.feed.view().condition.warnings == ()


def test_whoever_ends_reading_leaves_no_fault_behind(door: Door) -> None:
    browser = door.paired()
    assert browser.post("/reader/leave").status_code == 204
    assert door.photographed(browser, a_code(1)).status_code == 403
    assert (door.readers(), door.feed.view().condition.warnings) == ([], ())


def test_it_is_paired_after_a_restart_of_the_gate(door: Door) -> None:
    browser = door.paired()
    door.phones.close()
    assert door.phones.names() == []
    door.phones.tidy()
    assert door.scan(browser, a_code(1)).admitted


def test_a_gate_that_has_no_other_reader_says_until_one_comes_that_nobody_reads(door: Door) -> None:
    def shown() -> tuple[bool, str, int]:
        """Whether every screen calls it ready, why not, and how many warnings of it staff see."""
        now = for_guests(door.feed.view()).condition
        return now.ready, now.why, sum("No telephone" in each for each in door.feed.view().condition.warnings)

    missing = (False, say("phone.none_yet"), 1)
    door.phones.begin(awaited=False)
    assert shown() == (True, "", 0), "it has a reader of its own"
    door.phones.begin(awaited=True)
    assert shown() == missing
    browser = door.paired()
    assert shown() == (True, "", 0)
    assert door.scan(browser, a_code(1)).reader == "phone 1"
    door.desk.perform("unpair", {"screen": door.readers()[0]["id"]}, OWNER)
    assert shown() == missing


def test_what_is_missing_first_is_said_first(door: Door) -> None:
    door.phones.begin(awaited=True)
    door.feed.status({"ready": False, "not_ready": "This device is not enrolled"})
    assert door.feed.view().condition.why == "This device is not enrolled"
    door.feed.status({"ready": True})
    assert door.feed.view().condition.why == say("phone.none_yet")


def test_an_exit_is_an_exit_whatever_the_gate_is(door: Door) -> None:
    assert door.scan(door.paired(), a_code(1)).reason == "admitted"
    assert door.scan(door.paired(direction="exit"), a_code(1)).direction == "exit"


def test_there_is_room_for_so_many(door: Door) -> None:
    for _ in range(MOST_PHONES):
        door.paired()
    with pytest.raises(Conflict, match="already"):
        door.desk.perform("pair", {"role": "reader"}, OWNER)


def test_what_it_sends_is_small_one_at_a_time_and_a_picture(door: Door) -> None:
    browser = door.paired()
    lane = door.phones.lane(reader_screen(door))
    assert browser.post("/reader/frame", data=b"GIF89a", headers=PICTURE).status_code == 400
    assert browser.post("/reader/frame", data=photograph(a_code(1))).status_code == 400
    with lane.sending:
        answer = browser.post("/reader/frame", data=photograph(a_code(1)), headers=PICTURE)
    assert (answer.status_code, answer.json["error"]["code"]) == (409, "one_picture")


def test_what_is_typed_counts_on_the_gate_itself_and_on_staffs_screens_alone(door: Door) -> None:
    here, elsewhere = door.browser(), {"REMOTE_ADDR": "192.0.2.9"}
    assert here.post("/typed", json={"code": "CODE0001"}).status_code == 204
    assert b"typed.js" in here.get("/").data
    assert here.post("/typed", json={"code": "CODE0001"}, environ_base=elsewhere).status_code == 403
    assert b"typed.js" not in here.get("/", environ_base=elsewhere).data
    for role, status in (("steward", 204), ("reader", 403)):
        browser = door.browser()
        browser.post("/pair", json={"token": door.desk.perform("pair", {"role": role}, OWNER)["token"]})
        assert browser.post("/typed", json={"code": "X"}, environ_base=elsewhere).status_code == status
    for wrong in (["X"], {"code": 5}, {"code": "X" * 9_000}, {"code": ""}, {}):
        assert here.post("/typed", json=wrong).status_code == 400
    assert here.post("/typed", data='{"code": "X"}').status_code == 400, "no form of another website sends it"


def test_names_are_on_no_telephone(door: Door) -> None:
    browser = door.paired()
    lane = door.browser().get("/stream?as=reader")
    assert lane.status_code == 200
    stream = browser.get("/reader")
    assert b"phone 1" in stream.data
    assert "camera=(self)" in stream.headers["Permissions-Policy"]
    assert "camera=()" in browser.get("/").headers["Permissions-Policy"]
