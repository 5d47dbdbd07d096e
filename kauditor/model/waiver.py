"""A waiver: somebody accepts a finding until a date, and says why."""

import datetime

import msgspec

LONGEST_DAYS = 365


class BadWaiver(ValueError):
    """A waiver that can't be used; the message says what is missing."""


class Waiver(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="kebab"):
    """``[[waiver]]``: ``check`` (or ``rule``, the same) is an id or name of a check.

    ``subject`` and ``cluster`` (name or context) may hold wildcards. ``until`` is a date, at most
    365 days ahead; from that day the finding counts again.
    """

    check: str = ""
    rule: str = ""
    subject: str = "*"
    cluster: str = "*"
    until: datetime.date
    reason: str
    owner: str

    def __post_init__(self) -> None:
        if bool(self.check) == bool(self.rule):
            raise BadWaiver("name the check once: check = or rule =")
        for key in ("reason", "owner"):
            if not getattr(self, key).strip():
                raise BadWaiver(f"{key} is empty: say it")

    @property
    def of(self) -> str:
        """Id or name of the check that it is about."""
        return self.check or self.rule

    @property
    def title(self) -> str:
        """The waiver in a few words, for sentences about it."""
        about = "" if self.subject == "*" else f" {self.subject}"
        return f"{self.of}{about} ({self.owner})"
