"""What all pages share: who may see them, the frame around them, and headers that let nothing foreign run."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from apiflask import APIBlueprint
from flask import Response, redirect, render_template, request, url_for
from werkzeug.wrappers import Response as Answer

from shared.errors import Forbidden, GatehouseError
from sync_server.accounts import queries as accounts
from sync_server.admin import words
from sync_server.plumbing.parts import parts
from sync_server.plumbing.principals import Action
from sync_server.plumbing.web import current_actor, current_principal, marked, maybe_principal, request_id, require

P = ParamSpec("P")
T = TypeVar("T")

bp = APIBlueprint("admin", __name__, url_prefix="/admin", template_folder="templates", enable_openapi=False)

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)


def page(action: Action = Action.READ) -> Callable[[Callable[P, T]], Callable[P, T | Answer]]:
    """Let a page be seen by whoever may do this; others are asked to sign in."""

    def guard(view: Callable[P, T]) -> Callable[P, T | Answer]:
        @wraps(view)
        def guarded(*args: P.args, **kwargs: P.kwargs) -> T | Answer:
            who = maybe_principal()
            if who is None:
                return redirect(url_for("admin.login", after=request.path if request.method == "GET" else None))
            if not who.organisation_id:
                return redirect(url_for("admin.choose"))
            require(action)
            return view(*args, **kwargs)

        return marked(guarded, action)

    return guard


def show(template: str, /, **told: object) -> str:
    """A page inside the frame."""
    who = maybe_principal()
    name = ""
    if who is not None and who.organisation_id:
        with parts().database.reading() as session:
            name = accounts.organisation(session, who.organisation_id).name
    outside = current_actor().platform_role if who is not None else ""
    frame = {"who": who, "organisation_name": name, "now": parts().clock(), "words": words, "outside": outside}
    return render_template(f"admin/{template}", **frame, may=may, **told)


def may(action: str) -> bool:
    """Whether whoever looks at the page may do this."""
    who = maybe_principal()
    return who is not None and parts().may(who, Action(action))


def require_same_site() -> None:
    """Forbidden for a form that another site sends before anybody is signed in."""
    if request.headers.get("Sec-Fetch-Site", "same-origin") not in {"same-origin", "none"}:
        raise Forbidden("This form was sent from another site.", code="bad_csrf")


def whose() -> str:
    """The organisation that is acted for."""
    return current_principal().organisation_id


@bp.after_request
def _safely(answer: Response) -> Response:
    answer.headers["Content-Security-Policy"] = POLICY
    answer.headers["X-Frame-Options"] = "DENY"
    answer.headers["Cache-Control"] = "no-store"
    return answer


@bp.errorhandler(GatehouseError)
def _told(error: GatehouseError) -> tuple[str, int]:
    return show("error.html", error=error, request_id=request_id()), error.status
