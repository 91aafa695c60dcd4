"""/api/session, members, tokens and supervisors; and authentication of requests."""

from __future__ import annotations

from typing import Any

from apiflask import APIBlueprint
from flask import Response, g, request
from sqlalchemy.orm import Session
from werkzeug.datastructures import Headers

from shared.errors import Forbidden, InvalidRequest, NotSignedIn
from sync_server.accounts import members, queries, schemas, service, tokens
from sync_server.accounts.public_routes import PUBLIC_ROUTES, Audience
from sync_server.accounts.sign_in import signing_in
from sync_server.accounts.sign_in.cookies import COOKIE, forget_cookie, session_response, sign_in_settings
from sync_server.plumbing.api.edits import check_unchanged, tagged
from sync_server.plumbing.api.idempotency import once_in_secret
from sync_server.plumbing.parts import parts
from sync_server.plumbing.requests.principals import Action, Principal
from sync_server.plumbing.web import (
    SAFE_METHODS,
    context,
    current_principal,
    maybe_principal,
    organisation,
    requires,
    signed_in,
)

bp = APIBlueprint("accounts", __name__, url_prefix="/api", tag="Accounts")


def identify() -> None:
    """Authenticate the request, before any view runs."""
    principal = maybe_principal()
    if principal is not None:
        return
    g.principal = principal = _bearer() or _browser()
    if (
        principal is None
        and request.method not in SAFE_METHODS
        and request.headers.get("Sec-Fetch-Site") == "cross-site"
    ):
        # Otherwise another site's page could sign a browser in, or enrol a device through it.
        raise Forbidden("This request came from another site.", code="bad_origin")


def _bearer() -> Principal | None:
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    if not scheme:
        return None
    principal = tokens.authenticate(parts().database, token.strip(), parts().clock())
    if scheme.lower() != "bearer" or principal is None:
        raise NotSignedIn("This API token is unknown, revoked or expired.", code="bad_token")
    return principal


def _browser() -> Principal | None:
    cookie = request.cookies.get(COOKIE)
    principal = signing_in.authenticate_session(parts().database, cookie, parts().clock()) if cookie else None
    if principal is not None and request.method not in SAFE_METHODS:
        header = request.headers.get("X-CSRF-Token")
        sent = header if header is not None else request.form.get("csrf_token", "")
        if not sent and _is_for_anybody():
            return None  # staff who visit a shop in this browser are its guests there
        signing_in.check_csrf(principal, sent)
    return principal


def _is_for_anybody() -> bool:
    route = PUBLIC_ROUTES.get(request.endpoint or "")
    return route is not None and route.who is Audience.ANYBODY


@bp.post("/session")
@bp.input(schemas.SignInRequest)
@bp.output(schemas.SignedInView)
@bp.doc(summary="Sign in", responses={200: "Signed in"})
def sign_in(json_data: schemas.SignInRequest) -> tuple[dict[str, Any], int, Headers]:
    """Sign in with e-mail address and password: sets the session cookie and returns the CSRF token."""
    given = json_data.email, json_data.password, json_data.code
    signed_in = signing_in.sign_in(parts().database, *given, settings=sign_in_settings(), context=context())
    return session_response(signed_in)


@bp.get("/session")
@bp.output(schemas.SessionView)
def who_am_i() -> schemas.SessionView:
    """The caller: who this session or token belongs to."""
    principal = current_principal()
    with parts().database.reading() as session:
        organisations = [
            schemas.OrganisationView.of(row, role=role) for row, role in queries.organisations_of(session, principal.id)
        ]
        row = queries.organisation(session, principal.organisation_id) if principal.organisation_id else None
    current = None if row is None else schemas.OrganisationView.of(row, role=principal.role)
    return schemas.SessionView.of(
        principal, organisation=current, organisations=organisations, csrf_token=principal.csrf
    )


@bp.delete("/session")
@bp.doc(summary="Sign out", responses={204: "Signed out"})
def sign_out() -> tuple[str, int, dict[str, str]]:
    """Sign this browser out."""
    with parts().database.writing() as session:
        signing_in.sign_out(session, current_principal(), context())
    response = Response()
    forget_cookie(response)
    return "", 204, {"Set-Cookie": response.headers["Set-Cookie"]}


@bp.post("/session/organisation")
@signed_in
@bp.input(schemas.ChooseOrganisation)
@bp.doc(summary="Choose an organisation", responses={204: "Chosen"})
def choose_organisation(json_data: schemas.ChooseOrganisation) -> tuple[str, int]:
    """Act for another of your organisations."""
    principal = current_principal()
    if principal.kind != "user":
        raise InvalidRequest(
            "An API token belongs to one organisation and cannot switch.", code="token_has_organisation"
        )
    with parts().database.writing() as session:
        signing_in.choose_organisation(session, principal, json_data.organisation_id, context())
    return "", 204


