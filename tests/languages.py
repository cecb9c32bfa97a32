"""The sample study in every language, its own texts in English all the same: what is looked at are the words of the pages."""

from typing import Any

from surveys.languages.offered import OWN


def in_every_language(part: Any) -> Any:
    """The same document, each text that is there in English and German in all languages."""
    if isinstance(part, dict):
        if "en" in part and set(part) <= set(OWN):
            return {code: part.get(code, part["en"]) for code in OWN}
        return {key: in_every_language(value) for key, value in part.items()}
    return [in_every_language(one) for one in part] if isinstance(part, list) else part
