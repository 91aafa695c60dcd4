"""Requests and responses of /api/webhooks."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

import orjson
from pydantic import Field

from sync_server.plumbing.api.edits import EditedView
from sync_server.plumbing.api.one_line import SEVERAL_LINES
from sync_server.plumbing.api.pagination import PageQuery
from sync_server.plumbing.api.schemas import IsoTime, PatchBody, RequestBody, Time, View, WholeList
from sync_server.webhooks import rules
from sync_server.webhooks.models import WebhookAttemptRow, WebhookMessageRow
from sync_server.webhooks.rules import State

Url = Annotated[str, Field(min_length=8, max_length=1000)]
FactName = Annotated[str, Field(min_length=1, max_length=60)]
Facts = Annotated[
    list[FactName],
    Field(min_length=1, max_length=100, description="Facts (event_published), groups (event.*), or * for all."),
]
Description = Annotated[str, Field(max_length=200), SEVERAL_LINES]


class NewWebhook(RequestBody):
    """An address that is to get facts."""

    url: Url
    facts: Facts
    description: Description = ""


class ChangeWebhook(PatchBody):
    """Changes to a webhook; `active` pauses and resumes it."""

    url: Url | None = None
    facts: Facts | None = None
    description: Description | None = None
    active: bool | None = None


class RenewSecret(RequestBody):
    """For how many hours the secret until now signs too."""

    overlap_hours: Annotated[int, Field(ge=0, le=7 * 24)] = rules.OVERLAP_HOURS


class ReplayFailed(RequestBody):
    """Which of the failed messages to send again: those of what happened since then."""

    since: Time


class MessagesQuery(PageQuery):
    """Which messages to list, newest first; by default all."""

    state: State | None = None


class WebhookView(EditedView):
    """A webhook, and how it does."""

    unedited: ClassVar[frozenset[str]] = frozenset({"failing_since", "waiting"})

    id: str
    url: str
    description: str
    facts: list[str]
    active: bool
    paused_because: str
    paused_at: IsoTime | None
    failing_since: IsoTime | None
    waiting: int
    old_secret_until: IsoTime | None
    created_at: IsoTime


class WebhookWithSecret(WebhookView):
    """A webhook with its secret, which is only in this response."""

    secret: str


class WebhooksView(WholeList):
    """The webhooks of an organisation."""

    items: list[WebhookView]


class MessageView(View):
    """A message to a webhook, and what became of it."""

    message_id: str
    fact: str
    state: State
    attempts: int
    created_at: IsoTime
    due_at: IsoTime | None
    done_at: IsoTime | None
    last_status: int | None
    last_problem: str

    @classmethod
    def of_message(cls, row: WebhookMessageRow) -> MessageView:
        """As lists show it."""
        return cls.of(row, due_at=row.due_at if row.state == State.WAITING else None)


class AttemptView(View):
    """One attempt: when, how long, and what the receiver answered; `status` is null where nothing did."""

    number: int
    at: IsoTime
    ms: int
    status: int | None
    problem: str
    answer: str

    @classmethod
    def of_attempt(cls, row: WebhookAttemptRow) -> AttemptView:
        """With the first bytes of the answer as text."""
        return cls.of(row, answer=row.answer.decode("utf-8", "replace"))


class MessageDetail(View):
    """A message with its body and all attempts."""

    message: MessageView
    body: dict[str, Any]
    attempts: list[AttemptView]

    @classmethod
    def of_attempts(cls, row: WebhookMessageRow, attempts: list[WebhookAttemptRow]) -> MessageDetail:
        """All that is known of it."""
        shown = [AttemptView.of_attempt(each) for each in attempts]
        return cls(message=MessageView.of_message(row), body=orjson.loads(row.body), attempts=shown)


class MessagesView(View):
    """A page of messages."""

    items: list[MessageView]
    next: str | None


class Replayed(View):
    """How many messages are sent again."""

    replayed: int
