"""SVG transforms: the position of a shape after the transforms of all its groups."""

from __future__ import annotations

import re
from math import cos, radians, sin, tan
from typing import Final

Matrix = tuple[float, float, float, float, float, float]

IDENTITY: Final[Matrix] = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)
_ONE: Final = re.compile(r"\s*([A-Za-z]+)\s*\(([^()]*)\)\s*,?")
_ANGLES: Final = {"rotate", "skewx", "skewy"}


def parse(text: str) -> Matrix:
    """The matrix of a transform attribute; ValueError for an invalid one."""
    matrix, at = IDENTITY, 0
    while at < len(text.rstrip()):
        found = _ONE.match(text, at)
        if found is None:
            raise ValueError(text)
        values = [float(value) for value in re.split(r"[\s,]+", found[2].strip()) if value]
        matrix = compose(matrix, _matrix(found[1].lower(), values))
        at = found.end()
    return matrix


def _matrix(name: str, values: list[float]) -> Matrix:
    if name == "rotate" and len(values) == 3:
        to_centre, back = (1.0, 0.0, 0.0, 1.0, values[1], values[2]), (1.0, 0.0, 0.0, 1.0, -values[1], -values[2])
        return compose(compose(to_centre, _rotate(values[0])), back)
    if name == "matrix" and len(values) == 6:
        return (values[0], values[1], values[2], values[3], values[4], values[5])
    if name in {"translate", "scale"} and len(values) in {1, 2}:
        return _translate_or_scale(name, values)
    if name in _ANGLES and len(values) == 1:
        return {"rotate": _rotate, "skewx": _skew_x, "skewy": _skew_y}[name](values[0])
    raise ValueError(name)


def _translate_or_scale(name: str, values: list[float]) -> Matrix:
    if name == "translate":
        return (1.0, 0.0, 0.0, 1.0, values[0], values[1] if len(values) == 2 else 0.0)
    return (values[0], 0.0, 0.0, values[-1], 0.0, 0.0)


def _rotate(degrees: float) -> Matrix:
    angle = radians(degrees)
    return (cos(angle), sin(angle), -sin(angle), cos(angle), 0.0, 0.0)


def _skew_x(degrees: float) -> Matrix:
    return (1.0, 0.0, tan(radians(degrees)), 1.0, 0.0, 0.0)


def _skew_y(degrees: float) -> Matrix:
    return (1.0, tan(radians(degrees)), 0.0, 1.0, 0.0, 0.0)


def compose(one: Matrix, other: Matrix) -> Matrix:
    """The transform that applies `other` first and then `one`, as nested groups do."""
    a, b, c, d, e, f = one
    p, q, r, s, t, u = other
    return (a * p + c * q, b * p + d * q, a * r + c * s, b * r + d * s, a * t + c * u + e, b * t + d * u + f)


def apply(matrix: Matrix, x: float, y: float) -> tuple[float, float]:
    """The transformed point."""
    a, b, c, d, e, f = matrix
    return a * x + c * y + e, b * x + d * y + f
