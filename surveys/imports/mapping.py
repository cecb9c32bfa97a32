"""The one mapper: from the questions that a reader found to background questions, with an outcome for every attribute of the file."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import cast

from candor.written_numbers import typed_number
from surveys.drafting.names import name_from
from surveys.drafting.texts import UNSEEN, said
from surveys.drafting.texts import Said as SaidText
from surveys.imports.conditions import Known, ReadCondition, conditions_of
from surveys.imports.documents import Answer, Document, Option, Proposed
from surveys.imports.found import Choice, Found, Number, Said
from surveys.imports.trees import LOST, Node, Path, Tree, place_of, shown
from surveys.reading.markup import without_markup
from surveys.reading.words import Sentence, digits
from surveys.reading.words import sentence as _

# As in surveys.questions, whose library of checks the reading process does without.
NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,49}")
LONGEST_TEXT, LONGEST_SHORT_TEXT, MOST_OPTIONS, MOST_ROWS, MOST_POSITIONS, MOST_YEARS = 20_000, 200, 100, 50, 1000, 150
LARGEST_SCORE = 10**9
MOST_ANSWERS_OF_A_DIE = 6
PIPED = re.compile(r"\$\{[a-z]+://[^}\s]{1,200}\}|\[[A-Za-z_][A-Za-z0-9_:()-]{0,99}\]|\{[A-Za-z_][A-Za-z0-9_.:]{0,99}\}")
YES_NO = ({"yes", "ja", "true", "wahr"}, {"no", "nein", "false", "falsch"})
OWN_WORDS = _("The study says this in words of its own.")
NOTHING_LIKE_IT = _("Candor has nothing like it.")
NOTHING_LIKE_IT_HERE = _("This kind of question has nothing like it in Candor.")


class Mapper:
    """Turns questions into documents one after another, because conditions look back. The study speaks `languages` and has `present`."""

    def __init__(self, tree: Tree, *, languages: Sequence[str], base: str = "", present: Collection[str] = ()) -> None:
        self.tree, self.languages, self.base = tree, list(languages), base
        self.names = set(present)
        self.known: dict[str, Known] = {}
        self.questions: list[Proposed] = []

    def add(self, found: Found) -> None:
        """One question more, or the reason why there is none."""
        place, name = len(self.questions), found.name if NAME.fullmatch(found.name) else name_from(found.name, otherwise="question")
        for node in found.nodes:
            for attribute in node.attributes():
                attribute.question = place
        for node, note in found.remarks:
            node.lost(note)
        text = self._words(found.said, "text")
        document, reason = self._document(found, name, text)
        if document is None:
            for node in found.nodes:
                node.lost(reason or NOTHING_LIKE_IT)
        else:
            self.names.add(name)
            if found.named is not None:
                changed = _("Its name became %(name)s.", name=name)
                found.named.taken("name") if name == found.name else found.named.changed(changed, "name")
        self.questions.append(
            {
                "place": place_of(found.nodes[0].path),
                "name": shown(found.name),
                "text": shown(self._first(text)) if text else "",
                "document": document,
                "die": _die_of(found, document),
            }
        )

    def finish(self) -> None:
        """Give everything that nobody has read its outcome."""
        for attribute in self.tree.attributes.values():
            if not attribute.outcome:
                attribute.becomes(LOST, NOTHING_LIKE_IT if attribute.question < 0 else NOTHING_LIKE_IT_HERE)

    def _document(self, found: Found, name: str, text: SaidText | None) -> tuple[Document | None, Sentence | None]:
        if found.reason is not None:
            return None, found.reason
        if found.identifier:
            return None, _("It is marked as an identifier. Candor never asks who somebody is.")
        if name in self.names:
            return None, _("A question of this name is in the study already.")
        if text is None:
            return None, _("It has no text.")
        for node in found.kinds:
            node.taken("kind")
        answer, codes, reason = self._answer(found, name)
        if answer is None:
            return None, reason
        hint = self._words(found.hint, "hint")
        document = cast(Document, {"name": name, "text": text, **answer})
        if hint:
            document["hint"] = hint
        if answer["kind"] != "short_text":
            document["role"] = "quasi_identifier"
        if found.shuffled and answer["kind"] in ("single_choice", "multiple_choice", "matrix"):
            document["shuffle"] = True
        if found.order is not None:
            found.order.taken("order") if "shuffle" in document or not found.shuffled else found.order.lost(NOTHING_LIKE_IT_HERE)
        if conditions := self._shown_if(found):
            document["show_if"] = conditions
        if found.required is not None:
            note = _("It had to be answered; here nobody has to answer it.")
            found.required.lost(note, "required") if found.required.says_yes else found.required.taken("required")
        self._remember(found, name, answer, codes)
        return document, None

    def _answer(self, found: Found, name: str) -> tuple[Answer | None, dict[str, str], Sentence | None]:
        """Kind and options or limits of the answer, and the options by code; or None and the reason."""
        if found.kind in ("choice", "choices", "scale", "matrix"):
            scores = found.kind in ("scale", "matrix")
            options, codes = self._options(found.options, scores=scores)
            if not 2 <= len(options) <= MOST_OPTIONS:
                return None, {}, _("It has %(count)s different choices; from 2 to 100 can be used.", count=len(options))
            kinds = {"choice": "single_choice", "choices": "multiple_choice", "scale": "ordinal_scale", "matrix": "matrix"}
            answer: Answer = {"kind": kinds[found.kind], "options": options}
            if found.kind == "matrix":
                answer["rows"], _codes = self._options(found.rows, scores=False, within=name, otherwise="row")
                if not 1 <= len(answer["rows"]) <= MOST_ROWS:
                    return None, {}, _("It has %(count)s rows; from 1 to 50 can be used.", count=len(answer["rows"]))
            return answer, codes, None
        limits: Answer | None
        if found.kind == "slider":
            limits, reason = self._slider(found), None
        elif found.kind == "number":
            limits, reason = _number(found)
        elif found.kind == "date":
            limits, reason = _date(found)
        else:
            limits, reason = _few_words(found), None
        return limits, {}, reason

    def _options(
        self, choices: Sequence[Choice], *, scores: bool, within: str = "", otherwise: str = "option"
    ) -> tuple[list[Option], dict[str, str]]:
        """The options or rows, and their names by code. A code that is a name stays one; numbers in an order are the scores of a scale."""
        numbers = _scores([choice.scored.text if choice.scored else choice.code for choice in choices]) if scores else None
        options: list[Option] = []
        codes: dict[str, str] = {}
        named: dict[Path, tuple[Node, list[str]]] = {}
        for place, choice in enumerate(choices):
            text = self._words(choice.said, "options")
            if text is None:
                where = choice.coded or (choice.said[0][2] if choice.said else None)
                if where is not None:
                    left_out = _("A choice without a text was left out: %(code)s", code=shown(choice.code))
                    where.lost(left_out) if not choice.said else where.changed(left_out)
                continue
            name = self._name(choice.code, self._first(text), within, otherwise, taken={one["name"] for one in options})
            option: Option = {"name": name, "text": text}
            if numbers:
                option["score"] = numbers[place]
            options.append(option)
            codes.setdefault(choice.code, name)
            if choice.scored is not None and (numbers or choice.scored.text == choice.code):
                choice.scored.taken("codes")
            if choice.coded is not None:
                pairs = named.setdefault(choice.coded.path, (choice.coded, []))[1]
                says_score = numbers is not None and choice.scored is None
                pairs += [] if says_score or name == choice.code else [f"{shown(choice.code)} → {name}"]
        if numbers and [one["score"] for one in options] == list(range(1, len(options) + 1)):  # as they count by themselves
            options = [{"name": one["name"], "text": one["text"]} for one in options]
        for node, pairs in named.values():
            node.changed(_("Codes became names: %(codes)s", codes=shown(", ".join(pairs))), "codes") if pairs else node.taken("codes")
        return options, codes

    @staticmethod
    def _name(code: str, text: str, within: str, otherwise: str, *, taken: Collection[str]) -> str:
        plain = code.removeprefix(f"{within}_") if within else code
        if NAME.fullmatch(plain) and not plain.isdecimal() and plain not in taken:
            return plain
        if within and not plain.isdecimal():  # the rows of a matrix are fields of their own elsewhere
            return name_from(plain, taken=taken, otherwise=otherwise)
        return name_from(text, taken=taken, otherwise=otherwise)

    def _slider(self, found: Found) -> Answer:
        """From 0 to 100 where nothing else is said, and in steps that end at the largest answer."""
        low, high = (end[0] if end else None for end in (found.minimum, found.maximum))
        step = found.step[0] if found.step and found.step[0] and found.step[0] > 0 else 1.0
        ends = [end[1] for end in (found.minimum, found.maximum) if end]
        nodes = [*ends, *([found.step[1]] if found.step else [])]
        for node in nodes:
            node.taken("bounds")
        if low is None or high is None or not low < high:
            for node in ends:
                node.changed(_("Its ends became 0 and 100."))
            low, high = 0.0, 100.0
        steps = (high - low) / step
        if steps > MOST_POSITIONS or abs(steps - round(steps)) > 1e-9 * steps or steps < 1:
            step = (high - low) / 100
            for node in nodes:
                note = _("It goes from %(low)s to %(high)s in 100 steps.", low=digits(low, ".15g"), high=digits(high, ".15g"))
                node.changed(note)
        slider: Answer = {"kind": "slider", "minimum": low, "maximum": high}
        if step != 1:
            slider["step"] = step
        if words := self._words(found.low, "bounds"):
            slider["low"] = words
        if words := self._words(found.high, "bounds"):
            slider["high"] = words
        return slider

    def _shown_if(self, found: Found) -> list[ReadCondition]:
        if not found.condition:
            return []
        conditions = conditions_of(found.logic, self.known) if found.logic else None
        values = {"condition": shown(found.condition_said)}
        for node in found.condition:
            if conditions is None:
                node.lost(_("It was shown only if %(condition)s; now it is always shown.", **values), "condition")
            else:
                node.taken("condition")
        return conditions or []

    def _remember(self, found: Found, name: str, answer: Answer, codes: Mapping[str, str]) -> None:
        """Keep the names by which later conditions find its answers."""
        if answer["kind"] == "matrix":
            for row, known_as in zip(answer["rows"], found.rows_known_as, strict=False):
                self.known[known_as] = Known(question=f"{name}.{row['name']}", codes=codes)
        elif found.known_as:
            number = answer["kind"] in ("number", "slider")
            self.known[found.known_as] = Known(
                question=name,
                codes=codes if "options" in answer else None,
                ends=(answer["minimum"], answer["maximum"]) if number else None,
                whole=number and _is_whole(answer),
                months=(answer["earliest"], answer["latest"]) if answer["kind"] == "date" else None,
            )

    def _words(self, given: Said, about: str) -> SaidText | None:
        """The text in the languages of the study, with gaps for those that the file lacks."""
        by_language: dict[str, str] = {}
        strangers: list[tuple[str, str, Node]] = []
        for code, text, node in given:
            words = self._clean(text, node)
            language = self._language(code)
            if words and language and language not in by_language:
                by_language[language] = words
                node.taken(about)
            elif words:
                strangers.append((code, words, node))
        strangers.sort(key=lambda one: one[0] != self.base)
        if not by_language and strangers:
            code, words, node = strangers.pop(0)
            by_language[self.languages[0]] = words
            node.changed(_("It is written in %(language)s, and stands in the study's first language for now.", language=code), about)
        for code, _words, node in strangers:
            node.lost(_("The study does not speak %(language)s, or has this text already.", language=code))
        if by_language and not any(sign.isalpha() for words in by_language.values() for sign in words):
            return next(iter(by_language.values()))  # a number reads alike in every language
        return said({code: by_language.get(code, "") for code in self.languages}) if by_language else None

    def _language(self, code: str) -> str:
        """The study's own language for a code such as EN, de-informal or pt_BR; empty for none."""
        plain = code.lower().replace("_", "-")
        if not plain:
            return self.languages[0]
        return next((one for one in (plain, plain.partition("-")[0]) if one in self.languages), "")

    @staticmethod
    def _clean(text: str, node: Node) -> str:
        """The text without markup and without what a study cannot hold. Each loss is noted."""
        plain, tags = without_markup(UNSEEN.sub("", text))
        if UNSEEN.search(text):
            node.changed(_("Its text lost characters that nobody can see."))
        if tags:
            node.changed(_("Its text lost its formatting: %(tags)s.", tags=", ".join(f"<{tag}>" for tag in tags[:20])))
        if piped := PIPED.findall(plain):
            names = shown(", ".join(piped[:20]))
            node.changed(_("Its text refers to other answers, which are not filled in: %(fields)s.", fields=names))
        if len(plain) > LONGEST_TEXT:
            plain = plain[:LONGEST_TEXT].strip()
            node.changed(_("Its text was cut after %(most)s characters.", most=digits(LONGEST_TEXT)))
        return plain

    def _first(self, text: SaidText) -> str:
        return text if isinstance(text, str) else text[self.languages[0]]


