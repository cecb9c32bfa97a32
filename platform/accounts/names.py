"""Names of accounts: which ones fit, and which look alike. Everybody is known to others by this name alone.

The script of a letter is the first word of its Unicode name. That is true of every letter that is left after NFKC, and needs no library.
"""

import re
import unicodedata

from django.utils.translation import gettext as _

# fmt: off
RESERVED = frozenset({
    "abuse", "admin", "administrator", "analyst", "anonymous", "candor", "ethics", "everybody", "help", "helpdesk", "hostmaster", "info",
    "investigator", "irb", "irbofficer", "moderator", "nobody", "noreply", "official", "operator", "postmaster", "root", "security",
    "server", "staff", "superuser", "support", "sysadmin", "system", "webmaster",
})
# fmt: on
"""Names that promise an office, without the signs between their words."""
LONGEST_SKELETON = 600
_TOGETHER = ({"CJK", "HIRAGANA", "KATAKANA"}, {"CJK", "HANGUL"})
"""Scripts that one language writes side by side."""
_LATIN = re.compile("[a-zA-Z\u00c0-\u017f\u01a0\u01a1\u01af\u01b0\u0218-\u021b\u1e00-\u1eff]")
"""Latin letters of living alphabets; those of phonetics and old prints look like others."""
_SIGNS = re.compile(r"[0-9@.+_-]")
_LOOK_ALIKES = str.maketrans(
    {
        **dict(zip("авеіјкмнорсѕтухԁһӏԛԝѵү", "abeijkmhopcstyxdhlqwvy", strict=True)),
        **dict(zip("αβγεζηικμνορτυχ", "abyezhikmvoptux", strict=True)),
        **dict(zip("օսհո", "ouhn", strict=True)),
        "ı": "i",
    }
)
"""Small letters of Cyrillic, Greek and Armenian that look, small or large, like a Latin one."""
_IN_PRINT = (("i", "l"), ("1", "l"), ("0", "o"), ("rn", "m"), ("vv", "w"))


def folded(name: str) -> str:
    """The name without what nobody sees or says: widths and cases of letters."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())


def skeleton(name: str) -> str:
    """The same for all names that look alike at a glance: `Admin`, `adm1n`, `ädmin`, and `аdmin` with a Cyrillic а."""
    letters = unicodedata.normalize("NFKD", folded(name))
    plain = "".join(letter for letter in letters if not unicodedata.combining(letter)).translate(_LOOK_ALIKES)
    for seen, taken_for in _IN_PRINT:
        plain = plain.replace(seen, taken_for)
    return plain[:LONGEST_SKELETON]


_RESERVED_SKELETONS = frozenset(map(skeleton, RESERVED))


def is_reserved(name: str) -> bool:
    """Whether the name promises an office, with or without signs between its letters."""
    return re.sub(r"[@.+_-]", "", skeleton(name)) in _RESERVED_SKELETONS


def mixes_alphabets(name: str) -> bool:
    """Whether the name holds letters of several scripts, or letters and digits that are no ordinary ones."""
    scripts = {_script(letter) for letter in name if not _SIGNS.match(letter)}
    return "" in scripts or (len(scripts) > 1 and not any(scripts <= together for together in _TOGETHER))


def _script(letter: str) -> str:
    """The script of a letter; nothing for a sign, a digit or a letter that names do not hold."""
    if unicodedata.category(letter) not in {"Lu", "Ll", "Lo"}:
        return ""
    script = unicodedata.name(letter, "").split(" ")[0]
    return "" if script == "LATIN" and not _LATIN.match(letter) else script


def reason_against(name: str, *, may_be_reserved: bool) -> str | None:
    """The fault of a new name, in words; None if it has none. Other accounts are not looked at."""
    if mixes_alphabets(name):
        return _("Use letters of one alphabet only, with the digits 0 to 9 and the signs @ . + - _ between them.")
    if is_reserved(name) and not may_be_reserved:
        return _("This name is reserved, because it promises an office. Choose one that says who you are.")
    return None
