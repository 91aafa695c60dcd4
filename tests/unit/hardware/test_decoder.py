"""What the camera's pipeline reads, what it leaves alone, and how little it does when nothing happens."""

from pathlib import Path

import cv2
import numpy as np
import pytest
import zxingcpp

from hardware.ports import DeviceError
from hardware.vision.decoder import Decoder
from hardware.vision.pixels import grey
from hardware.vision.stills import decode_image, decode_still
from tests.unit.hardware.images import (
    Picture,
    blurred,
    code,
    damaged,
    faint,
    grainy,
    held_up,
    inverted,
    room,
    ticket_text,
    tilted,
    turned,
)

TEXT = ticket_text()
SCENE = room()


@pytest.mark.parametrize(
    ("situation", "picture"),
    [
        ("straight", code(TEXT)),
        ("upside down", turned(code(TEXT), 180)),
        ("held askew", turned(code(TEXT), 33)),
        ("seen from the side", tilted(code(TEXT), 0.5)),
        ("in a mirroring camera", code(TEXT)[:, ::-1].copy()),
        ("dark mode, light on dark", inverted(code(TEXT))),
        ("out of focus", blurred(code(TEXT), 1.5)),
        ("a dim display", faint(code(TEXT))),
        ("the smallest promised size, in a room", held_up(code(TEXT, 2), SCENE)),
        ("large, in a room", held_up(code(TEXT, 8), SCENE)),
        ("high gain at night", grainy(code(TEXT), 40)),
    ],
)
def test_a_ticket_is_read_whole(situation: str, picture: Picture) -> None:
    assert decode_still(picture).codes == (TEXT,)


@pytest.mark.parametrize(
    ("picture", "stage"),
    [
        (held_up(blurred(code(TEXT, 3), 1.8), SCENE), "sharpened"),
        (grainy(code(TEXT), 60), "smoothed"),
        (faint(code(TEXT), 120, 128), "levelled"),
    ],
)
def test_a_spoiled_code_is_read_by_the_stage_made_for_it(picture: Picture, stage: str) -> None:
    decoded = decode_still(picture)
    assert (decoded.codes, decoded.stage) == ((TEXT,), stage)


def test_two_phones_at_once_give_two_codes() -> None:
    other = ticket_text(2)
    both = held_up(code(TEXT, 3), held_up(code(other, 3), SCENE, (800, 300)), (100, 100))
    assert set(decode_still(both).codes) == {TEXT, other}


def test_the_same_code_twice_in_a_image_is_one_code() -> None:
    twice = held_up(code(TEXT, 3), held_up(code(TEXT, 3), SCENE, (800, 300)), (100, 100))
    assert decode_still(twice).codes == (TEXT,)


def test_an_empty_room_gives_nothing() -> None:
    decoded = decode_still(SCENE)
    assert (decoded.codes, decoded.located) == ((), None)


@pytest.mark.parametrize("kind", ["EAN13", "Code128", "DataMatrix", "Aztec", "MicroQRCode", "RMQRCode"])
def test_a_code_on_a_drinks_can_is_not_a_ticket(kind: str) -> None:
    wanted = getattr(zxingcpp.BarcodeFormat, kind)
    printed = np.array(zxingcpp.write_barcode_to_image(zxingcpp.create_barcode("4006381333931", wanted), scale=3))
    assert decode_still(np.pad(printed, 30, constant_values=255)).codes == ()


def test_a_worn_code_is_glimpsed_but_not_invented() -> None:
    decoded = decode_still(held_up(damaged(code(TEXT, 5)), SCENE))
    assert decoded.codes == ()
    assert decoded.glimpsed


def test_a_code_that_is_read_is_not_called_glimpsed() -> None:
    assert not decode_still(code(TEXT)).glimpsed


