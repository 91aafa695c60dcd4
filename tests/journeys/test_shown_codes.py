"""What can go wrong while a gate is shown its enrolment code: it stays nobody's, says why, and takes the next code."""

from __future__ import annotations

import threading
from contextlib import nullcontext
from dataclasses import dataclass, field, replace

import pytest
from msgspec import structs

from gate_app.gate_context import GateContext
from gate_app.running.enrolling import Enrolling
from gate_app.screen.feed import Feed
from gate_app.sync.client import HttpRequest, HttpResponse
from gate_app.words import say
from shared.errors import Conflict
from shared.wire.enrolment import Code, new_code, parse
from shared.wire.protocol import EnrolAnswer, decode, encode
from tests.gate_builders import Hands, a_code, chance
from tests.journeys.network_link import Deliver, NetworkLink
from tests.journeys.simulated_gate import ADDRESS, SimulatedGate
from tests.journeys.world import World


class PowerCutError(BaseException):
    """The machine stands still; nothing catches this."""


@dataclass
class BareGate:
    """A gate that runs and waits for a code, whose reader is shown what a test holds before it."""

    world: World
    machine: SimulatedGate
    finished: list[str] = field(default_factory=list)
    feed: Feed = field(init=False)
    enrolling: Enrolling = field(init=False)

    def start(self) -> None:
        """The program starts, also after a power cut."""
        self.machine._open()
        self.feed = Feed(self.machine.hands.monotonic)
        self.enrolling = Enrolling(
            self.context, self.feed, self.finished.append, lambda _config: nullcontext(self.machine.link)
        )

    def shown(self, text: str) -> str:
        """What the screen says after this was held before the reader; once enrolled, when all is opened again."""
        before = len(self.finished)
        assert self.enrolling.takes(text)
        return self.finished[-1] if len(self.finished) > before else self.feed.view().condition.why

    def loses_power(self) -> None:
        self.machine.lose_power()
        self.start()

    @property
    def context(self) -> GateContext:
        return self.machine.context

    @property
    def asked(self) -> int:
        """How often it has asked a server."""
        return len(self.machine.link.requested_paths)

    @property
    def waits(self) -> bool:
        """Whether it belongs to nobody and waits, now and after the next start."""
        before = self.enrolling.waits
        self.loses_power()
        return before and self.enrolling.waits


@pytest.fixture
def bare(world: World) -> BareGate:
    link = NetworkLink(lambda: world.app)
    machine = SimulatedGate("bare", world.folder / "bare", Hands(world.now), link)
    world.gates["bare"] = machine
    gate = BareGate(world, machine)
    gate.start()
    return gate


def a_device(world: World, name: str = "West lane") -> str:
    device = world.ask("POST", "/api/devices", {"name": name})
    work = {"assignments": [{"event_id": world.event.id, "gate": world.gate_numbers["A"]}]}
    world.ask("PUT", f"/api/devices/{device['id']}/assignments", work)
    return str(device["id"])


def a_code_of(world: World, device: str) -> Code:
    return parse(world.ask("POST", f"/api/devices/{device}/code")["code"])


def enrols_at_once(bare: BareGate, device: str) -> None:
    """The next code works, and the gate that is opened again admits."""
    assert "the same number" in bare.shown(a_code_of(bare.world, device).shown(ADDRESS))
    assert len(bare.finished) == 1
    bare.machine.switch_off()
    bare.machine.switch_on()
    ticket = bare.world.sell_one()
    assert "error" not in bare.machine.sync()
    assert bare.machine.reason(ticket.code) == "admitted"


def test_a_code_that_another_machine_has_used(world: World, bare: BareGate) -> None:
    device = a_device(world)
    code = a_code_of(world, device)
    thief = SimulatedGate("thief", world.folder / "thief", Hands(world.now), NetworkLink(lambda: world.app))
    thief.enrol(code.text)
    world.gates["thief"] = thief
    assert "used already. Ask for a new code" in bare.shown(code.shown(ADDRESS))
    assert (bare.finished, bare.waits) == ([], True)
    enrols_at_once(bare, device)


def test_the_code_is_still_held_up_when_the_gate_has_taken_it(world: World, bare: BareGate) -> None:
    code = a_code_of(world, a_device(world)).shown(ADDRESS)
    said = bare.shown(code)
    asked = bare.asked
    bare.shown(code)
    bare.loses_power()
    bare.shown(code)
    assert ("the same number" in said, bare.asked, len(bare.finished)) == (True, asked, 1)
    assert bare.feed.view().hint == say("enrolling.already")


