"""R accepts the designs and the answers that Python accepts, reads them alike, and refuses all others."""

import copy
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from candor.designs.sources import read_design
from candor.errors import MethodError
from candor.studies.frames import answers_in
from tests.audits.tree import ROOT
from tests.integration.test_r_package import r

YES_NO: Mapping[str, Any] = {
    "arms": ["a", "b"],
    "control": "a",
    "subsamples": {"1": {"forced_no": "2/6", "forced_yes": "1/6"}, "2": {"forced_no": "1/6", "forced_yes": "2/6"}},
}
NAMED: Mapping[str, Any] = {
    "arms": ["a", "b"],
    "control": "a",
    "categories": ["never", "once", "often"],
    "ordered": True,
    "subsamples": {"1": {"never": "1/8", "once": "1/8", "often": "3/8"}, "2": {"never": "3/8", "once": "1/8", "often": "1/8"}},
}
IN_WORDS = {"1": {"no": "2/6", "yes": "1/6"}, "2": {"no": "1/6", "yes": "2/6"}}


def called(*names: str) -> dict[str, Any]:
    """The design with named answers, whose answers have other names."""
    dice = {subsample: dict(zip(names, rule.values(), strict=False)) for subsample, rule in NAMED["subsamples"].items()}
    return {**NAMED, "categories": list(names), "subsamples": dice}


def with_first(design: Mapping[str, Any], **chances: object) -> dict[str, Any]:
    """The design with other chances in its first subsample."""
    changed: dict[str, Any] = copy.deepcopy(dict(design))
    changed["subsamples"]["1"] |= chances
    return changed


def without(design: Mapping[str, Any], answer: str) -> dict[str, Any]:
    changed = with_first(design)
    del changed["subsamples"]["1"][answer]
    return changed


