"""What every page must be for everybody: readable, as wide as its screen, large enough to press, and named."""

import contextlib

# Contrast by WCAG 2.2 of each visible text with what is painted behind it; colours are read back from a canvas.
CONTRAST = """() => {
    const context = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
    const known = new Map();
    const rgba = (color) => {
        if (known.has(color)) return known.get(color);
        context.clearRect(0, 0, 1, 1);
        context.fillStyle = color;
        context.fillRect(0, 0, 1, 1);
        known.set(color, [...context.getImageData(0, 0, 1, 1).data]);
        return known.get(color);
    };
    const light = ([red, green, blue]) => [red, green, blue].map((value) => value / 255)
        .map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4))
        .reduce((sum, value, index) => sum + value * [0.2126, 0.7152, 0.0722][index], 0);
    const behind = (node) => {
        for (let at = node; at !== null; at = at.parentElement) {
            const color = rgba(getComputedStyle(at).backgroundColor);
            if (color[3] === 255) return color;
        }
        return [255, 255, 255];
    };
    const poor = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let text = walker.nextNode(); text !== null; text = walker.nextNode()) {
        const node = text.parentElement;
        if (text.data.trim() === '' || !node.checkVisibility() || node.closest('.visually-hidden, noscript')) continue;
        const style = getComputedStyle(node);
        const [one, other] = [light(rgba(style.color)), light(behind(node))].sort((a, b) => b - a);
        const ratio = (one + 0.05) / (other + 0.05);
        const size = parseFloat(style.fontSize);
        const isLarge = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
        if (ratio < (isLarge ? 3 : 4.5)) poor.push(`${text.data.trim()}: ${ratio.toFixed(2)}`);
    }
    return poor;
}"""


# Texts that are wider than a box around them, but for those that end in three dots; what is drawn beyond its drawing;
# refusals that touch what is above them; boxes with nothing but a heading.
CUT = """() => {
    const flaws = [];
    const isSeen = (node) => node.checkVisibility() && !node.closest('.visually-hidden, noscript');
    const inside = (part, whole, isBoth) => part.left >= whole.left - 1 && part.right <= whole.right + 1
        && (!isBoth || (part.top >= whole.top - 1 && part.bottom <= whole.bottom + 1));
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let text = walker.nextNode(); text !== null; text = walker.nextNode()) {
        const node = text.parentElement;
        if (text.data.trim() === '' || !isSeen(node) || node.closest('svg, select')) continue;
        const range = document.createRange();
        range.selectNodeContents(text);
        const lines = [...range.getClientRects()];
        for (let at = node; at !== document.body; at = at.parentElement) {
            const style = getComputedStyle(at);
            if (style.textOverflow === 'ellipsis') break;
            if (style.display === 'inline' || style.display === 'contents') continue;
            if (lines.some((line) => !inside(line, at.getBoundingClientRect(), false))) {
                flaws.push(`cut off: ${text.data.trim()}`);
                break;
            }
        }
    }
    for (const node of document.querySelectorAll('svg text, svg .mark')) {
        if (!isSeen(node)) continue;
        const map = node.closest('svg').getBoundingClientRect();
        if (inside(node.getBoundingClientRect(), map, true)) continue;
        flaws.push(`off the map: ${node.textContent || 'a mark'}`);
    }
    for (const node of document.querySelectorAll('.error')) {
        const above = node.previousElementSibling;
        if (!isSeen(node) || node.textContent === '') continue;
        if (above === null || !isSeen(above) || above.textContent === '') continue;
        const gap = node.getBoundingClientRect().top - above.getBoundingClientRect().bottom;
        if (gap < 4) flaws.push(`touches what is above it: ${node.textContent}`);
    }
    for (const node of document.querySelectorAll('section')) {
        const words = [...node.querySelectorAll('*')].some((part) => !part.closest('h2') && isSeen(part)
            && (part.matches('svg, input') || part.textContent.trim() !== ''));
        if (isSeen(node) && !words) flaws.push(`says nothing: ${node.textContent.trim()}`);
    }
    return flaws;
}"""


def assert_nothing_cut(page):
    """Every text is seen whole or ends in dots, refusals keep a distance, and every box says something."""
    assert page.evaluate(CUT) == []


def assert_can_be_read(page):
    """Nothing is wider than the screen, and every text stands out from what is behind it."""
    overflow = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert overflow <= 0, "the page scrolls sideways"
    page.mouse.move(0, 0)
    assert page.evaluate(CONTRAST) == []


# Controls that are seen and that a finger would miss.
SMALL = """(controls) => controls.filter((control) => {
    const box = control.getBoundingClientRect();
    return box.width < 44 || box.height < 44;
}).map((control) => control.getAttribute('aria-label') || control.id || control.outerHTML)"""


def assert_large_enough(page):
    """Every control that is seen can be pressed with a finger."""
    controls = page.locator("button:visible, input:visible, select:visible, [role=tab]:visible")
    assert controls.evaluate_all(SMALL) == []


@contextlib.contextmanager
def pictured(page, path):
    """Keeps a picture of a page that fails its checks."""
    try:
        yield
    except AssertionError:
        page.screenshot(path=str(path), full_page=True)
        raise


def assert_can_be_read_in_both_schemes(page, path):
    """Light and dark; a page that fails leaves a picture, PATH-SCHEME.png. Without motion no colour is on its way."""
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        with pictured(page, path.with_name(f"{path.name}-{scheme}.png")):
            assert_can_be_read(page)


def assert_named(page):
    """Ids are unique, and no control or region is without a name."""
    assert page.evaluate("document.querySelectorAll('[id]').length === "
                         "new Set([...document.querySelectorAll('[id]')].map((node) => node.id)).size")
    snapshot = page.locator("body").aria_snapshot()
    for line in snapshot.splitlines():
        bare = line.strip().removeprefix("- ").rstrip(":")
        assert bare not in ("button", "textbox", "region", "list", "link", "tab", "tabpanel", "combobox", "img",
                            "meter", "progressbar", "application", "form"), f"without a name: {line}"
