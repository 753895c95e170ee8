"""Pages laid out in the styles of real filings, for ``benchmarks/file_styles.py``."""

from __future__ import annotations

import csv
import html
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from kg.reports import Report, analyse_table
from kg.text import SCALES

STYLES = ("html", "xbrl", "pdf", "framed-pdf", "excel", "csv", "parquet")

_DOUBLED = re.compile(r"(-?)\s*([$€£]?)\s*(-?)([\d,.]+)\s*(%?)\s*\(\s*[$€£]?\s*[\d,.]+\s*%?\s*\)")
_NUMBER = re.compile(
    r"(?P<sign>-?)\s*(?P<currency>[$€£]?)\s*(?P<minus>-?)(?P<figure>\d[\d,]*\.?\d*|\.\d+)\s*(?P<percent>%?)"
)
_SCALED = re.compile(r"\(?[^()]*\b(?:thousand|million|billion)s\b[^()]*\)?")


@dataclass(frozen=True)
class Shown:
    """A cell as a filing shows it."""

    currency: str
    figure: str
    percent: str
    negative: bool

    @property
    def text(self) -> str:
        figure = f"({self.figure})" if self.negative else self.figure
        return " ".join(part for part in (self.currency, figure) if part) + self.percent


def shown(cell: str) -> Shown | str:
    """A cell of ConvFinQA as a filing shows it: "$ -50 ( 50 )" is "$ (50)"; a cell of another form stays as it is."""
    doubled = _DOUBLED.fullmatch(cell.strip())
    if doubled is not None and "-" in (doubled[1], doubled[3]):
        return Shown(doubled[2], grouped(doubled[4]), doubled[5], negative=True)
    percent = re.fullmatch(r"(-?[\d.,]+%)\s*\(\s*-?[\d.,]+\s*%\s*\)", cell.strip())
    match = _NUMBER.fullmatch(percent[1] if percent is not None else cell.strip())
    if match is None:
        return cell
    return Shown(match["currency"], grouped(match["figure"]), match["percent"], "-" in (match["sign"], match["minus"]))


def grouped(figure: str) -> str:
    """A figure with commas between thousands, except a year."""
    whole, point, rest = figure.replace(",", "").partition(".")
    if "," in figure or len(whole) < 5:
        return figure
    return f"{int(whole):,}{point}{rest}"


@dataclass(frozen=True)
class Page:
    """A report, and its number among the pages, which picks the variant of each style."""

    report: Report
    number: int

    @cached_property
    def scale(self) -> str:
        """The statement of scale in the corner of the table or near it, or nothing."""
        match = _SCALED.search(self.report.table[0][0])
        if match is not None:
            return match[0].strip()
        scale = analyse_table(self.report.table, self.report.pre_text[-3:]).scale
        return next((f"in {word}s" for word, factor in SCALES.items() if factor == scale), "")

    @cached_property
    def cells(self) -> list[list[Shown | str]]:
        """The rows of data, with labels as text."""
        return [[row[0].capitalize(), *map(shown, row[1:])] for row in self.report.table[1:]]

    @property
    def headers(self) -> list[str]:
        """The headers, each with the space that the data lost between a day and a year."""
        texts = [re.sub(r"\b(\d{1,2})((?:19|20)\d\d)\b", r"\1 , \2", text) for text in self.report.table[0][1:]]
        return [text[:1].upper() + text[1:] for text in texts]

    def write(self, style: str, folder: Path) -> list[Path]:
        """Writes the page in a style; returns its files."""
        folder.mkdir(parents=True, exist_ok=True)
        return WRITERS[style](self, folder / f"page-{self.number:02}")