def _scores(codes: Sequence[str]) -> list[float] | None:
    """The codes as numbers, if all are and they rise or fall."""
    numbers = [float(number) if (number := typed_number(code)) is not None and abs(number) <= LARGEST_SCORE else None for code in codes]
    given = [number for number in numbers if number is not None]
    in_order = all(a < b for a, b in pairwise(given)) or all(a > b for a, b in pairwise(given))
    return given if given and in_order and len(given) == len(codes) else None


def _number(found: Found) -> tuple[Answer | None, Sentence | None]:
    low, high = (end[0] if end else None for end in (found.minimum, found.maximum))
    if low is None or high is None or not low < high:
        return None, _("A number needs a smallest and a largest answer.")
    _mark(node for _value, node in _given(found.minimum, found.maximum))
    _mark(found.whole_said)
    number: Answer = {"kind": "number", "minimum": low, "maximum": high}
    if not found.whole:
        number["whole"] = False
    return number, None


def _given(*numbers: Number | None) -> list[Number]:
    return [number for number in numbers if number]


def _mark(nodes: Iterable[Node]) -> None:
    for node in nodes:
        node.taken("bounds")


def _date(found: Found) -> tuple[Answer | None, Sentence | None]:
    """The month of a date; a day could point to a person."""
    ends: list[str] = []
    for end in (found.earliest, found.latest):
        if end and (month := re.match(r"((?:18|19|20|21)[0-9]{2})-(0[1-9]|1[0-2])(?P<day>-[0-3][0-9])?", end[0])):
            ends.append(f"{month[1]}-{month[2]}")
            day = _("It named a day; now it names the month.")
            end[1].changed(day, "bounds") if month["day"] else end[1].taken("bounds")
    if len(ends) < 2 or not ends[0] < ends[1] or int(ends[1][:4]) - int(ends[0][:4]) >= MOST_YEARS:
        return None, _("A date needs an earliest and a latest answer, such as 2004-09-01.")
    for node in found.kinds:
        if found.whole:  # a day, not a month
            node.changed(_("It asked for a day; now it asks for the month."))
    return {"kind": "date", "earliest": ends[0], "latest": ends[1]}, None


