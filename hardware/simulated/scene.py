"""What a camera at a door sees: a place, carriers held in front of it, and the camera's own faults."""

from dataclasses import dataclass, field

import cv2
import numpy as np

from hardware.simulated.carriers import Chance, Drawing
from hardware.vision.pixels import Image

NOISE_FIELDS = 4
FOCAL = 1.1
"""The focal length of an ordinary webcam, in widths of its picture."""


@dataclass(frozen=True, slots=True)
class Pose:
    """How a carrier is held: where its code is in the frame, how large, and how it is turned."""

    x: float
    y: float
    """The middle of the code, in pixels of the frame."""
    module_px: float
    """The size of a module in the frame, were it held straight."""
    roll: float = 0
    yaw: float = 0
    pitch: float = 0
    """Turned in the picture, and tilted about the upright and the level axis, in degrees."""


@dataclass(frozen=True, slots=True)
class Optics:
    """The camera's faults in one frame."""

    focus: float = 0.5
    """Blur, as sigma in pixels."""
    motion_px: float = 0
    motion_degrees: float = 0
    noise: float = 3
    gain: float = 1
    lift: float = 0
    """Light that is added everywhere, as by fog on a lens."""
    jpeg: int | None = None


def homography(drawing: Drawing, pose: Pose, width: int) -> Image:
    """Maps the drawing into the frame by an ordinary camera."""
    yaw, pitch, roll = (np.deg2rad(angle) for angle in (pose.yaw, pose.pitch, pose.roll))
    about_y = np.array([[np.cos(yaw), 0, np.sin(yaw)], [0, 1, 0], [-np.sin(yaw), 0, np.cos(yaw)]])
    about_x = np.array([[1, 0, 0], [0, np.cos(pitch), -np.sin(pitch)], [0, np.sin(pitch), np.cos(pitch)]])
    about_z = np.array([[np.cos(roll), -np.sin(roll), 0], [np.sin(roll), np.cos(roll), 0], [0, 0, 1]])
    turned = about_z @ about_x @ about_y
    focal = FOCAL * width
    distance = focal * drawing.module_px / pose.module_px
    middle = drawing.code.mean(axis=0)
    centred = np.array([[1, 0, -middle[0]], [0, 1, -middle[1]], [0, 0, 1]])
    placed = np.column_stack([turned[:, 0], turned[:, 1], [0, 0, distance]])
    seen = np.array([[focal, 0, pose.x], [0, focal, pose.y], [0, 0, 1]])
    whole = seen @ placed @ centred
    return np.asarray(whole / whole[2, 2])


@dataclass
class Scene:
    """A place, and the noise of one camera; the same seed gives the same frames."""

    width: int
    height: int
    chance: Chance
    brightness: float = 1
    _place: Image = field(init=False)
    _noise: list[np.ndarray] = field(init=False)

    def __post_init__(self) -> None:
        shape = (self.height + 16, self.width + 16)
        self._noise = [self.chance.standard_normal(shape, dtype=np.float32) for _ in range(NOISE_FIELDS)]
        self._place = self._drawn_place()

    def frame(self, held: list[tuple[Drawing, Pose]], optics: Optics) -> Image:
        """What the camera sees while these are held up; later ones are in front."""
        seen = self._place.copy()
        for drawing, pose in held:
            _hold(seen, drawing, pose)
        return self._taken(seen, optics)

    def _taken(self, seen: Image, optics: Optics) -> Image:
        if optics.motion_px >= 1:
            seen = np.asarray(cv2.filter2D(seen, -1, _streak(optics.motion_px, optics.motion_degrees)), np.uint8)
        if optics.focus > 0:
            seen = np.asarray(cv2.GaussianBlur(seen, (0, 0), optics.focus), np.uint8)
        light = seen.astype(np.float32) * optics.gain + optics.lift
        noisy = light + self._some_noise() * optics.noise
        taken = np.asarray(np.clip(noisy, 0, 255), dtype=np.uint8)
        return taken if optics.jpeg is None else _compressed(taken, optics.jpeg)

    def _some_noise(self) -> np.ndarray:
        across, down = self.chance.integers(0, 16, 2)
        field_of_noise = self._noise[int(self.chance.integers(0, NOISE_FIELDS))]
        return field_of_noise[down : down + self.height, across : across + self.width]

    def _drawn_place(self) -> Image:
        """Walls, posts, lamps, people who stand about, and a checked jacket."""
        chance, place = self.chance, np.full((self.height, self.width), 90, dtype=np.float32)
        place += np.linspace(-30, 30, self.width, dtype=np.float32)
        for _ in range(40):
            corner = chance.integers((0, 0), (self.width, self.height))
            size = chance.integers(self.height // 40, self.height // 4, 2)
            cv2.rectangle(place, corner.tolist(), (corner + size).tolist(), float(chance.integers(0, 255)), -1)
        for _ in range(6):
            at = chance.integers((0, 0), (self.width, self.height)).tolist()
            cv2.circle(
                place,
                at,
                int(chance.integers(self.height // 30, self.height // 6)),
                float(chance.integers(20, 230)),
                -1,
            )
        checks = self.height // 60
        jacket = np.kron(chance.integers(0, 2, (12, 12)), np.ones((checks, checks))) * 150 + 40
        top, left = (int(chance.integers(0, limit - jacket.shape[0])) for limit in (self.height, self.width))
        place[top : top + jacket.shape[0], left : left + jacket.shape[1]] = jacket
        blurred = cv2.GaussianBlur(place, (0, 0), self.height / 400)
        return np.asarray(np.clip(blurred * self.brightness, 0, 255), dtype=np.uint8)


def _hold(seen: Image, drawing: Drawing, pose: Pose) -> None:
    # Halved until at most two of its pixels meet in one of the frame: a camera averages, it does not pick.
    pixels, scale = drawing.pixels, 1.0
    while drawing.module_px * scale > 2 * pose.module_px:
        pixels, scale = (
            np.asarray(cv2.resize(pixels, None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA), np.uint8),
            scale / 2,
        )
    mapping = homography(drawing, pose, seen.shape[1]) @ np.diag([1 / scale, 1 / scale, 1])
    size = (seen.shape[1], seen.shape[0])
    cv2.warpPerspective(pixels, mapping, size, dst=seen, flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_TRANSPARENT)


def _streak(length: float, degrees: float) -> Image:
    """The kernel of a straight movement during the exposure."""
    size = int(np.ceil(length)) | 1
    kernel = np.zeros((size, size), dtype=np.float32)
    reach = np.array([np.cos(np.deg2rad(degrees)), np.sin(np.deg2rad(degrees))]) * length / 2
    middle = size // 2
    ends = [tuple(np.round(middle + sign * reach).astype(int).tolist()) for sign in (-1, 1)]
    cv2.line(kernel, ends[0], ends[1], 1.0, 1)
    return np.asarray(kernel / kernel.sum())


def _compressed(taken: Image, quality: int) -> Image:
    _, content = cv2.imencode(".jpg", taken, [cv2.IMWRITE_JPEG_QUALITY, quality])
    return np.asarray(cv2.imdecode(content, cv2.IMREAD_GRAYSCALE), dtype=np.uint8)
