"""How often a sentence of the live page is wrong at some look, over 2,000 studies of each kind: in no more than 5 % of them.

The evidence against the truth is computed by `benchmarks.sequences`, apart from the library's sequences. At the look where a study has most
of it against one number, the page's own words are made from the counts, read as a reader would, and compared with the truth. (Where the
evidence is far below its limit no words could be wrong.) The shares of wrong studies are between 0 and 3 %: 5 % is five standard errors
from that, and the seeds are fixed.
"""

from __future__ import annotations

import math
import re
from functools import cache

import numpy as np
import pytest

from analysis.live.wording import (
    FoundEffect,
    always_known_sentence,
    cheater_sentence,
    effect_sentence,
    prevalence_sentence,
    specification_sentence,
)
from benchmarks.sequences import Evidence, Watched, evidence_against_truth
from candor.estimators.effects import estimate_outcome
from candor.estimators.sample_ratio import sample_ratio
from candor.planning.simulation import Behaviour
from candor.sequences.looks import sequential_estimate

STUDIES = 2000
NEAR = math.log(20) - 1
CONDITION = re.compile(r", if people who do not follow the die answer (?:alike in both groups|alike in all groups|as the study assumes)\.$")
CHEATERS = re.compile(r"About \d+ in \d+ students did not follow the die \(between (\d+) and (\d+) in (\d+)\)")
PREVALENCE = re.compile(r"Of 100 honest students, (?:about \d+ would truly say yes \()?between (\d+) and (\d+)")
EFFECT = re.compile(
    r"Of 100 honest students, about \d+ (more|fewer) would say yes with “.+” than with “.+”"
    r"(; that may be chance)? \(between ([+−]?\d+) and ([+−]?\d+)\)"
)
SIGN = re.compile(r"“.+” makes yes (more|less) frequent than “.+?”(?:, by at least (\d+) in 100)?")
SAYS_NOTHING = (
    "The answers do not tell",
    "Chance alone could explain",
    "The answers fit the model. That does not prove",
)
THE_MODEL_FAILS = ("The answers contradict the assumptions", "The answers do not fit the model")
SURVEY = (1,)
KINDS = {
    "nothing happens": Watched(n=250),
    "four arms": Watched(n=400, weights=(1, 1, 1, 1)),
    "rare, one to three": Watched(n=400, weights=(1, 3), prevalence=0.02, effect=0.05, cheaters=0.1),
    "large effect, many cheat": Watched(n=300, effect=0.3, cheaters=0.3),
    "three subsamples": Watched(n=300, die="three subsamples", effect=0.05, cheaters=0.1, behaviour=Behaviour.RANDOM),
    "survey, three subsamples": Watched(n=400, die="three subsamples", weights=SURVEY, cheaters=0.2, behaviour=Behaviour.RANDOM),
    "survey, rare, cheaters say no": Watched(n=300, weights=SURVEY, prevalence=0.05, cheaters=0.2, cheater_model="always_no"),
}
WITHOUT_EFFECT = ["nothing happens", "four arms"]


def words(counts: np.ndarray, setting: Watched) -> list[str]:
    """All sentences of the page at one look."""
    look = sequential_estimate(counts, design=setting.design, planned_n=setting.n)
    if look.waits_for is not None:
        return []
    survey, stated = len(setting.arms) == 1, setting.cheater_model != "any"
    found = [
        cheater_sentence(look.cheater_proportion, stated_rate=stated),
        specification_sentence(look.specification, survey=survey),
        *(prevalence_sentence(one.value, one.interval, stated_rate=stated) for one in look.prevalence if survey),
    ]
    for one in look.effects:
        if one.method == "efficient":
            effect, names = FoundEffect.of(one), {"treatment": one.treatment, "control": one.control}
            found += [effect_sentence(effect, **names, stated_rate=False), always_known_sentence(effect, **names)]
    return [sentence for sentence in found if sentence]


def once_words(counts: np.ndarray, setting: Watched) -> list[str]:
    """The words for one look, as if somebody printed it at every look."""
    found = []
    for one in estimate_outcome(counts, design=setting.design).effects:
        if one.method == "efficient":
            found.append(always_known_sentence(FoundEffect.of_one_look(one), treatment=one.treatment, control=one.control))
    return found


def is_false(sentence: str, *, cheaters: float, effect: float, prevalence: float = 0.4, model_holds: bool = True) -> bool:
    """Whether what it says, apart from its condition, is not so. A sentence that this test does not know fails it."""
    if sentence.startswith(SAYS_NOTHING):
        return False
    if sentence.startswith(THE_MODEL_FAILS):
        return model_holds
    if said := CHEATERS.match(sentence):
        low, high, of = (int(one) for one in said.groups())
        return not low <= cheaters * of <= high
    if said := PREVALENCE.match(sentence):
        return not int(said[1]) - 1e-9 <= 100 * prevalence <= int(said[2]) + 1e-9
    if said := EFFECT.match(sentence):
        certain, positive = said[2] is None, said[1] == "more"
        low, high = (int(end.replace("−", "-")) for end in said.groups()[2:])
        outside = not low - 1e-9 <= 100 * effect <= high + 1e-9
        return outside or (certain and not (effect > 0 if positive else effect < 0))
    if said := SIGN.match(sentence):
        delta = (1 if said[1] == "more" else -1) * (1 - cheaters) * effect
        return delta <= 0 or 100 * delta < int(said[2] or 0) - 1e-9
    raise AssertionError(f"Nothing here knows whether this is true: {sentence}")