def _html_row(page: Page, row: list[Shown | str], facts: bool) -> Iterator[str]:
    yield f'<td colspan="3">{html.escape(str(row[0]))}</td>'
    for column, cell in enumerate(row[1:]):
        yield '<td colspan="3"></td>' if column else ""
        if isinstance(cell, str):
            yield f'<td colspan="3">{html.escape(cell)}</td>'
            continue
        figure = f"({cell.figure}" if cell.negative else cell.figure
        if facts:
            power = {"thousand": 3, "million": 6, "billion": 9}[re.search("thousand|million|billion", page.scale)[0]]  # type: ignore[index]
            unit = "percent" if cell.percent else "usd"
            scale = -2 if cell.percent else power
            about = f'name="a:Item" contextRef="c{column}" unitRef="{unit}" scale="{scale}"'
            tag = f"<ix:nonFraction {about}>{cell.figure}</ix:nonFraction>"
            figure = f"({tag}" if cell.negative else tag
        tail = (")" if cell.negative else "") + cell.percent
        if cell.currency:
            yield f"<td>{cell.currency}</td><td>{figure}</td><td>{tail}</td>"
        else:
            yield f'<td colspan="2">{figure}</td><td>{tail}</td>'


def _html(page: Page, path: Path, *, facts: bool = False) -> list[Path]:
    """EDGAR's form: blocks of ``div`` and ``span``, three columns of the grid for one of the table."""
    facts = facts and bool(page.scale) and _same_scale(page)
    note = f"<div><span>({page.scale.strip('( )')})</span></div>" if page.scale and not facts else ""
    variant = page.number % 4
    width = 3 + 6 * len(page.headers) - 3
    rows = [f'<tr><td colspan="{width}"></td></tr>']
    corner = ""
    title = "<div><span>Selected data</span></div>"
    if variant == 0:
        title += note
    elif variant == 1 and note:
        title = f"<h3>Selected data {note[11:-13]}</h3>"
    elif variant == 2 and note:
        rows.append(f'<tr><td colspan="3"></td><td colspan="{width - 3}">{note[11:-13]}</td></tr>')
    elif note:
        corner = note[11:-13]
    spacer = '<td colspan="3"></td>'
    if variant % 2:
        rows.append(f'<tr><td colspan="3"></td><td colspan="{width - 3}">Years ended</td></tr>')
    heads = spacer.join(f'<td colspan="3">{html.escape(text).replace(" ", "<br/>", 1)}</td>' for text in page.headers)
    rows.append(f'<tr><td colspan="3">{corner}</td>{heads}</tr>')
    rows += [f"<tr>{''.join(_html_row(page, row, facts))}</tr>" for row in page.cells]
    body = "".join(f"<div><span>{html.escape(text)}</span></div>\n" for text in page.report.pre_text)
    after = "".join(f"<div><span>{html.escape(text)}</span></div>\n" for text in page.report.post_text)
    table = f"{title}<table>{''.join(rows)}</table>"
    head = _resources(page) if facts else ""
    path = path.with_suffix(".html")
    path.write_text(f"<html><body>{head}{body}{table}{after}</body></html>", encoding="utf-8")
    return [path]


def _same_scale(page: Page) -> bool:
    """Whether the statement of scale holds for every row, as facts would then repeat it."""
    layout = analyse_table(page.report.table)
    figures = [
        layout.scale_of(row, column, one, layout.unit(row, column, one)) == layout.scale
        or layout.unit(row, column, one) == "percent"
        for row in layout.data_rows
        for column in range(1, len(layout.columns))
        for one in layout.figures(row, column)[:1]
    ]
    return all(figures)


def _resources(page: Page) -> str:
    layout = analyse_table(page.report.table)
    contexts = "".join(
        f'<xbrli:context id="c{place}"><xbrli:period><xbrli:instant>{line.period}-12-31</xbrli:instant></xbrli:period>'
        "</xbrli:context>"
        for place, line in enumerate(layout.columns[1:])
    )
    units = (
        '<xbrli:unit id="usd"><xbrli:measure>iso4217:USD</xbrli:measure></xbrli:unit>'
        '<xbrli:unit id="percent"><xbrli:measure>xbrli:pure</xbrli:measure></xbrli:unit>'
    )
    return f'<div style="display:none"><ix:header><ix:resources>{contexts}{units}</ix:resources></ix:header></div>'


_FONT = "Helvetica"


def _latin(text: str) -> str:
    return text.encode("latin-1", "replace").decode("latin-1")


