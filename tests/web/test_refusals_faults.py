"""Disk or memory that give way under a request: one sentence, nothing kept, and it works again."""

from __future__ import annotations

from tests.faults import FAULTS, each
from tests.web.site import V1, Site, people

TOLD = {
    "full": (507, "the disk that holds the data folder is full"),
    "failing": (500, "the disk that holds the data folder failed"),
    "memory": (503, "the memory of this machine does not suffice"),
}


def test_a_request_that_cannot_be_kept_says_so(site: Site) -> None:
    dataset = site.upload(people(30))["id"]
    request = {"releases": [{"sanitizer": "mondrian:k=5"}]}

    def post() -> None:
        answer = site.client.post(f"{V1}/datasets/{dataset}/runs", json=request)
        assert answer.status_code == 202, answer.text

    post()
    for disk in each(post, faults=FAULTS[:3]):
        before = len(site.server.store.jobs(kind="run"))
        with disk():
            answer = site.client.post(f"{V1}/datasets/{dataset}/runs", json=request)
        status, sentence = TOLD[str(disk.fault)]
        assert (answer.status_code, sentence in answer.text) == (status, True), answer.text
        assert "internal error" not in answer.text
        assert len(site.server.store.jobs(kind="run")) == before
    post()
