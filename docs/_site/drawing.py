"""Draws the concepts as SVG, with numbers that were measured."""

from __future__ import annotations

from collections.abc import Sequence

INK, PALE, YOU, WITH, WITHOUT = "#22303c", "#d7e0e8", "#c2410c", "#1f4e79", "#8a99a6"
FONT = "font-family='DejaVu Sans, Verdana, sans-serif'"


class Svg(str):
    """A drawing that a notebook shows as a picture."""

    def _repr_mimebundle_(self, **_: object) -> dict[str, str]:
        return {"image/svg+xml": str(self)}


def leaving_out(beliefs: Sequence[float], without: Sequence[float], names: Sequence[str]) -> Svg:
    """Draw both roads of the test: with the record above, without it below."""
    parts = []
    for top, label, rows, heights, colour in (
        (20, "the table", range(5), beliefs, WITH),
        (210, "the table without you", (0, 1, 3, 4), without, WITHOUT),
    ):
        parts.append(_text(80, top + 12, label))
        for place in rows:
            fill = YOU if place == 2 else PALE
            parts.append(_box(20, top + 22 + 22 * place, 120, 18, fill))
            if place == 2:
                parts.append(_text(80, top + 36 + 22 * place, "you", "#fff"))
        if len(rows) < 5:
            parts.append(
                _box(20, top + 66, 120, 18, "none", f"stroke='{YOU}' stroke-dasharray='4 3'")
            )
        parts.append(_arrow(150, top + 75, 200))
        parts.append(_box(205, top + 52, 110, 46, "#fff", f"stroke='{INK}'"))
        parts += [_text(260, top + 72, "sanitizer"), _text(260, top + 88, "f")]
        parts.append(_arrow(325, top + 75, 375))
        parts.append(_box(380, top + 52, 110, 46, "#fff", f"stroke='{INK}'"))
        parts += [_text(435, top + 72, "adversary"), _text(435, top + 88, "learns")]
        parts.append(_arrow(500, top + 75, 545))
        parts.append(_text(697, top + 12, "believes about you"))
        for place, (height, name) in enumerate(zip(heights, names, strict=True)):
            left, tall = 585 + 92 * place, 84 * height
            parts.append(_box(left, top + 118 - tall, 40, max(tall, 1), colour))
            parts.append(_text(left + 20, top + 112 - tall, f"{height:.0%}"))
            parts.append(_text(left + 20, top + 134, name))
    parts.append(_text(360, 190, "the same people, but for one row", YOU))
    return _svg(850, 360, parts)


def bars(rows: Sequence[tuple[str, float, float, str]]) -> Svg:
    """Draw, for each case, the belief in what is true: with the record and without it."""
    parts = []
    for place, (title, with_it, without, says) in enumerate(rows):
        top = 20 + 130 * place
        parts.append(_text(20, top + 10, title, INK, "start", "bold"))
        for row, (share, label, colour) in enumerate(
            ((with_it, "with the record", WITH), (without, "without it", WITHOUT))
        ):
            level = top + 24 + 32 * row
            parts.append(_text(150, level + 17, label, INK, "end"))
            parts.append(_box(160, level, 480, 24, "#eef2f5"))
            parts.append(_box(160, level, max(480 * share, 1), 24, colour))
            parts.append(_text(650, level + 17, f"{share:.0%}", INK, "start"))
        parts.append(_text(160, top + 106, says, YOU, "start"))
    return _svg(720, 20 + 130 * len(rows), parts)


def _svg(width: int, height: int, parts: Sequence[str]) -> Svg:
    size = f"viewBox='0 0 {width} {height}' width='{width}' height='{height}'"
    return Svg(f"<svg xmlns='http://www.w3.org/2000/svg' {size}>{''.join(parts)}</svg>")


def _box(x: float, y: float, width: float, height: float, fill: str, more: str = "") -> str:
    return f"<rect x='{x}' y='{y}' width='{width}' height='{height}' rx='3' fill='{fill}' {more}/>"


def _arrow(x: float, y: float, end: float) -> str:
    head = (
        f"<path d='M{end - 8} {y - 5} L{end} {y} L{end - 8} {y + 5}' fill='none' stroke='{INK}'/>"
    )
    return f"<path d='M{x} {y} H{end}' stroke='{INK}'/>{head}"


def _text(
    x: float, y: float, words: str, fill: str = INK, anchor: str = "middle", weight: str = "normal"
) -> str:
    style = f"{FONT} font-size='13' fill='{fill}' text-anchor='{anchor}' font-weight='{weight}'"
    return f"<text x='{x}' y='{y}' {style}>{words}</text>"
