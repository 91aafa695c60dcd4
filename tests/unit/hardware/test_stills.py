"""Pictures that stand still: codes that no decoder reads as they are, and all codes of one picture."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from hardware.simulated.carriers import TEXTURE_PX, Carrier, Drawing, draw
from hardware.simulated.scene import Optics, Pose, Scene
from hardware.vision.alignment import squares_of
from hardware.vision.decoder import Decoder
from hardware.vision.finders import finders, triples
from hardware.vision.fronts import candidates
from hardware.vision.pixels import Image, grey
from hardware.vision.stages import read_zxing
from hardware.vision.stills import decode_still
from scripts.benchmarking.gates.hard_codes import ticket_text
from tests.unit.hardware.images import code as printed

TEXT = ticket_text(4_711)
SIZE = (960, 720)


def held(drawing: Drawing, module_px: float = 4.5, *, seed: int = 3, yaw: float = 0) -> Image:
    """A picture of something that is held up, a little askew."""
    scene = Scene(*SIZE, np.random.default_rng(seed))
    return scene.frame([(drawing, Pose(480, 360, module_px, roll=7, yaw=yaw))], Optics(noise=3))


def plain(carrier: Carrier = Carrier.PHONE) -> Drawing:
    """What is held up, drawn flat."""
    return draw(TEXT, carrier, np.random.default_rng(5))


def with_hidden_corner(corner: int) -> Drawing:
    """A lamp is mirrored in the glass, over one of the three squares of the code."""
    drawing = plain()
    pixels, inward = drawing.pixels.copy(), np.sign(drawing.code.mean(axis=0) - drawing.code[corner])
    middle = drawing.code[corner] + inward * 3.5 * TEXTURE_PX
    cv2.circle(pixels, (int(middle[0]), int(middle[1])), 5 * TEXTURE_PX, 255, -1)
    return Drawing(pixels, drawing.module_px, drawing.code)


def folded_through_two_squares(at: float) -> Drawing:
    """A sheet folded so many modules below the upper edge of its code: no ink on the edge, and shade below it."""
    drawing = plain(Carrier.PAPER)
    pixels, edge = drawing.pixels.astype(np.float32), int(drawing.code[0][1] + at * TEXTURE_PX)
    pixels[edge:] *= 0.75
    worn = slice(edge - TEXTURE_PX // 2, edge + TEXTURE_PX // 2)
    pixels[worn] = np.maximum(pixels[worn], 150)
    return Drawing(np.asarray(pixels, np.uint8), drawing.module_px, drawing.code)


def scratched() -> Drawing:
    """Glass with scratches that shine, each much thinner than a module."""
    drawing, chance = plain(), np.random.default_rng(6)
    pixels, (left, top), size = drawing.pixels.copy(), drawing.code[0].astype(int), 45 * TEXTURE_PX
    for _ in range(45):
        ends = chance.integers(0, size, (2, 2)) + np.array([left, top])
        cv2.line(pixels, ends[0].tolist(), ends[1].tolist(), 230, 2, cv2.LINE_AA)
    return Drawing(pixels, drawing.module_px, drawing.code)


def read_by_a_camera(drawing: Drawing, *, yaw: float = 0, module_px: float = 3) -> str:
    """The stage that first reads what is held before a camera; empty if none does in forty frames."""
    decoder, scene = Decoder(), Scene(640, 480, np.random.default_rng(8))
    poses = (Pose(320 + n % 3, 240, module_px, roll=5, yaw=yaw) for n in range(40))
    seen = (decoder.frame(scene.frame([(drawing, pose)], Optics(noise=3))) for pose in poses)
    return next((decoded.stage for decoded in seen if decoded.codes == (TEXT,)), "")


def around_a_bottle() -> Drawing:
    """The label of a bottle: its sides are pressed together."""
    drawing = plain(Carrier.PAPER)
    (left, top), (right, bottom) = drawing.code[0].astype(int), drawing.code[2].astype(int)
    margin = 5 * TEXTURE_PX
    label = drawing.pixels[top - margin : bottom + margin, left - margin : right + margin]
    across, bend = label.shape[1], 1.1
    seen = np.linspace(-1, 1, across) * np.sin(bend)
    columns = np.tile(((np.arcsin(seen) / bend + 1) / 2 * (across - 1)).astype(np.float32), (label.shape[0], 1))
    rows = np.tile(np.arange(label.shape[0], dtype=np.float32)[:, None], (1, across))
    bent = np.asarray(cv2.remap(label, columns, rows, cv2.INTER_LINEAR), np.uint8)
    edge = float(margin)
    corners = [[edge, edge], [across - edge, edge], [across - edge, across - edge], [edge, across - edge]]
    return Drawing(bent, drawing.module_px, np.array(corners, np.float32))


def in_hard_shade(picture: Image) -> Image:
    """Railings throw their shade over it."""
    light = np.ones(picture.shape, np.float32)
    for left in range(0, picture.shape[1], 90):
        light[:, left : left + 38] = 0.22
    return np.asarray(picture * cv2.GaussianBlur(light, (0, 0), 3), np.uint8)


@pytest.mark.parametrize("corner", [0, 1, 3])
def test_a_code_is_read_of_which_a_reflection_hides_a_corner(corner: int) -> None:
    picture = held(with_hidden_corner(corner))
    assert not read_zxing(picture).found
    assert decode_still(picture).codes == (TEXT,)


def test_the_same_on_a_telephone_that_is_held_still_before_a_camera() -> None:
    assert read_by_a_camera(with_hidden_corner(1)) == "straightened"


@pytest.mark.parametrize("corner", [0, 1, 3])
def test_the_same_on_a_telephone_that_is_held_askew(corner: int) -> None:
    """What is hidden lies elsewhere than on a telephone that is held straight: the small squares tell where."""
    assert read_by_a_camera(with_hidden_corner(corner), yaw=28) == "straightened"


@pytest.mark.parametrize("edge", [3, 4])
def test_a_sheet_is_read_that_is_folded_through_two_squares(edge: float) -> None:
    drawing = folded_through_two_squares(edge)
    assert not read_zxing(held(drawing)).found
    assert read_by_a_camera(drawing) == "straightened"
    assert decode_still(held(drawing)).codes == (TEXT,)


def test_a_code_is_read_under_glass_with_scratches_that_shine() -> None:
    drawing = scratched()
    assert not read_zxing(held(drawing)).found
    assert read_by_a_camera(drawing, module_px=4) == "straightened"


@pytest.mark.parametrize(
    ("dimension", "ends"),
    [
        (21, ()),
        (25, (6, 18)),
        (45, (6, 22, 38)),
        (17 + 4 * 32, (6, 34, 60, 86, 112, 138)),
        (177, (6, 30, 58, 86, 114, 142, 170)),
    ],
)
def test_small_squares_are_where_the_standard_puts_them(dimension: int, ends: tuple[int, ...]) -> None:
    corners = {(6, 6), (6, dimension - 7), (dimension - 7, 6)}
    middles = {(x, y) for x in ends for y in ends if (x, y) not in corners}
    assert {(int(x), int(y)) for x, y in squares_of(dimension)} == middles


def test_a_code_around_a_bottle_is_read() -> None:
    picture = held(around_a_bottle())
    assert not read_zxing(picture).found
    assert decode_still(picture).codes == (TEXT,)


def test_a_code_in_hard_shade_is_read() -> None:
    picture = in_hard_shade(held(plain(Carrier.PAPER)))
    assert not read_zxing(picture).found
    assert decode_still(picture).codes == (TEXT,)


def test_every_code_of_a_picture_is_listed_however_hard_it_is() -> None:
    chance = np.random.default_rng(2)
    scene, texts = Scene(1280, 720, chance), [ticket_text(seed) for seed in (1, 2, 3)]
    carriers = (Carrier.PHONE, Carrier.INVERTED, Carrier.DIM_PHONE)
    shown = [
        (draw(text, kind, chance), Pose(220 + 420 * n, 360, 4))
        for n, (text, kind) in enumerate(zip(texts, carriers, strict=True))
    ]
    assert set(decode_still(scene.frame(shown, Optics(noise=6))).codes) == set(texts)


@pytest.mark.parametrize("seed", [2, 5, 7, 11])
def test_a_code_in_hard_shade_is_listed_beside_one_in_the_light(seed: int) -> None:
    """The one in the light is read at once, and must not end the search."""
    chance, texts = np.random.default_rng(seed), [ticket_text(seed * 10 + n) for n in (1, 2)]
    scene = Scene(1280, 720, chance)
    shown = [
        (draw(text, Carrier.PAPER, chance), Pose(320 + 600 * n, 360, 4.5, roll=float(chance.normal(0, 6))))
        for n, text in enumerate(texts)
    ]
    picture = scene.frame(shown, Optics(noise=3))
    picture[:, 640:] = in_hard_shade(np.ascontiguousarray(picture[:, 640:]))
    assert [code.text for code in read_zxing(picture).found] == texts[:1]
    assert set(decode_still(picture).codes) == set(texts)


def test_the_corners_of_a_straightened_code_are_where_it_is() -> None:
    picture = in_hard_shade(held(plain(Carrier.PAPER)))
    (code,) = decode_still(picture).found
    middle = np.mean(code.corners, axis=0)
    assert np.linalg.norm(middle - (480, 360)) < 40


def test_a_place_without_codes_has_neither_patterns_of_a_code_nor_texts() -> None:
    for seed in range(6):
        empty = Scene(*SIZE, np.random.default_rng(seed)).frame([], Optics())
        assert decode_still(empty).codes == ()
        found = finders(empty)
        assert triples(found) == []
        assert [one for one in candidates(empty, found, 4) if one.mapping is not None] == []


@pytest.mark.parametrize("shape", [(1, 1), (1, 5_000), (5_000, 1), (3, 20_000), (7, 7), (20, 30, 4), (2, 9_000, 3)])
def test_a_picture_of_a_line_or_a_dot_has_no_code_and_is_no_error(shape: tuple[int, ...]) -> None:
    picture = np.random.default_rng(8).integers(0, 256, shape).astype(np.uint8)
    assert decode_still(picture).codes == ()
    assert Decoder().frame(picture).codes == ()


@pytest.mark.parametrize("ink", [0, 255], ids=["for light pages", "for dark pages"])
def test_a_code_that_was_saved_without_its_paper_is_read(ink: int) -> None:
    opacity = 255 - printed(TEXT, 4)
    picture = np.dstack([np.full_like(opacity, ink)] * 3 + [opacity])
    assert decode_still(picture).codes == (TEXT,)


def test_a_code_in_a_colour_as_bright_as_its_paper_is_read() -> None:
    dark = printed(TEXT, 6) == 0
    picture = np.where(dark[..., None], (0, 130, 0), (0, 0, 255)).astype(np.uint8)
    assert np.ptp(grey(picture)) < 2
    seen = decode_still(picture)
    assert (seen.codes, seen.stage) == ((TEXT,), "coloured")
