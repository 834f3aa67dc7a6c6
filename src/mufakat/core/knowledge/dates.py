"""Dates that a question names: `7 May 2023`, `May 7`, `2023-05-07`, `in May`, `2022`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

_MONTHS = (
    *("january", "february", "march", "april", "may", "june", "july"),
    *("august", "september", "october", "november", "december"),
)
_NUMBER = {name: at for at, name in enumerate(_MONTHS, 1)} | {
    name[:3]: at for at, name in enumerate(_MONTHS, 1)
}
_MONTH = "|".join(sorted(_NUMBER, key=len, reverse=True))
_ISO = r"(?P<iso_year>\d{4})-(?P<iso_month>\d{1,2})(?:-(?P<iso_day>\d{1,2}))?"
_DAY = r"\d{1,2}(?:st|nd|rd|th)?"
_NAMED = (
    rf"(?:(?P<before>{_DAY})\s+(?:of\s+)?)?\b(?P<month>{_MONTH})\b\.?"
    rf"(?:\s+(?P<after>{_DAY})\b)?(?:,?\s+(?P<year>\d{{4}}))?"
)
_DATE = re.compile(rf"\b(?:{_ISO}|{_NAMED}|(?P<alone>(?:19|20)\d\d))\b", re.IGNORECASE)
_LAST_YEAR = 9_000
_LEADS = re.compile(r"\b(?:in|on|of|since|until|by|during|early|late|mid|last|this|next|from)\s*$")


@dataclass(frozen=True, slots=True)
class Date:
    """A year, a month or a day; what is 0 was not said."""

    year: int = 0
    month: int = 0
    day: int = 0

    def fits(self, at: int) -> bool:
        """Whether a time, in milliseconds since 1970, lies within it."""
        moment = datetime.fromtimestamp(at / 1000, UTC)
        said = ((self.year, moment.year), (self.month, moment.month), (self.day, moment.day))
        return all(wanted in (0, is_) for wanted, is_ in said)

    def span(self, now: int) -> tuple[int, int]:
        """When it began and ended, in milliseconds since 1970; without a year the last time.

        It reaches two weeks further, because one tells of a day when it is over.
        """
        here = datetime.fromtimestamp(now / 1000, UTC)
        year = self.year or (here.year if (self.month or 1) <= here.month else here.year - 1)
        month = self.month if 1 <= self.month <= 12 else 0
        begin = datetime(min(max(year, 1), _LAST_YEAR), month or 1, 1, tzinfo=UTC)
        end = begin + timedelta(days=45 if month else 380)
        if self.day:
            begin += timedelta(days=min(31, self.day) - 1)
            begin, end = begin - timedelta(days=14), begin + timedelta(days=15)
        return int(begin.timestamp() * 1000), int(end.timestamp() * 1000)

    def days_from(self, at: int) -> int | None:
        """Days between it and a time; None where it names no day, or one that there is not."""
        if not self.day:
            return None
        moment = datetime.fromtimestamp(at / 1000, UTC)
        try:
            named = datetime(self.year or moment.year, self.month, self.day, tzinfo=UTC)
        except ValueError:
            return None
        return abs((moment - named).days)


def find(text: str) -> Iterator[tuple[Date, str]]:
    """Every date in a text, with the words that name it."""
    for found in _DATE.finditer(text):
        date = _date(found)
        if date is not None:
            yield date, found[0]


def _date(found: re.Match[str]) -> Date | None:
    if found["alone"]:
        return Date(int(found["alone"]))
    if found["iso_year"]:
        day = int(found["iso_day"] or 0)
        return Date(int(found["iso_year"]), int(found["iso_month"]), day)
    day_text = found["before"] or found["after"] or ""
    if not (day_text or found["year"]) and not _is_month(found):
        return None
    digits = re.sub(r"\D", "", day_text)
    return Date(int(found["year"] or 0), _NUMBER[found["month"].lower()], int(digits or 0))


def _is_month(found: re.Match[str]) -> bool:
    """Whether a month's name that stands alone means the month: `may` and `march` are words."""
    name = found["month"]
    if name.lower() not in _MONTHS:
        return False
    plain = name.lower() not in ("may", "march")
    return name[0].isupper() and (plain or bool(_LEADS.search(found.string[: found.start()])))
