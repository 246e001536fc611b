"""Sphinx: pages in Markdown, the reference from docstrings, no warning allowed (make docs)."""

import re
import tomllib
from pathlib import Path

project_table = tomllib.loads((Path(__file__).resolve().parent.parent / "pyproject.toml").read_text(encoding="utf-8"))[
    "project"
]

project = "rosenblatt"
author = "The rosenblatt developers"
copyright = "The rosenblatt developers"
release = version = project_table["version"]

extensions = ["myst_parser", "numpydoc", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx.ext.mathjax"]
exclude_patterns = ["_build"]
templates_path = ["_templates"]
html_theme = "pydata_sphinx_theme"
html_title = "rosenblatt"
html_theme_options = {
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
}
html_sidebars = {"gallery": [], "install": [], "quickstart": [], "algorithms": []}

myst_enable_extensions = ["dollarmath", "deflist"]
myst_heading_anchors = 3

autosummary_generate = True
autodoc_typehints = "none"  # the docstrings give the types, in the words of the field
autodoc_member_order = "bysource"
numpydoc_show_class_members = False  # the template lists the members, without those that scikit-learn brings


def keep_bars(app, what, name, obj, options, lines):
    """In a docstring |w| is an absolute value, not the name of a substitution of reStructuredText."""
    for number, line in enumerate(lines):
        if not line.lstrip().startswith((">>>", "...")):
            parts = line.split("``")  # literal text keeps its bars as they are
            parts[::2] = [re.sub(r"\|(?=\S)", r"\\|", part) for part in parts[::2]]
            lines[number] = "``".join(parts)


def hide_internals(app, what, name, obj, options, signature, returns):
    """What a certificate computes later is between it and `certify`."""
    return signature and signature.replace(", *, later=None", ""), returns


def setup(app):
    app.connect("autodoc-process-signature", hide_internals)
    app.connect("autodoc-process-docstring", keep_bars)