def _few_words(found: Found) -> Answer:
    longest = found.longest[0] if found.longest else None
    if found.longest:
        found.longest[1].taken("bounds")
    if longest is None or not 1 <= longest <= LONGEST_SHORT_TEXT:
        for node in [found.longest[1]] if found.longest else found.kinds:
            note = _("It is answered in at most %(most)s characters, which are never released.", most=LONGEST_SHORT_TEXT)
            node.changed(note, "bounds")
        longest = LONGEST_SHORT_TEXT
    return {"kind": "short_text", "longest": longest}


def _is_whole(answer: Answer) -> bool:
    if answer["kind"] == "number":
        return bool(answer.get("whole", True))
    return float(answer["minimum"]).is_integer() and float(answer.get("step", 1)).is_integer()


def _die_of(found: Found, document: Document | None) -> dict[str, str] | None:
    """How the die could protect the answer: the options that mean yes and no, empty names for two to six categories, None for no way."""
    if document is None or document["kind"] not in ("single_choice", "ordinal_scale"):
        return None
    options = document["options"]
    if len(options) > MOST_ANSWERS_OF_A_DIE:
        return None
    by_code = {choice.code: one["name"] for choice, one in zip(found.options, options, strict=False)}
    if found.yes_no and len(options) == 2 and set(found.yes_no) <= set(by_code):
        return {"yes": by_code[found.yes_no[0]], "no": by_code[found.yes_no[1]]}
    if len(options) == 2:
        for first, second in (options, options[::-1]):
            texts = [str(next(iter(one["text"].values())) if isinstance(one["text"], dict) else one["text"]) for one in (first, second)]
            if texts[0].strip().lower() in YES_NO[0] and texts[1].strip().lower() in YES_NO[1]:
                return {"yes": first["name"], "no": second["name"]}
    return {"yes": "", "no": ""}
