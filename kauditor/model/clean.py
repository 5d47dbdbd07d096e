"""Makes a string from a cluster safe to show: on a terminal, in HTML, in Markdown, in a log."""

import re

# C0, DEL and C1: a terminal takes them for commands, XML refuses them. Lone surrogates: no file
# takes them.
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
# Bidirectional controls and invisible marks can make a name read as another.
_BIDI = re.compile(
    "[\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e007f]"
)
LONGEST = 2_000


def clean(text: str, longest: int = LONGEST) -> str:
    """The text with controls as U+FFFD, tabs and line breaks as spaces, bidi controls spelt out.

    Lone surrogates become U+FFFD too, so that the text can always be encoded; what is longer than
    ``longest`` characters is cut and says so.
    """
    text = re.sub("[\t\r\n\u2028\u2029]+", " ", text)
    text = _CONTROL.sub("\ufffd", text)
    text = _BIDI.sub(_spelt, text)
    return text if len(text) <= longest else f"{text[:longest]}… ({len(text):,} characters)"


def _spelt(match: re.Match[str]) -> str:
    code = ord(match.group())
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
