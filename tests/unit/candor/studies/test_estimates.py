"""``candor.estimate``: the same numbers as the command, from any kind of frame, shown in several ways."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

import candor
from candor.adjustment.covariates import Level, model_matrix
from candor.designs.design import CheaterModel
from candor.studies.estimates import StudyEstimates
from candor.studies.frames import answers_in
from tests.unit.candor.cli.running import DESIGN, SYMMETRIC, answers_file, estimated
from tests.unit.candor.cli.running import candor as command


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("design.json").write_text(json.dumps(DESIGN))


@pytest.fixture
def frame() -> pd.DataFrame:
    return pd.read_csv(answers_file())


class OtherFrame:
    """As polars and pyarrow have it: names in a list, columns by name that become arrays, and no rows to go through."""

    def __init__(self, frame: pd.DataFrame, *, names: str) -> None:
        self._frame = frame
        setattr(self, names, list(frame.columns))

    def __getitem__(self, name: str) -> Any:
        return self._frame[name].array

    def __iter__(self) -> Any:
        raise AssertionError("a polars frame gives columns here, a pandas frame names")


def numbers(result: StudyEstimates) -> dict[str, Any]:
    return result.to_dict()


def test_it_gives_the_document_of_the_command(frame):
    options = {"covariates": ["age", "country"], "bootstrap": 50, "seed": 3, "level": 0.9, "kappa": 0.1}
    result = candor.estimate(frame, DESIGN, **options)
    arguments = ["--covariate", "age", "--covariate", "country", "--bootstrap", "50", "--seed", "3", "--level", "0.9", "--kappa", "0.1"]
    assert result.to_dict() == estimated("answers.csv", "--design", "design.json", *arguments)
    assert str(result) == command("estimate", "answers.csv", "--design", "design.json", *arguments).stdout.rstrip("\n")
    assert repr(result) == str(result)
    assert json.loads(json.dumps(result.to_dict())) == result.to_dict()


def test_clusters_strata_margins_and_families_give_the_document_of_the_command(frame):
    named = {"equivalence_margin": 0.5, "non_inferiority": 0.4, "worse": "more_yes", "families": {"main": ["attention"]}}
    result = candor.estimate(frame, DESIGN, outcomes=["attention"], bootstrap=0, **named)
    arguments = ["answers.csv", "--design", "design.json", "--outcome", "attention", "--bootstrap", "0"]
    margins = ["--equivalence-margin", "0.5", "--non-inferiority", "0.4", "--worse", "more_yes", "--family", "main=attention"]
    assert result.to_dict() == estimated(*arguments, *margins)
    assert "<h3>Tests against margins" in result._repr_html_()
    stratified = candor.estimate(frame, DESIGN, outcomes=["attention"], strata="country")
    assert stratified.to_dict() == estimated(*arguments[:-2], "--stratum", "country")
    assert "<h3>How people were assigned" in stratified._repr_html_()


def test_results_with_the_same_numbers_are_equal(frame):
    """They were equal only to themselves, so that nobody could compare two runs."""
    first, again = (candor.estimate(frame, DESIGN, bootstrap=20, seed=3) for _run in range(2))
    other = candor.estimate(frame, DESIGN, bootstrap=20, seed=4)
    assert first is not again
    assert (first == again, hash(first) == hash(again), first != other) == (True, True, True)
    assert first != first.to_dict()
    assert {first: "one", other: "two"}[again] == "one"
    assert candor.regress(frame, DESIGN) == candor.regress(frame, DESIGN) != first


def test_every_kind_of_frame_is_read_alike(frame):
    expected = numbers(candor.estimate(frame, DESIGN, outcomes=["attention"], covariates=["age"], bootstrap=0))
    columns = {name: frame[name] for name in frame.columns}
    kinds = [
        columns,
        {name: values.to_numpy() for name, values in columns.items()},
        {name: values.tolist() for name, values in columns.items()},
        {name: tuple(values) for name, values in columns.items()},
        OtherFrame(frame, names="columns"),
        OtherFrame(frame, names="column_names"),
        frame.convert_dtypes(),
        frame.assign(arm=frame["arm"].astype("category"), subsample=frame["subsample"].astype(float)),
        frame.assign(attention=frame["attention"] == 1),
        frame.assign(attention=[str(answer) for answer in frame["attention"]]),
        frame.assign(subsample=[np.float32(name) for name in frame["subsample"].astype(int)]).astype({"subsample": object}),
        frame.assign(attention=list(map(Decimal, frame["attention"])), subsample=[Decimal(f"{name}.00") for name in frame["subsample"]]),
        frame.assign(age=[None if np.isnan(age) else age for age in frame["age"].astype(object)]),
    ]
    for kind in kinds:
        assert numbers(candor.estimate(kind, DESIGN, outcomes="attention", covariates="age", bootstrap=0)) == expected


@pytest.mark.parametrize("kind", ["datetime64", "timedelta64"])
def test_dates_and_durations_are_words_in_every_unit(frame, kind):
    """numpy makes whole numbers of those in nanoseconds, which pandas had for all of them up to its version 2."""
    days = (np.arange(len(frame)) % 3).astype(f"{kind}[D]")
    days[::7] = "NaT"
    found = [
        candor.estimate(frame.assign(day=days.astype(f"{kind}[{unit}]")), DESIGN, outcomes=["attention"], covariates=["day"], bootstrap=0)
        for unit in ("s", "us", "ns")
    ]
    assert found[0].to_dict() == found[1].to_dict() == found[2].to_dict()
    assert not any("replaced by the mean" in note for note in found[0]["attention"].notes)


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA, ""])
def test_rows_without_an_answer_are_left_out_of_that_outcome_only(frame, missing):
    second = frame["attention"].astype(object)
    second[:10] = missing
    result = candor.estimate(frame.assign(second=second), DESIGN, bootstrap=0, outcomes=["attention", "second"])
    assert (result["attention"].n, result["second"].n) == (800, 790)
    assert "10 rows have no answer and are left out." in result["second"].notes


def test_outcomes_are_by_default_the_columns_of_answers(frame):
    assert list(candor.estimate(frame.assign(second=1 - frame["attention"]), DESIGN, bootstrap=0).outcomes) == ["attention", "second"]


@pytest.mark.parametrize(
    ("columns", "complaint"),
    [
        ({"arm": "drug"}, "column 'arm', row 0: expected control or treatment, found 'drug'"),
        ({"subsample": 3}, "column 'subsample', row 0: expected 1 or 2, found 3"),
        ({"subsample": 1.5}, "column 'subsample', row 0: expected 1 or 2, found 1.5"),
        ({"attention": 2}, "column 'attention', row 0: expected 0, 1, no, yes, false, true or nothing, found 2"),
        ({"arm": None}, "column 'arm', row 0: expected control or treatment, found nothing"),
        ({"arm": "control"}, "column 'attention': too few answers in arm 'treatment'"),
    ],
)
def test_a_value_that_is_not_expected_is_named_with_its_column_and_row(frame, columns, complaint):
    with pytest.raises(candor.DataError) as refusal:
        candor.estimate(frame.assign(**columns), DESIGN, outcomes=["attention"], bootstrap=0)
    assert complaint in str(refusal.value)


@pytest.mark.parametrize(
    ("frame", "complaint"),
    [
        ([["control", "1", 0]], "expected a DataFrame or a mapping of columns by name, found list"),
        ({"arm": ["control"], "subsample": ["1"]}, "no column holds answers 0 and 1; the data have arm, subsample"),
        ({"arm": ["control"], "y": [1]}, "there is no column 'subsample'; the data have arm, y"),
        ({"arm": ["control"], "subsample": ["1"], "y": [1, 0]}, "the same number of rows, found arm: 1, subsample: 1, y: 2"),
        (
            {"arm": ["control"], "subsample": ["1"], "y": np.ones((1, 2))},
            "column 'y' must be one row of values, found an array of shape (1, 2)",
        ),
        (pd.DataFrame([["a", "b", 1, 0]], columns=["arm", "subsample", "y", "y"]), "the data name the column 'y' twice"),
    ],
)
def test_what_is_no_frame_of_answers_is_refused(frame, complaint):
    with pytest.raises(candor.DataError, match=complaint.replace("(", r"\(").replace(")", r"\)")):
        candor.estimate(frame, DESIGN, bootstrap=0)


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"bootstrap": 1}, "bootstrap: expected 0 for none, or 2 to 10000000 resamples, found 1"),
        ({"bootstrap": -2}, "bootstrap: expected 0"),
        ({"kappa": 2}, "kappa: expected a number from 0 to 1, found 2"),
        ({"level": 1}, "confidence level"),
        ({"outcomes": ["mood"]}, "there is no column 'mood'"),
        ({"outcomes": ["attention"], "covariates": ["attention"]}, "column 'attention' cannot be both"),
    ],
)
def test_an_impossible_option_is_refused(frame, options, complaint):
    with pytest.raises(candor.MethodError, match=complaint):
        candor.estimate(frame, DESIGN, **{"bootstrap": 0, **options})


def test_without_a_seed_the_answers_give_it_and_it_is_told(frame):
    result, again = (
        candor.estimate(data, DESIGN, outcomes=["attention"], bootstrap=20) for data in (frame, frame.sample(frac=1, random_state=1))
    )
    assert again.to_dict() == result.to_dict()
    seed = result["attention"].effects[0].bootstrap.seed
    assert candor.estimate(frame, DESIGN, outcomes=["attention"], bootstrap=20, seed=seed).to_dict() == result.to_dict()
    more = candor.estimate(frame.iloc[1:], DESIGN, outcomes=["attention"], bootstrap=20)
    assert more["attention"].effects[0].bootstrap.seed != seed


def test_one_draw_of_people_serves_all_questions_with_covariates(frame):
    """The same answers under two names have the same replicates, hence the same intervals; a third of the others is missing."""
    asked = frame.assign(again=frame["attention"], part=frame["attention"].where(frame.index % 3 > 0))
    result = candor.estimate(asked, DESIGN, outcomes=["attention", "again", "part"], covariates=["age"], bootstrap=100)
    assert result["attention"].effects == result["again"].effects
    assert [effect.bootstrap is None for effect in result["part"].effects] == [effect.value is None for effect in result["part"].effects]


def test_a_frame_of_results_has_a_row_per_contrast_and_method(frame):
    result = candor.estimate(frame, DESIGN, covariates=["age"], bootstrap=20, seed=1)
    table = result.to_frame()
    assert table["method"].tolist() == ["efficient", "difference_in_means", "doubly_robust", "efficient_with_covariates"]
    effect = result["attention"].effects[0]
    first = table.iloc[0]
    assert (first["value"], first["interval_low"], first["bootstrap_high"]) == (effect.value, effect.interval.low, effect.bootstrap.high)
    assert (first["outcome"], first["treatment"], first["n"], first["level"]) == ("attention", "treatment", 800, 0.95)
    assert result.rows() == json.loads(json.dumps(result.rows()))


def test_an_effect_that_is_not_identified_is_none_in_every_form():
    counts = [[[113, 87], [107, 93]], [[87, 113], [93, 107]]]
    frame = pd.read_csv(answers_file(counts))
    result = candor.estimate(frame, SYMMETRIC, bootstrap=20)
    assert result.to_dict()["outcomes"]["attention"]["effects"][0]["value"] is None
    assert result.rows()[0]["value"] is None
    assert result.to_frame()["value"].isna().all()
    assert "what the answers leave open" in result._repr_html_()


def test_a_notebook_shows_tables_and_the_forest_plot(frame):
    shown = candor.estimate(frame.rename(columns={"attention": "<b>"}), DESIGN, outcomes=["<b>"], bootstrap=0, kappa=0.25)._repr_html_()
    document = ElementTree.fromstring(f"<html>{shown}</html>")  # well-formed, and every name escaped
    assert len(document.findall("section/table")) == 2
    assert document.findtext("section/h3") == "<b>: 800 answers, privacy loss ε = 1.3863"
    assert document.find("{http://www.w3.org/2000/svg}svg") is not None
    cells = [cell.text for cell in document.iter("td")]
    assert "+0.667" in cells
    assert "cheater proportion · 0.400 · SE 0.207 · 0.000 to 0.706" in [line.text for line in document.iter("p")]


def test_the_plot_is_an_svg_document_that_shows_itself(frame):
    figure = candor.estimate(frame, DESIGN, bootstrap=0).plot()
    assert figure.startswith("<svg")
    assert figure._repr_svg_() == figure
    ElementTree.fromstring(figure)


class Axes:
    """Keeps what matplotlib would be asked to draw."""

    def __init__(self) -> None:
        self.drawn: list[tuple[str, tuple[Any, ...]]] = []

    def __getattr__(self, name: str) -> Any:
        return lambda *arguments, **options: self.drawn.append((name, arguments))


def test_the_plot_can_be_drawn_on_axes_of_matplotlib(frame):
    result, axes = candor.estimate(frame, DESIGN, bootstrap=0), Axes()
    assert result.plot(axes) is axes
    effect = result["attention"].effects[0]
    assert ("hlines", (0, effect.interval.low, effect.interval.high)) in axes.drawn
    assert ("plot", ([effect.value], [0])) in axes.drawn
    (labels,) = (arguments[1] for name, arguments in axes.drawn if name == "set_yticks")
    assert labels == ["attention: treatment, efficient", "attention: treatment, difference in means"]


def test_a_sequence_of_answers_is_never_taken_apart_letter_by_letter(frame):
    names: Sequence[str] = "attention"
    assert list(candor.estimate(frame, DESIGN, outcomes=names, bootstrap=0).outcomes) == ["attention"]


def test_an_answer_that_a_masked_array_hides_is_missing(frame):
    name = next(name for name in frame if name not in ("arm", "subsample"))
    hidden = np.arange(len(frame)) % 3 == 0
    columns = {one: frame[one].to_numpy() for one in frame}
    columns[name] = np.ma.array(frame[name].to_numpy(), mask=hidden)
    expected = candor.estimate(
        frame.assign(**{name: frame[name].astype(object).where(~hidden, None)}), DESIGN, outcomes=[name], bootstrap=0
    )
    assert candor.estimate(columns, DESIGN, outcomes=[name], bootstrap=0).to_dict() == expected.to_dict()
    assert expected[name].n < len(frame)


def test_columns_may_be_called_by_numbers(frame):
    name = next(name for name in frame if name not in ("arm", "subsample"))
    numbered = frame[["arm", "subsample", name]].rename(columns={name: 3})
    assert candor.estimate(numbered, DESIGN, bootstrap=0)["3"].n == candor.estimate(numbered, DESIGN, outcomes=[3], bootstrap=0)["3"].n
    with pytest.raises(candor.DataError, match="the data name the column '3' twice"):
        candor.estimate({**numbered, "3": numbered[3]}, DESIGN)


def test_a_categorical_of_numbers_is_levels(frame: pd.DataFrame) -> None:
    """As patsy and R take a factor: one effect for each level, wherever a covariate is used, as if the numbers were words."""
    years = np.resize([1, 2, 3, 4], len(frame)).astype(object)
    years[::7] = None
    numbers_, levels = frame.assign(year=years.astype(float)), frame.assign(year=pd.Categorical(years))
    words = frame.assign(year=[None if one is None else f"year {one}" for one in years])
    options: dict[str, Any] = {"outcomes": ["attention"], "covariates": ["year"], "bootstrap": 20, "seed": 3}

    def estimated(people: Any) -> list[Any]:
        return [
            (one.method, one.value, one.standard_error, one.bootstrap)
            for one in candor.estimate(people, DESIGN, **options)["attention"].effects
        ]

    assert estimated(levels) == estimated(words) != estimated(numbers_)
    ordered = frame.assign(year=pd.Categorical(years, categories=[4, 3, 2, 1], ordered=True))
    assert estimated(ordered) == estimated(OtherFrame(levels, names="columns")) == estimated(levels)
    stated = replace(candor.read_design(DESIGN), cheater_model=CheaterModel(name="always_no"))
    people = candor.simulate(stated, n=400, seed=1) | {"year": pd.Categorical(np.resize([1, 2, 3, 4], 400))}
    labels = [one.label for one in candor.regress(people, stated, outcomes=["outcome"], covariates=["year"])["outcome"].coefficients]
    assert [label for label in labels if label.startswith("year")] == ["year: 2", "year: 3", "year: 4"]


@pytest.mark.parametrize("kind", ["Categorical", "Enum", "DictionaryType"])
def test_categories_of_polars_and_pyarrow_are_levels(kind: str) -> None:
    kept_in = "type" if kind == "DictionaryType" else "dtype"
    column = type("Column", (list,), {kept_in: type(kind, (), {})()})(["1", "2", "NA", "1"])
    design = candor.read_design(DESIGN)
    people = {"arm": [*design.arms] * 2, "subsample": ["1", "1", "2", "2"], "said": [0, 1, 0, 1], "year": column}
    read = answers_in(people, design=design, outcomes=["said"], covariates=["year"])
    assert read.covariates["year"] == [Level("1"), Level("2"), None, Level("1")]
    assert model_matrix(read.covariates, participants=4).notes == ("year: every level but one is rare, left out",)


def test_a_dictionary_of_pyarrow_keeps_what_is_missing() -> None:
    """As an array of numpy it has the first of its values where nothing is written."""

    class Column:
        type = type("DictionaryType", (), {})()

        def __array__(self, *_: Any, **__: Any) -> NDArray[np.object_]:
            return np.array(["1", "2", "1"], dtype=object)

        def to_pylist(self) -> list[str | None]:
            return ["1", "2", None]

    design = candor.read_design(DESIGN)
    people = {"arm": [design.control] * 3, "subsample": ["1", "1", "2"], "said": [0, 1, 0], "year": Column()}
    read = answers_in(people, design=design, outcomes=["said"], covariates=["year"], subgroups=["year"])
    assert (read.covariates["year"], read.groups["year"]) == ([Level("1"), Level("2"), None], ["1", "2", ""])
