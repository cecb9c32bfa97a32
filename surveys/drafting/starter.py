"""The document that a new study starts from: valid from the first minute, with gaps where only its author knows the text."""

from collections.abc import Mapping, Sequence

from surveys.drafting.texts import Said, said, untranslated

PLANNED_PARTICIPANTS = 945
"""The people whom the die below needs to find 20 points four times in five, if 40 of 100 say yes and 10 do not follow the die."""
PLANNED_IN_A_SURVEY = 1773
"""The people whom a survey with the die below needs to know the share of yes to ± 10 points, with the same expectations."""
TEXTS = {
    "summary": {
        "en": "Watch a short lecture and answer a few questions. It takes about [[how many]] minutes.",
        "de": "Sieh dir eine kurze Vorlesung an und beantworte ein paar Fragen. Es dauert etwa [[wie viele]] Minuten.",
    },
    "consent": {
        "en": """## What this is about

[[who runs this study]] wants to know {about}.{chance}

## What you do

{task}
For those questions you roll a die that only you can see.

## What is stored

* Your answers, without your name, without the address of your device, and with no time more exact than the day.
* For the personal questions, only the answer that the die let you give. The die itself stays with you.

## Risks and benefits

{risks}
{gains}

## Your rights

Taking part is voluntary. You may stop at any time. With the code on the last page you can take your data out until they are published.
Questions? Ask [[name and address of the person to ask]]. Complaints? Write to [[somebody outside the study, such as the ethics committee]].
""",
        "de": """## Worum es geht

[[wer die Studie durchführt]] möchte wissen, {about}.{chance}

## Was du tust

{task}
Für diese Fragen würfelst du mit einem Würfel, den nur du siehst.

## Was gespeichert wird

* Deine Antworten, ohne deinen Namen, ohne die Adresse deines Geräts und ohne eine Zeit, die genauer ist als der Tag.
* Bei den persönlichen Fragen nur die Antwort, die der Würfel dich geben ließ. Der Wurf selbst bleibt bei dir.

## Risiken und Nutzen

{risks}
{gains}

## Deine Rechte

Die Teilnahme ist freiwillig. Du kannst jederzeit aufhören.
Mit dem Code auf der letzten Seite kannst du deine Daten herausnehmen, bis sie veröffentlicht sind.
Fragen? Wende dich an [[Name und Adresse der Ansprechperson]].
Beschwerden? Schreib an [[jemanden außerhalb der Studie, etwa die Ethikkommission]].
""",
    },
    "survey_summary": {
        "en": "Answer a few questions. It takes about [[how many]] minutes.",
        "de": "Beantworte ein paar Fragen. Es dauert etwa [[wie viele]] Minuten.",
    },
    "everybody": {"en": "Everybody", "de": "Alle"},
    "first": {"en": "First lecture", "de": "Erste Vorlesung"},
    "second": {"en": "Second lecture", "de": "Zweite Vorlesung"},
    "question": {"en": "Did you [[something that is hard to admit]]?", "de": "Hast du [[etwas, das schwer zuzugeben ist]]?"},
    "debrief": {
        "en": "Thank you. This study wants to know [[what the study is about, now with its hypothesis]].",
        "de": "Vielen Dank. Diese Studie möchte wissen, [[worum es geht, nun mit der Hypothese]].",
    },
}


EXPERIMENT = {"sides": 6, "subsamples": {"1": {"yes": [1], "no": [2, 3]}, "2": {"yes": [1, 2], "no": [3]}}, "cheaters": "any"}
SURVEY = {
    "sides": 10,
    "subsamples": {"1": {"yes": [1, 2], "no": [3, 4]}, "2": {"yes": [1, 2, 3, 4, 5, 6], "no": [7]}},
    "cheaters": "always_no",
}
GAPS_IN_THE_CONSENT = {
    "en": {
        "about": "[[what the study is about, without its hypothesis]]",
        "risks": "[[what could harm or burden people, and what you do about it; if you know of nothing, say so]]",
        "gains": "[[what people, or others, gain from it; if it is nothing, say so]]",
    },
    "de": {
        "about": "[[worum es geht, ohne die Hypothese]]",
        "risks": "[[was Menschen schaden oder sie belasten könnte, und was du dagegen tust; wenn du von nichts weißt, sag es]]",
        "gains": "[[was sie oder andere davon haben; wenn es nichts ist, sag es]]",
    },
}
IN_THE_CONSENT = {
    "experiment": {
        "en": {
            "chance": " Chance decides which lecture you see.",
            "task": "You may tell a little about yourself, watch a lecture, and answer personal questions.",
        },
        "de": {
            "chance": " Der Zufall entscheidet, welche Vorlesung du siehst.",
            "task": "Du kannst etwas über dich angeben, siehst eine Vorlesung und beantwortest persönliche Fragen.",
        },
    },
    "survey": {
        "en": {"chance": "", "task": "You answer personal questions."},
        "de": {"chance": "", "task": "Du beantwortest persönliche Fragen."},
    },
}


Told = Mapping[str, Mapping[str, str]]


def consent_text(code: str, *, survey: bool, told: Told) -> str:
    """The consent in one language, with gaps for what is not `told` by language: about, chance, task, risks, gains."""
    kind = IN_THE_CONSENT["survey" if survey else "experiment"]
    return TEXTS["consent"][code].format(**{**GAPS_IN_THE_CONSENT[code], **kind[code], **told.get(code, {})})


def starter_document(
    *, slug: str, title: str, languages: Sequence[str], survey: bool = False, told: Told | None = None
) -> dict[str, object]:
    """An experiment: two arms whose videos are still to be uploaded, and the mirrored die, which needs no assumption about cheaters.

    A survey: one arm without a lecture, and a die that tells honest people from cheaters who say no. Both ask one question.
    """

    def text(key: str) -> Said:
        known = TEXTS[key]
        if key == "consent":
            known = {code: consent_text(code, survey=survey, told=told or {}) for code in known}
        if not any(code in known for code in languages):
            known = {languages[0]: untranslated(known["en"])}
        return said({code: known.get(code, "") for code in languages})

    names = ("everybody",) if survey else ("first", "second")
    arms: list[dict[str, object]] = [
        {"name": name, "label": text(name)} | ({} if survey else {"video": {"sources": [f"{name}.mp4"]}}) for name in names
    ]
    return {
        "slug": slug,
        "title": said({code: title if code == languages[0] else "" for code in languages}),
        "summary": text("survey_summary" if survey else "summary"),
        "contact": "[[e-mail address for questions]]",
        "languages": list(languages),
        "consent": text("consent"),
        "arms": arms,
        "control": names[0],
        "questions": [{"name": "first_question", "text": text("question")}],
        "die": SURVEY if survey else EXPERIMENT,
        "minimum_seconds": 30,
        "allocation": {"planned_participants": PLANNED_IN_A_SURVEY if survey else PLANNED_PARTICIPANTS},
        "debrief": text("debrief"),
    }
