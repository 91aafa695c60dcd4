"""Says whether something moves in front of a camera, so that an empty door costs next to nothing."""

import cv2
import numpy as np

from hardware.pixels import Picture

# A far-off phone covers some twenty coarse cells; a camera's grain is averaged away in each of them.
COARSE = (32, 24)
CELL_CHANGED_BY = 8
CELLS_CHANGED = 4
# A guest moves a phone and then holds it still: keep trying for as long as that takes at 15 to 30 frames a second.
TRY_FRAMES_AFTER_MOVE = 40


class Movement:
    """Says whether something moved lately, from coarse copies of the frames."""

    def __init__(self) -> None:
        self._before: Picture | None = None
        self._frames_left = 0

    def lately(self, picture: Picture) -> bool:
        """Takes the next frame; true when it, or one shortly before it, differed from its predecessor."""
        coarse = np.asarray(cv2.resize(picture, COARSE, interpolation=cv2.INTER_AREA), dtype=np.uint8)
        before, self._before = self._before, coarse
        if before is None or differs(before, coarse):
            self._frames_left = TRY_FRAMES_AFTER_MOVE
        else:
            self._frames_left = max(0, self._frames_left - 1)
        return self._frames_left > 0


def differs(before: Picture, after: Picture) -> bool:
    """True when more of the picture changed than noise and flicker explain."""
    changed = cv2.absdiff(before, after) > CELL_CHANGED_BY
    return int(np.count_nonzero(changed)) >= CELLS_CHANGED
