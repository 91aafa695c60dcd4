"""Decodes QR codes in images with a cascade of stages.

Every frame goes through zxing-cpp. If that finds nothing and something has moved recently, one further stage is tried,
a different one each frame: a guest holds a phone for many frames, so spreading the expensive stages over them keeps
each frame cheap. Pictures that stand still are read by `stills`.
"""

from dataclasses import dataclass, replace

from hardware.ports import Hint
from hardware.vision.advice import advice
from hardware.vision.fronts import (
    SMALL_AREA,
    STRAIGHTENED,
    Candidate,
    candidates,
    fronts,
    outline,
    patterns,
    placed,
)
from hardware.vision.motion import MotionDetector
from hardware.vision.pixels import Image, grey
from hardware.vision.stages import (
    ENHANCEMENTS,
    Area,
    Corners,
    Found,
    Stage,
    area_around,
    enhanced,
    fallback,
    origin,
    read_zxing,
)

FIRST_STAGE = "plain"
LAST_STAGE = "pyzbar"
# The likeliest of the places where a code may be, and the largest area in which its patterns are looked for.
STRAIGHTENED_A_FRAME = 2
LARGE_STRAIGHTENED = 600_000
# How much longer a pixel takes there than in an enhancement that zxing-cpp reads.
PATTERNS_COST, FRONT_COSTS = 8, 2
# Where dark and light alternate so well between the patterns is a code, read or not.
LOCATED_BY_TIMING = 0.7
# How much the further stages of a frame may look at, after enlarging, if one alone does not exceed it.
PIXELS_A_FRAME = 900_000
# For so many frames a code that was located there is looked for again.
REMEMBERED_FRAMES = 12


@dataclass(frozen=True, slots=True)
class Decoded:
    """The result for one image: its codes, the stage that read them, and what was seen but not read."""

    found: tuple[Found, ...]
    stage: str
    located: Corners | None = None
    hint: Hint | None = None

    @property
    def codes(self) -> tuple[str, ...]:
        """The texts of the codes that were read."""
        return tuple(code.text for code in self.found)

    @property
    def glimpsed(self) -> bool:
        """Whether a code is visible but not readable."""
        return self.located is not None and not self.found


class Decoder:
    """Decodes the frames of one camera in order; remembers motion, where a code was, and which stage is next."""

    def __init__(self) -> None:
        self._motion = MotionDetector()
        self._attempt = 0
        self._lead: Area | None = None
        self._lead_frames = 0

    def frame(self, pixels: Image) -> Decoded:
        """Decodes one frame with at most one further stage, so that it stays cheap."""
        image = grey(pixels)
        moved = self._motion.recent(image)
        first = read_zxing(image)
        if first.found or moved is None:
            return self._outcome(image, first, FIRST_STAGE, moved)
        self._follow(first.located, image)
        stage, further = self._further(image, moved)
        located = first.located or further.located
        if not first.located:
            self._follow(further.located, image)
        return self._outcome(image, Stage(further.found, located), stage, moved)

    def _further(self, image: Image, moved: Area) -> tuple[str, Stage]:
        """The next stage in turn; where a code was located, as many as take no longer than one of a whole frame."""
        spent = 0
        while True:
            stage, outcome = self._attempt_next(image, moved)
            spent += outcome.pixels
            if outcome.found or self._lead is None or spent + outcome.pixels > PIXELS_A_FRAME:
                return stage, outcome

    def _attempt_next(self, image: Image, moved: Area) -> tuple[str, Stage]:
        """In one round a stage looks where a code was located, in the next wherever something moved."""
        turn, index = divmod(self._attempt, len(ENHANCEMENTS) + 2)
        area = self._lead if self._lead is not None and turn % 2 == 0 else moved
        if index > len(ENHANCEMENTS):
            # Large areas are looked through for patterns in every other round: that takes longer than other stages.
            stage, outcome = STRAIGHTENED, straightened(image, area, LARGE_STRAIGHTENED if turn % 2 else SMALL_AREA)
        elif index == len(ENHANCEMENTS):
            stage, outcome = LAST_STAGE, fallback(image, area)
        else:
            stage, enhance = ENHANCEMENTS[index]
            outcome = enhanced(image, area, enhance)
        if not outcome.found:
            # A stage that has just read a code is used again: the next frame shows the same phone in the same light.
            self._attempt += 1
        return stage, outcome

    def _follow(self, located: Corners | None, image: Image) -> None:
        if located is not None:
            self._lead, self._lead_frames = area_around(located, image), REMEMBERED_FRAMES
        elif self._lead_frames:
            self._lead_frames -= 1
        else:
            self._lead = None

    def _outcome(self, image: Image, stage: Stage, name: str, moved: Area | None) -> Decoded:
        hint = None if stage.found else advice(image, stage.located, moved)
        return Decoded(stage.found, name, stage.located, hint)


def straightened(image: Image, area: Area, most: int = LARGE_STRAIGHTENED) -> Stage:
    """What is read from the front, where two or three patterns of a code are seen."""
    part = image[area]
    if part.size > most:
        return Stage()
    spent, located = part.size * PATTERNS_COST, None
    for candidate in candidates(part, patterns(part), STRAIGHTENED_A_FRAME):
        seen = _from_front(part, candidate)
        spent += seen.pixels
        if seen.found:
            return replace(seen, pixels=spent).moved(1, *origin(area))
        if located is None and candidate.fit >= LOCATED_BY_TIMING:
            located = outline(candidate.triple)
    return Stage((), located, spent).moved(1, *origin(area))


def _from_front(part: Image, candidate: Candidate) -> Stage:
    spent = 0
    for view in fronts(part, candidate):
        seen = read_zxing(view)
        spent += seen.pixels * FRONT_COSTS
        if seen.found:
            return placed(seen, candidate.triple, spent)
    return Stage(pixels=spent)