DESIGNS: Sequence[object] = (
    *(YES_NO, NAMED, [YES_NO], 3),
    *(with_first(YES_NO, forced_no=0), with_first(YES_NO, forced_yes="0"), {**with_first(YES_NO, forced_no=0), "reanalysis": True}),
    *(with_first(NAMED, never=0), {**with_first(NAMED, never=0), "reanalysis": True}, {**YES_NO, "reanalysis": "yes"}),
    *(without(NAMED, "never"), without(YES_NO, "forced_no"), with_first(YES_NO, forced_maybe="1/6"), with_first(NAMED, always="1/8")),
    *({**YES_NO, "subsamples": IN_WORDS}, {**YES_NO, "categories": ["no", "yes"], "subsamples": IN_WORDS}),
    *({**YES_NO, "categories": ["no", "yes"]}, {**YES_NO, "categories": ["no", "yes"], "ordered": True}),
    *({**YES_NO, "arms": arms} for arms in (["a"], ["a", "a"], ["a", ""], [], ["a", " a"], [1, 2], ["b", "c"])),
    *({**YES_NO, "control": control} for control in ("x", None, 1, ["a"])),
    *({**YES_NO, "subsamples": dice} for dice in ({}, {"1": YES_NO["subsamples"]["1"]}, list(YES_NO["subsamples"].values()))),
    *({**YES_NO, "subsamples": {"": IN_WORDS["1"], "2": IN_WORDS["2"]}}, {**YES_NO, "subsamples": {"1": "2/6", "2": IN_WORDS["2"]}}),
    *({**YES_NO, "subsamples": {"1": IN_WORDS["1"], "2": IN_WORDS["1"]}}, {**YES_NO, "cheaters": "any"}),
    *({**YES_NO, "subsamples": {"1": IN_WORDS["1"], "2": {"no": 1 / 3, "yes": 1 / 6}}}, {**YES_NO, "cheater_modell": "always_no"}),
    *(
        called("never", "truth", "often"),
        called("never", "NA", "often"),
        called("never", "Never", "often"),
        called("never", " once", "often"),
    ),
    *(called("never", "truthful", "often"), called("never"), {**NAMED, "categories": "never"}, {**NAMED, "categories": [1, 2, 3]}),
    *({**NAMED, "categories": []}, {**NAMED, "ordered": "yes"}, {**NAMED, "ordered": False}),
    *(
        {**NAMED, "scores": scores}
        for scores in ([1, 2], [1, 1, 2], ["0", "1/2", 3], ["0", "x", 3], [0, None, 3], [], [False, True, 2], [-1, 0, 1])
    ),
    *(
        {**YES_NO, "cheater_model": model}
        for model in (
            *("any", "unknown", "always_no", "always_yes", "alway_no", "yes_rate", 1),
            *({"yes_rate": 0.2}, {"yes_rate": "1/4"}, {"yes_rate": 1.2}, {"yes_rate": "half"}, {"yes_rate": 0.2, "x": 1}),
            *({"always": "no"}, {"always": "yes"}, {"always": "never"}, {"distribution": {"no": "1/3", "yes": "2/3"}}),
        )
    ),
    *(
        {**NAMED, "cheater_model": model}
        for model in (
            *("any", "always_no", {"yes_rate": 0.5}, {"always": "never"}, {"always": "Never"}, {"always": ["never", "often"]}),
            *({"distribution": {"never": "1/2", "often": "1/2"}}, {"distribution": {"never": "1/2", "often": "1/3"}}),
            *(
                {"distribution": {"never": "1"}},
                {"distribution": {"never": "x", "often": "1/2"}},
                {"distribution": {"never": 1, "often": 0}},
            ),
        )
    ),
    *(
        {**YES_NO, "allocation": allocation}
        for allocation in (
            *({"arms": {"a": "1/3", "b": "2/3"}, "subsamples": {"2": "1/2", "1": "1/2"}}, {"arms": {"a": "1/3", "b": "1/3"}}),
            *({"subsamples": {"1": "1/2", "2": "1/3"}}, {"subsamples": {"1": "1"}}, {"subsamples": {"1": "1", "2": "0"}}),
            *({"subsamples": {"1": "x", "2": "1/2"}}, {"subsamples": {"1": 0.333, "2": 0.667}}, {"subsamples": {"1": 0.5, "2": 0.495}}),
            *([1], {"sub": {}}, {"unit": "group"}, {"unit": "individual"}, {"unit": "cluster"}, None),
        )
    ),
    *(
        with_first(YES_NO, forced_no=chance)
        for chance in (
            *(
                "1/6",
                "-1/6",
                "7/6",
                "5/6",
                "1e-1",
                1e-1,
                "1/2/3",
                "1.5/6",
                "1/0",
                "0/0",
                " 2/6 ",
                "2 / 6",
                "0,3",
                "0x1/6",
                "+1/6",
                ".25",
                "0.",
            ),
            *("Inf", ["1/6"], None, "", "many", True, 1e-20),
        )
    ),
    *({**YES_NO, key: None} for key in ("arms", "subsamples", "cheater_model", "categories", "ordered", "scores", "reanalysis")),
    *(
        {"design": YES_NO, "questions": []},
        {"design": with_first(YES_NO, forced_no=0)},
        {"design": YES_NO, "allocation": {"unit": "cluster"}},
    ),
)
YES_NO_ANSWERS = (
    *("0", "1", "no", "Yes", "FALSE", "true", "0.0", "1,0", " no ", "NA", "nan", "", "2", "nein", "on", "01"),
    *(None, 0, 1, 2, 1.0, True, False),
)
NAMED_ANSWERS = ("never", "Once", " OFTEN ", "NA", "", "nan", None, "none", "1", "of ten")
SOURCES = "\n".join(
    f'source("{ROOT / "clients/r/R" / name}")' for name in ("replicate.R", "designing.R", "reading.R", "estimating.R", "plotting.R")
)


def said_by_r(program: str, folder: Path) -> list[str]:
    (folder / "program.R").write_text(f"options(warn = 2)\n{SOURCES}\n{program}")
    return [line.strip() for line in r("Rscript", "--vanilla", "program.R", cwd=folder).splitlines()]


