"""What guests are told whose code cannot be read, from what the camera measures."""

import numpy as np
import pytest

from hardware.ports import Hint
from hardware.vision.advice import advice
from hardware.vision.decoder import Decoder
from hardware.vision.stages import area_around
from tests.unit.hardware.images import Picture, blurred, code, damaged, faint, held_up, room, ticket_text

SCENE = room(640, 480)
WORN = damaged(code(ticket_text(), 5))


def hint(picture: Picture) -> Hint | None:
    return Decoder().frame(picture).hint


@pytest.mark.parametrize(
    ("picture", "expected"),
    [
        (held_up(WORN, SCENE, (100, 100)), Hint.HOLD_STILL),
        (held_up(damaged(code(ticket_text(), 1.6)), SCENE, (300, 200)), Hint.COME_CLOSER),
        (held_up(faint(WORN, 20, 50), np.minimum(SCENE, 50), (100, 100)), Hint.TOO_DARK),
        (held_up(faint(WORN, 190, 255), SCENE, (100, 100)), Hint.TOO_BRIGHT),
        (np.full((480, 640), 8, np.uint8), Hint.TOO_DARK),
        (np.full((480, 640), 250, np.uint8), Hint.TOO_BRIGHT),
        (blurred(SCENE, 3), None),
        (held_up(code(ticket_text(), 4), SCENE, (100, 100)), None),
    ],
    ids=["worn", "far", "dim display", "glaring display", "dark place", "blinded", "nobody", "readable"],
)
def test_the_hint_fits_what_is_wrong(picture: Picture, expected: Hint | None) -> None:
    assert hint(picture) == expected


def test_an_empty_dark_hall_is_not_told_anything_for_ever() -> None:
    decoder, dark = Decoder(), np.full((480, 640), 8, np.uint8)
    assert [decoder.frame(dark).hint for _ in range(60)][-1] is None


@pytest.mark.parametrize("at", [(0, 0), (639, 479), (700, 500), (-20, -20)])
def test_a_speck_at_the_edge_that_a_decoder_takes_for_a_code_harms_nothing(at: tuple[int, int]) -> None:
    speck = (at, (at[0] + 1, at[1]), (at[0] + 1, at[1] + 1), (at[0], at[1] + 1))
    assert advice(SCENE, speck, None) is not None
    rows, columns = area_around(speck, SCENE)
    assert SCENE[rows, columns].size > 0
