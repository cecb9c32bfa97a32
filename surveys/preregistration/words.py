"""A kept plan as a page shows it: its values, and in words what they do not say by themselves."""

from django.utils.html import format_html
from django.utils.translation import get_language

from candor.sentences import found_among
from surveys.languages.names import language_name
from surveys.preregistration.documents import SENTENCES, planned_tests_of
from surveys.preregistration.method_names import method_name
from surveys.preregistration.planned_tests import planned_tests_in_words
from surveys.preregistration.selectors import KeptPlan
from surveys.reading.apart import in_words


def shown_plan(plan: KeptPlan) -> dict[str, object]:
    """The context of the templates that show a plan."""
    document = plan.document
    texts = {one["question"]: one["text"] for one in document["hypotheses"]}
    return {
        "plan": plan,
        "document": document,
        "other_language": language_name(plan.language) if plan.language not in ("", get_language()) else "",
        "primary_method": method_name(document["analysis"]["primary_method"]),
        "further_methods": [method_name(one) for one in document["analysis"]["further_methods"]],
        "adjustment": _said(document["analysis"]["adjustment"]),
        "stopping_rule": _said(document["stopping_rule"]),
        "planned_tests": list(planned_tests_in_words(planned_tests_of(document), texts)),
    }


def _said(sentence: str) -> str:
    """A sentence of the document, which is English, in the language of the page. One of an older plan is marked as English."""
    found = found_among(SENTENCES, sentence)
    return in_words(found.document()) if found else format_html('<span lang="en">{}</span>', sentence)
