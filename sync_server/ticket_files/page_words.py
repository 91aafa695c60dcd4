"""What the page of an order says beside its tickets, in the languages of guests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class PageWords:
    """One language."""

    title: str
    loading: str
    needs_script: str
    unknown: str
    not_yet: str
    offline: str
    saved: str  # {when}: the tickets are shown as they were kept then
    bright: str
    again: str
    pdf: str
    calendar: str
    code: str


PAGE_WORDS: Final[Mapping[str, PageWords]] = {
    "en": PageWords(
        "Your tickets",
        "Opening your tickets…",
        "This page needs JavaScript: the link keeps your tickets’ secret out of every server’s log. "
        "You can also use the PDF in our mail.",
        "This link opens no order. Was it cut off? Open it from our mail once more.",
        "This order has no tickets: it is not paid yet, or they were refunded.",
        "There is no connection. What you have printed or saved stays valid.",
        "No connection: these are your tickets as of {when}, kept on this device. They are valid at the entrance.",
        "At the entrance, turn your screen up to full brightness.",
        "Try again",
        "Save as PDF",
        "Add to calendar",
        "Code of the ticket",
    ),
    "de": PageWords(
        "Ihre Tickets",
        "Ihre Tickets werden geöffnet …",
        "Diese Seite braucht JavaScript: Nur so steht der geheime Teil des Links in keinem Protokoll eines Servers. "
        "Sie können auch das PDF aus unserer E-Mail nehmen.",
        "Dieser Link öffnet keine Bestellung. Ist er vollständig? Öffnen Sie ihn noch einmal aus unserer E-Mail.",
        "Zu dieser Bestellung gibt es keine Tickets: Sie ist noch nicht bezahlt, oder sie wurden erstattet.",
        "Keine Verbindung. Was Sie gedruckt oder gespeichert haben, gilt weiterhin.",
        "Keine Verbindung: Das sind Ihre Tickets vom {when}, auf diesem Gerät gesichert. Am Einlass gelten sie.",
        "Stellen Sie den Bildschirm am Einlass auf volle Helligkeit.",
        "Noch einmal versuchen",
        "Als PDF sichern",
        "In den Kalender",
        "Code des Tickets",
    ),
    "fr": PageWords(
        "Vos billets",
        "Ouverture de vos billets…",
        "Cette page a besoin de JavaScript\N{NO-BREAK SPACE}: le lien tient le secret de vos billets "
        "à l’écart des journaux des serveurs. "
        "Vous pouvez aussi utiliser le PDF de notre message.",
        "Ce lien n’ouvre aucune commande. Est-il complet\N{NO-BREAK SPACE}? Ouvrez-le à nouveau depuis notre message.",
        "Cette commande n’a pas de billets\N{NO-BREAK SPACE}: elle n’est pas encore payée, ou ils ont été remboursés.",
        "Pas de connexion. Ce que vous avez imprimé ou enregistré reste valable.",
        "Pas de connexion\N{NO-BREAK SPACE}: voici vos billets du {when}, gardés sur cet appareil. "
        "Ils sont valables à l’entrée.",
        "À l’entrée, réglez l’écran sur la luminosité maximale.",
        "Réessayer",
        "Enregistrer en PDF",
        "Ajouter au calendrier",
        "Code du billet",
    ),
    "af": PageWords(
        "U kaartjies",
        "U kaartjies word oopgemaak…",
        "Hierdie bladsy het JavaScript nodig: die skakel hou die geheim van u kaartjies uit elke bediener se logboek. "
        "U kan ook die PDF in ons e-pos gebruik.",
        "Hierdie skakel maak geen bestelling oop nie. Is dit afgesny? Maak dit weer uit ons e-pos oop.",
        "Hierdie bestelling het geen kaartjies nie: dit is nog nie betaal nie, of dit is terugbetaal.",
        "Daar is geen verbinding nie. Wat u gedruk of gestoor het, bly geldig.",
        "Geen verbinding nie: dit is u kaartjies soos op {when}, op hierdie toestel gestoor. Hulle geld by die ingang.",
        "Stel die skerm by die ingang op volle helderheid.",
        "Probeer weer",
        "Stoor as PDF",
        "Voeg by kalender",
        "Kode van die kaartjie",
    ),
    "es": PageWords(
        "Sus entradas",
        "Abriendo sus entradas…",
        "Esta página necesita JavaScript: el enlace mantiene el secreto de sus entradas fuera de los registros. "
        "También puede usar el PDF de nuestro correo.",
        "Este enlace no abre ningún pedido. ¿Está completo? Ábralo otra vez desde nuestro correo.",
        "Este pedido no tiene entradas: aún no está pagado, o se han reembolsado.",
        "No hay conexión. Lo que haya impreso o guardado sigue siendo válido.",
        "Sin conexión: estas son sus entradas del {when}, guardadas en este dispositivo. Son válidas en la entrada.",
        "En la entrada, suba el brillo de la pantalla al máximo.",
        "Reintentar",
        "Guardar como PDF",
        "Añadir al calendario",
        "Código de la entrada",
    ),
}
