"""No page speaks Python: every sentence that can reach one, every label and every template."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import indiff
from indiff.web.api.choices import DISTANCES, GROUPS, MODELS, PLAIN, PRESETS, plainly
from indiff.web.pages.next_steps import in_page_words
from indiff.web.refusals import FIELDS, OF_RELEASE, VALUES

HOME = Path(indiff.__file__).parent
TEMPLATES = HOME / "web" / "templates"
# A value, a type, a library or a call of Python; "pass x=" is an argument, not a verdict.
FOREIGN = re.compile(
    r"\b(None|True|False|dict|tuple|kwargs?|pandas|[Pp]olars|narwhals|[Pp]y[Aa]rrow|numpy|Python|"
    r"DataFrame|Traceback|dtype|isinstance|predict_proba)\b"
    r"|\b[Pp]ass (it|a|an|\w+=)|\b[a-z_]+=(None|True|False|['\[{(])|\b[a-z_]+\(\)"
)
RAISED = {"UserError", "Message", "Refused", "NotFoundError", "UnreadableRegion"}
# Folders whose errors no page shows, and modules that only a Python program reaches: a page reads
# files and names sanitizers, models and distances by texts that the server knows.
NEVER_SHOWN = ("cli", "papers", "datasets", "plot", "engines")
FOR_PROGRAMS = (
    "data/reading/columns.py", "data/reading/frames.py", "data/reading/source.py",
    "differential/explain/membership.py", "differential/people.py", "inference/background.py",
    "inference/classifier.py", "inference/features.py", "inference/models.py",
    "release/release.py", "sanitizers/oracles/command.py", "sanitizers/oracles/function.py",
    "sanitizers/sanitizer.py", "audit/run.py", "sklearn.py",
)  # fmt: skip


def sentences(module: Path) -> list[tuple[int, str]]:
    """The texts that a module's errors and notes are made of; options are worded elsewhere."""
    found = []
    for call in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
        if not isinstance(call, ast.Call) or getattr(call.func, "id", "") not in RAISED:
            continue
        for given in [*call.args, *(one.value for one in call.keywords if one.arg != "field")]:
            inside = {
                id(part)
                for one in ast.walk(given)
                if isinstance(one, ast.FormattedValue)
                for part in ast.walk(one)
            }
            found += [
                (part.lineno, part.value)
                for part in ast.walk(given)
                if isinstance(part, ast.Constant)
                and isinstance(part.value, str)
                and id(part) not in inside
            ]
    return found


def test_no_sentence_that_can_reach_a_page_speaks_python() -> None:
    seen, foreign = 0, []
    for module in sorted(HOME.rglob("*.py")):
        name = module.relative_to(HOME).as_posix()
        if name.startswith(NEVER_SHOWN) or name in FOR_PROGRAMS:
            continue
        for line, sentence in sentences(module):
            seen += 1
            if FOREIGN.search(sentence):
                foreign.append(f"{name}:{line}: {sentence}")
    assert not foreign, "\n".join(foreign)
    assert seen > 500, "the sentences are no longer found"


def test_no_sentence_of_a_result_speaks_of_the_command_line() -> None:
    """What an audit writes for the page of a run: reasons, next steps, findings and verdicts."""
    written = re.compile(r"(?<![-\w])--[a-z]|\bthe plan\b")
    seen = 0
    for place in ("audit/next_steps", "audit/findings", "audit/policy", "audit/fix.py"):
        found = HOME / place
        for module in [found] if found.is_file() else sorted(found.glob("*.py")):
            tree = ast.parse(module.read_text(encoding="utf-8"))
            docs = {
                id(part.body[0].value)
                for part in ast.walk(tree)
                if isinstance(part, ast.Module | ast.FunctionDef | ast.ClassDef)
                and isinstance(part.body[0], ast.Expr)
            }
            for part in ast.walk(tree):
                if isinstance(part, ast.JoinedStr):
                    text = "".join(
                        str(one.value) if isinstance(one, ast.Constant) else "delta=0.5"
                        for one in part.values
                    )
                elif isinstance(part, ast.Constant) and isinstance(part.value, str):
                    text = "" if id(part) in docs else part.value
                else:
                    continue
                if not re.search("[a-z]{3,} [a-z]", text):  # part of a command
                    continue
                seen += bool(written.search(text))
                assert not written.search(in_page_words(text)), f"{module}: {text}"
    assert seen > 5, "the sentences are no longer found"
    for name, field in FIELDS.items():
        words = f"Give the option “{name.replace('_', ' ')}” (--{name} x)."
        assert (
            in_page_words(words) == f"Give “{field.label}”: {VALUES.get(name, {}).get('x', 'x')}."
        )


def test_no_label_and_no_choice_speaks_python() -> None:
    labels = [field.label for field in (*FIELDS.values(), *OF_RELEASE.values())]
    words = [word for values in VALUES.values() for word in values.values()]
    presets = [f"{one.title} {one.sentence}" for one in PRESETS]
    named = [" ".join(one) for one in (*MODELS.values(), *DISTANCES.values())]
    for text in (*labels, *words, *presets, *named, *GROUPS.values(), *PLAIN.values()):
        assert not FOREIGN.search(text), text
        assert "_" not in text, text


def test_no_template_speaks_python() -> None:
    for template in sorted(TEMPLATES.glob("*.html")):
        text = re.sub(r"{%.*?%}|{{.*?}}|{#.*?#}|<[^>]*>", " ", template.read_text(encoding="utf-8"))
        found = FOREIGN.search(text)
        assert found is None, f"{template.name}: {found}"


def test_a_method_is_named_plainly_first() -> None:
    """Each title begins with words, and has the method's own name behind them, in brackets."""
    for title, _ in (*MODELS.values(), *DISTANCES.values()):
        assert re.fullmatch(r"[A-Z][^()]+ \([^()]+\)", title), title
    for preset in PRESETS:
        plain = plainly(preset.start + preset.default)
        assert plain.endswith(f" ({preset.start}{preset.default})")
        assert not plain.startswith(preset.sanitizer)
    methods = re.compile("mondrian|wasserstein|mlp|knn|laplace|hellinger", re.IGNORECASE)
    for text in [field.label for field in FIELDS.values()] + [one.title for one in PRESETS]:
        found = methods.search(text)
        assert found is None or text[found.start() - 1] == "(", text


def test_the_grep_knows_what_it_looks_for() -> None:
    for text in ("Pass missing='drop'", "use bins=[1, 2]", "got None", "call fit()", "a dict of"):
        assert FOREIGN.search(text), text
    for text in ("mondrian:k=5", "releases that pass", "write %d.%m.%Y", "δ = 0.1"):
        assert not FOREIGN.search(text), text
