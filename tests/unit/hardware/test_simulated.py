"""Simulated guests: the same seed gives the same frames, and what they show can be read by a camera near enough."""

from collections.abc import Callable
from itertools import groupby

import numpy as np
import pytest
import zxingcpp

from hardware.simulated.camera import Arrival, AtOnce, SimulatedCamera, Turn
from hardware.simulated.carriers import Carrier, draw
from hardware.simulated.guests import SHARE, a_guest, again
from hardware.simulated.scene import Optics, Pose, Scene
from hardware.vision.pixels import Image
from hardware.vision.stills import decode_still
from tests.unit.hardware.images import ticket_text

TEXT = ticket_text()


def seen(carrier: Carrier, pose: Pose, seed: int = 1) -> Image:
    chance = np.random.default_rng(seed)
    scene = Scene(1280, 720, chance)
    return scene.frame([(draw(TEXT, carrier, chance), pose)], Optics(noise=2))


@pytest.mark.parametrize("carrier", Carrier)
def test_everything_that_guests_show_is_a_readable_ticket_close_up(carrier: Carrier) -> None:
    close = Pose(640, 360, 5, roll=8, yaw=10, pitch=-5)
    read = [seed for seed in range(4) if decode_still(seen(carrier, close, seed)).codes == (TEXT,)]
    assert len(read) >= 3


def test_a_code_is_where_its_pose_says() -> None:
    (found,) = zxingcpp.read_barcodes(seen(Carrier.PHONE, Pose(500, 300, 4)))
    corners = (found.position.top_left, found.position.bottom_right)
    middle = [sum(getattr(corner, axis) for corner in corners) / 2 for axis in "xy"]
    assert (abs(middle[0] - 500) < 4, abs(middle[1] - 300) < 4) == (True, True)
    assert abs(corners[1].x - corners[0].x - 45 * 4) < 8


def test_the_same_seed_gives_the_same_guest_and_another_seed_another() -> None:
    def frame(seed: int) -> Image:
        chance = np.random.default_rng(seed)
        guest = a_guest(TEXT, chance, 480)
        return Scene(640, 480, chance).frame([(guest.drawing, guest.pose(0.6, 640, 480))], guest.optics(0.6))

    assert np.array_equal(frame(5), frame(5))
    assert not np.array_equal(frame(5), frame(6))


def test_the_shares_of_guests_are_a_whole() -> None:
    assert sum(SHARE.values()) == 100
    assert set(SHARE) == set(Carrier)


def unanswered(until: Callable[[Turn], bool] = lambda _turn: False) -> tuple[Turn, list[int]]:
    """The turn of a guest whom the gate answers when `until` says so; at which try each frame was, 0 without a code."""
    tempo, over, tries = AtOnce(), list[Turn](), list[int]()
    guest = a_guest(TEXT, np.random.default_rng(4), 480)
    camera = SimulatedCamera(
        iter([Arrival(1, guest, 0)]),
        Scene(640, 480, np.random.default_rng(5)),
        tempo,
        frames_a_second=2,
        on_turn_over=over.append,
        on_frame=lambda turn, _pixels: tries.append(turn.tries if turn else 0),
    )
    while not over:
        camera.newest(1)
        if camera.turn is not None and until(camera.turn):
            camera.served()
    return over[0], tries


def test_a_guest_without_an_answer_takes_the_code_away_and_holds_it_up_anew() -> None:
    turn, tries = unanswered()
    assert [number for number, _ in groupby(tries)] == [1, 0, 2, 0, 3, 0]
    assert [len(list(frames)) for number, frames in groupby(tries) if not number][:2] == [3, 3], "longer than a second"
    assert (turn.tries, turn.read_after) == (3, None)


def test_a_guest_who_is_answered_at_the_second_try_goes_on() -> None:
    turn, tries = unanswered(until=lambda turn: turn.tries == 2 and turn.frames > 16)
    assert (turn.tries, turn.read_after, max(tries)) == (2, 17, 2)


@pytest.mark.parametrize(("carrier", "same"), [(Carrier.FOLDED, True), (Carrier.CRACKED, True), (Carrier.GLARE, False)])
def test_the_same_thing_is_held_up_anew_in_another_way(carrier: Carrier, same: bool) -> None:
    chance = np.random.default_rng(6)
    first = a_guest(TEXT, chance, 480, carrier)
    second = again(first, chance, 480)
    assert np.array_equal(first.drawing.pixels, second.drawing.pixels) is same
    assert (first.roll, first.end) != (second.roll, second.end)
