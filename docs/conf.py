"""Makes the documentation's site from these pages: ``make docs``; a warning is an error."""

from __future__ import annotations

import os
import sys
from pathlib import Path

DOCS = Path(__file__).parent
HERE = [str(DOCS / "_site"), str(DOCS.parent / "src")]
sys.path[:0] = HERE
# What a tutorial runs, in its shell too, is this checkout's code by this environment's Python.
os.environ["PYTHONPATH"] = os.pathsep.join([*HERE, os.environ.get("PYTHONPATH", "")])
os.environ["INDIFF_DOCS"] = str(DOCS)
os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"

from nbclient import NotebookClient  # noqa: E402

import indiff  # noqa: E402

project = "indiff"
author = "the indiff contributors"
project_copyright = author
release = version = indiff.__version__

extensions = ["myst_nb", "sphinx.ext.autodoc", "pages", "mathml"]
exclude_patterns = ["_site", "images/*.py"]
suppress_warnings = ["mystnb.unknown_mime_type"]

myst_enable_extensions = ["dollarmath", "deflist", "attrs_inline", "attrs_block"]
myst_heading_anchors = 4
myst_dmath_double_inline = True

nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_in_temp = True
nb_execution_timeout = 300
# What a shell prints comes in pieces that end anywhere: they are joined as they are.
NotebookClient.coalesce_streams = True

autodoc_default_options = {"members": True, "show-inheritance": False}
autodoc_member_order = "bysource"
autodoc_typehints = "none"
autodoc_inherit_docstrings = False
add_module_names = False
python_use_unqualified_type_names = True

html_theme = "furo"
html_title = "indiff"
html_static_path = ["_site/static"]
html_css_files = ["site.css"]
html_js_files = [("site.js", {"defer": "defer"})]
html_favicon = "_site/static/favicon.svg"
html_copy_source = False
html_show_sphinx = False
html_show_search_summary = False  # it would fetch pages, which a browser refuses for files
html_math_renderer = "mathml"
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "a11y-high-contrast-dark"