def worst_looks(evidence: Evidence) -> list[np.ndarray]:
    """For each of the numbers and each study the look with most evidence against its truth, where there is nearly enough; else −1."""
    contrasts = evidence.delta.shape[-1]
    parts = [(one, NEAR) for one in (evidence.honest, evidence.prevalence, evidence.model)]
    if contrasts:
        parts += [(one.max(axis=-1), NEAR + math.log(contrasts)) for one in (evidence.delta, evidence.effect)]
    return [np.where(part.max(axis=1) > near, part.argmax(axis=1), -1) for part, near in parts]


@cache
def watched(kind: str) -> tuple[Watched, np.ndarray, Evidence]:
    """Studies of one kind at every look, and the evidence against their truth."""
    setting = KINDS[kind]
    tables = setting.tables(STUDIES, rng=np.random.default_rng(list(KINDS).index(kind)))
    return setting, tables, evidence_against_truth(setting, tables)


@pytest.mark.parametrize("kind", KINDS)
def test_no_sentence_is_wrong_at_some_look_in_more_than_a_twentieth_of_studies(kind: str) -> None:
    setting, tables, evidence = watched(kind)
    wrong: dict[str, set[int]] = {}
    for looks in worst_looks(evidence):
        for study in np.flatnonzero(looks >= 0):
            for sentence in words(tables[study, looks[study]], setting):
                if is_false(sentence, cheaters=setting.cheaters, effect=setting.effect, prevalence=setting.prevalence):
                    wrong.setdefault(" ".join(sentence.split()[:2]), set()).add(int(study))
    assert all(len(studies) <= 0.05 * STUDIES for studies in wrong.values()), {kind: len(studies) for kind, studies in wrong.items()}
    assert sum(map(len, wrong.values())) > 0  # the limits are not so wide that nothing is ever wrong


@pytest.mark.parametrize("kind", WITHOUT_EFFECT)
def test_words_for_one_look_are_wrong_far_more_often(kind: str) -> None:
    """The page used to announce a fixed-n test again and again. The negative control of the test above."""
    setting, tables, evidence = watched(kind)
    looks = evidence.once.max(axis=-1).argmax(axis=1)
    wrong = sum(
        any(is_false(sentence, cheaters=0, effect=0) for sentence in once_words(tables[study, looks[study]], setting))
        for study in range(0, STUDIES, 10)
    )
    assert wrong > 0.12 * STUDIES / 10


@pytest.mark.parametrize("die", ["six-sided", "three subsamples"])
def test_where_cheaters_differ_by_arm_every_false_sentence_carries_its_condition(die: str) -> None:
    """Cheaters always say no in the control arm and always yes in the other, so that an effect of nothing looks like .3 and more."""
    setting = Watched(die=die, n=600, cheaters=0.3)
    always_yes = Watched(die=die, n=600, cheaters=0.3, behaviour=Behaviour.ALWAYS_YES).means
    means = np.stack([setting.means[0], always_yes[1]])
    tables = setting.tables(100, rng=np.random.default_rng(3), means=means)
    false = 0
    for table in tables[:, [-8, -1]].reshape(-1, *tables.shape[2:]):
        for sentence in words(table, setting):
            if is_false(sentence, cheaters=0.3, effect=0.0, model_holds=False):
                false += 1
                assert CONDITION.search(sentence), sentence
    assert false > 50  # without their condition they would be


def test_the_alarm_about_group_sizes_is_raised_by_chance_in_fewer_than_a_twentieth_of_studies() -> None:
    """People are drawn one by one, without blocks, and somebody looks at exact counts from 40 people on."""
    setting = Watched(n=2000)
    groups = setting.tables(STUDIES, rng=np.random.default_rng(4))[:, setting.looks >= 40].sum(axis=-1).reshape(STUDIES, -1, 4)
    n = groups.sum(axis=-1, keepdims=True)
    looks = ((groups - n / 4) ** 2 / (n / 4)).sum(axis=-1).argmax(axis=1)
    weights = {"subsample_weights": {"1": 1, "2": 1}, "arm_weights": {"a": 1, "b": 1}}
    cells = [("1", "a"), ("2", "a"), ("1", "b"), ("2", "b")]
    alarms = 0
    for study in range(STUDIES):
        found = sample_ratio(dict(zip(cells, map(int, groups[study, looks[study]]), strict=True)), **weights)
        alarms += found is not None and found.alarm
    assert 0 < alarms <= 0.05 * STUDIES
