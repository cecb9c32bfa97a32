"""The plan of a study's questions with categories: what their tests find if answers change as a yes is expected to."""

from collections.abc import Iterator

from django.utils.translation import gettext as _

from analysis.planning.forms import PlanForm
from analysis.planning.plans import LEVEL
from analysis.planning.wording import percent, whole
from candor.arguments import share_in_arm
from candor.planning.categories import CategoryPlan, plan_categories
from surveys.definition import StudyDefinition
from surveys.questions.sensitive import SensitiveQuestion
from surveys.templatetags.catalogue_words import as_note


def category_sentences(definition: StudyDefinition, form: PlanForm, *, language: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The text of each question with categories, and what its plan says. The faces are those of the study as it is defined."""
    for question in definition.category_questions:
        yield question.text.in_language(language), tuple(_sentences(definition, question, form))


def _sentences(definition: StudyDefinition, question: SensitiveQuestion, form: PlanForm) -> Iterator[str]:
    if question.is_background:
        yield _("This is a background question, privatised in the browser: no arm changes it, so there is no effect to find.")
        return
    if definition.is_survey:
        yield _("A survey compares nothing, and how precisely it finds the shares of named answers is not planned here.")
        return
    plan = _plan(definition, question, form)
    if definition.in_sections:
        yield _("This takes people for independent: sections whose people are alike find it with a smaller probability.")
    labels = {arm.name: arm.label.in_language(definition.languages[0]) for arm in definition.arms}
    for one in plan.contrasts:
        words = {
            "treatment": labels[one.treatment],
            "n": whole(plan.n),
            "power": percent(one.power),
            "wanted": percent(form.value("power")),
        }
        yield (
            _("With %(n)s students the test whether “%(treatment)s” changes any answer finds this with a probability of %(power)s.") % words
        )
        yield (
            _("No number of students is enough for %(wanted)s.") % words
            if one.participants_needed is None
            else _("For %(wanted)s it takes %(needed)s students.") % (words | {"needed": whole(one.participants_needed)})
        )
    yield from map(as_note, plan.notes)


def _plan(definition: StudyDefinition, question: SensitiveQuestion, form: PlanForm) -> CategoryPlan:
    """The last category is as frequent as a yes is expected to be, the others are equally frequent."""
    others = len(question.categories) - 1

    def shares(last: float) -> tuple[float, ...]:
        return (*((1 - last) / others for _other in range(others)), last)

    control = form.value("prevalence")
    treated = share_in_arm(control, form.value("effect"))
    return plan_categories(
        definition.category_design(question),
        prevalence={arm.name: shares(control if arm.name == definition.control else treated) for arm in definition.arms},
        cheater_proportion=form.value("cheaters"),
        n=int(form.value("n")),
        power=form.value("power"),
        level=LEVEL,
    )
