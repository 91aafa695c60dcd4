"""The words for staff behind every answer: what happened, and what to do."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from shared.attempts import Attempt, Override
from shared.phrases import phrases
from shared.reasons import Reason
from shared.scene import Scene
from shared.tickets import Refusal


def words_of_barred(reason: Reason, attempt: Attempt) -> str:
    """Of rows 0 to 4, where nothing is known of the ticket yet."""
    return _OF_BARRED[reason](attempt)


def words_of_denial(reason: Reason, scene: Scene) -> str:
    """Of rows 5 to 11."""
    return " ".join(phrases(reason, scene))


def words_of_admission(reason: Reason, scene: Scene) -> str:
    """Of row 12, where nothing was refused."""
    if reason is Reason.TEST_OK:
        return f"TEST: this ticket would be {'counted out' if scene.is_exit else 'let in'}. Nothing is counted."
    if reason is Reason.ADMITTED_REENTRY:
        return f"Let in again: entry {len(scene.attendance.entries) + 1}."
    return "Let out." if reason is Reason.EXITED else "Let in."


def words_of_override(denied: Reason, override: Override, scene: Scene) -> str:
    """What the supervisor decided, why, and what stood against it."""
    act = "Counted out" if scene.is_exit else "Let in"
    why = f": {override.reason.rstrip('.')}" if override.reason else ""
    happened, _ = phrases(denied, scene)
    return f"{act} by a supervisor{why}. What stood against it: {happened}"


def _not_ready(attempt: Attempt) -> str:
    why = attempt.readiness.why or "This device is not ready"
    return f"{why.rstrip('.')}. Nobody can be let in here; call the operator."


def _unknown_key(attempt: Attempt) -> str:
    if isinstance(attempt.code, Refusal) and attempt.code.key_revoked:
        return "Signed with a key that was withdrawn. Do not let in; send the guest to the box office."
    return (
        "Not one of ours, or newer than this gate's last sync. "
        "Sync this gate and scan again; if it stays, send the guest to the box office."
    )


def _wrong_organisation(attempt: Attempt) -> str:
    return f"A ticket of another organiser{_other(attempt)}. Send the guest to that organiser's entrance."


def _wrong_event(attempt: Attempt) -> str:
    return f"A ticket for another event{_other(attempt)}. Do not let in; the guest may ask at the box office."


def _other(attempt: Attempt) -> str:
    return f": {attempt.other_event.rstrip('.')}" if attempt.other_event else ""


def _always(text: str) -> Callable[[Attempt], str]:
    return lambda _: text


_OF_BARRED: Mapping[Reason, Callable[[Attempt], str]] = MappingProxyType(
    {
        Reason.GATE_NOT_READY: _not_ready,
        Reason.CANNOT_RECORD: _always(
            "This gate cannot write its journal, so it may let nobody in. "
            "Send guests to another gate and call the operator."
        ),
        Reason.UNREADABLE: _always(
            "This is no ticket code of ours. "
            "Ask for the ticket itself, or look it up by its number or confirmation code."
        ),
        Reason.UNSUPPORTED_VERSION: _always(
            "This ticket is newer than this gate's program. Send the guest to the box office and have the gate updated."
        ),
        Reason.UNKNOWN_KEY: _unknown_key,
        Reason.BAD_SIGNATURE: _always("This code was altered and is not genuine. Do not let in; call a supervisor."),
        Reason.STALE_PROOF: _always(
            "This live code is too old: a picture of it, perhaps. "
            "Ask the guest to open the ticket on the phone and show that."
        ),
        Reason.WRONG_ORGANISATION: _wrong_organisation,
        Reason.WRONG_EVENT: _wrong_event,
    }
)
