"""The messages that staff read for every verdict: what happened, and what to do."""

from __future__ import annotations

from shared.attempts import Attempt, Override
from shared.reasons import Reason
from shared.tickets import Refusal
from shared.verdicts.phrases import phrases
from shared.verdicts.scene import Scene
from shared.words.messages import say
from shared.words.wording import joined


def words_of_barred(reason: Reason, attempt: Attempt) -> str:
    """The message for rows 0 to 4, where nothing is known about the ticket yet."""
    if reason is Reason.GATE_NOT_READY:
        return _not_ready(attempt)
    if reason is Reason.UNKNOWN_KEY and isinstance(attempt.code, Refusal) and attempt.code.key_revoked:
        return say("barred.revoked_key")
    if reason in {Reason.WRONG_ORGANISATION, Reason.WRONG_EVENT} and attempt.other_event:
        return say(f"barred.{reason}_of", other=attempt.other_event)
    return say(f"barred.{reason}")


def words_of_denial(reason: Reason, scene: Scene) -> str:
    """The message for rows 5 to 11."""
    return joined(*phrases(reason, scene))


def words_of_admission(reason: Reason, scene: Scene) -> str:
    """The message for row 12, an admission or exit."""
    if reason is Reason.TEST_OK:
        return say("admitted.test_exit" if scene.is_exit else "admitted.test_entry")
    if reason is Reason.ADMITTED_REENTRY:
        return say("admitted.again", n=scene.attendance.ever + 1)
    return say("admitted.exited" if reason is Reason.EXITED else "admitted.first")


def words_of_override(denied: Reason, override: Override, scene: Scene) -> str:
    """The message for an override: the decision, its reason, and the refusal it overrode."""
    happened, _ = phrases(denied, scene)
    if not override.reason:
        return say("admitted.override_exit" if scene.is_exit else "admitted.override", happened=happened)
    key = "admitted.override_exit_because" if scene.is_exit else "admitted.override_because"
    return say(key, why=override.reason.rstrip("."), happened=happened)


def _not_ready(attempt: Attempt) -> str:
    why = attempt.readiness.why or say("barred.this_device")
    return joined(why if why.endswith(".") else say("barred.why", why=why), say("barred.gate_not_ready"))
