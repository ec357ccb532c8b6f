"""Schemathesis reads the interface's own description and sends what nobody expects."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, Phase, given, reject, settings
from hypothesis import strategies as st

from tests.web.site import ADDRESS, V1, Site, open_site, people

pytestmark = pytest.mark.system
EXAMPLES = 12


@pytest.fixture(scope="module")
def fuzzed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Site, dict[str, str]]:
    """A server with one dataset and one finished run, so that real ids can be asked about."""
    place: Path = tmp_path_factory.mktemp("fuzzed")
    (place / "folder").mkdir()
    (place / "folder" / "a.csv").write_bytes(people(20))
    site = open_site(place, folder=place / "folder")
    dataset = site.upload(people(40))["id"]
    request = {"releases": [{"sanitizer": "mondrian:k=5"}], "adversary": {"membership": False}}
    run = site.client.post(f"{V1}/datasets/{dataset}/runs", json=request).json()[0]
    site.work()
    assert site.client.get(f"{V1}/runs/{run['id']}").json()["state"] == "done"
    return site, {"dataset": dataset, "run": run["id"], "batch": run["batch"], "column": "age"}


def test_no_request_makes_a_server_error(
    fuzzed: tuple[Site, dict[str, str]], record_property: Any
) -> None:
    """Every operation, with what its description allows and with what it forbids."""
    import schemathesis  # heavy: the quick tests are collected without it
    from schemathesis import GenerationMode

    site, known = fuzzed
    schema = schemathesis.openapi.from_dict(site.app.openapi())
    operations = [found.ok() for found in schema.get_all_operations()]
    statuses: Counter[int] = Counter()

    def ask(operation: Any, mode: GenerationMode) -> None:
        @settings(
            max_examples=EXAMPLES, deadline=None, derandomize=True, database=None,
            phases=[Phase.explicit, Phase.generate], suppress_health_check=list(HealthCheck),
        )  # fmt: skip
        @given(operation.as_strategy(mode), st.booleans())
        def one(case: Any, real: bool) -> None:
            if real and case.method != "DELETE":  # what is deleted cannot be asked about again
                case.path_parameters = {
                    name: known.get(name, value) for name, value in case.path_parameters.items()
                }
            try:
                status = send(site, case)
            except httpx.InvalidURL:  # longer than any client sends
                reject()
            statuses[status] += 1
            assert status < 500, case.as_curl_command()

        one()

    for operation in operations:
        ask(operation, GenerationMode.POSITIVE)
        if operation.body or list(operation.iter_parameters()):
            ask(operation, GenerationMode.NEGATIVE)
    assert len(operations) > 25
    assert statuses[422] > 50
    assert statuses[200] + statuses[201] + statuses[202] > 50
    record_property("requests", sum(statuses.values()))
    print(f"\n{len(operations)} operations, {sum(statuses.values())} requests: {dict(statuses)}")


def send(site: Site, case: Any) -> int:
    """Send a case to the application, with a session that may do everything."""
    words = case.as_transport_kwargs(base_url=ADDRESS)
    headers = {
        name: value
        for name, value in (words.get("headers") or {}).items()
        if name.lower() not in ("host", "x-csrf-token", "cookie", "content-length")
    }
    body = words.get("data")
    answer = site.client.request(
        words["method"],
        words["url"],
        params=words.get("params"),
        headers=headers,
        **({"json": words["json"]} if "json" in words else {"content": body} if body else {}),
    )
    return int(answer.status_code)
