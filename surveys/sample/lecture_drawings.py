"""The pictures of the sample lectures, as SVG: five slides about randomised controlled trials, and an instructor who speaks.

Every slide keeps its right side free, so that both lectures show exactly the same slides, with and without the instructor, and its
lowest seventh, where browsers write the captions.
"""

from collections.abc import Callable

WIDTH, HEIGHT = 960, 540
INK, SOFT_INK, ACCENT, TINT, GREY, AMBER, WHITE = "#13242d", "#47606c", "#0b4f6c", "#e8f1f5", "#8fa7b3", "#d9902f", "#ffffff"
ROUND = 'stroke-linecap="round" stroke-linejoin="round"'
MOUTHS = 4  # from closed to wide open


def picture(slide: int, *, step: int, mouth: int | None = None, blink: bool = False) -> str:
    """One frame: a slide revealed up to `step` and, unless `mouth` is None, the instructor."""
    instructor = "" if mouth is None else _instructor(mouth=mouth, blink=blink)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'font-family="Inter, sans-serif"><rect width="{WIDTH}" height="{HEIGHT}" fill="{WHITE}"/>'
        f'<marker id="arrow" orient="auto" markerUnits="userSpaceOnUse" markerWidth="32" markerHeight="36" refX="16" refY="18">'
        f'<path d="M4 6L22 18L4 30" fill="none" stroke="{SOFT_INK}" stroke-width="6" {ROUND}/></marker>'
        f'<rect width="12" height="{HEIGHT}" fill="{ACCENT}"/>{SLIDES[slide](step)}{instructor}</svg>'
    )


def _question(step: int) -> str:
    crowd = "".join(_person(68 + 92 * index, 336, AMBER if index in {1, 4} else ACCENT if index % 2 else GREY, 1.15) for index in range(6))
    answer = _text(64, 270, "A randomised controlled trial finds out.", size=34, fill=ACCENT, weight=600) if step else ""
    return (
        _text(64, 118, "Does a new lecture", size=68, weight=700)
        + _text(64, 200, "help students learn?", size=68, weight=700)
        + answer
        + crowd
    )


def _two_groups(step: int) -> str:
    control = _card(392, 116, "Control", GREY) + _crowd(392, 266, [GREY] * 6) if step else ""
    caption = _text(64, 448, "Control = what we compare with", size=36, fill=SOFT_INK, weight=500) if step else ""
    return _heading("Two groups of students") + _card(64, 116, "New lecture", ACCENT) + _crowd(64, 266, [ACCENT] * 6) + control + caption


def _chance(step: int) -> str:
    arrows = _arrow(270, 226, 380, 172) + _arrow(270, 266, 380, 320)
    groups = _tag(396, 130, "New lecture", ACCENT) + _tag(396, 278, "Control", GREY)
    caption = _text(64, 448, "Not the teacher. Not the student.", size=36, fill=SOFT_INK, weight=500) if step else ""
    return _heading("Chance decides who gets which") + _die(84, 160) + arrows + groups + caption


def _alike(step: int) -> str:
    left, right = [AMBER, ACCENT, GREY, ACCENT, GREY, AMBER], [GREY, AMBER, ACCENT, AMBER, ACCENT, GREY]
    cards = _card(64, 116, "New lecture", ACCENT) + _card(392, 116, "Control", GREY)
    crowds = _crowd(64, 266, left) + _crowd(392, 266, right)
    caption = _text(64, 448, "On average, in everything else", size=36, fill=SOFT_INK, weight=500) if step else ""
    return _heading("So the groups are alike") + cards + crowds + caption


def _effect(step: int) -> str:
    axis = f'<path d="M64 398H560" stroke="{INK}" stroke-width="3" stroke-linecap="round"/>'
    bars = "".join(
        f'<rect x="{x}" y="{398 - height}" width="120" height="{height}" rx="8" fill="{fill}"/>'
        for x, height, fill in [(104, 150, GREY), (304, 236, ACCENT)]
    )
    labels = _text(164, 448, "Control", size=34, anchor="middle", weight=500) + _text(
        364, 448, "New lecture", size=34, anchor="middle", weight=500
    )
    effect = (
        f'<path d="M232 248H296" stroke="{GREY}" stroke-width="3" stroke-dasharray="7 7"/>'
        f'<path d="M448 162h22v86h-22" fill="none" stroke="{AMBER}" stroke-width="6" {ROUND}/>'
        + _text(488, 198, "Effect of", size=36, weight=700)
        + _text(488, 242, "the lecture", size=36, weight=700)
    )
    return _heading("Compare the results") + axis + bars + labels + (effect if step else "")


SLIDES: list[Callable[[int], str]] = [_question, _two_groups, _chance, _alike, _effect]


def _heading(words: str) -> str:
    return _text(64, 88, words, size=54, weight=700)


