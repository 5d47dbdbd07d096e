"""Nothing that a cluster says reaches a terminal or a page as a command."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kauditor.model.clean import LONGEST, clean


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("kube-system/coredns", "kube-system/coredns"),
        ("größe ポッド → √", "größe ポッド → √"),
        ("a\nb\r\n\tc", "a b c"),
        ("a\u2028b\u2029c", "a b c"),
        ("\x1b[2Jgone", "\ufffd[2Jgone"),
        ("\x1b]8;;https://x\x07link", "\ufffd]8;;https://x\ufffdlink"),
        ("\x9b31mred", "\ufffd31mred"),
        ("bell\x07 nul\x00 del\x7f", "bell\ufffd nul\ufffd del\ufffd"),
        ("user\u202egnp.exe", "user\\u202egnp.exe"),
        ("zero\u200bwidth\ufeff", "zero\\u200bwidth\\ufeff"),
        ("soft\u00adhyphen", "soft\\u00adhyphen"),
        ("tag\U000e0041", "tag\\U000e0041"),
        ("half \ud800 pair", "half \ufffd pair"),
    ],
)
def test_controls_are_shown_and_never_sent(said: str, shown: str) -> None:
    assert clean(said) == shown


def test_a_long_text_is_cut_and_says_how_long_it_was() -> None:
    assert clean("x" * 10_000) == "x" * LONGEST + "… (10,000 characters)"
    assert clean("x" * 12, longest=10) == "xxxxxxxxxx… (12 characters)"
    assert clean("x" * 10, longest=10) == "x" * 10


@given(st.text(st.characters(), max_size=200))
def test_what_is_clean_can_be_written_anywhere_and_stays_clean(said: str) -> None:
    shown = clean(said)
    shown.encode("utf-8")
    assert not [letter for letter in shown if unicodedata.category(letter) in ("Cc", "Zl", "Zp")]
    assert clean(shown) == shown
