"""Pages that stand alone: one file without scripts or outside resources, readable on paper and on a dark screen.

    write_page("A comparison", [heading(1, "A comparison"), table(["run", "turns"], [["beam", 746]])])

Everything that is not :class:`Html` is escaped on its way into a page: what a report or a model wrote stays text.
"""

from __future__ import annotations

import html
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

STYLE = """
:root { color-scheme: light dark; --ink: #1b1f24; --paper: #ffffff; --soft: #57606a; --line: #d0d7de; --band: #f6f8fa;
  --mark: #fff3bf; --mark-ink: #1b1f24; --good: #116329; --bad: #a40e26; --accent: #0550ae; --pick: #ddf4ff; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --paper: #0d1117; --soft: #9da7b3; --line: #3d444d;
  --band: #161b22; --mark: #5c4a00; --mark-ink: #fff8dc; --good: #56d364; --bad: #ff8a80; --accent: #79c0ff;
  --pick: #0c2d4d; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.5rem; max-width: 76rem; background: var(--paper); color: var(--ink);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; overflow-wrap: break-word; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: 0 0 .5rem; } h2 { font-size: 1.25rem; margin: 2rem 0 .5rem; }
h3 { font-size: 1.05rem; margin: 1.25rem 0 .25rem; } p { margin: .5rem 0; } code, .path { font-family: ui-monospace,
  "DejaVu Sans Mono", Consolas, monospace; font-size: .875em; }
.soft { color: var(--soft); } .good { color: var(--good); } .bad { color: var(--bad); } .wide { overflow-x: auto; }
.arrow { white-space: nowrap; }
table { border-collapse: collapse; margin: .5rem 0; font-size: .9375rem; } caption { text-align: left;
  color: var(--soft); padding-bottom: .25rem; } th, td { border: 1px solid var(--line); padding: .25rem .5rem;
  text-align: left; vertical-align: top; } thead th { background: var(--band); } td.number, th.number {
  text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
  th.number { white-space: normal; } tr.pick td, tr.pick th {
  background: var(--pick); } mark { background: var(--mark); color: var(--mark-ink); padding: 0 .15em;
  border-radius: 2px; outline: 1px solid var(--line); font-weight: 600; } td.used { background: var(--mark);
  color: var(--mark-ink); } td.used mark { outline: none; padding: 0; text-decoration: underline; }
section.turn { border-top: 2px solid var(--line); margin-top: 2rem; padding-top: .25rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .125rem 1rem; margin: .5rem 0; }
dt { color: var(--soft); } dd { margin: 0; } details { margin: .5rem 0; } summary { cursor: pointer; font-weight: 600; }
svg { max-width: 100%; height: auto; } svg text { fill: var(--ink); font: 13px system-ui, "DejaVu Sans", sans-serif; }
svg .axis, svg .bar { stroke: var(--soft); stroke-width: 1; } svg .grid { stroke: var(--line); stroke-width: 1; }
svg .point { fill: var(--accent); } svg .zero { stroke: var(--ink); stroke-dasharray: 4 3; }
.plots { display: flex; flex-wrap: wrap; gap: 1.5rem; } figure { margin: .5rem 0; } figcaption { color: var(--soft); }
@media print { :root { --ink: #000; --paper: #fff; --soft: #333; --line: #999; --band: #eee; --mark: #ffe97a;
  --mark-ink: #000; --pick: #e3f1fb; --good: #0a4d1c; --bad: #8a0b1e; --accent: #033d8b; } body { max-width: none;
  padding: 0; font-size: 10pt; -webkit-print-color-adjust: exact; print-color-adjust: exact; }
  table { font-size: 8.5pt; } tr, figure { break-inside: avoid; } h2, h3 { break-after: avoid; }
  .wide { overflow: visible; }
  @page { margin: 15mm; } }
"""


@dataclass(frozen=True)
class Html:
    """Text that is HTML already."""

    text: str

    def __str__(self) -> str:
        return self.text


def escape(value: object) -> str:
    """``value`` as HTML: :class:`Html` stays as it is, everything else is text."""
    return value.text if isinstance(value, Html) else html.escape(str(value))


def element(tag: str, content: object = "", *, kind: str | None = None, **attributes: str) -> Html:
    """One element; ``kind`` is its class."""
    written = {**({"class": kind} if kind else {}), **attributes}
    inside = "".join(f' {name.replace("_", "-")}="{html.escape(value)}"' for name, value in written.items())
    return Html(f"<{tag}{inside}>{escape(content)}</{tag}>")


def joined(parts: Iterable[object], between: str = "") -> Html:
    """Parts one after the other, each escaped."""
    return Html(between.join(escape(part) for part in parts))


def heading(level: int, content: object) -> Html:
    """A heading of level 1 to 6."""
    return element(f"h{level}", content)


def table(
    headers: Sequence[object],
    rows: Iterable[Sequence[object]],
    *,
    caption: object | None = None,
    numbers: Collection[int] = (),
    marked: Collection[int] = (),
) -> Html:
    """A table whose first row is its header.

    Args:
        headers: One for each column.
        rows: Cells; those that are :class:`Html` cells (``<td``) are taken as they are.
        caption: What it shows.
        numbers: Columns that are set to the right.
        marked: Rows that stand out.
    """

    def cell(tag: str, column: int, value: object) -> str:
        if isinstance(value, Html) and value.text.startswith("<td"):
            return value.text
        scope = {"scope": "col"} if tag == "th" else {}
        return element(tag, value, kind="number" if column in numbers else None, **scope).text

    head = "".join(cell("th", column, value) for column, value in enumerate(headers))
    body = [
        ('<tr class="pick">' if place in marked else "<tr>")
        + "".join(cell("td", column, value) for column, value in enumerate(row))
        + "</tr>"
        for place, row in enumerate(rows)
    ]
    title = element("caption", caption).text if caption is not None else ""
    start = f'<div class="wide"><table>{title}<thead><tr>{head}</tr></thead><tbody>'
    return Html(start + "".join(body) + "</tbody></table></div>")


def pairs(items: Iterable[tuple[object, object]]) -> Html:
    """Names with what they stand for."""
    return element("dl", joined(joined([element("dt", name), element("dd", value)]) for name, value in items))


def folded(summary: object, content: object, *, is_open: bool = False) -> Html:
    """Content that is shown when its summary is chosen; it needs no script, so it can be printed."""
    return Html(f"<details{' open' if is_open else ''}><summary>{escape(summary)}</summary>{escape(content)}</details>")


def write_page(title: str, parts: Iterable[object], language: str = "en") -> str:
    """A whole page."""
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    return (
        f'<!doctype html>\n<html lang="{language}">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{html.escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n"
        + "\n".join(escape(part) for part in parts)
        + "\n</main>\n</body>\n</html>\n"
    )
