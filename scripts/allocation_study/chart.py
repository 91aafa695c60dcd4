"""Draws line charts of the simulations as SVG."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Final

Line = Sequence[tuple[float, float]]

WIDTH, HEIGHT, LEFT, TOP = 640, 360, 64, 48
PLOT_WIDTH, PLOT_HEIGHT = WIDTH - LEFT - 24, HEIGHT - TOP - 88
STYLES: Final = ("#1b5e20", "#1565c0", "#b71c1c", "#6a1b9a")
DASHES: Final = ("", "8 4", "3 3", "10 3 3 3")


def line_chart(title: str, x_label: str, y_label: str, lines: Mapping[str, Line]) -> str:
    """A chart in percent with one line per name, distinguished by dashes as well as by colour.

    Styles are assigned from the last line backwards, so that it looks the same in every chart.
    """
    scale = Scale(lines)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'font-family="sans-serif" font-size="12"><title>{escape(title)}</title>',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
        f'<text x="{LEFT}" y="24" font-size="16">{escape(title)}</text>',
        *_grid(scale),
        f'<text x="{LEFT + PLOT_WIDTH / 2}" y="{HEIGHT - 52}" text-anchor="middle">{escape(x_label)}</text>',
        f'<text x="{LEFT}" y="{TOP - 6}">{escape(y_label)}</text>',
    ]
    for at, (name, points) in enumerate(lines.items(), start=len(STYLES) - len(lines)):
        parts += _line(scale, at, name, points)
    return "\n".join([*parts, "</svg>", ""])


class Scale:
    """Maps values to positions in the chart."""

    def __init__(self, lines: Mapping[str, Line]) -> None:
        """Fit the axes to all points."""
        points = [point for line in lines.values() for point in line]
        self.left, self.right = min(x for x, _ in points), max(x for x, _ in points)
        self.low, self.high = min(y for _, y in points), max(y for _, y in points)
        margin = (self.high - self.low) * 0.08
        self.low, self.high = max(0.0, self.low - margin), min(100.0, self.high + margin)

    def x(self, value: float) -> float:
        """Horizontal position."""
        return LEFT + (value - self.left) / (self.right - self.left) * PLOT_WIDTH

    def y(self, value: float) -> float:
        """Vertical position."""
        return TOP + (self.high - value) / (self.high - self.low) * PLOT_HEIGHT

    def steps(self, first: float, last: float) -> list[float]:
        """Six evenly spaced values from first to last."""
        return [first + (last - first) * step / 5 for step in range(6)]


def _grid(scale: Scale) -> list[str]:
    parts = []
    for value in scale.steps(scale.low, scale.high):
        y = scale.y(value)
        parts.append(f'<path d="M{LEFT} {y:.1f}H{LEFT + PLOT_WIDTH}" stroke="#d0d0d0"/>')
        parts.append(f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{value:.1f}</text>')
    for value in scale.steps(scale.left, scale.right):
        bottom = TOP + PLOT_HEIGHT + 16
        parts.append(f'<text x="{scale.x(value):.1f}" y="{bottom}" text-anchor="middle">{value:.2f}</text>')
    return parts


def _line(scale: Scale, at: int, name: str, points: Line) -> list[str]:
    colour, dashes = STYLES[at % len(STYLES)], DASHES[at % len(DASHES)]
    path = "L".join(f"{scale.x(x):.1f} {scale.y(y):.1f}" for x, y in points)
    legend_x, legend_y = LEFT + at % 2 * 280, HEIGHT - 32 + at // 2 * 18
    stroke = f'fill="none" stroke="{colour}" stroke-width="2" stroke-dasharray="{dashes}"'
    return [
        f'<path d="M{path}" {stroke}/>',
        f'<path d="M{legend_x} {legend_y}h32" {stroke}/>',
        f'<text x="{legend_x + 40}" y="{legend_y + 4}">{escape(name)}</text>',
    ]
