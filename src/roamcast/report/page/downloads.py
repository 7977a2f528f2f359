"""Downloads within the page: figures as SVG and PDF, tables as CSV and Parquet."""

from __future__ import annotations

import base64
import io
from html import escape

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import csv

from roamcast.report.drawings.catalogue import ReportFigure
from roamcast.report.drawings.figures import embed_svg
from roamcast.report.result import CampaignResult

LARGEST = 500_000
"Size of a table that the page contains [B]; of a larger one it links the file beside it."

_TABLES = {
    "summary": "means and intervals of all metrics",
    "seeds": "all metrics of each run",
    "differences": "paired differences of protocols",
    "verdicts": "claims and verdicts",
}
_TYPES = {
    "svg": "image/svg+xml",
    "pdf": "application/pdf",
    "csv": "text/csv",
    "parquet": "application/vnd.apache.parquet",
}


def show_figure(figure: ReportFigure) -> str:
    """Return a figure with its caption and its downloads."""
    svg = figure.render("svg")
    links = f"{_link(f'{figure.name}.svg', svg)} {_link(f'{figure.name}.pdf', figure.render('pdf'))}"
    return (
        f"<figure class='panel'>{embed_svg(svg.decode())}<figcaption>{escape(figure.caption)}"
        f" <span class='get'>{links}</span></figcaption></figure>"
    )


def make_downloads(result: CampaignResult) -> str:
    """Return the section of tables."""
    rows = []
    for name, entry in _TABLES.items():
        table = _read(result, name)
        if table is None or not len(table):
            continue
        sink = io.BytesIO()
        pq.write_table(table, sink)
        text = io.BytesIO()
        csv.write_csv(table, text)
        links = []
        for kind, content in (("csv", text.getvalue()), ("parquet", sink.getvalue())):
            if len(content) <= LARGEST:
                links.append(_link(f"{name}.{kind}", content))
            elif kind == "parquet" and name != "seeds":
                links.append(f"<a href='tables/{name}.parquet'>Parquet</a>")
        rows.append(f"<li>{escape(entry)}: <span class='get'>{' '.join(links) or 'too large'}</span></li>")
    if not rows:
        return ""
    return f"<section class='downloads'><h2>Tables</h2><ul>{''.join(rows)}</ul></section>"


def _read(result: CampaignResult, name: str) -> pa.Table | None:
    """Return a table of the campaign; `seeds` is that of metrics with sweep, point, protocol and seed."""
    if {"metrics", "points", name} & result.stale:
        return None
    if name == "seeds":
        return result.store.read_table("points").join(result.store.read_table("metrics"), "run")
    return result.store.read_table(name)


def _link(name: str, content: bytes) -> str:
    kind = name.rpartition(".")[2]
    data = base64.b64encode(content).decode()
    word = {"csv": "CSV", "parquet": "Parquet"}.get(kind, kind.upper())
    return f"<a download='{escape(name)}' href='data:{_TYPES[kind]};base64,{data}'>{word}</a>"