class TestFrames:
    """One camera's frames, one after the other."""

    HARD = faint(code(TEXT), 120, 128)

    def test_an_easy_code_is_read_at_once(self) -> None:
        assert Decoder().frame(held_up(code(TEXT, 3), SCENE)).stage == "plain"

    def test_each_missed_frame_gets_one_further_stage_in_turn(self) -> None:
        decoder = Decoder()
        moving = [held_up(damaged(code(TEXT, 5)), SCENE, (n * 40, 100)) for n in range(6)]
        tried = [decoder.frame(frame).stage for frame in moving]
        assert tried == ["sharpened", "levelled", "smoothed", "stretched", "pyzbar", "straightened"]

    def test_a_hard_code_held_still_is_read_within_one_round_of_stages(self) -> None:
        decoder = Decoder()
        outcomes = [decoder.frame(self.HARD) for _ in range(5)]
        assert any(outcome.codes == (TEXT,) for outcome in outcomes)

    def test_the_stage_that_read_a_code_goes_on_with_it(self) -> None:
        decoder = Decoder()
        outcomes = [decoder.frame(self.HARD) for _ in range(8)]
        assert [outcome.stage for outcome in outcomes if outcome.codes] == ["levelled"] * 7

    def test_an_unmoving_scene_is_left_alone_after_a_while(self) -> None:
        decoder = Decoder()
        tried = [decoder.frame(grainy(SCENE, 2, seed)).stage for seed in range(60)]
        assert tried[0] != "plain"
        assert set(tried[-10:]) == {"plain"}

    def test_a_guest_who_steps_up_wakes_the_further_stages(self) -> None:
        decoder = Decoder()
        for _ in range(60):
            decoder.frame(SCENE)
        assert decoder.frame(held_up(damaged(code(TEXT, 5)), SCENE)).stage != "plain"

    def test_a_small_phone_far_off_is_noticed_too(self) -> None:
        decoder, scene = Decoder(), room(640, 480)
        for seed in range(60):
            decoder.frame(grainy(scene, 3, seed))
        far = held_up(damaged(code(TEXT, 1.9)), scene, (300, 200))
        assert decoder.frame(grainy(far, 3, 99)).stage != "plain"

    def test_everybody_who_walks_up_with_a_dim_phone_is_read(self) -> None:
        assert [person for person in range(5) if not read_on_approach(person)] == []


def read_on_approach(person: int) -> bool:
    """A phone that comes nearer over 20 frames of a small camera, dim, a little blurred and askew."""
    decoder, text, scene = Decoder(), ticket_text(person), room(640, 480, person)
    for step in range(20):
        size = 1.5 + step * 0.08
        phone = faint(blurred(turned(code(text, size), person * 7 - 14), 0.9), 90, 150)
        shown = held_up(phone, scene, (40 + 3 * step, 20 + step))
        if decoder.frame(grainy(shown, 4, step)).codes == (text,):
            return True
    return False


class TestFiles:
    """Pictures that somebody hands to the command line."""

    def test_a_colour_photograph_is_read(self, tmp_path: Path) -> None:
        file = tmp_path / "phone.jpg"
        cv2.imwrite(str(file), cv2.cvtColor(held_up(code(TEXT, 4), SCENE), cv2.COLOR_GRAY2BGR))
        assert decode_image(file).codes == (TEXT,)

    def test_black_on_transparent_is_read_as_on_paper(self, tmp_path: Path) -> None:
        ink = code(TEXT)
        transparent = np.dstack([np.zeros_like(ink)] * 3 + [255 - ink])
        file = tmp_path / "ticket.png"
        cv2.imwrite(str(file), transparent)
        assert decode_image(file).codes == (TEXT,)

    def test_a_image_of_sixteen_bits_is_read(self, tmp_path: Path) -> None:
        file = tmp_path / "scan.png"
        cv2.imwrite(str(file), code(TEXT).astype(np.uint16) * 257)
        assert decode_image(file).codes == (TEXT,)

    @pytest.mark.parametrize("content", [b"", b"no picture", b"\x89PNG\r\n\x1a\n" + b"\x00" * 40])
    def test_what_is_not_an_image_is_said_in_words(self, tmp_path: Path, content: bytes) -> None:
        file = tmp_path / "ticket.png"
        file.write_bytes(content)
        with pytest.raises(DeviceError, match="not an image") as refused:
            decode_image(file)
        assert refused.value.device == "ticket.png"

    def test_a_missing_file_is_said_in_words(self, tmp_path: Path) -> None:
        with pytest.raises(DeviceError, match="No such file"):
            decode_image(tmp_path / "nowhere.png")


def test_the_brightness_plane_of_a_packed_camera_frame_is_used_as_it_is() -> None:
    packed = np.dstack([code(TEXT), np.full_like(code(TEXT), 128)])
    assert np.array_equal(grey(packed), code(TEXT))
