"""Makes a string from a cluster safe to show: on a terminal, in HTML, in Markdown, in a log."""

import re

# C0, DEL and C1: a terminal takes them for commands, XML refuses them.
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
# Bidirectional controls and invisible marks can make a name read as another.
_BIDI = re.compile("[\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]")
LONGEST = 2_000


def clean(text: str, longest: int = LONGEST) -> str:
    """The text with controls as U+FFFD, tabs and line breaks as spaces, bidi controls spelt out.

    Lone surrogates become U+FFFD too, so that the text can always be encoded; what is longer than
    ``longest`` characters is cut and says so.
    """
    text = re.sub(r"[\t\r\n]+", " ", text)
    text = _CONTROL.sub("\ufffd", text)
    text = _BIDI.sub(lambda match: f"\\u{ord(match.group()):04x}", text)
    text = text.encode("utf-8", "replace").decode("utf-8") if _lone(text) else text
    return text if len(text) <= longest else f"{text[:longest]}… ({len(text):,} characters)"


def _lone(text: str) -> bool:
    return any("\ud800" <= letter <= "\udfff" for letter in text)
