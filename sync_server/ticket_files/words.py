"""The words on tickets, in the languages of guests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from shared.tickets import Entitlement

DEFAULT: Final = "en"


@dataclass(frozen=True, slots=True)
class Words:
    """One language."""

    ticket: str
    doors: str
    start: str
    block: str
    row: str
    seat: str
    area: str
    type: str
    price: str
    tax_included: str
    free: str
    holder: str
    number: str
    order: str
    days: str
    admits: str
    confirmation: str
    show: str
    party: str
    guests: str
    show_party: str
    unpaid: str
    postponed: str
    cancelled: str
    admission: Mapping[Entitlement, str]


_E = Entitlement
WORDS: Final[Mapping[str, Words]] = {
    "en": Words(
        ticket="Ticket",
        doors="Doors",
        start="Start",
        block="Block",
        row="Row",
        seat="Seat",
        area="Area",
        type="Ticket type",
        price="Price",
        tax_included="tax included",
        free="free",
        holder="Name",
        number="Ticket number",
        order="Order",
        days="Valid on",
        admits="Admits",
        confirmation="Confirmation code",
        show="Show this code at the entrance, on paper or on a phone. Whoever shows it first "
        "comes in: keep it to yourself.",
        party="All tickets",
        guests="Guests",
        show_party="One scan for all of you: the gate lists these tickets and lets each "
        "of you through. Whoever comes later shows their own ticket.",
        unpaid="Not paid yet: valid once the payment has arrived.",
        postponed="Postponed. The ticket stays valid; the new date will be announced.",
        cancelled="This event is cancelled.",
        admission={
            _E.SINGLE_ENTRY: "one entry",
            _E.LIMITED_REENTRY_PER_DAY: "a limited number of entries a day",
            _E.UNLIMITED_REENTRY: "re-entry",
            _E.UNLIMITED_MULTI_DAY: "re-entry on every day",
            _E.GA_SEATED: "one entry, free choice of seat",
            _E.GA_STANDING: "one entry, standing",
        },
    ),
    "de": Words(
        ticket="Ticket",
        doors="Einlass",
        start="Beginn",
        block="Block",
        row="Reihe",
        seat="Platz",
        area="Bereich",
        type="Ticketart",
        price="Preis",
        tax_included="inkl. MwSt.",
        free="kostenlos",
        holder="Name",
        number="Ticketnummer",
        order="Bestellung",
        days="Gültig am",
        admits="Berechtigt zu",
        confirmation="Bestätigungscode",
        show="Zeigen Sie diesen Code am Einlass vor, auf Papier oder auf dem Handy. Wer ihn zuerst "
        "zeigt, kommt hinein: Behalten Sie ihn für sich.",
        party="Alle Tickets",
        guests="Gäste",
        show_party="Ein Scan für alle: Der Einlass zeigt diese Tickets und lässt jeden von "
        "Ihnen durch. Wer später kommt, zeigt das eigene Ticket.",
        unpaid="Noch nicht bezahlt: gültig, sobald die Zahlung eingegangen ist.",
        postponed="Verschoben. Das Ticket bleibt gültig; der neue Termin wird bekannt gegeben.",
        cancelled="Diese Veranstaltung ist abgesagt.",
        admission={
            _E.SINGLE_ENTRY: "einmaligem Eintritt",
            _E.LIMITED_REENTRY_PER_DAY: "begrenztem Wiedereintritt je Tag",
            _E.UNLIMITED_REENTRY: "Wiedereintritt",
            _E.UNLIMITED_MULTI_DAY: "Wiedereintritt an allen Tagen",
            _E.GA_SEATED: "einmaligem Eintritt, freie Platzwahl",
            _E.GA_STANDING: "einmaligem Eintritt, Stehplatz",
        },
    ),
    "fr": Words(
        ticket="Billet",
        doors="Ouverture des portes",
        start="Début",
        block="Bloc",
        row="Rang",
        seat="Place",
        area="Zone",
        type="Catégorie",
        price="Prix",
        tax_included="TVA incluse",
        free="gratuit",
        holder="Nom",
        number="Numéro du billet",
        order="Commande",
        days="Valable le",
        admits="Donne droit à",
        confirmation="Code de confirmation",
        show="Présentez ce code à l’entrée, sur papier ou sur votre téléphone. La première "
        "personne qui le présente entre\N{NO-BREAK SPACE}: ne le partagez pas.",
        party="Tous les billets",
        guests="Personnes",
        show_party="Un seul scan pour tous\N{NO-BREAK SPACE}: l’entrée affiche ces billets et laisse "
        "passer chacun. Qui vient plus tard présente son propre billet.",
        unpaid="Pas encore payé\N{NO-BREAK SPACE}: valable dès réception du paiement.",
        postponed="Reporté. Le billet reste valable\N{NO-BREAK SPACE}; la nouvelle date sera annoncée.",
        cancelled="Cet événement est annulé.",
        admission={
            _E.SINGLE_ENTRY: "une entrée",
            _E.LIMITED_REENTRY_PER_DAY: "un nombre limité d’entrées par jour",
            _E.UNLIMITED_REENTRY: "des entrées multiples",
            _E.UNLIMITED_MULTI_DAY: "des entrées multiples chaque jour",
            _E.GA_SEATED: "une entrée, placement libre",
            _E.GA_STANDING: "une entrée, debout",
        },
    ),
    "af": Words(
        ticket="Kaartjie",
        doors="Deure",
        start="Begin",
        block="Blok",
        row="Ry",
        seat="Sitplek",
        area="Gebied",
        type="Kaartjiesoort",
        price="Prys",
        tax_included="BTW ingesluit",
        free="gratis",
        holder="Naam",
        number="Kaartjienommer",
        order="Bestelling",
        days="Geldig op",
        admits="Gee toegang vir",
        confirmation="Bevestigingskode",
        show="Wys hierdie kode by die ingang, op papier of op ’n foon. Wie dit eerste wys, kom in: hou dit vir uself.",
        party="Alle kaartjies",
        guests="Gaste",
        show_party="Een skandering vir almal: die ingang wys hierdie kaartjies en laat "
        "elkeen deur. Wie later kom, wys die eie kaartjie.",
        unpaid="Nog nie betaal nie: geldig sodra die betaling aangekom het.",
        postponed="Uitgestel. Die kaartjie bly geldig; die nuwe datum word bekend gemaak.",
        cancelled="Hierdie geleentheid is gekanselleer.",
        admission={
            _E.SINGLE_ENTRY: "een toegang",
            _E.LIMITED_REENTRY_PER_DAY: "’n beperkte aantal toegange per dag",
            _E.UNLIMITED_REENTRY: "hertoegang",
            _E.UNLIMITED_MULTI_DAY: "hertoegang op elke dag",
            _E.GA_SEATED: "een toegang, vrye sitplekkeuse",
            _E.GA_STANDING: "een toegang, staanplek",
        },
    ),
    "es": Words(
        ticket="Entrada",
        doors="Apertura de puertas",
        start="Comienzo",
        block="Bloque",
        row="Fila",
        seat="Asiento",
        area="Zona",
        type="Tipo de entrada",
        price="Precio",
        tax_included="IVA incluido",
        free="gratis",
        holder="Nombre",
        number="Número de entrada",
        order="Pedido",
        days="Válida el",
        admits="Da derecho a",
        confirmation="Código de confirmación",
        show="Muestre este código en la entrada, en papel o en el teléfono. Entra quien lo "
        "muestra primero: no lo comparta.",
        party="Para todos",
        guests="Personas",
        show_party="Un solo escaneo para todos: el acceso muestra estas entradas y deja "
        "pasar a cada persona. Quien llegue más tarde muestra su propia entrada.",
        unpaid="Aún no pagada: válida en cuanto llegue el pago.",
        postponed="Aplazado. La entrada sigue siendo válida; la nueva fecha se anunciará.",
        cancelled="Este evento se ha cancelado.",
        admission={
            _E.SINGLE_ENTRY: "un acceso",
            _E.LIMITED_REENTRY_PER_DAY: "un número limitado de accesos al día",
            _E.UNLIMITED_REENTRY: "accesos múltiples",
            _E.UNLIMITED_MULTI_DAY: "accesos múltiples todos los días",
            _E.GA_SEATED: "un acceso, asiento libre",
            _E.GA_STANDING: "un acceso, de pie",
        },
    ),
}


def language_of(*wanted: str) -> str:
    """The first of these languages that tickets exist in: of `fr-CA`, that is French."""
    short = (each[:2] for each in wanted)
    return next((each for each in short if each in WORDS), DEFAULT)
