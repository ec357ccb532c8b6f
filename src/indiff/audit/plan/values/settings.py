"""Several settings of one sanitizer in one text: ``mondrian:k=2,5,10,20``."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

from indiff.errors import UserError
from indiff.sanitizers.sanitizer import is_black_box


@dataclass(frozen=True)
class Setting:
    """One sanitizer, and the value of the parameter in which it differs from the others.

    Where none or several parameters differ, ``parameter`` and ``value`` are None.
    """

    text: str
    parameter: str | None
    value: float | str | None


def expand(text: str) -> list[Setting]:
    """Return a sanitizer for each value of the one parameter that has several."""
    settings = sweep(text)
    if settings[0].parameter is None:
        raise UserError(
            "a curve needs a sanitizer with several values of one parameter, as in "
            "mondrian:k=2,5,10",
            f"{text!r}",
        )
    return settings


def sweep(text: str) -> list[Setting]:
    """Return a sanitizer for every choice of values: a part without ``=`` is one more value.

    >>> [setting.text for setting in sweep("mondrian:k=2,5,l=3")]
    ['mondrian:k=2,l=3', 'mondrian:k=5,l=3']
    >>> [setting.text for setting in sweep("mondrian:k=2,5,l=2,3")]
    ['mondrian:k=2,l=2', 'mondrian:k=2,l=3', 'mondrian:k=5,l=2', 'mondrian:k=5,l=3']
    >>> sweep("identity")
    [Setting(text='identity', parameter=None, value=None)]
    >>> sweep("http://127.0.0.1:8000/anonymize?k=2,5")[0].text
    'http://127.0.0.1:8000/anonymize?k=2,5'
    """
    if is_black_box(text):
        return [Setting(text.strip(), None, None)]
    name, _, rest = text.partition(":")
    name, values = name.strip(), _values(text, rest)
    several = [key for key, found in values.items() if len(found) > 1]
    varied = several[0] if len(several) == 1 else None
    settings = []
    for chosen in product(*values.values()):
        each = dict(zip(values, chosen, strict=True))
        written = ",".join(f"{key}={value}" for key, value in each.items())
        value = None if varied is None else _number(each[varied])
        settings.append(Setting(f"{name}:{written}" if each else name, varied, value))
    return settings


def changed(text: str, **parameters: float) -> str:
    """Return a sanitizer's text with these parameters in place of its own.

    >>> changed("mondrian:k=5,t=0.2", k=50), changed("identity", l=2)
    ('mondrian:k=50,t=0.2', 'identity:l=2')
    """
    name, _, rest = text.partition(":")
    own = {key: found[0] for key, found in _values(text, rest).items()}
    given = own | {key: f"{value:g}" for key, value in parameters.items()}
    return f"{name.strip()}:{','.join(f'{key}={value}' for key, value in given.items())}"


def _values(text: str, rest: str) -> dict[str, list[str]]:
    values: dict[str, list[str]] = {}
    last = None
    for part in filter(None, (piece.strip() for piece in rest.split(","))):
        key, sign, value = (piece.strip() for piece in part.partition("="))
        if sign:
            if key in values:
                raise UserError(
                    "a parameter may be given once",
                    f"{key!r} twice in {text!r}",
                    f"Write several values as {key}=1,2",
                )
            last, values[key] = key, [value]
        elif last is None:
            raise UserError("a parameter is written name=value", f"{part!r} in {text!r}")
        else:
            values[last].append(part)
    return values


def _number(text: str) -> float | str:
    try:
        value = float(text)
    except ValueError:
        return text
    return int(value) if value.is_integer() and "." not in text else value
