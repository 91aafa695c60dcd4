"""/api/events/…/seating/metrics: how well an event is seated and sold."""

from __future__ import annotations

from apiflask import APIBlueprint

from sync_server.events import queries as events
from sync_server.events.days.chosen_days import dates_of, on_date
from sync_server.events.rules import Mark, mark
from sync_server.holds.endings.outcomes import outcomes
from sync_server.plumbing.api.schemas import Date, Query, View, WholeList
from sync_server.plumbing.parts import parts
from sync_server.plumbing.requests.principals import Action
from sync_server.plumbing.web import organisation, requires
from sync_server.seating.event_seatings import event_seatings
from sync_server.seating.figures import Figure, hold_figures, seating_figures

bp = APIBlueprint("seating_figures", __name__, url_prefix="/events/<event_id>/seating", tag="Seating metrics")


class FiguresQuery(Query):
    """Of which day, by its date."""

    day: Date | None = None


class FigureView(View):
    """A figure in percent, with its target range, its alert range, and advice."""

    name: str
    percent: float | None
    state: str
    target: tuple[float, float]
    alert: tuple[float, float]
    words: str


class FiguresView(WholeList):
    """The figures of an event; `mark` says if it is not taking place as announced."""

    mark: Mark | None
    items: list[FigureView]


@bp.get("/metrics")
@requires(Action.READ)
@bp.input(FiguresQuery, location="query")
@bp.output(FiguresView)
def metrics(event_id: str, query_data: FiguresQuery) -> FiguresView:
    """Show the seating metrics of an event; 404 for an event without a layout.

    At an event of several days a seat counts as taken that is on any of them; `day` asks for one, and for the holds
    that were for it.
    """
    with parts().database.reading() as session:
        event = events.event(session, organisation(), event_id)
        days = on_date(dates_of(event), query_data.day or "")
        of_holds = hold_figures(outcomes(session, organisation(), event_id, days.bits))
    with event_seatings().current(organisation(), event_id, parts().clock(), days=days) as seating:
        figures = [*seating_figures(seating), *of_holds]
    return FiguresView(mark=mark(event), items=[_view(figure) for figure in figures])


def _view(figure: Figure) -> FigureView:
    percent, bounds = None if figure.percent is None else round(figure.percent, 2), figure.bounds
    return FigureView.of(figure, percent=percent, target=bounds.target, alert=bounds.alert, words=bounds.advice)