def test_no_guest_turns_a_gate_over_to_somebody_else(world: World, bare: BareGate) -> None:
    bare.shown(a_code_of(world, a_device(world)).shown(ADDRESS))
    mine, asked = bare.context.require_enrolled(), bare.asked
    other = a_code_of(world, a_device(world, "Another"))
    bare.shown(other.shown(ADDRESS))
    with pytest.raises(Conflict, match="enrolled already"):
        bare.enrolling.typed(ADDRESS, other.text, "")
    bare.loses_power()
    assert (bare.context.require_enrolled().device_id, bare.asked) == (mine.device_id, asked)


def test_a_code_of_another_server(world: World, bare: BareGate) -> None:
    """Somebody shows a code of his own server, whose address he has put into ours: neither server is believed."""
    device = a_device(world)
    foreign = new_code(chance("foreign"), b"k" * 32)
    assert "did not issue that code" in bare.shown(foreign.shown(ADDRESS))
    assert (bare.finished, bare.waits) == ([], True)
    enrols_at_once(bare, device)


def test_a_server_that_answers_for_another(world: World, bare: BareGate) -> None:
    """It passes the question on to ours and puts its own key into the answer."""
    device = a_device(world)

    def between(request: HttpRequest, deliver: Deliver) -> HttpResponse:
        answer = deliver(request)
        said = decode(EnrolAnswer, answer.body)
        return replace(answer, body=encode(structs.replace(said, server_public=b"k" * 32)))

    bare.machine.link.fault = between
    assert "did not issue this code" in bare.shown(a_code_of(world, device).shown(ADDRESS))
    bare.machine.link.fault = None
    assert (bare.finished, bare.waits) == ([], True)
    enrols_at_once(bare, device)


def test_a_code_that_has_expired(world: World, bare: BareGate) -> None:
    device = a_device(world)
    code = a_code_of(world, device)
    world.advance(minutes=15)
    assert "expired. Ask for a new code" in bare.shown(code.shown(ADDRESS))
    assert (bare.finished, bare.waits) == ([], True)
    enrols_at_once(bare, device)


def test_a_picture_that_is_not_the_whole_code_asks_nobody(world: World, bare: BareGate) -> None:
    device = a_device(world)
    one, two = (a_code_of(world, device).shown(ADDRESS) for _ in range(2))
    half = len(parse(one).text.replace("-", ""))
    for text, words in (
        (one[:-4], "show the picture once more"),
        (one[:20], "it needs 28"),
        (one[:half] + two[half:], "show the picture once more"),
        (one[:6] + ("2" if one[6] != "2" else "3") + one[7:], "mistyped"),
        (one[:half], "does not say where its server is"),
    ):
        assert words in bare.shown(text), text
    assert (bare.asked, bare.finished, bare.waits) == (0, [], True)
    enrols_at_once(bare, device)


def test_a_ticket_is_no_enrolment_code(bare: BareGate) -> None:
    assert not bare.enrolling.takes(a_code(1))
    assert (bare.asked, bare.feed.view().condition.why) == (0, "")


def test_the_power_is_cut_when_the_server_has_taken_the_code(world: World, bare: BareGate) -> None:
    device = a_device(world)
    code = a_code_of(world, device).shown(ADDRESS)

    def cut(request: HttpRequest, deliver: Deliver) -> HttpResponse:
        deliver(request)
        raise PowerCutError

    bare.machine.link.fault = cut
    with pytest.raises(PowerCutError):
        bare.enrolling.takes(code)
    bare.machine.link.fault = None
    bare.loses_power()
    assert (bare.finished, bare.waits) == ([], True)
    assert "used already. Ask for a new code" in bare.shown(code), "its key is gone, and nobody else has it"
    enrols_at_once(bare, device)


def test_two_readers_see_the_code_in_the_same_moment(world: World, bare: BareGate) -> None:
    code = a_code_of(world, a_device(world)).shown(ADDRESS)
    begun, second = threading.Event(), threading.Thread(target=bare.enrolling.takes, args=(code,))

    def slow(request: HttpRequest, deliver: Deliver) -> HttpResponse:
        if not begun.is_set():
            begun.set()
            second.start()
            second.join(0.2)  # it waits its turn; were it let through, it would ask now
        return deliver(request)

    bare.machine.link.fault = slow
    assert "the same number" in bare.shown(code)
    second.join()
    assert (bare.asked, len(bare.finished)) == (1, 1)
