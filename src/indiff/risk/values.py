"""A sensitive attribute inside the engine: its values coded, weighed and, for t, placed.

The table of values has one row per distinct value: ``code``, ``total`` (records that hold it),
``lift`` = N/total, ``enhanced`` (β-likeness), ``reach`` (EMD between a point mass on the value and
the whole table's distribution), ``place`` (rank over m − 1 for ordered values, else 0), and for
ordered values ``cumulative`` (F) and ``area`` (Σ F over smaller ranks).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from indiff.data.hierarchy import Hierarchy
from indiff.data.schema import Kind
from indiff.engines.protocol import Engine
from indiff.errors import UserError, did_you_mean, from_data, option

Ground = Literal["equal", "ranks", "hierarchy"]
GROUNDS: dict[Ground, str] = {
    "equal": "with any two values equally far apart",
    "ranks": "with values as far apart as their ranks",
    "hierarchy": "with values as far apart as the hierarchy puts them",
}


@dataclass(frozen=True)
class Sensitive:
    """A sensitive attribute: one column, or several taken together."""

    name: str
    columns: tuple[int, ...]
    kind: Kind
    order: tuple[str, ...] | None = None
    hierarchy: Hierarchy | None = None

    @property
    def ground(self) -> Ground:
        """What t takes for the distance of two values."""
        if self.hierarchy is not None:
            return "hierarchy"
        return "equal" if self.kind == Kind.CATEGORICAL else "ranks"


@dataclass(frozen=True)
class Values:
    """A sensitive attribute's values inside the engine."""

    sensitive: Sensitive
    table: str
    distinct: int
    records: int
    clogc: float
    mean_reach: float
    mean_place: float
    plain: str
    """The table of the distinct values themselves: ``x0`` (``x1``, …), ``total`` and ``code``."""
    merges: bool = False
    """Whether different texts are one value, as 1 and 1.0 are."""
    nodes: str | None = None
    tree_base: float = 0.0


def totals(engine: Engine, columns: Sequence[int]) -> str:
    """Return a table that has all combinations of some columns' values: few rows, where it can."""
    held = engine.held.get("cells")
    return engine.counts["cells"] if held is None else engine.load(held.totals(columns))


def decide_kind(
    engine: Engine, cells: str, column: int, name: str, kind: str | None, ordered: bool, tree: bool
) -> Kind:
    """Return the kind of a sensitive attribute: as declared, or as its values show.

    Numbers and dates are numeric; so is text, as in a CSV file, whose every value is a plain
    number without leading zeros, and with so few digits that different ones stay different.
    """
    if kind is not None and kind not in tuple(Kind):
        raise UserError(f"a kind is one of {', '.join(Kind)}", f"{kind!r} for column {name!r}")
    if tree:
        if kind not in (None, Kind.CATEGORICAL):
            raise UserError(
                f"a hierarchy makes a column categorical; {name!r} is declared {kind}",
                way_out="Remove the hierarchy or the kind",
            )
        return Kind.CATEGORICAL
    if ordered or kind == Kind.ORDINAL:
        if not ordered and engine.classes[column] != "number":
            order = option("orders", {name: ["..."]})
            raise UserError(f"an ordinal column needs its order; give {order}.", field="orders")
        return Kind.ORDINAL
    if kind == Kind.CATEGORICAL:
        return Kind.CATEGORICAL
    if engine.classes[column] == "number":
        return Kind.NUMERIC
    if engine.classes[column] == "text":
        strange = engine.query(
            f"SELECT c{column} FROM {cells} WHERE c{column} IS NOT NULL "
            f"AND NOT {engine.is_number(f'c{column}')} LIMIT 1"
        )
        known = f"SELECT 1 FROM {cells} WHERE c{column} IS NOT NULL LIMIT 1"
        if not strange and engine.query(known):
            return Kind.NUMERIC
        if kind == Kind.NUMERIC:
            example = strange[0][0] if strange else ""
            raise UserError(
                f"column {name!r} cannot be numeric: it holds text such as {from_data(example)}",
                way_out="Declare it categorical or ordinal, or correct the column",
            )
    elif kind == Kind.NUMERIC:
        raise UserError(f"column {name!r} cannot be numeric; declare it categorical.")
    return Kind.CATEGORICAL


def code_values(engine: Engine, cells: str, sensitive: Sensitive, records: int) -> Values:
    """Make the table of a sensitive attribute's values, which ``cells`` has with their counts."""
    return _weigh(engine, _code(engine, cells, sensitive), sensitive, records)


def with_codes(engine: Engine, cells: str, values: Sequence[Values]) -> str:
    """Return a table of the cells with the code of attribute ``j`` in column ``sj``."""
    coded = cells
    for number, one in enumerate(values):
        wider = engine.keep(
            f"SELECT k.*, v.code AS s{number} FROM {coded} k JOIN {one.plain} v "
            f"ON {is_value(engine, one.sensitive)}"
        )
        if coded != cells:
            engine.forget(coded)
        coded = wider
    return coded


