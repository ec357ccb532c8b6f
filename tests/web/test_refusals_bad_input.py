"""Bad input through the page: refused wherever the command line refuses it, in a page's words."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from tests.cli.test_main_bad_input import FILES, TEST
from tests.command_line import call
from tests.data.reading.dirty_files import Dirty, dirty_files
from tests.web.site import V1, Site

# What only another reader would write: an option of the shell, a keyword or a value of Python.
FOREIGN = re.compile(r"--[a-z]|\w=['\[{(]|\{'|\['|\b(None|True|False|pass|Traceback)\b")
DIRTY = dirty_files()


def alert(text: str) -> str:
    """The sentence of a page that says what is wrong."""
    found = re.search(r'role="alert"[^>]*>(.+?)</p>', text, re.DOTALL)
    assert found, text
    return unescape(re.sub(r"<[^>]+>", "", found[1]))


def told(site: Site, name: str, content: bytes, sensitive: str = "ill") -> str | None:
    """Upload a file and audit it; what the page says is wrong with it, or None."""
    token = {"csrf": site.csrf}
    sent = site.client.post("/data/upload", data=token, files={"file": (name, content)})
    if sent.status_code == 422:
        return alert(sent.text)
    place = sent.headers["location"]
    site.work()
    dataset: dict[str, Any] = site.client.get(f"{V1}/datasets/{place[6:]}").json()
    if dataset["state"] == "failed":
        assert dataset["problem"]
        return alert(site.client.get(place).text)
    roles = [
        {"name": one["name"], "role": "sensitive" if one["name"] == sensitive else "quasi"}
        for one in dataset["columns"]
    ]
    site.client.put(f"{V1}/datasets/{place[6:]}/roles", json={"columns": roles})
    request = {"releases": [{"sanitizer": "suppress"}], "adversary": {"models": ["naive-bayes"]},
               "limits": {"delta": 2}}  # fmt: skip
    started = site.client.post(f"{V1}/datasets/{place[6:]}/runs", json=request)
    if started.status_code == 422:
        return alert(site.client.get(f"{place}/adversary").text)
    site.work()
    (run,) = started.json()
    ended = site.client.get(f"{V1}/runs/{run['id']}").json()
    if ended["state"] == "done":  # what cannot be measured is no pass
        passed = ended["verdict"]["status"] == "pass"
        return None if passed else " ".join(ended["verdict"]["reasons"])
    return alert(site.client.get(f"/batches/{run['batch']}").text)


def in_page_words(sentence: str) -> str:
    assert not FOREIGN.search(sentence), sentence
    assert "internal error" not in sentence
    assert "/datasets/" not in sentence, "where the server keeps a file is its own business"
    return sentence


@pytest.mark.parametrize("name", FILES)
def test_a_bad_file_is_refused_as_the_command_line_does(name: str, site: Site) -> None:
    content, sentence = FILES[name]
    said = told(site, "table.csv", content)
    assert said is not None
    in_page_words(said)
    rule = re.split(r"\.\*|'|\\. Choose", sentence)[0].strip()  # what both say alike
    alike = re.compile(rule, re.IGNORECASE).search(said)  # a page begins with a capital
    assert alike or name in ("another format", "empty file", "blanks alone")


@pytest.mark.parametrize("one", DIRTY, ids=[one.name for one in DIRTY])
def test_a_dirty_file_is_refused_where_the_command_line_refuses_it(
    one: Dirty, site: Site, tmp_path: Path
) -> None:
    path = tmp_path / one.name
    path.write_bytes(one.data)
    ended = call("test", path, *TEST[2:], "--sanitizer", "suppress", "--model", "naive-bayes")
    said = told(site, one.name, one.data)
    assert (said is None) == (ended.code == 0), (said, ended)
    if said is not None:
        in_page_words(said)