def test_r_accepts_the_designs_that_python_accepts(tmp_path: Path) -> None:
    def accepts(path: Path) -> bool:
        try:
            read_design(path)
        except MethodError:
            return False
        return True

    paths = [tmp_path / f"{number}.json" for number in range(len(DESIGNS))]
    for path, document in zip(paths, DESIGNS, strict=True):
        path.write_text(json.dumps(document))
    accepted = said_by_r(
        f"""
        for (number in 1:{len(paths)} - 1) {{
          said <- tryCatch({{ candor_design(sprintf("%d.json", number)); "accepted" }}, error = conditionMessage)
          cat(said, "\\n")
        }}
        """,
        tmp_path,
    )
    expected = [accepts(path) for path in paths]
    assert 30 < sum(expected) < len(expected) - 30
    differ = [(document, said) for document, said, fine in zip(DESIGNS, accepted, expected, strict=True) if fine != (said == "accepted")]
    assert differ == []
    assert any("(epsilon is infinite), found 0 and 1/6" in said for said in accepted)


@pytest.mark.parametrize(("design", "answers"), [(YES_NO, YES_NO_ANSWERS), (NAMED, NAMED_ANSWERS)], ids=["yes/no", "named"])
def test_r_reads_the_answers_that_python_reads(design: Mapping[str, Any], answers: Sequence[object], tmp_path: Path) -> None:
    read = read_design(design)
    words = ["0", "1"] if read.is_yes_no else [*read.categories]

    def in_python(answer: object) -> str:
        frame = {"arm": [" a "], "subsample": [1.0], "said": [answer]}
        try:
            (code,) = answers_in(frame, design=read, outcomes=["said"], covariates=[]).reported["said"]
        except MethodError:
            return "refused"
        return "" if code < 0 else words[code]

    (tmp_path / "design.json").write_text(json.dumps(design))
    values = ", ".join("NA" if one is None else str(one).upper() if isinstance(one, bool) else json.dumps(one) for one in answers)
    in_r = said_by_r(
        f"""
        document <- candor_design("design.json")
        question <- list(name = "said", column = "said", design = if (!is.null(document$categories)) document)
        protocol <- list(design = document, questions = list(question))
        for (answer in list({values})) {{
          one <- data.frame(arm = " a ", subsample = 1.0, said = answer)
          cat(tryCatch(checked_rows(one, protocol)$said, error = function(error) "refused"), "\\n")
        }}
        """,
        tmp_path,
    )
    assert dict(zip(map(repr, answers), in_r, strict=True)) == {repr(one): in_python(one) for one in answers}


def test_the_words_of_both_libraries_estimate_alike(tmp_path: Path) -> None:
    (tmp_path / "design.json").write_text(json.dumps(NAMED))
    (tmp_path / "yes_no.json").write_text(json.dumps({**YES_NO, "cheater_model": {"always": "no"}}))
    (tmp_path / "usual.json").write_text(json.dumps({**YES_NO, "subsamples": IN_WORDS, "cheater_model": "always_no"}))
    lines = said_by_r(
        """
        people <- expand.grid(arm = c("a", "b"), subsample = 1:2, person = 1:40, stringsAsFactors = FALSE)
        answers <- c("never", "once", "often", "never", "never", "often", "once")
        people$said <- answers[1 + (people$person * (people$subsample + (people$arm == "a"))) %% 7]
        usual <- candor_estimate(people[c("arm", "subsample", "said")], "design.json")
        people$said <- paste0(toupper(people$said), " ")
        cat(nrow(usual$answer_effects) > 0, identical(candor_estimate(people[c("arm", "subsample", "said")], "design.json"), usual), "\\n")
        people$said <- people$person %% 3 == 0
        usual <- candor_estimate(people[c("arm", "subsample", "said")], "usual.json")
        people$said <- ifelse(people$said, "Yes", "no")
        cat(nrow(usual$effects) > 0, identical(candor_estimate(people[c("arm", "subsample", "said")], "yes_no.json"), usual), "\\n")
        again <- candor_design("design.json")
        cat(identical(candor_design(again), again), "\\n")
        """,
        tmp_path,
    )
    assert lines == ["TRUE TRUE", "TRUE TRUE", "TRUE"]
