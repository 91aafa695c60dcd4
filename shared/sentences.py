"""The messages that staff read for every verdict: what happened, and what to do."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from shared.attempts import Attempt, Override
from shared.phrases import phrases
from shared.reasons import Reason
from shared.scene import Scene
from shared.tickets import Refusal


def words_of_barred(reason: Reason, attempt: Attempt) -> str:
    """The message for rows 0 to 4, where nothing is known about the ticket yet."""
    return _OF_BARRED[reason](attempt)


def words_of_denial(reason: Reason, scene: Scene) -> str:
    """The message for rows 5 to 11."""
    return " ".join(phrases(reason, scene))


def words_of_admission(reason: Reason, scene: Scene) -> str:
    """The message for row 12, an admission or exit."""
    if reason is Reason.TEST_OK:
        outcome = "exit would be recorded" if scene.is_exit else "ticket would be admitted"
        return f"TEST: this {outcome}. Nothing is counted."
    if reason is Reason.ADMITTED_REENTRY:
        return f"Admitted again: entry {scene.attendance.ever + 1}."
    return "Exit recorded." if reason is Reason.EXITED else "Admitted."


def words_of_override(denied: Reason, override: Override, scene: Scene) -> str:
    """The message for an override: the decision, its reason, and the refusal it overrode."""
    act = "Exit allowed" if scene.is_exit else "Admitted"
    why = f": {override.reason.rstrip('.')}" if override.reason else ""
    happened, _ = phrases(denied, scene)
    return f"{act} by a supervisor{why}. Otherwise refused: {happened}"


def _not_ready(attempt: Attempt) -> str:
    why = attempt.readiness.why or "This device is not ready"
    return f"{why.rstrip('.')}. This gate cannot admit anyone; call the operator."


def _unknown_key(attempt: Attempt) -> str:
    if isinstance(attempt.code, Refusal) and attempt.code.key_revoked:
        return "Signed with a revoked key. Do not admit; send the guest to the box office."
    return (
        "Not one of our tickets, or newer than this gate's last sync. "
        "Sync this gate and scan again; if that does not help, send the guest to the box office."
    )


def _wrong_organisation(attempt: Attempt) -> str:
    return f"A ticket from another organiser{_other(attempt)}. Send the guest to that organiser's entrance."


def _wrong_event(attempt: Attempt) -> str:
    return f"A ticket for another event{_other(attempt)}. Do not admit; the guest can ask at the box office."


def _other(attempt: Attempt) -> str:
    return f": {attempt.other_event.rstrip('.')}" if attempt.other_event else ""


def _always(text: str) -> Callable[[Attempt], str]:
    return lambda _: text


_OF_BARRED: Mapping[Reason, Callable[[Attempt], str]] = MappingProxyType(
    {
        Reason.GATE_NOT_READY: _not_ready,
        Reason.CANNOT_RECORD: _always(
            "This gate cannot write its journal, so it must not admit anyone. "
            "Send guests to another gate and call the operator."
        ),
        Reason.UNREADABLE: _always(
            "This is not one of our ticket codes. "
            "Ask for the ticket itself, or look it up by its number or confirmation code."
        ),
        Reason.UNSUPPORTED_VERSION: _always(
            "This gate's software is too old for this ticket. "
            "Send the guest to the box office and have the gate updated."
        ),
        Reason.UNKNOWN_KEY: _unknown_key,
        Reason.BAD_SIGNATURE: _always("This code has been altered or forged. Do not admit; call a supervisor."),
        Reason.STALE_PROOF: _always(
            "This live code has expired; it may be a screenshot. Ask the guest to open the ticket on their phone."
        ),
        Reason.WRONG_ORGANISATION: _wrong_organisation,
        Reason.WRONG_EVENT: _wrong_event,
    }
)