def _text(x: int, y: int, words: str, *, size: int, fill: str = INK, weight: int = 400, anchor: str = "start") -> str:
    return f'<text x="{x}" y="{y}" font-size="{size}" font-weight="{weight}" fill="{fill}" text-anchor="{anchor}">{words}</text>'


def _person(x: float, y: float, fill: str, scale: float = 1.0) -> str:
    """Head and shoulders, `x` and `y` at the upper left."""
    return (
        f'<g transform="translate({x} {y}) scale({scale})" fill="{fill}"><circle cx="28" cy="18" r="17"/>'
        f'<path d="M0 78V66a28 26 0 0 1 56 0v12a6 6 0 0 1-6 6H6a6 6 0 0 1-6-6z"/></g>'
    )


def _crowd(x: int, y: int, fills: list[str]) -> str:
    """Six students in two rows in the card at `x`."""
    return "".join(_person(x + 52 + 78 * (index % 3), y - 68 + 98 * (index // 3), fill, 0.92) for index, fill in enumerate(fills))


def _card(x: int, y: int, label: str, fill: str) -> str:
    name = _text(x + 153, y + 56, label, size=36, fill=INK, weight=600, anchor="middle")
    return (
        f'<rect x="{x}" y="{y}" width="306" height="284" rx="20" fill="{TINT}"/>'
        f'<rect x="{x}" y="{y}" width="306" height="10" rx="5" fill="{fill}"/>{name}'
    )


def _tag(x: int, y: int, label: str, fill: str) -> str:
    return (
        f'<rect x="{x}" y="{y}" width="306" height="84" rx="20" fill="{TINT}"/><g transform="translate({x + 22} {y + 13})">'
        f"{_person(0, 0, fill, 0.7)}</g>{_text(x + 80, y + 55, label, size=36, weight=600)}"
    )


def _arrow(x: int, y: int, to_x: int, to_y: int) -> str:
    return f'<path d="M{x} {y}L{to_x} {to_y}" stroke="{SOFT_INK}" stroke-width="6" stroke-linecap="round" marker-end="url(#arrow)"/>'


def _die(x: int, y: int) -> str:
    pips = "".join(
        f'<circle cx="{cx}" cy="{cy}" r="13" fill="{WHITE}"/>' for cx, cy in [(42, 42), (128, 42), (85, 85), (42, 128), (128, 128)]
    )
    return f'<g transform="translate({x} {y}) rotate(-8 85 85)"><rect width="170" height="170" rx="34" fill="{ACCENT}"/>{pips}</g>'


def _instructor(*, mouth: int, blink: bool) -> str:
    """A drawn person in a circle, in a space of 200 × 200."""
    eyes = (
        '<path d="M77 88h14M109 88h14" stroke="#2b2320" stroke-width="4" stroke-linecap="round"/>'
        if blink
        else '<circle cx="84" cy="88" r="5.5" fill="#2b2320"/><circle cx="116" cy="88" r="5.5" fill="#2b2320"/>'
    )
    lips = [
        '<path d="M86 120q14 7 28 0" fill="none" stroke="#8c4a3e" stroke-width="4.5" stroke-linecap="round"/>',
        '<path d="M86 118q14 3 28 0q-14 12-28 0z" fill="#7a2f2f" stroke="#8c4a3e" stroke-width="3" stroke-linejoin="round"/>',
        '<path d="M86 116q14 2 28 0q-2 18-14 18t-14-18z" fill="#7a2f2f" stroke="#8c4a3e" stroke-width="3" stroke-linejoin="round"/>',
        '<ellipse cx="100" cy="124" rx="13" ry="14" fill="#7a2f2f" stroke="#8c4a3e" stroke-width="3"/>',
    ][mouth]
    return (
        '<g transform="translate(724 258)"><clipPath id="inset"><circle cx="100" cy="100" r="98"/></clipPath>'
        '<g clip-path="url(#inset)"><rect width="200" height="200" fill="#cfe2ea"/>'
        '<path d="M50 96Q42 34 100 32T150 96L152 138H48z" fill="#3a2a22"/>'
        f'<path d="M14 206Q16 158 72 150H128Q184 158 186 206z" fill="{ACCENT}"/><path d="M76 150L100 176L124 150z" fill="{WHITE}"/>'
        '<path d="M84 128h32v26q-16 16-32 0z" fill="#d79f7e"/><ellipse cx="100" cy="94" rx="40" ry="48" fill="#e9b796"/>'
        '<path d="M57 96Q54 44 100 44T143 96Q138 72 118 62Q88 60 57 96z" fill="#3a2a22"/>'
        '<path d="M76 77q8-5 16-1M108 76q8-4 16 1" fill="none" stroke="#3a2a22" stroke-width="4" stroke-linecap="round"/>'
        '<path d="M100 92q-5 12 2 14" fill="none" stroke="#c98f6f" stroke-width="3.5" stroke-linecap="round"/>'
        f'{eyes}{lips}</g><circle cx="100" cy="100" r="98" fill="none" stroke="{ACCENT}" stroke-width="4"/></g>'
    )
