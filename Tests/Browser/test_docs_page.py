"""`make docs`: one page with every page in it, found by search and by keyboard, without any network."""

import html
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from Fixtures.browser.windows import Windows

ROOT = Path(__file__).resolve().parents[2]
QUESTIONS = json.loads((ROOT / "Tests/Fixtures/questions.json").read_text())
SEARCHES = QUESTIONS["searches"]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The page, made as `make docs` makes it."""
    path = tmp_path_factory.mktemp("docs") / "docs/index.html"
    subprocess.run([sys.executable, ROOT / "scripts/docs.py", path], check=True, timeout=60)
    return path


@pytest.fixture
def open_docs(browser, made):
    """Opens the page without a network; a request for anything but the page fails the test."""
    windows, asked = Windows(browser), []

    def open_docs(place="", **size):
        window = windows.open(**size)
        window.context.set_offline(True)
        window.context.on("request", lambda request: asked.append(request.url))
        window.goto(f"{made.as_uri()}{place}")
        return window

    yield open_docs
    windows.close()
    assert {url.partition("#")[0] for url in asked if not url.startswith("data:")} <= {made.as_uri()}, asked


def pages_found(window, query):
    """The pages of the results, best first."""
    window.get_by_role("combobox").fill(query)
    return window.locator("#results a").evaluate_all("(links) => links.map((link) => link.dataset.page)")


def test_search_finds_the_page_that_is_meant(open_docs):
    """For each query that a user would type, the page is among the first three."""
    assert len(SEARCHES) >= 30
    window = open_docs()
    missed = [f"{query}: {page} is not in {found[:3]}" for query, page in SEARCHES
              if page not in (found := pages_found(window, query))[:3]]
    assert not missed, "\n".join(missed)


def test_a_word_of_no_page_finds_nothing(open_docs):
    window = open_docs()
    assert pages_found(window, "xylophone") == []
    assert window.get_by_text("Nothing was found.").is_visible()


def test_by_keyboard_alone(open_docs):
    """`/`, a query, an arrow, Enter: the reader is at the section, and the focus is there, too."""
    window = open_docs()
    window.keyboard.press("/")
    window.keyboard.type("rotate api key")
    places = window.locator("#results a").evaluate_all("(links) => links.map((link) => link.getAttribute('href'))")
    window.keyboard.press("ArrowDown")
    window.keyboard.press("Enter")
    window.wait_for_url(lambda url: url.endswith(places[1]))
    assert window.evaluate("() => document.activeElement.id") == places[1][1:]
    assert window.locator("#results").is_hidden()
    window.keyboard.press("/")
    window.keyboard.type("sentinel")
    window.keyboard.press("Escape")
    assert window.locator("#results").is_hidden() and window.get_by_role("combobox").input_value() == ""


def test_every_link_leads_somewhere(open_docs):
    """Each link inside the page has its target; each link out of it is a file of the clone or of the web."""
    window = open_docs()
    broken = window.evaluate("""() => [...document.querySelectorAll('a[href^="#"]')]
        .map((link) => decodeURIComponent(link.getAttribute("href").slice(1)))
        .filter((place) => !document.getElementById(place))""")
    assert broken == []
    shown = window.locator("article").evaluate_all("(all) => all.map((one) => one.dataset.page)")
    assert {"docs/start.md", "docs/metrics.md", "README.md", "deploy/README.md"} <= set(shown)
    assert len(shown) == len(set(shown)) > 60


def test_one_article_is_shown_and_its_name_is_the_title(open_docs):
    window = open_docs("#docs/keys.md~api-keys")
    assert window.locator("article:visible").count() == 1
    assert window.title().startswith("Keys, tokens and pages")
    assert window.locator("nav [aria-current]").inner_text() == "Keys, tokens and pages"
    top = window.evaluate("() => document.getElementById('docs/keys.md~api-keys').getBoundingClientRect().top")
    assert 0 < top < 120, "the section is in sight, below the head of the page"
    window.get_by_role("link", name="Start: five minutes").first.click()
    window.get_by_role("heading", level=1, name="Start: five minutes").wait_for()


def test_on_a_phone_nothing_is_wider_than_the_screen(open_docs):
    window = open_docs("#docs/metrics.md", width=360, height=640)
    for page in ("docs/metrics.md", "docs/protocol.md", "README.md", "docs/publish.md"):
        window.evaluate("(page) => { location.hash = page; }", page)
        window.locator(f"article.open[data-page='{page}']").wait_for()
        assert window.evaluate("() => document.documentElement.scrollWidth") <= 360, page
    assert window.locator("nav").is_hidden()
    window.get_by_role("button", name="Pages").click()
    window.get_by_role("navigation").get_by_role("link", name="React", exact=True).click()
    window.get_by_role("heading", level=1, name="React").wait_for()
    assert window.locator("nav").is_hidden()


def luminance(color):
    parts = [int(part) / 255 for part in re.findall(r"\d+", color)[:3]]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_can_be_read_in_both_schemes(open_docs, scheme):
    """A contrast of 4.5 at least, for text, links, code and the list of pages (WCAG 2.2, 1.4.3)."""
    window = open_docs("#docs/start.md")
    window.emulate_media(color_scheme=scheme)
    paper = window.evaluate("() => getComputedStyle(document.body).backgroundColor")
    assert (luminance(paper) < 0.2) == (scheme == "dark")
    for selector in ("article.open p", "article.open a", "article.open code", "nav h2", "nav a"):
        ink, back = window.locator(selector).first.evaluate("""(element) => {
            const ink = getComputedStyle(element).color;
            for (let one = element; one; one = one.parentElement) {
                const back = getComputedStyle(one).backgroundColor;
                if (back !== "rgba(0, 0, 0, 0)") return [ink, back];
            }
        }""")
        lighter, darker = sorted([luminance(ink), luminance(back)], reverse=True)
        assert (lighter + 0.05) / (darker + 0.05) >= 4.5, (selector, ink, back)


def test_without_scripts_everything_is_there(browser, made):
    context = browser.new_context(java_script_enabled=False)
    try:
        window = context.new_page()
        window.goto(made.as_uri())
        assert window.get_by_role("heading", name="Start: five minutes").is_visible()
    finally:
        context.close()


@pytest.mark.parametrize("page", QUESTIONS["questions"])
def test_a_page_answers_its_readers(made, page):
    """Ten questions were written before the page was read again; each has its answer in the page as it is shown."""
    asked = QUESTIONS["questions"][page]
    assert len(asked) == 10
    article = re.search(rf'<article data-page="{re.escape(page)}">(.*?)</article>', made.read_text(), re.S)[1]
    text = re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", "", article)))
    unanswered = [question for question, answer in asked if answer not in text]
    assert not unanswered, unanswered
