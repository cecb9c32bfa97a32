"""``candor.pool`` and ``candor pool``: releases of several studies, matched by name, each with its own die."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

import candor
from candor.packages.signing import public_pem
from candor.pooling.meta_analysis import meta_analysis
from tests.designs import SYMMETRIC, THREE
from tests.unit.candor.cli.running import candor as command
from tests.unit.candor.cli.running import refused
from tests.unit.candor.pooling.packages import COUNTS, KEY, OTHER_KEY, package

SMALLER = [[[60, 40], [52, 48]], [[48, 52], [36, 64]]]
THIRD = [[[70, 30], [52, 48], [61, 39]], [[50, 50], [36, 64], [45, 55]]]


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def three() -> list[Path]:
    """Three studies with three dice."""
    return [
        package("first"),
        package("second", SMALLER, subsamples=SYMMETRIC, cheaters="always_no"),
        package("third", THIRD, subsamples=THREE, server="b"),
    ]


def efficient(path: Path, question: str = "attention") -> candor.estimators.effects.Effect:
    opened = candor.load_package(path)
    return candor.estimate(opened.frame, opened.design, outcomes=[f"answer_{question}"], bootstrap=0)[f"answer_{question}"].effects[0]


def test_each_study_speaks_with_its_own_die_and_the_weights_are_those_of_the_formulas():
    paths = three()
    alone = [efficient(path) for path in paths]
    found = candor.pool(paths)["attention"]
    assert [one.study for one in found.effect.studies] == ["first", "second", "third"]
    assert [one.value for one in found.effect.studies] == [one.value for one in alone]
    assert [one.standard_error for one in found.effect.studies] == [one.standard_error for one in alone]
    assert [round(one.epsilon, 2) for one in found.effect.studies] == [1.39, 1.61, 1.61]
    for estimand, values in (
        (found.effect, [(one.value, one.standard_error) for one in alone]),
        (found.honest_times_effect, [(one.honest_times_effect.value, one.honest_times_effect.standard_error) for one in alone]),
    ):
        assert estimand.pooled == meta_analysis(*zip(*values, strict=True))
        weights = [1 / error**2 for _, error in values]
        assert [one.fixed_weight for one in estimand.studies] == pytest.approx([weight / sum(weights) for weight in weights])
    assert found.n == 800 + 400 + 600
    assert found.honest_times_effect.common is None


def test_the_command_gives_the_document_and_the_text_of_the_function():
    paths = three()
    result = candor.pool(paths, level=0.9)
    said = command("pool", *map(str, paths), "--level", "0.9")
    assert (said.exit_code, said.stdout) == (0, f"{result}\n")
    document = command("pool", *map(str, paths), "--level", "0.9", "--format", "json", "--plot", "forest.svg")
    assert json.loads(document.stdout) == result.to_dict()
    assert Path("forest.svg").read_text() == result.plot()
    assert "random effects" in str(result)
    assert "heterogeneity: Q = " in str(result)


def test_a_notebook_shows_tables_and_the_forest_plot():
    html = candor.pool(three())._repr_html_()
    assert html.count("<table>") == 2
    assert html.count("<svg") == 1
    assert "common effect, likelihood" in html
    frame = candor.pool(three()).to_frame()
    assert list(frame[frame.estimand == "effect"].study) == [
        "first",
        "second",
        "third",
        "(fixed effect)",
        "(random effects)",
        "(a further study)",
        "(common effect, likelihood)",
    ]


def test_a_study_that_does_not_determine_the_effect_is_pooled_for_the_test_alone():
    paths = [package("first"), package("second", SMALLER), package("third", SMALLER, subsamples=SYMMETRIC, cheaters="unknown")]
    found = candor.pool(paths)["attention"]
    assert [one.fixed_weight is None for one in found.effect.studies] == [False, False, True]
    assert found.effect.pooled.heterogeneity.df == 1
    assert found.honest_times_effect.pooled.heterogeneity.df == 2
    assert found.effect.common.df == 1
    assert any("third has no weight: its design does not determine the effect" in note for note in found.effect.notes)


def test_a_study_whose_honest_share_may_be_zero_has_no_weight_and_is_heard_by_the_likelihood():
    vague = [[[60, 40], [58, 42]], [[48, 52], [46, 54]]]
    paths = [package("first"), package("second", SMALLER), package("third", vague)]
    found = candor.pool(paths)["attention"]
    assert found.effect.studies[2].fixed_weight is None
    assert "cannot be told from zero" in found.effect.studies[2].left_out
    assert found.effect.common.df == 2
    assert found.honest_times_effect.pooled.heterogeneity.df == 2


def test_two_studies_of_which_none_determines_the_effect_still_test_it():
    paths = [package(name, COUNTS, subsamples=SYMMETRIC, cheaters="unknown") for name in ("first", "second")]
    result = candor.pool(paths)
    found = result["attention"]
    assert (found.effect.pooled, found.effect.common) == (None, None)
    assert found.honest_times_effect.pooled.random.value == pytest.approx(found.honest_times_effect.studies[0].value)
    assert "Fewer than two studies say enough about the effect" in str(result)
    assert "honest share × effect" in result.plot()


def test_names_that_differ_are_matched_as_stated():
    other = package("second", SMALLER, question="focus", arms=("text", "person"), text="Were you distracted?")
    options = {"questions": {"attention": {"second": "focus"}}, "arms": {"slides": {"second": "text"}, "face": {"second": "person"}}}
    result = candor.pool([package("first"), other], **options)
    assert len(result["attention"].effect.studies) == 2
    assert "“Were you distracted?”" in result["attention"].notes[0]
    options = ["--question", "attention=second:focus", "--arm", "slides=second:text", "--arm", "face=second:person"]
    assert json.loads(command("pool", "first-a.zip", "second-a.zip", *options, "--format", "json").stdout) == result.to_dict()
    with pytest.raises(candor.DataError, match="first asks attention; second asks focus"):
        candor.pool(["first-a.zip", "second-a.zip"])


def test_arms_that_change_places_are_not_pooled():
    turned = package("second", SMALLER, arms=("face", "slides"))
    with pytest.raises(candor.DataError, match="first compares face with slides; second compares slides with face"):
        candor.pool([package("first"), turned])


def test_a_study_that_has_nothing_to_pool_is_named():
    survey = package("second", COUNTS[:1], arms=("everybody",))
    with pytest.raises(candor.DataError, match="second has one arm: it compares nothing that could be pooled"):
        candor.pool([package("first"), survey])
    said = refused("pool", "first=first-a.zip", f"other={package('named', {})}")
    assert "other has no yes/no question: pooling is known for these alone" in said


def test_what_one_study_alone_has_is_named():
    other = package("second", {"attention": SMALLER, "boredom": SMALLER}, arms=("slides", "face"))
    third = package("third", [*SMALLER, SMALLER[1]], arms=("slides", "face", "voice"))
    result = candor.pool([package("first"), other, third])
    assert [(one.question, one.treatment) for one in result.contrasts] == [("attention", "face")]
    assert "one study alone has it: the question boredom (second); attention, voice − slides (third)" in result.notes[0]


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"outcomes": ["boredom"]}, "question 'boredom': two studies are needed, but it is asked in no study"),
        ({"questions": {"attention": {"third": "focus"}}}, "there is no study 'third'; the studies are first, second"),
        ({"questions": {"focus": {"second": "boredom"}}}, "study 'second' has no question 'boredom'; it has attention"),
        ({"arms": {"voice": {"second": "video"}}}, "study 'second' has no arm 'video'; it has slides, face"),
        ({"arms": {"slides": {"second": "face"}}}, "study 'second' calls another arm so, besides 'face'"),
        ({"arms": {"one": {"second": "face"}, "two": {"second": "face"}}}, "one arm stands for two common names"),
    ],
)
def test_what_does_not_match_is_refused_in_words(options, complaint):
    with pytest.raises(candor.DataError) as refusal:
        candor.pool([package("first"), package("second", SMALLER)], **options)
    assert complaint in str(refusal.value)


def test_two_releases_of_one_study_are_refused_because_people_would_count_twice():
    path = package("first")
    with pytest.raises(candor.DataError, match="releases of the same study"):
        candor.pool({"a": path, "b": path})
    elsewhere = package("first", server="b")
    with pytest.raises(candor.DataError, match="two studies are called 'first'"):
        candor.pool([path, elsewhere])
    assert len(candor.pool({"here": path, "there": elsewhere})["attention"].effect.studies) == 2
    assert command("pool", f"here={path}", f"there={elsewhere}").exit_code == 0


def test_two_releases_of_one_study_are_known_by_their_lists_when_the_server_has_another_key():
    before = package("first", lists=["1" * 64])
    after = package("first", server="b", lists=["1" * 64, "2" * 64])
    with pytest.raises(candor.DataError, match="before and after are releases of the same study"):
        candor.pool({"before": before, "after": after})
    assert "releases of the same study" in refused("pool", f"before={before}", f"after={after}")


def test_simulated_data_are_refused_or_marked():
    paths = [package("first"), package("second", SMALLER, simulated=True)]
    with pytest.raises(candor.DataError, match="the data of second are simulated"):
        candor.pool(paths)
    assert "second are simulated" in str(candor.pool(paths, simulated=True)).splitlines()[0]
    assert "simulated" in refused("pool", *map(str, paths))
    assert command("pool", *map(str, paths), "--simulated").exit_code == 0


def test_a_package_that_was_changed_is_refused_and_every_server_has_its_key():
    paths = [package("first"), package("second", SMALLER, server="b")]
    Path("keys.pem").write_text(public_pem(KEY) + public_pem(OTHER_KEY))
    Path("one.pem").write_text(public_pem(KEY))
    assert command("pool", *map(str, paths), "--key", "keys.pem").exit_code == 0
    assert "another key" in refused("pool", *map(str, paths), "--key", "one.pem")
    paths[1].write_bytes(paths[1].read_bytes().replace(b"face,1,1", b"face,1,0", 1))
    assert "second-b.zip: not as it was signed: data.csv" in refused("pool", *map(str, paths))


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["first-a.zip"], "needs at least 2 studies, found 1"),
        (["first-a.zip", "nowhere.zip"], "nowhere.zip"),
        (["a=first-a.zip", "first-a.zip"], "has no name, but 'a=first-a.zip' has"),
        (["a=first-a.zip", "a=second-a.zip"], "two packages have the same name"),
        (["first-a.zip", "second-a.zip", "--question", "attention"], "expected COMMON=STUDY:NAME"),
        (["first-a.zip", "second-a.zip", "--arm", "face=a:x", "--arm", "face=a:y"], "'face' is 'x' and 'y' in 'a': expected one name"),
    ],
)
def test_bad_input_of_the_command_is_one_line(arguments, complaint):
    package("first")
    package("second", SMALLER)
    assert complaint in refused("pool", *arguments)


def test_a_study_with_an_empty_cell_is_named():
    empty = [[[60, 40], [0, 0]], [[48, 52], [36, 64]]]
    with pytest.raises(candor.DataError, match="study 'second', question 'attention': too few answers in arm 'slides', subsample '2'"):
        candor.pool([package("first"), package("second", empty)])


def test_a_single_source_is_no_list():
    for one in ("first-a.zip", Path("first-a.zip")):
        with pytest.raises(candor.DataError, match="at least 2 studies"):
            candor.pool(one)


def test_many_like_studies_give_the_mean_and_no_heterogeneity():
    found = candor.pool([package(f"study-{number}") for number in range(6)])["attention"]
    assert found.effect.pooled.random.value == pytest.approx(found.effect.studies[0].value)
    assert found.effect.pooled.heterogeneity.q == pytest.approx(0, abs=1e-12)
    assert found.effect.pooled.fixed.standard_error == pytest.approx(found.effect.studies[0].standard_error / math.sqrt(6))
    assert found.effect.common.value == pytest.approx(found.effect.studies[0].value, abs=1e-6)
