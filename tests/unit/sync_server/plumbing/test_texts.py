"""Pages have no words of their own: every language has every text with the same values, and templates name them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from string import Formatter

import pytest
from markupsafe import Markup

from sync_server.plumbing.language.texts import LANGUAGES, Text, Translator, language_of, translator
from tests.architecture.tree import ROOT

FOLDERS = [*sorted(ROOT.glob("sync_server/*/texts")), ROOT / "shared" / "texts", ROOT / "gate_app" / "texts"]
WITHOUT_WORDS = ("sync_server/admin", "sync_server/storefront", "gate_app/screen")
"""The packages whose templates have been freed of words."""
NAME = "Gatehouse"
IN_ENGLISH = {"admin"}
"""Packages whose pages exist in English only so far."""
BLOCK = re.compile(r"<(script|style|code)\b.*?</\1>", re.DOTALL)
JINJA = re.compile(r"\{#.*?#\}|\{%.*?%\}|\{\{.*?\}\}", re.DOTALL)
SPOKEN = re.compile(r"\b(?:alt|aria-label|aria-description|placeholder|title|content)=(\"[^\"]*\"|'[^']*')")
TAG = re.compile(r"<[^>]*>", re.DOTALL)
USED = re.compile(r"(?<![\w.])t\(\s*[\"']([a-z_.0-9]+)[\"']\s*[,)]")
NOT_SPOKEN = re.compile(
    r"width=device-width.*|light dark|dark|noindex|summary_large_image|website|text|no-referrer|\{\"include.*|Gatehouse"
)
LETTER = re.compile(r"[^\W\d_]{2,}")


def forms(text: Text) -> list[str]:
    return [text] if isinstance(text, str) else [*text.values()]


def values(text: Text) -> set[str]:
    return {name for form in forms(text) for _, name, _, _ in Formatter().parse(form) if name is not None}


def templates() -> list[Path]:
    return [path for name in WITHOUT_WORDS for path in sorted((ROOT / name / "templates").rglob("*.html"))]


def loose_words(html: str) -> Iterator[str]:
    """What a visitor would read or hear in a template that does not come from the texts."""
    plain = JINJA.sub(" ", BLOCK.sub(" ", html))
    for quoted in SPOKEN.findall(plain):
        if LETTER.search(quoted) and not NOT_SPOKEN.fullmatch(quoted.strip("\"'")):
            yield quoted
    yield from (word for word in LETTER.findall(TAG.sub(" ", plain)) if word != NAME)


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: path.parent.name)
@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_has_every_text_with_the_same_values(folder: Path, language: str) -> None:
    if language != "en" and folder.parent.name in IN_ENGLISH:
        assert not (folder / f"{language}.toml").exists(), "take the package off IN_ENGLISH"
        return
    english, here = translator(folder, "en").texts, translator(folder, language).texts
    assert here.keys() == english.keys()
    assert [key for key in here if values(here[key]) != values(english[key])] == []
    assert [key for key in here if isinstance(here[key], str) != isinstance(english[key], str)] == []
    assert [key for key, text in here.items() if not all(form.strip() for form in forms(text))] == []


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: path.parent.name)
def test_plural_forms_differ_in_one_language_at_least(folder: Path) -> None:
    languages = ["en"] if folder.parent.name in IN_ENGLISH else LANGUAGES
    texts = [translator(folder, language).texts for language in languages]
    plural = [key for key, text in texts[0].items() if not isinstance(text, str)]
    assert [key for key in plural if all(len({*forms(its[key])}) == 1 for its in texts)] == []


@pytest.mark.parametrize("template", templates(), ids=lambda path: path.stem)
def test_templates_have_no_words_of_their_own(template: Path) -> None:
    assert [*loose_words(template.read_text("utf-8"))] == []


def test_loose_words_are_found() -> None:
    assert [*loose_words('<p title="{{ t("a.b") }}">{{ t("a.c") }} <b>Buy</b></p><img alt="A hall">')] == [
        '"A hall"',
        "Buy",
    ]


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: path.parent.name)
def test_every_text_that_is_named_exists_and_every_text_is_named(folder: Path) -> None:
    package, known = folder.parent, translator(folder, "en").texts
    sources = [*package.rglob("*.html"), *package.rglob("*.py")]
    content = "\n".join(path.read_text("utf-8") for path in sources)
    assert sorted({key for key in USED.findall(content) if key not in known}) == []
    # Some keys are put together: `f"error.{code}"`, or "mark." ~ name.
    beginnings = set(re.findall(r"[\"']([a-z_]+\.(?:[a-z_]+\.)*)(?:\{|[\"'])", content))
    named = {*re.findall(r"[\"']([a-z_]+\.[a-z_.0-9]+)[\"']", content)}
    unused = [key for key in known if key not in named and not any(key.startswith(start) for start in beginnings)]
    assert unused == []


def speaking(language: str, **texts: str | Mapping[str, str]) -> Translator:
    return Translator(language, texts)


def test_plural_forms_follow_the_rules_of_the_language() -> None:
    forms = {"one": "{n} billet", "other": "{n} billets"}
    assert [speaking("fr", tickets=forms)("tickets", n=n) for n in (0, 1, 2)] == ["0 billet", "1 billet", "2 billets"]
    assert [speaking("en", tickets=forms)("tickets", n=n) for n in (0, 1)] == ["0 billets", "1 billet"]


def test_markup_stays_and_everything_else_is_escaped() -> None:
    t = speaking("en", terms="I accept the <{link}> of {name}")
    shown = t("terms", link=Markup("<a>terms</a>"), name="A&B")
    assert shown == "I accept the &lt;<a>terms</a>&gt; of A&amp;B" and isinstance(shown, Markup)
    assert t("terms", link="x", name="A&B") == "I accept the <x> of A&B", "a template escapes what is no markup"


def test_a_missing_text_or_value_is_never_shown_as_nothing() -> None:
    t = speaking("en", pay="Pay {sum}")
    with pytest.raises(KeyError):
        t("paid")
    with pytest.raises(KeyError):
        t("pay", total="5")


def test_languages_are_matched_by_their_first_letters() -> None:
    assert [language_of(*wanted) for wanted in (("fr-CA",), ("es", "de-AT"), ("xx",), ())] == ["fr", "de", "en", "en"]


@pytest.mark.parametrize(
    ("language", "familiar"),
    [("af", "jy|jou|joune|julle"), ("de", "du|dich|dir|dein\\w*|euch|euer|eure"), ("fr", "tu|toi|te|ton|tes")],
)
@pytest.mark.parametrize("folder", ["storefront/texts", "order_mails/words"])
def test_visitors_are_addressed_in_one_way(folder: str, language: str, familiar: str) -> None:
    text = (ROOT / "sync_server" / folder / f"{language}.toml").read_text("utf-8")
    assert re.findall(rf"\b(?:{familiar})\b", text, re.IGNORECASE) == []
