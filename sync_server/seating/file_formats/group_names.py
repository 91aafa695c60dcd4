"""Seat groups in files with a line or a shape for each seat: the seats of one group name it, within their zone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sync_server.seating.layouts.mistakes import Mistakes
from sync_server.seating.layouts.plan import GroupPlan, GroupType, LayoutPlan


@dataclass(slots=True)
class _Named:
    place: str
    kind: GroupType | None = None
    sold_whole: bool = False
    seats: list[str] = field(default_factory=list)


@dataclass(slots=True)
class GroupTable:
    """The groups found so far, by zone and name."""

    _groups: dict[tuple[str, str], _Named] = field(default_factory=dict)

    def add(self, zone: str, name: str, seat_id: str, kind: GroupType | None, *, whole: bool, place: str) -> None:
        """Put a seat into the group of this name."""
        group = self._groups.setdefault((zone, name), _Named(place))
        group.kind, group.sold_whole = group.kind or kind, group.sold_whole or whole
        group.seats.append(seat_id)

    def plans(self, mistakes: Mistakes) -> tuple[GroupPlan, ...]:
        """The groups; one without a kind is a mistake."""
        for (_, name), group in self._groups.items():
            if group.kind is None:
                problem = f"no seat of the group {name!r} says what kind it is: {', '.join(GroupType)}"
                mistakes.add(f"{group.place}, group_type", problem)
        return tuple(
            GroupPlan(group.kind, tuple(group.seats), {"name": name}, group.sold_whole)
            for (_, name), group in self._groups.items()
            if group.kind is not None
        )


@dataclass(frozen=True, slots=True)
class WrittenGroup:
    """The group of a seat, as text."""

    name: str = ""
    kind: str = ""
    sold_whole: str = ""


def written_groups(plan: LayoutPlan) -> Mapping[str, WrittenGroup]:
    """The group of each seat; of several, the first, as these files have room for one."""
    found: dict[str, WrittenGroup] = {}
    for number, group in enumerate(plan.groups, start=1):
        name = str(group.details.get("name") or f"Group {number}")
        written = WrittenGroup(name, group.group_type.value, "yes" if group.sold_whole else "")
        found = {**dict.fromkeys(group.seats, written), **found}
    return found
