"""Several settings of one sanitizer in one text: ``mondrian:k=2,5,10,20``."""

from __future__ import annotations

from dataclasses import dataclass

from indiff.errors import UserError


@dataclass(frozen=True)
class Setting:
    """One sanitizer, and the value of the parameter in which it differs from the others."""

    text: str
    parameter: str
    value: float | str


def expand(text: str) -> list[Setting]:
    """Return a sanitizer for each value of the one parameter that has several.

    >>> [setting.text for setting in expand("mondrian:l=2,k=5,10")]
    ['mondrian:l=2,k=5', 'mondrian:l=2,k=10']
    >>> expand("laplace:epsilon=0.5,1")[1]
    Setting(text='laplace:epsilon=1', parameter='epsilon', value=1)
    """
    name, _, rest = text.partition(":")
    values: dict[str, list[str]] = {}
    last = None
    for part in (piece.strip() for piece in rest.split(",")):
        key, sign, value = part.partition("=")
        if sign:
            last = key.strip()
            values.setdefault(last, []).append(value.strip())
        elif part and last is not None:
            values[last].append(part)
    several = [key for key, found in values.items() if len(found) > 1]
    if len(several) != 1:
        raise UserError(
            "a curve needs a sanitizer with several values of one parameter, as in "
            f"mondrian:k=2,5,10; got {text!r}."
        )
    (varied,) = several
    return [
        Setting(
            f"{name.strip()}:"
            + ",".join(
                f"{key}={one if key == varied else each[0]}" for key, each in values.items()
            ),
            varied,
            _number(one),
        )
        for one in values[varied]
    ]


def _number(text: str) -> float | str:
    try:
        value = float(text)
    except ValueError:
        return text
    return int(value) if value.is_integer() and "." not in text else value
