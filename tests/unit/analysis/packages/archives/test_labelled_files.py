"""Labels for SPSS and Stata: every column and value, and no text of a study ends its quotation. R runs in test_package_in_r."""

import re
from dataclasses import replace

import pytest

from analysis.packages.archives.labelled_files import LONGEST_NAME, labelled_files, short_names
from analysis.packages.content import Column, columns_of
from tests.package_contents import content


def labelled(text: str) -> dict[str, str]:
    """The programs for a study with this text as its title and its questions, for their answers, and for its arms."""
    chosen = content()
    questions = [{**one, "text": text, "yes": text} for one in chosen.protocol["questions"]]
    arms = [{**one, "label": text} for one in chosen.protocol["arms"]]
    found = labelled_files(replace(chosen, title=text, protocol={**chosen.protocol, "questions": questions, "arms": arms}))
    return {name: program.decode() for name, program in found.items()}


def test_every_column_and_value_has_its_label():
    chosen = content()
    texts = {name: text.decode() for name, text in labelled_files(chosen).items()}
    for column in columns_of(chosen):
        for text in texts.values():
            assert column.name in text
            assert column.label[:70] in text
            assert all(label in text for label in column.values.values())


def test_apostrophes_and_macros_of_a_text_stay_text():
    texts = labelled("`\"x\"' $HOME it's.\nexit")
    assert "  answer_attention '`\"x\"'' $HOME it''s. exit'\n" in texts["labels.sps"]
    assert 'label variable answer_attention `"’"x” ＄HOME it\'s. exit"\'\n' in texts["labels.do"]
    assert "'`\"x\"\\' $HOME it\\'s. exit'\n" in texts["labels.R"]


HOSTILE = (
    "/* all of it",
    "*/ clear",
    "ends ///",
    "https://a.b//*/c",
    "`a' $b ${c} \"' '\"",
    "a\nb\rc\x0bd\x85e\u2028f\u2029g",
    "back\\",
    "back\\'); q('no')",
    "a sentence.",
    "'",
    '"',
)


@pytest.mark.parametrize("text", HOSTILE)
def test_no_text_begins_a_comment_or_a_macro_or_ends_a_line_or_a_quotation(text: str):
    usual, hostile = labelled("harmless"), labelled(text)
    for name, program in hostile.items():
        assert len(program.splitlines()) == len(usual[name].splitlines())
    stata, spss = hostile["labels.do"], hostile["labels.sps"]
    assert not re.search(r"/\*|\*/|//|\$", stata)
    for line in stata.splitlines()[1:]:
        assert line.count('`"') == line.count("\"'") == line.count("`")
    assert not re.search(r"/\*|\*/", spss.splitlines()[0])
    assert spss.splitlines()[0].endswith("CD=YES.")
    for line in spss.splitlines()[1:]:
        assert line.count("'") % 2 == 0
    for line in hostile["labels.R"].splitlines()[1:]:
        assert re.sub(r"\\\\|\\'", "", line).count("'") % 2 == 0


def test_long_names_stay_different():
    columns = [Column(name=f"answer_{'very-' * 8}{last}", label="", values={}) for last in "abc"]
    names = list(short_names(columns).values())
    assert len(set(names)) == 3
    assert all(len(name) <= LONGEST_NAME and "-" not in name for name in names)


def test_long_labels_are_cut_by_the_limits_of_the_programs():
    texts = labelled("ä" * 300)
    assert f"'{'ä' * 58}…'" in texts["labels.sps"]
    assert f'`"{"ä" * 79}…"\'' in texts["labels.do"]
    assert "ä" * 300 in texts["labels.R"]
