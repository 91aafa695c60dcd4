"""Detects motion in front of a camera, so that an idle camera costs almost no CPU."""

import cv2
import numpy as np

from hardware.pixels import Image

# A distant phone covers about twenty coarse cells; each cell averages out the camera's noise.
COARSE = (32, 24)
CELL_CHANGED_BY = 8
CELLS_CHANGED = 4
# Guests move a phone and then hold it still: keep trying for that long, at 15 to 30 frames a second.
TRY_FRAMES_AFTER_MOVE = 40


class MotionDetector:
    """Detects recent motion from coarse copies of the frames."""

    def __init__(self) -> None:
        self._before: Image | None = None
        self._frames_left = 0

    def recent(self, image: Image) -> bool:
        """Takes the next frame; true if it, or one shortly before, differed from its predecessor."""
        coarse = np.asarray(cv2.resize(image, COARSE, interpolation=cv2.INTER_AREA), dtype=np.uint8)
        before, self._before = self._before, coarse
        if before is None or differs(before, coarse):
            self._frames_left = TRY_FRAMES_AFTER_MOVE
        else:
            self._frames_left = max(0, self._frames_left - 1)
        return self._frames_left > 0


def differs(before: Image, after: Image) -> bool:
    """Whether more of the image changed than noise and flicker explain."""
    changed = cv2.absdiff(before, after) > CELL_CHANGED_BY
    return int(np.count_nonzero(changed)) >= CELLS_CHANGED