def is_value(engine: Engine, sensitive: Sensitive) -> str:
    """Return the condition that row ``k`` of the counts has value ``v`` of an attribute."""
    return " AND ".join(
        f"{_exact(engine, sensitive, column, 'k.')} IS NOT DISTINCT FROM v.x{i}"
        for i, column in enumerate(sensitive.columns)
    )


def _exact(engine: Engine, sensitive: Sensitive, column: int, prefix: str = "") -> str:
    """Return the expression by which values are told apart: numbers in text as numbers."""
    if sensitive.kind == Kind.NUMERIC and engine.classes[column] == "text":
        return f"CAST({prefix}c{column} AS DOUBLE)"
    return f"{prefix}c{column}"


def _code(engine: Engine, cells: str, sensitive: Sensitive) -> str:
    """Make a table of the distinct values in order, numbered from 0, missing last."""
    picked = ", ".join(
        f"{_exact(engine, sensitive, column)} AS x{i}" for i, column in enumerate(sensitive.columns)
    )
    names = [f"x{i}" for i in range(len(sensitive.columns))]
    totals = (
        f"(SELECT {', '.join(names)}, CAST(SUM(n) AS BIGINT) AS total "
        f"FROM (SELECT {picked}, n FROM {cells}) q GROUP BY {', '.join(names)})"
    )
    by = ", ".join(f"{name} NULLS LAST" for name in names)
    if sensitive.order is None:
        return engine.keep(
            f"SELECT *, ROW_NUMBER() OVER (ORDER BY {by}) - 1 AS code FROM {totals} t"
        )
    order = engine.put(
        {"label": sensitive.order, "position": range(len(sensitive.order))}, ["STRING", "BIGINT"]
    )
    strange = engine.query(
        f"SELECT x0 FROM {totals} t LEFT JOIN {order} o ON CAST(x0 AS STRING) = label "
        "WHERE x0 IS NOT NULL AND label IS NULL LIMIT 1"
    )
    if strange:
        value = str(strange[0][0])
        raise UserError(
            f"the order of {sensitive.name!r} must name every value; it lacks "
            f"{from_data(value)}{did_you_mean(value, sensitive.order, from_data) or '.'}"
        )
    table = engine.keep(
        f"SELECT x0, total, ROW_NUMBER() OVER (ORDER BY position NULLS LAST) - 1 AS code "
        f"FROM {totals} t LEFT JOIN {order} o ON CAST(x0 AS STRING) = label"
    )
    engine.forget(order)
    return table


def _weigh(engine: Engine, plain: str, sensitive: Sensitive, records: int) -> Values:
    """Add to every value what the group models need of the whole table's distribution."""
    ((distinct, clogc),) = engine.query(f"SELECT COUNT(*), SUM(total * LOG2(total)) FROM {plain}")
    shared = (
        f"code, total, CAST({records} AS DOUBLE) / total AS lift, "
        f"(CAST({records} AS DOUBLE) / total) / (1 - LN(total / CAST({records} AS DOUBLE))) "
        "AS enhanced"
    )
    nodes, base = None, 0.0
    if sensitive.hierarchy is not None:
        held = [label for (label,) in engine.query(f"SELECT CAST(x0 AS STRING) FROM {plain}")]
        tree = sensitive.hierarchy.for_column(sensitive.name, held)
        sensitive = replace(sensitive, hierarchy=tree)
        nodes, reaches, base = _place_in_tree(engine, plain, sensitive, records)
        table = engine.keep(
            f"SELECT {shared}, reach, CAST(0 AS DOUBLE) AS place "
            f"FROM {plain} p JOIN {reaches} r ON p.code = r.leaf"
        )
        engine.forget(reaches)
    elif sensitive.kind == Kind.CATEGORICAL:
        table = engine.keep(
            f"SELECT {shared}, 1 - total / CAST({records} AS DOUBLE) AS reach, "
            f"CAST(0 AS DOUBLE) AS place FROM {plain} p"
        )
    else:
        table = _place_in_order(engine, plain, shared, int(distinct), records)
    merges = sensitive.kind == Kind.NUMERIC and engine.classes[sensitive.columns[0]] == "text"
    ((mean_reach, mean_place),) = engine.query(
        f"SELECT SUM(total * reach) / {records}, SUM(total * place) / {records} FROM {table}"
    )
    return Values(
        sensitive, table, int(distinct), records, clogc, mean_reach, mean_place, plain, merges,
        nodes, base,
    )  # fmt: skip


