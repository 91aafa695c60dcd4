"""Signing in and out, and choosing for which organisation to act."""

from __future__ import annotations

from flask import redirect, request, url_for
from werkzeug.wrappers import Response as Answer

from shared.errors import GatehouseError, NotSignedIn
from sync_server.accounts import queries as accounts
from sync_server.accounts import signing_in
from sync_server.accounts.cookies import forget_cookie, set_cookie
from sync_server.admin.page import bp, require_same_site, show
from sync_server.plumbing.parts import parts
from sync_server.plumbing.web import current_actor, current_principal, maybe_principal


@bp.get("/")
def front() -> Answer:
    """Where everybody begins."""
    return redirect(url_for("admin.events"))


@bp.get("/login")
def login() -> str | Answer:
    """The form; whoever is signed in does not need it."""
    return redirect(url_for("admin.events")) if maybe_principal() else show("login.html", after=_after())


@bp.post("/login")
def sign_in() -> Answer | tuple[str, int]:
    """Sign in, and go on where the reader wanted to go."""
    require_same_site()
    email, password = request.form.get("email", "")[:254], request.form.get("password", "")[:500]
    try:
        signed_in = signing_in.sign_in(
            parts().database,
            email,
            password,
            hours=parts().config.session_hours,
            actor=current_actor(),
            now=parts().clock(),
            entropy=parts().entropy,
        )
    except GatehouseError as refusal:
        return show("login.html", after=_after(), email=email, refusal=refusal.message), refusal.status
    answer = redirect(_after() or url_for("admin.events"))
    set_cookie(answer, signed_in)  # type: ignore[arg-type]  # Flask's own answer class, which redirect() makes
    return answer


@bp.post("/logout")
def sign_out() -> Answer:
    """Sign out this browser."""
    with parts().database.writing() as session:
        signing_in.sign_out(session, current_principal(), actor=current_actor(), now=parts().clock())
    answer = redirect(url_for("admin.login"))
    forget_cookie(answer)  # type: ignore[arg-type]  # Flask's own answer class, which redirect() makes
    return answer


@bp.get("/organisation")
def choose() -> str:
    """For which organisation to act."""
    who = maybe_principal()
    if who is None:
        raise NotSignedIn
    with parts().database.reading() as session:
        mine = [row for row, _ in accounts.organisations_of(session, who.id)]
        rows = list(accounts.organisations(session)) if who.platform_role else mine
    return show("organisation.html", organisations=rows)


@bp.post("/organisation")
def chosen() -> Answer:
    """Act for that one from now on."""
    organisation_id = request.form.get("organisation_id", "")[:36]
    with parts().database.writing() as session:
        signing_in.choose_organisation(
            session, current_principal(), organisation_id, actor=current_actor(), now=parts().clock()
        )
    return redirect(url_for("admin.events"))


def _after() -> str:
    """Where to go on: a page of ours, never another site."""
    wanted = request.values.get("after", "")
    return wanted if wanted.startswith("/admin/") and "\\" not in wanted else ""
