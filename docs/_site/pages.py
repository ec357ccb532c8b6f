"""Fills in what pages do not say twice: the menu from the index, commands, names of the API."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from docutils.nodes import entry, literal_block, paragraph, raw, thead
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

REPOSITORY = Path(__file__).parents[2]
# Pages whose text has expressions, as plain letters that read well without a site, too.
PROOFS = ("closed-form", "leave-one-out", "randomized")
KEPT = re.compile(r"(^```.*?^```|^\$\$.*?^\$\$|`[^`]*`|\]\([^)]*\))", re.MULTILINE | re.DOTALL)
_SCRIPT = r"(?:\{[^{}]*\}|[A-Za-z0-9∞](?![A-Za-z0-9_]))"
_BASE = r"(?<![A-Za-zα-ω_])(?:[A-Za-zΑ-Ωα-ω]{1,2}|W1|[0-9)∫])"
TOKEN = re.compile(rf"{_BASE}′?(?:_{_SCRIPT}|[₀₁]?\^{_SCRIPT})+′?")
SIGNS = {
    "Σ": "\\sum ", "Π": "\\prod ", "∫": "\\int ", "₀": "_0", "₁": "_1", "∞": "\\infty ",
    "−": "-", "≠": "\\ne ", "·": "\\cdot ", "′": "'",
}  # fmt: skip


def setup(app: Sphinx) -> dict[str, Any]:
    """Have every page pass through here before it is read."""
    app.connect("source-read", _fill_in)
    app.connect("doctree-read", _show_commands)
    app.connect("doctree-read", _name_headless_columns)
    app.connect("html-page-context", _name_the_menu, priority=900)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


def _fill_in(app: Sphinx, name: str, source: list[str]) -> None:
    text = source[0]
    for file, page in {"README": "start", "CHANGELOG": "changes"}.items():
        text = text.replace(f"](../{file}.md", f"]({page}.md")
    if name == "index":
        text += menu(text)
    elif name == "papers/README":
        text += _toctree("", re.findall(r"\]\(([\w.-]+)\.md\)", text))
    elif name == "commands":
        text = text.replace("<!-- the commands -->", commands())
    elif name == "api":
        text = re.sub(r"^- `indiff\.([\w.]+)`.*$", _document, text, flags=re.MULTILINE)
    elif name == "changes":
        text = (REPOSITORY / "CHANGELOG.md").read_text(encoding="utf-8").replace("](docs/", "](")
    elif name.startswith("papers/"):  # their titles skip a level
        text = text.replace("\n### ", "\n## ")
    elif name in PROOFS:
        parts = KEPT.split(text)
        parts[::2] = [TOKEN.sub(_typeset, part) for part in parts[::2]]
        text = "".join(parts)
    source[0] = text


def _typeset(found: re.Match[str]) -> str:
    """Return an expression of a proof, such as φ_{c−1} or e^{−tX}, as a formula."""
    text = re.sub(r"W1_(\w)", r"W_{1,\1}", found[0])
    for sign, command in SIGNS.items():
        text = text.replace(sign, command)
    return f"${text.strip()}$"


def _show_commands(app: Sphinx, doctree: Any) -> None:
    """Show a notebook's shell cell as what is typed in a terminal."""
    for block in doctree.findall(literal_block):
        if re.search(r"^ended with (?!1$|3$)", block.astext(), re.MULTILINE):
            raise ExtensionError(f"a command of a tutorial went wrong: {block.astext()[-500:]}")
        if block.astext().startswith("%%bash\n"):
            text = block.astext().removeprefix("%%bash\n")
            block.replace_self(literal_block(text, text, language="bash"))


def _name_headless_columns(app: Sphinx, doctree: Any) -> None:
    """Let a screen reader say what stands above the first column where a page leaves it empty."""
    for head in doctree.findall(thead):
        for cell in head.findall(entry):
            if not cell.astext().strip():
                cell.children = []
                cell += paragraph("", "", raw("", '<span class="unseen">row</span>', format="html"))


def _name_the_menu(app: Sphinx, name: str, template: str, context: dict[str, Any], _: Any) -> None:
    """Give the titles in the theme's menu the level that screen readers ask for."""
    tree = context.get("furo_navigation_tree", "")
    context["furo_navigation_tree"] = tree.replace(
        'role="heading"', 'role="heading" aria-level="2"'
    )


def menu(index: str) -> str:
    """Return the site's menu: the sections of the index with the pages that their lists link."""
    found = []
    for section in re.split(r"^## ", index, flags=re.MULTILINE)[1:]:
        title, _, body = section.partition("\n")
        pages = re.findall(r"^- \[([^\]]*)\]\(([\w/.-]+)\.md\)", body, re.MULTILINE)
        if pages:
            found.append(_toctree(title, [f"{words} <{page}>" for words, page in pages]))
    return "\n".join(found)


def _toctree(caption: str, pages: list[str]) -> str:
    lines = ["", "```{toctree}", ":hidden:"]
    lines += [f":caption: {caption}"] if caption else []
    return "\n".join([*lines, "", *pages, "```", ""])


def _document(found: re.Match[str]) -> str:
    """Return the directive that documents one name of the API, from its docstring."""
    import indiff

    one: Any = indiff
    for part in found[1].split("."):
        one = getattr(one, part)
    how = "autoclass" if isinstance(one, type) else "autofunction"
    return f"```{{eval-rst}}\n.. {how}:: indiff.{found[1]}\n```"


def commands() -> str:
    """Return every command with its options, as the command line itself declares them."""
    import typer

    from indiff.cli.main import app

    program = typer.main.get_command(app)
    parts = []
    for name, command in program.commands.items():  # type: ignore[attr-defined]
        given = [one.metavar for one in command.params if one.param_type_name == "argument"]
        usage = " ".join(["indiff", name, *given, "[OPTIONS]"])
        parts += [f"## `indiff {name}`", "", _prose(command.help), "", f"`{usage}`", ""]
        parts += ["| option | default | what it says |", "|---|---|---|"]
        parts += [_row(one) for one in command.params if one.name != "help" and not one.hidden]
        parts += [""]
    return "\n".join(parts)


def _row(one: Any) -> str:
    words = [] if one.param_type_name == "argument" else one.opts
    if one.metavar:
        words = [*words, one.metavar]
    default = "required" if one.required else ""
    if not one.required and one.default not in (None, False, "") and not callable(one.default):
        default = f"`{one.default}`"
    cells = (f"`{' '.join(words)}`", default, _prose(one.help))
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _prose(text: str | None) -> str:
    return " ".join((text or "").split()).replace("<", "\\<").replace("*", "\\*")
