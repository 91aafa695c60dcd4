"""The colour of a picture that a page may take as its accent: the most vivid one that there is much of; pure."""

from __future__ import annotations

import colorsys
import io
from collections import defaultdict
from typing import Final

from PIL import Image

from sync_server.appearance.colours import Colour

_SIDE: Final = 48
"""So many pixels a side are looked at."""
_HUES: Final = 24
_LEAST: Final = 0.06
"""Of the picture must be vivid: else it is grey, and has no colour of its own."""
_VIVID: Final = 0.25


def colour_of(picture: bytes) -> Colour | None:
    """Its colour, or nothing where it is grey."""
    with Image.open(io.BytesIO(picture)) as opened:
        small = opened.convert("RGB").resize((_SIDE, _SIDE), Image.Resampling.BOX)
    weights: dict[int, float] = defaultdict(float)
    sums: dict[int, list[float]] = defaultdict(lambda: [0.0, 0.0, 0.0])
    content = small.tobytes()
    for at in range(0, len(content), 3):
        red, green, blue = content[at : at + 3]
        hue, _, saturation = colorsys.rgb_to_hls(red / 255, green / 255, blue / 255)
        # Of nearly black and nearly white no hue is seen, whatever it is.
        weight = saturation * (max(red, green, blue) - min(red, green, blue)) / 255
        if weight < _VIVID * _VIVID:
            continue
        bucket = int(hue * _HUES) % _HUES
        weights[bucket] += weight
        for part, value in enumerate((red, green, blue)):
            sums[bucket][part] += weight * value
    if sum(weights.values()) < _LEAST * _SIDE * _SIDE * _VIVID:
        return None
    most = max(weights, key=lambda bucket: (weights[bucket], -bucket))
    return Colour(*(round(part / weights[most]) for part in sums[most]))
