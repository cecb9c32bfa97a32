"""A kept plan as a page shows it: its values, and in words what they do not say by themselves."""

from surveys.preregistration.documents import planned_tests_of
from surveys.preregistration.method_names import method_name
from surveys.preregistration.planned_tests import planned_tests_in_words
from surveys.preregistration.selectors import KeptPlan


def shown_plan(plan: KeptPlan) -> dict[str, object]:
    """The context of the templates that show a plan."""
    document = plan.document
    texts = {one["question"]: one["text"] for one in document["hypotheses"]}
    return {
        "plan": plan,
        "document": document,
        "primary_method": method_name(document["analysis"]["primary_method"]),
        "further_methods": [method_name(one) for one in document["analysis"]["further_methods"]],
        "planned_tests": list(planned_tests_in_words(planned_tests_of(document), texts)),
    }
