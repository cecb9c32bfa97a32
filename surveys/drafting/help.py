"""Help at the builder’s fields: the one catalogue of sentences for inputs whose page says nothing more particular."""

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

HELP: dict[str, Promise] = {
    "asked": _("Without it, everybody answers with the die."),
    "at_most": _("From 1 to 20. People fill in as many as they like."),
    "award": _("The number or name that the funder gave the grant."),
    "background": _("For what describes people and no arm can change. Results tell its shares over all arms, never an effect."),
    "consent": _("An empty line begins a new paragraph."),
    "contact_email": _("It stands on the public page of the data. Leave it empty for none."),
    "contact_name": _("The person or office for questions about the data, in twenty years too. Everybody can read it."),
    "control": _("Every effect is a difference from this arm."),
    "debrief": _("An empty line begins a new paragraph."),
    "first": _("A month such as 2026-10, or a year. Never a day: it could tell who came when."),
    "funder": _("The organisation that paid, as it calls itself."),
    "high": _("They stand beside the end of the line."),
    "hint": _("A line below the question that helps people to answer. Most questions need none."),
    "institution": _("The university or institute where this person worked on the study."),
    "keywords": _("One on each line. Catalogues find the data by them."),
    "kind": _("It decides how people answer. The inputs below follow it."),
    "last": _("A month or a year, not before the first."),
    "latest": _("Nobody can choose a later one."),
    "listed": _("All visitors of this site then see its title and its link."),
    "low": _("They stand beside the beginning of the line."),
    "maximum": _("A larger number is refused."),
    "minimum": _("A smaller number is refused."),
    "mode": _("The same rule holds in every arm."),
    "months": _("From 0 to 120. Answers to the sensitive questions stay, because nobody’s can be told from them."),
    "name": _("Family name, comma, given name, such as: Lovelace, Ada. A group's name stands as it is."),
    "no": _("Leave it empty for No."),
    "options": _("Write at least two. They are shown in this order; on a scale it is also the order of the scores."),
    "orcid": _("The person's number at orcid.org, such as 0000-0002-1825-0097. Its last sign is checked."),
    "ordered": _("Then their mean score and each step between them are compared, too."),
    "quota": _("The arm takes no more people than this. Leave it empty for no limit."),
    "remove": _("It goes when you press Save."),
    "roles": _("The work of this person, by the Contributor Role Taxonomy. Choose all that fit."),
    "ror": _("Its number at ror.org, such as https://ror.org/04cw6st05. Its last two digits are checked."),
    "scheme": _("Chance decides in each of these ways. Blocks suit most studies."),
    "share": _("From 1 to 100. It counts only where a share must be watched."),
    "shows": _("Choose, save, and then upload its files above."),
    "shuffle": _("No option gains from being the first. Leave it off where the order means something."),
    "text": _("One question, as people will read it."),
    "unit": _("It stands after the number, such as: hours."),
    "wanted": _("Without it, nothing that is computed from the quiz leaves the study."),
    "weight": _("1 is usual. A group of weight 2 gets twice as many people as one of weight 1."),
    "whole": _("Without it, people may answer with decimals."),
    "yes": _("Leave it empty for Yes."),
}


def help_for(place: str) -> str | Promise:
    """The help at an input, by the last part of its name: that of `fields.0.options` is the one for options."""
    return HELP.get(place.rpartition(".")[2], "")