@bp.get("/members")
@requires(Action.MANAGE_MEMBERS)
@bp.output(schemas.MembersView)
def list_members() -> schemas.MembersView:
    """The staff of the organisation."""
    with parts().database.reading() as session:
        return schemas.MembersView.of_all(queries.members(session, organisation()))


@bp.put("/members/<user_id>")
@requires(Action.MANAGE_MEMBERS)
@bp.input(schemas.GiveRole)
@bp.doc(summary="Change a role", responses={204: "Changed"})
def give_role(user_id: str, json_data: schemas.GiveRole) -> tuple[str, int]:
    """Change the role of a member."""
    with parts().database.writing() as session:
        queries.member(session, organisation(), user_id)
        check_unchanged(lambda: _locked_member(session, user_id))
        members.give_role(session, organisation(), user_id, json_data.role, context(), giver=current_principal())
    return "", 204


def _locked_member(session: Session, user_id: str) -> schemas.MemberView:
    service.lock_organisation(session, organisation())
    return schemas.MemberView.of(queries.member(session, organisation(), user_id))


@bp.delete("/members/<user_id>")
@requires(Action.MANAGE_MEMBERS)
@bp.doc(summary="Remove a member", responses={204: "Removed"})
def remove_member(user_id: str) -> tuple[str, int]:
    """Remove a member of staff from the organisation; the login itself stays."""
    with parts().database.writing() as session:
        members.remove_member(session, organisation(), user_id, current_principal(), context())
    return "", 204


@bp.get("/tokens")
@requires(Action.MANAGE_TOKENS)
@bp.output(schemas.TokensView)
def list_tokens() -> schemas.TokensView:
    """The API tokens of the organisation."""
    with parts().database.reading() as session:
        return schemas.TokensView.of_all(queries.tokens(session, organisation()))


@bp.post("/tokens")
@requires(Action.MANAGE_TOKENS)
@bp.input(schemas.NewToken)
@bp.output(schemas.TokenView, status_code=201)
@once_in_secret
def make_token(session: Session, json_data: schemas.NewToken) -> schemas.TokenView:
    """Create an API token, which acts for you: it ends with your membership. Its text is only in this response."""
    wanted = json_data.model_dump() | {"longest_days": parts().config.token_days}
    row, text = tokens.make_token(session, organisation(), **wanted, by=current_principal(), context=context())
    return schemas.TokenView.of(row, token=text)


@bp.delete("/tokens/<token_id>")
@requires(Action.MANAGE_TOKENS)
@bp.doc(summary="Revoke a token", responses={204: "Revoked"})
def revoke_token(token_id: str) -> tuple[str, int]:
    """Revoke an API token, and those that were made with it."""
    with parts().database.writing() as session:
        tokens.revoke_token(session, organisation(), token_id, context())
    return "", 204


@bp.get("/supervisors")
@requires(Action.READ)
@bp.output(schemas.SupervisorsView)
def supervisors() -> schemas.SupervisorsView:
    """The supervisors, who may override refusals at gates."""
    with parts().database.reading() as session:
        return schemas.SupervisorsView.of_all(queries.supervisors(session, organisation()))


@bp.post("/supervisors")
@requires(Action.MANAGE_SUPERVISORS)
@bp.input(schemas.NewSupervisor)
@bp.output(schemas.SupervisorView, status_code=201)
@once_in_secret
def add_supervisor(session: Session, json_data: schemas.NewSupervisor) -> schemas.SupervisorView:
    """Add a supervisor, who may override refusals at the gates of all events with a PIN of six digits or more."""
    row = service.add_supervisor(session, organisation(), json_data.name, json_data.pin, context())
    return schemas.SupervisorView.of(row)


@bp.patch("/supervisors/<int:number>")
@requires(Action.MANAGE_SUPERVISORS)
@bp.input(schemas.ChangeSupervisor)
@bp.output(schemas.SupervisorView)
def change_supervisor(number: int, json_data: schemas.ChangeSupervisor) -> schemas.SupervisorView:
    """Change a supervisor's PIN, or deactivate or reactivate the supervisor."""
    with parts().database.writing() as session:
        changes = json_data.model_dump()
        check_unchanged(lambda: _locked_supervisor(session, number))
        return tagged(
            schemas.SupervisorView.of(
                service.change_supervisor(session, organisation(), number, **changes, context=context())
            )
        )


def _locked_supervisor(session: Session, number: int) -> schemas.SupervisorView:
    service.lock_organisation(session, organisation())
    return schemas.SupervisorView.of(queries.supervisor(session, organisation(), number))
