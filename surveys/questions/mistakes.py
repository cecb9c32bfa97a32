"""The mistakes that pydantic finds in a document, in Candor's words: what was expected, and what came."""

from pydantic_core import ErrorDetails

from surveys.questions.parts import FORMS

LONGEST_SHOWN = 80
NAMED_PARTS, A_LIST = "parts with names", "a list"
KINDS = {
    "string_type": "a text",
    "text_form": "a text, or one for each language",
    **dict.fromkeys(("dict_type", "mapping_type", "model_type", "model_attributes_type"), NAMED_PARTS),
    **dict.fromkeys(("list_type", "tuple_type"), A_LIST),
    **dict.fromkeys(("int_type", "int_parsing", "int_parsing_size", "int_from_float"), "a whole number"),
    **dict.fromkeys(("float_type", "float_parsing"), "a number"),
    **dict.fromkeys(("bool_type", "bool_parsing"), "true or false"),
    "finite_number": "a finite number",
}
"""The words for a type of error that has no limits."""
LIMITS = {
    "greater_than_equal": ("a number of at least", "ge"),
    "greater_than": ("a number above", "gt"),
    "less_than_equal": ("a number of at most", "le"),
    "less_than": ("a number below", "lt"),
}
LENGTHS = {
    "string_too_short": ("at least", "min_length", "character"),
    "string_too_long": ("at most", "max_length", "character"),
    "too_short": ("at least", "min_length", "item"),
    "too_long": ("at most", "max_length", "item"),
}


def mistake_in_words(problem: ErrorDetails) -> str:
    """The mistake without its place. A rule of Candor's own speaks for itself."""
    kind = problem["type"]
    if kind == "missing":
        return "this part is missing"
    if kind == "extra_forbidden":
        return "there is no part of this name"
    if kind == "union_tag_not_found":
        return f"{_tag(problem)}: this part is missing"
    if kind == "union_tag_invalid":
        context = problem["ctx"]
        return f"{_tag(problem)}: expected one of {context['expected_tags']}, got {_shortened(context['tag'])}"
    if (expected := _expected(problem)) is None:
        return problem["msg"].removeprefix("Value error, ")
    return f"expected {expected}, got {problem.get('ctx', {}).get('actual_length') or _shortened(problem['input'])}"


def _expected(problem: ErrorDetails) -> str | None:
    kind, context = problem["type"], problem.get("ctx", {})
    if kind in LIMITS:
        words, name = LIMITS[kind]
        return f"{words} {context[name]:,.10g}"
    if kind in LENGTHS:
        words, name, unit = LENGTHS[kind]
        return f"{words} {context[name]:,} {unit}{'' if context[name] == 1 else 's'}"
    if kind == "string_pattern_mismatch":
        return FORMS.get(context["pattern"], f"a text of the form {context['pattern']}")
    return context["expected"] if kind in ("literal_error", "enum") else KINDS.get(kind)


def _tag(problem: ErrorDetails) -> str:
    """The name of the part that tells kinds apart."""
    return str(problem["ctx"]["discriminator"]).strip("'")


def _shortened(value: object) -> str:
    if value is None or (isinstance(value, str) and not value.strip()) or value in ([], {}):
        return "nothing"
    if isinstance(value, dict | list | tuple):
        return NAMED_PARTS if isinstance(value, dict) else A_LIST
    text = repr(value)
    return text if len(text) <= LONGEST_SHOWN else f"{text[:60]}… ({len(text):,} characters)"
