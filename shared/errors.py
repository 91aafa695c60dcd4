"""The whole error tree on one page: code word, HTTP status, whether trying again may help, and the default words."""

from __future__ import annotations

from typing import Any, ClassVar


class GatehouseError(Exception):
    """Something a person must be told: what happened, what it means, what to do."""

    code: ClassVar[str] = "internal_error"
    status: ClassVar[int] = 500
    retryable: ClassVar[bool] = False
    words: ClassVar[str] = "Something went wrong on our side. Try again; if it stays, tell the operator the request id."

    def __init__(self, message: str | None = None, *, code: str | None = None, **details: Any) -> None:
        """Tell it in `message`; `code` narrows the class's word where the documents name a finer one."""
        super().__init__(message or self.words)
        self.message = message or self.words
        self.error_code = code or self.code
        self.details = details


class InvalidRequest(GatehouseError):
    """The request does not say what it must, or says what cannot be."""

    code, status = "invalid_request", 400
    words = "The request is not understood."


class NotSignedIn(GatehouseError):
    """Nobody, or nobody known, is asking."""

    code, status = "unauthenticated", 401
    words = "Sign in, or send a valid API token."


class Forbidden(GatehouseError):
    """Known, but not allowed."""

    code, status = "forbidden", 403
    words = "Your role does not allow this."


class NotFound(GatehouseError):
    """Not there, or another organisation's: outsiders cannot tell which."""

    code, status = "not_found", 404
    words = "There is nothing here by that name."


class Conflict(GatehouseError):
    """The state of things does not allow it now."""

    code, status = "conflict", 409
    words = "This cannot be done in the present state."


class TooLarge(GatehouseError):
    """More than one request may carry."""

    code, status = "too_large", 413
    words = "The request is larger than this server accepts."


class TooMany(GatehouseError):
    """Too often in too short a time."""

    code, status, retryable = "rate_limited", 429, True
    words = "Too many requests. Wait a little and try again."


class Unavailable(GatehouseError):
    """A part that is needed is away for the moment."""

    code, status, retryable = "unavailable", 503, True
    words = "The service is not available for the moment. Try again shortly."


class UpgradeNeeded(GatehouseError):
    """The other side speaks a version, or names a critical feature, that this side does not know."""

    code, status = "upgrade_needed", 426
    words = "This gate's program is too old for the server. Update the gate program."


class Unreadable(GatehouseError):
    """Bytes that are not what the protocol says they are: cut, altered, or somebody else's page."""

    code, status = "unreadable_message", 400
    words = "The message is damaged or is not Gatehouse's."


class Untrusted(GatehouseError):
    """A signature is missing or does not fit."""

    code, status = "untrusted", 401
    words = "The signature does not fit. Nothing of this message was used."


class SettingsError(GatehouseError):
    """The configuration cannot work; all mistakes are listed together."""

    code, status = "bad_settings", 500
    words = "The settings do not work."


class StorageError(GatehouseError):
    """A disk or database refused to keep what must be kept."""

    code, status, retryable = "storage_failed", 503, True
    words = "The disk refuses to write. Free some space or change the card."
