"""Opens the made-up patients: a table to try everything on, with hierarchies and limits."""

from __future__ import annotations

from fastapi import APIRouter

from indiff.files import make_folder, write_frame, write_text
from indiff.web.api import models
from indiff.web.api.common import ERRORS, TheServer
from indiff.web.api.datasets import add_table, table_path

router = APIRouter(tags=["datasets"], responses=ERRORS)


@router.post("/datasets/demo", status_code=201)
def add_demo(server: TheServer) -> models.Dataset:
    """Make the demo table, which nobody has to prepare. Its profile follows; poll the dataset."""
    from indiff.datasets.patients import LIMIT, demo, demo_hierarchies

    path = table_path(server, "patients.csv")
    make_folder(path.parent / "hierarchies")
    write_frame(demo(), path)
    hierarchies = {}
    for column, lines in demo_hierarchies().items():
        place = path.parent / "hierarchies" / f"{column}.csv"
        write_text(place, "".join(f"{line}\n" for line in lines))
        hierarchies[column] = str(place)
    limits = {"k": 5.0, "delta": LIMIT}
    draft = {"releases": [{"sanitizer": "mondrian:k=5"}], "limits": limits}
    return add_table(server, path, draft=draft, hierarchies=hierarchies)
