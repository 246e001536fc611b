"""The page that reports are written on: readable on a telephone, on a screen and on paper."""

from __future__ import annotations

import html
import os
import secrets
import stat
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any

import rosenblatt

_STYLE = """
:root { --ink: #222; --grey: #595959; --line: #d9d9d9; --blue: #0072B2; --vermillion: #B34F00; }
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body { margin: 0 auto; padding: 1.5rem 1rem 3rem; max-width: 64rem; color: var(--ink); background: #fff;
  font: 1rem/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; }
h1 { font-size: 1.7rem; line-height: 1.25; margin: .2rem 0 .6rem; overflow-wrap: anywhere; }
h2 { font-size: 1.2rem; margin: 2.2rem 0 .6rem; padding-top: .6rem; border-top: 1px solid var(--line); }
p { margin: .5rem 0; max-width: 46rem; overflow-wrap: anywhere; }
.source { color: var(--grey); margin: 0; }
.verdict { display: inline-block; padding: .15rem .7rem; border-radius: .3rem; color: #fff; background: var(--grey); }
.verdict.yes { background: var(--blue); }
.verdict.no { background: var(--vermillion); }
.pictures { display: grid; margin-top: 1.2rem;
  grid-template-columns: repeat(auto-fit, minmax(min(100%, 26rem), 1fr)); gap: 1.5rem; }
figure { margin: 0; min-width: 0; max-width: 36rem; }
figure img { display: block; width: 100%; height: auto; }
figcaption { color: var(--grey); font-size: .9rem; max-width: 36rem; }
.table { overflow-x: auto; }
table { border-collapse: collapse; font-size: .95rem; font-variant-numeric: tabular-nums; }
th, td { text-align: left; vertical-align: top; padding: .3rem .9rem .3rem 0; border-bottom: 1px solid var(--line); }
th { font-weight: 600; }
td.number, th.number { text-align: right; white-space: nowrap; }
.facts th { font-weight: 400; color: var(--grey); white-space: nowrap; }
td.short { white-space: nowrap; }
td:last-child { overflow-wrap: anywhere; }
.facts td { min-width: 6rem; }
pre { background: #f5f5f5; padding: .7rem .9rem; border-radius: .3rem; font-size: .85rem; white-space: pre-wrap;
  overflow-wrap: anywhere; }
a { color: var(--blue); }
footer { margin-top: 2.5rem; padding-top: .6rem; border-top: 1px solid var(--line); color: var(--grey);
  font-size: .85rem; }
@media (max-width: 34rem) { .facts th { white-space: normal; } h1 { font-size: 1.4rem; } }
@media print {
  body { max-width: none; padding: 0; font-size: 10pt; }
  h2 { break-after: avoid; }
  figure, tr, pre { break-inside: avoid; }
  .pictures { grid-template-columns: 1fr 1fr; }
  .table { overflow: visible; }
  .verdict { color: var(--ink); background: none; border: 1.5pt solid currentColor; }
  .screen { display: none; }
}
"""

_SHORT = 20  # letters

_POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


def page(title: str, parts: Iterable[str]) -> str:
    """A whole page."""
    return (
        "<!DOCTYPE html>\n"
        '<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{text(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
        + "\n".join(part for part in parts if part)
        + f"\n<footer>Written by rosenblatt {rosenblatt.__version__}. All of it is in this file; nothing is loaded "
        "from elsewhere.</footer>\n</body>\n</html>\n"
    )


def text(words: Any) -> str:
    """Words, so that none of them is read as HTML."""
    return html.escape(str(words), quote=True)


def heading(title: str, source: str | None, verdict: str = "", kind: str = "") -> str:
    """The top of a page: what it is about, and the verdict."""
    from_where = f'<p class="source">{text(source)}</p>' if source else ""
    badge = f'<p><span class="verdict {kind}">{text(verdict)}</span></p>' if verdict else ""
    return f"<header>{from_where}<h1>{text(title)}</h1>{badge}</header>"


def section(title: str, *parts: str) -> str:
    """A part of the page under a title; empty if nothing is in it."""
    inside = "\n".join(part for part in parts if part)
    return f"<section><h2>{text(title)}</h2>\n{inside}</section>" if inside else ""


def paragraphs(lines: Iterable[str]) -> str:
    """A paragraph for each line."""
    return "\n".join(f"<p>{text(line)}</p>" for line in lines)


def facts(pairs: Iterable[tuple[str, Any]]) -> str:
    """Names and values, a line each; those without a value are left out."""
    rows = "".join(
        f'<tr><th scope="row">{text(name)}</th><td>{text(value)}</td></tr>'
        for name, value in pairs
        if value is not None
    )
    return f'<table class="facts">{rows}</table>' if rows else ""


def table(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A table; numbers stand to the right. A wide one scrolls by itself, not the page."""
    lines = [list(row) for row in rows]
    right = [all(isinstance(row[k], (int, float)) or _is_number(row[k]) for row in lines) for k in range(len(columns))]
    mark = [' class="number"' if own else "" for own in right]
    head = "".join(f'<th scope="col"{own}>{text(name)}</th>' for name, own in zip(columns, mark, strict=True))
    short = [own or (' class="short"' if _is_short(lines, k) else "") for k, own in enumerate(mark)]
    body = "".join(
        "<tr>" + "".join(f"<td{own}>{text(value)}</td>" for value, own in zip(row, short, strict=True)) + "</tr>"
        for row in lines
    )
    return f'<div class="table"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def _is_short(lines: Sequence[Sequence[Any]], column: int) -> bool:
    """Whether what stands in a column is not worth breaking."""
    return all(len(str(row[column])) <= _SHORT for row in lines)


def _is_number(value: Any) -> bool:
    try:
        float(str(value).replace(",", "").replace("−", "-"))
    except ValueError:
        return False
    return True


def pictures(images: Iterable[tuple[str, str]]) -> str:
    """Pictures with what is to be seen in them, side by side where there is room."""
    shown = "".join(
        f"<figure>{image}<figcaption>{text(caption)}</figcaption></figure>" for image, caption in images if image
    )
    return f'<div class="pictures">{shown}</div>' if shown else ""


def write(report: str, path: str | os.PathLike[str]) -> None:
    """Write a report: the whole of it, or, if something goes wrong, nothing.

    Parameters
    ----------
    report : str
        What `certificate_report` or `training_report` returned.
    path : str or path
        The file, usually ``.html``.
    """
    target = os.path.realpath(os.fspath(path))
    temporary = os.path.join(os.path.dirname(target), f".rosenblatt-{secrets.token_hex(8)}.tmp")
    try:
        with open(temporary, "x", encoding="utf-8", newline="\n") as file:
            file.write(report)
            file.flush()
            os.fsync(file.fileno())
        if os.path.exists(target):
            os.chmod(temporary, stat.S_IMODE(os.stat(target).st_mode))
        os.replace(temporary, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise
