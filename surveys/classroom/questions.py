"""The questions of a class room. Each is harmless, so that a demonstration needs no ethics board; nobody can write another one."""

from django.utils.translation import gettext_lazy as _

QUESTIONS = {
    "listened": _("Have you ever pretended to listen in a lecture?"),
    "read": _("Have you ever said that you had read a text that you had not read?"),
    "late": _("Have you ever blamed the bus or the train when you were simply late?"),
    "gift": _("Have you ever praised a present that you did not like?"),
    "song": _("Do you know a song by heart that you would not admit to liking?"),
}
