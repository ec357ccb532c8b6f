"""Fields of a result that are worked out when they are first asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class OnFirstUse(Generic[T]):
    """A dataclass's field that may be given as a function; it is called once, when it is needed.

    A copy of the object that goes to another process takes the value along, not the function.

    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Result:
    ...     fingerprint: OnFirstUse[str] = OnFirstUse()
    >>> Result("of one").fingerprint, Result(lambda: "of another").fingerprint
    ('of one', 'of another')
    """

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = f"_{name}"

    def __get__(self, held: Any, owner: type) -> T:
        if held is None:
            raise AttributeError("a field without a default")
        value: T | _Later[T] = held.__dict__[self._name]
        if isinstance(value, _Later):
            value = held.__dict__[self._name] = value.make()
        return value

    def __set__(self, held: Any, value: T | Callable[[], T]) -> None:
        held.__dict__[self._name] = _Later(value) if callable(value) else value


class _Later(Generic[T]):
    def __init__(self, make: Callable[[], T]) -> None:
        self.make = make

    def __reduce__(self) -> tuple[Callable[[T], T], tuple[T]]:
        return _itself, (self.make(),)


def _itself(value: T) -> T:
    return value
