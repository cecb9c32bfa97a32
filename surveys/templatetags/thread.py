"""The thread of one section of a packet."""

from collections.abc import Mapping

from django import template

from surveys.review.selectors import Thread

register = template.Library()


@register.simple_tag
def thread_of(threads: Mapping[str, Thread], section: str) -> Thread:
    return threads[section]
