"""Where this device stands: the events it serves, and for each its gate, direction and mode."""

from __future__ import annotations

from pathlib import Path

import msgspec

from gate_app.identity import replace_whole
from shared.errors import Forbidden, NotFound
from shared.protocol import Assignment
from shared.snapshot import GateRow


class Post(msgspec.Struct, frozen=True, array_like=True):
    """One event that this device serves."""

    event: int
    event_id: str
    name: str
    gate: int | None = None
    gate_code: str = ""
    gates_allowed: tuple[int, ...] = ()
    zones: tuple[int, ...] = ()
    direction: str = "entry"
    mode: str = "real"


class Posts:
    """The present assignments, in a file of their own: a damaged journal must not make the gate homeless."""

    def __init__(self, path: Path) -> None:
        """Reads what the server said last."""
        self._path = path
        self.by_event = {post.event: post for post in _kept(path)}

    def assign(self, posts: list[Post]) -> set[int]:
        """Takes the server's word; answers the events that this device serves no longer."""
        left = set(self.by_event) - {post.event for post in posts}
        if posts != list(self.by_event.values()):
            replace_whole(self._path, msgspec.json.encode(posts))
        self.by_event = {post.event: post for post in posts}
        return left


def _kept(path: Path) -> list[Post]:
    try:
        return msgspec.json.decode(path.read_bytes(), type=list[Post])
    except (OSError, msgspec.MsgspecError):
        # Never assigned, or damaged: the next greeting brings it again.
        return []


def gate_at(post: Post, gates: dict[int, GateRow], wished: str = "") -> GateRow | None:
    """The gate of this post, or the one that the operator picked among those allowed. Raises NotFound or Forbidden."""
    if not wished:
        return gates.get(post.gate) if post.gate is not None else None
    found = next((gate for gate in gates.values() if gate.code.casefold() == wished.casefold()), None)
    if found is None:
        known = ", ".join(sorted(gate.code for gate in gates.values())) or "none"
        raise NotFound(f"There is no gate {wished} at {post.name}. Gates: {known}.")
    if found.number != post.gate and found.number not in post.gates_allowed:
        raise Forbidden(
            f"This device may not stand at gate {found.code}. Ask the organiser to allow it on the device's page."
        )
    return found


def post_of(assignment: Assignment) -> Post:
    """A post as the server words it."""
    return Post(
        assignment.event,
        assignment.event_id,
        assignment.name,
        assignment.gate,
        assignment.gate_code,
        tuple(assignment.gates_allowed),
        tuple(assignment.zones),
        assignment.direction,
        assignment.mode,
    )
