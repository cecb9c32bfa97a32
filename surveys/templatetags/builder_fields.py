"""The inputs of the builder: a label, a hint from the page or from the catalogue of help, an error, and for texts one input in every
language, side by side.
"""

from django import template

from surveys.drafting.forms import Node
from surveys.drafting.help import help_for

register = template.Library()


@register.inclusion_tag("surveys/builder/fields/text.html")
def text_field(node: Node, *, label: str, hint: str = "", rows: int = 1, markdown: bool = False, whole: bool = False) -> dict[str, object]:
    """A text of the study, in every language. `rows` above 1: an area to write in. `whole`: its lines make names in the data, so a script
    stores it only when somebody leaves it.
    """
    return {"node": node, "label": label, "hint": hint or help_for(node.place), "rows": rows, "markdown": markdown, "whole": whole}


@register.inclusion_tag("surveys/builder/fields/line.html")
def line_field(
    node: Node, *, label: str, hint: str = "", unit: str = "", kind: str = "text", inputmode: str = "", short: bool = False
) -> dict[str, object]:
    """One value, the same in all languages."""
    return {
        "node": node,
        "label": label,
        "hint": hint or help_for(node.place),
        "unit": unit,
        "kind": kind,
        "inputmode": inputmode,
        "css_class": "input-short" if short else "",
    }


@register.inclusion_tag("surveys/builder/fields/lines.html")
def lines_field(node: Node, *, label: str, hint: str, rows: int = 4) -> dict[str, object]:
    """Several values, each on a line of its own."""
    return {"node": node, "label": label, "hint": hint or help_for(node.place), "rows": rows}


@register.inclusion_tag("components/choices.html")
def choice_field(
    node: Node, *, label: str, options: object, hint: str = "", several: bool = False, inline: bool = False
) -> dict[str, object]:
    """Radio buttons, or check boxes for `several`."""
    return {
        "name": node.place,
        "legend": label,
        "hint": hint or help_for(node.place),
        "error": node.error,
        "options": options,
        "value": node.typed,
        "type": "checkbox" if several else "radio",
        "inline": inline,
    }


@register.inclusion_tag("surveys/builder/fields/check.html")
def check_field(node: Node, *, label: str) -> dict[str, object]:
    """One box that is checked or not."""
    return {"node": node, "label": label, "hint": help_for(node.place)}
