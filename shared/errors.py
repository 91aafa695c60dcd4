"""All errors: code, HTTP status, whether a retry may help, and the default message."""

from __future__ import annotations

from typing import Any, ClassVar


class GatehouseError(Exception):
    """An error to show to a person: what happened, and what to do."""

    code: ClassVar[str] = "internal_error"
    status: ClassVar[int] = 500
    retryable: ClassVar[bool] = False
    words: ClassVar[str] = (
        "Something went wrong on our side. Try again; if it persists, give the operator the request id."
    )

    def __init__(self, message: str | None = None, *, code: str | None = None, **details: Any) -> None:
        """`message` replaces the default message; `code` replaces the class's code with a more specific one."""
        super().__init__(message or self.words)
        self.message = message or self.words
        self.error_code = code or self.code
        self.details = details


class InvalidRequest(GatehouseError):
    """The request is incomplete or impossible."""

    code, status = "invalid_request", 400
    words = "The request is invalid."


class NotSignedIn(GatehouseError):
    """Not signed in, or with unknown credentials."""

    code, status = "unauthenticated", 401
    words = "Sign in, or send a valid API token."


class Forbidden(GatehouseError):
    """Signed in, but not allowed."""

    code, status = "forbidden", 403
    words = "Your role does not allow this."


class NotFound(GatehouseError):
    """Missing, or another organisation's: the caller cannot tell which."""

    code, status = "not_found", 404
    words = "There is nothing here by that name."


class Conflict(GatehouseError):
    """Not possible in the current state."""

    code, status = "conflict", 409
    words = "This is not possible in the current state."


class ChangedMeanwhile(GatehouseError):
    """Somebody else has changed what this edit started from."""

    code, status = "changed_meanwhile", 412
    words = "Somebody has changed this since you read it. Read it again, and repeat your change."


class TooLarge(GatehouseError):
    """The request is too large."""

    code, status = "too_large", 413
    words = "The request is larger than this server accepts."


class TooMany(GatehouseError):
    """Too many requests in a short time."""

    code, status, retryable = "rate_limited", 429, True
    words = "Too many requests. Wait a little and try again."


class Unavailable(GatehouseError):
    """A required service is temporarily unavailable."""

    code, status, retryable = "unavailable", 503, True
    words = "The service is temporarily unavailable. Try again shortly."


class UpgradeNeeded(GatehouseError):
    """The other side uses a version or a critical feature that this side does not know."""

    code, status = "upgrade_needed", 426
    words = "This gate's program is too old for the server. Update the gate program."


class Unreadable(GatehouseError):
    """Bytes that do not follow the protocol: truncated, altered, or from something else."""

    code, status = "unreadable_message", 400
    words = "The message is damaged or is not a Gatehouse message."


class Untrusted(GatehouseError):
    """A signature is missing or invalid."""

    code, status = "untrusted", 401
    words = "The signature is invalid. The message was discarded."


class SettingsError(GatehouseError):
    """The configuration is invalid; all mistakes are listed together."""

    code, status = "bad_settings", 500
    words = "The settings are invalid."


class StorageError(GatehouseError):
    """A disk or database could not store something."""

    code, status, retryable = "storage_failed", 503, True
    words = "The disk cannot be written. Free some space or replace the card."