def _pdf(page: Page, path: Path, *, framed: bool = False) -> list[Path]:
    """A page of running text and one table; without frames, the currency sign is at the left of its column."""
    from fpdf import FPDF

    document: Any = FPDF(format="letter", unit="pt")
    document.set_margins(54, 54)
    document.set_auto_page_break(True, 54)
    document.add_page()
    document.set_font(_FONT, size=9)
    for text in page.report.pre_text:
        document.multi_cell(0, 11, _latin(text), align="J" if page.number % 2 else "L", new_x="LMARGIN", new_y="NEXT")
        document.ln(6)
    height = 13 * (len(page.cells) + 4)
    if document.get_y() + height > 740:
        document.add_page()
    document.ln(8)
    _pdf_table(document, page, framed=framed)
    document.ln(14)
    for text in page.report.post_text:
        document.multi_cell(0, 11, _latin(text), align="L", new_x="LMARGIN", new_y="NEXT")
        document.ln(6)
    path = path.with_suffix(".pdf")
    document.output(str(path))
    return [path]


def _pdf_table(document: Any, page: Page, *, framed: bool) -> None:
    left, full, height = 54, 504, 13
    width = min(75, 290 / len(page.headers))
    labels = full - width * len(page.headers)
    note = f"({page.scale.strip('( )')})" if page.scale else ""
    corner = ""
    if page.number % 2:
        document.set_x(left)
        document.cell(full, height, _latin(note), align="C" if page.number % 4 == 1 else "L")
        document.ln(height)
    else:
        corner = note
    for place, line in enumerate(_wrapped_headers(document, page.headers, width - 8)):
        is_last = place == len(_wrapped_headers(document, page.headers, width - 8)) - 1
        document.set_x(left)
        if framed:
            break
        document.cell(labels, height, _latin(corner) if is_last else "")
        for text in line:
            document.cell(width, height, _latin(text), align="R")
        document.ln(height)
    if framed:
        document.set_font(_FONT, size=9 if len(page.headers) < 5 else 7)
        _framed_rows(document, page, corner, labels, width)
        return
    document.line(left, document.get_y(), left + full, document.get_y())
    for number, row in enumerate(page.cells):
        _pdf_row(document, row, labels, width, leaders=page.number % 3 == 0, lined=number + 1 == len(page.cells))


def _wrapped_headers(document: Any, headers: list[str], width: float) -> list[list[str]]:
    """The headers in lines of words that fit, the last line at the bottom of each."""
    wrapped = []
    for text in headers:
        lines = [""]
        for word in text.split():
            longer = f"{lines[-1]} {word}".strip()
            if document.get_string_width(longer) > width and lines[-1]:
                lines.append(word)
            else:
                lines[-1] = longer
        wrapped.append(lines)
    most = max(map(len, wrapped))
    filled = [[""] * (most - len(lines)) + lines for lines in wrapped]
    return [list(line) for line in zip(*filled, strict=True)]


def _pdf_row(document: Any, row: list[Shown | str], labels: float, width: float, *, leaders: bool, lined: bool) -> None:
    left, height = 54, 13
    words, lines = str(row[0]).split(), [""]
    for word in words:
        longer = f"{lines[-1]} {word}".strip()
        if document.get_string_width(_latin(longer)) > labels - 14 and lines[-1]:
            lines.append(word)
        else:
            lines[-1] = longer
    for text in lines[:-1]:
        document.set_x(left)
        document.cell(labels, height, _latin(text))
        document.ln(height)
    text = _latin(lines[-1])
    if leaders:
        while document.get_string_width(text + " .") < labels - 10:
            text += " ."
    document.set_x(left)
    document.cell(labels, height, text)
    for cell in row[1:]:
        start = document.get_x()
        if isinstance(cell, str):
            document.cell(width, height, _latin(cell), align="R")
            continue
        if cell.currency:
            document.text(start + 12, document.get_y() + 9.5, _latin(cell.currency.replace("€", "EUR")))
        figure = f"({cell.figure})" if cell.negative else cell.figure
        document.cell(width, height, figure + cell.percent, align="R")
        if lined:
            document.line(start + 12, document.get_y() + height, start + width, document.get_y() + height)
    document.ln(height)