def _place_in_order(engine: Engine, plain: str, shared: str, distinct: int, records: int) -> str:
    """Place ordered values at rank/(m − 1); integers until the last division, so nothing drifts.

    A point mass on rank r is Σ_{i<r} F_i + Σ_{i≥r} (1 − F_i) away from the table, over m − 1
    (Li, Li and Venkatasubramanian 2007, ordered distance).
    """
    steps = max(1, distinct - 1)
    return engine.keep(f"""
        SELECT {shared}, code / CAST({steps} AS DOUBLE) AS place,
          up / CAST({records} AS DOUBLE) AS cumulative,
          before / CAST({records} AS DOUBLE) AS area,
          (CAST(before AS DOUBLE) + CAST({records} AS DOUBLE) * ({distinct} - code)
            - (whole - before)) / (CAST({records} AS DOUBLE) * {steps}) AS reach
        FROM (SELECT *, CAST(SUM(up) OVER (ORDER BY code) - up AS BIGINT) AS before,
                CAST(SUM(up) OVER () AS BIGINT) AS whole
              FROM (SELECT *, CAST(SUM(total) OVER (ORDER BY code) AS BIGINT) AS up
                    FROM {plain}) a) b""")


def _place_in_tree(
    engine: Engine, plain: str, sensitive: Sensitive, records: int
) -> tuple[str, str, float]:
    """Place values in their hierarchy.

    The distance of two values is the height of their lowest common ancestor over the height of
    the tree (Li, Li and Venkatasubramanian 2007, hierarchical distance), which is a tree metric:
    the edge above a node weighs half the difference of heights, and EMD is the sum over nodes of
    that weight times |difference of the mass below|. Returns the tables (leaf, node, weight,
    share) and (leaf, reach), and Σ weight · share over all nodes.
    """
    assert sensitive.hierarchy is not None
    rows = engine.query(f"SELECT code, CAST(x0 AS STRING), total FROM {plain}")
    tree = sensitive.hierarchy
    if any(label is None for _, label, _ in rows):
        tree = tree.with_missing()
    for _, label, _ in rows:
        if label not in tree.code_of:
            raise UserError(
                f"every value of {sensitive.name!r} must be in its hierarchy; "
                f"{from_data(label)} is not"
                f"{did_you_mean(str(label), tree.labels, from_data) or '.'} "
                "Add a line that starts with it."
            )
    paths, weights = tree_paths(tree, {label: code for code, label, _ in rows})
    mass = dict.fromkeys(weights, 0)
    for code, _, count in rows:
        for node in paths[code]:
            mass[node] += count
    share = {node: mass[node] / records for node in weights}
    base = sum(weights[node] * share[node] for node in weights)
    flat = [(code, node) for code, nodes in paths.items() for node in nodes]
    nodes = engine.put(
        {
            "leaf": [code for code, _ in flat],
            "node": [node for _, node in flat],
            "weight": [weights[node] for _, node in flat],
            "share": [share[node] for _, node in flat],
        },
        ["BIGINT", "BIGINT", "DOUBLE", "DOUBLE"],
    )
    reach = {
        code: base + sum(weights[node] * (1 - 2 * share[node]) for node in above)
        for code, above in paths.items()
    }
    reaches = engine.put(
        {"leaf": list(reach), "reach": [max(0.0, value) for value in reach.values()]},
        ["BIGINT", "DOUBLE"],
    )
    return nodes, reaches, base


def tree_paths(
    tree: Hierarchy, code_of: Mapping[str | None, int]
) -> tuple[dict[int, list[int]], dict[int, float]]:
    """Return each value's nodes below the root, and the weight of the edge above each node.

    A value that is an inner node as well hangs below that node as a leaf of its own, numbered
    after all nodes.

    >>> tree = Hierarchy.from_lines(["flu;lung;*", "asthma;lung;*", "ulcer;stomach;*"])
    >>> paths, weights = tree_paths(tree, {"flu": 0, "ulcer": 1})
    >>> [round(sum(weights[node] for node in paths[code]), 3) for code in (0, 1)]
    [0.5, 0.5]
    """
    size = len(tree.labels)
    parent = {node: int(tree.parent[node]) for node in range(size)}
    has_child = set(parent.values())
    leaf_of = {}
    for place, label in enumerate(tree.values):
        node = int(tree.value_node[place])
        leaf_of[label] = node if node not in has_child else size + place
        parent[leaf_of[label]] = parent[node] if node not in has_child else node
    height = dict.fromkeys(parent, 0)
    for node in sorted(parent, reverse=True):  # children have larger numbers than parents
        if parent[node] >= 0:
            height[parent[node]] = max(height[parent[node]], height[node] + 1)
    top = max(1, height[0])
    paths: dict[int, list[int]] = {}
    for label, code in code_of.items():
        node, paths[code] = leaf_of[label], []
        while parent[node] >= 0:
            paths[code].append(node)
            node = parent[node]
    weights = {
        node: (height[parent[node]] - height[node]) / (2 * top)
        for node in {node for above in paths.values() for node in above}
    }
    return paths, weights