def _framed_rows(document: Any, page: Page, corner: str, labels: float, width: float) -> None:
    rows = [
        [corner, *page.headers],
        *[[cell if isinstance(cell, str) else cell.text for cell in row] for row in page.cells],
    ]
    with document.table(
        col_widths=(labels, *[width] * len(page.headers)),
        text_align=("LEFT", *["RIGHT"] * len(page.headers)),
        line_height=12,
    ) as table:
        for row in rows:
            line = table.row()
            for text in row:
                line.cell(_latin(text))


def _excel(page: Page, path: Path) -> list[Path]:
    """A workbook as analysts keep it: a title, the scale below it or in the corner, figures with formats."""
    import openpyxl
    from openpyxl.utils import get_column_letter

    book = openpyxl.Workbook()
    sheet: Any = book.active
    sheet.title = "Data"
    sheet.append(["Selected data"])
    note = f"({page.scale.strip('( )')})" if page.scale else ""
    if note and page.number % 2:
        sheet.append([note])
    sheet.append([])
    if page.number % 3 == 0:
        sheet.append(["", "Years ended"])
        row = sheet.max_row
        sheet.merge_cells(f"B{row}:{get_column_letter(1 + len(page.headers))}{row}")
    years = [int(text) if text.isdigit() else text for text in page.headers]
    sheet.append(["" if page.number % 2 else note, *years])
    for cells in page.cells:
        row = sheet.max_row + 1
        for column, cell in enumerate(cells, start=1):
            if isinstance(cell, str):
                sheet.cell(row, column, cell)
                continue
            value = float(cell.figure.replace(",", "")) * (-1 if cell.negative else 1)
            places = len(cell.figure.partition(".")[2])
            digits = "#,##0" + ("." + "0" * places if places else "")
            if cell.percent:
                one = sheet.cell(row, column, value / 100)
                one.number_format = "0" + ("." + "0" * places if places else "") + "%"
            else:
                one = sheet.cell(row, column, value if places else int(value))
                mark = f'"{cell.currency}"' if cell.currency else ""
                one.number_format = f"{mark}{digits}_);({mark}{digits})"
    path = path.with_suffix(".xlsx")
    book.save(path)
    return [path, _notes(page, path)]


def _notes(page: Page, path: Path) -> Path:
    """The text of a page, a paragraph a sentence."""
    notes = path.with_name(f"{path.stem}-notes.txt")
    notes.write_text("\n\n".join(page.report.sentences), encoding="utf-8")
    return notes


def _facts(page: Page) -> list[dict[str, str]]:
    """One row a fact: item, period, value, and the unit or scale where they are stated."""
    scale = re.search("thousand|million|billion", page.scale)
    found = []
    for row in page.cells:
        for header, cell in zip(page.headers, row[1:], strict=True):
            if isinstance(cell, str):
                value, unit = cell, ""
            else:
                sign = "-" if cell.negative else ""
                value, unit = (
                    sign + cell.figure.replace(",", ""),
                    "percent" if cell.percent else "USD" if cell.currency else "",
                )
            found.append({"item": str(row[0]), "period": header, "value": value, "unit": unit})
            if scale is not None:
                found[-1]["scale"] = f"{scale[0]}s"
    return found


def _csv(page: Page, path: Path) -> list[Path]:
    path = path.with_suffix(".csv")
    rows = _facts(page)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return [path, _notes(page, path)]


def _parquet(page: Page, path: Path) -> list[Path]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = path.with_suffix(".parquet")
    pq.write_table(pa.Table.from_pylist(_facts(page)), path)
    return [path, _notes(page, path)]


WRITERS: dict[str, Callable[[Page, Path], list[Path]]] = {
    "html": _html,
    "xbrl": lambda page, path: _html(page, path, facts=True),
    "pdf": _pdf,
    "framed-pdf": lambda page, path: _pdf(page, path, framed=True),
    "excel": _excel,
    "csv": _csv,
    "parquet": _parquet,
}
