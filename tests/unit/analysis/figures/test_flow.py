"""The diagram of how many people came how far: its words stand in their boxes, in each language of the pages of staff."""

import xml.etree.ElementTree as ET
from itertools import pairwise

import pytest
from django.utils.translation import override

from analysis.figures.flow import flow_figure
from analysis.live.progress import Flow, Group

SVG = "{http://www.w3.org/2000/svg}"
LETTER = 7.0
"""The mean width of a letter, in the units of the figure."""
ARMS = ("Nur Folien", "Folien mit der Lehrperson und danach eine Zusammenfassung ohne Ton")
GROUPS = tuple(Group(subsample=subsample, arm=arm, assigned=20, watched=20, finished=20) for subsample in "12" for arm in ARMS)
FLOW = Flow(consented=140, declined=0, assigned=140, finished=80, withdrew=0, groups=GROUPS)


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize("narrow", [False, True])
@pytest.mark.parametrize("shown", [("video",), ("audio", "video"), ()], ids=str)
def test_words_stand_in_their_boxes_and_below_each_other(language: str, narrow: bool, shown: tuple[str, ...]) -> None:
    with override(language):
        drawn = ET.fromstring(flow_figure(FLOW, shown=shown, narrow=narrow).svg())
    boxes = [{name: float(box.get(name, "")) for name in ("x", "y", "width", "height")} for box in drawn.iter(f"{SVG}rect") if box.get("x")]
    boxes = [box for box in boxes if box["width"] < 300]
    texts = [(float(one.get("x", "")), float(one.get("y", "")), one.text or "", one) for one in drawn.iter(f"{SVG}text")]
    inside = 0
    for box in boxes:
        own = [one for one in texts if box["x"] < one[0] < box["x"] + box["width"] and box["y"] < one[1] < box["y"] + box["height"]]
        inside += len(own)
        assert own
        for x, y, words, one in own:
            room = box["width"] if one.get("text-anchor") == "middle" else box["x"] + box["width"] - x
            assert len(words) * LETTER <= room, f"{words!r} does not fit in {room}"
            assert y <= box["y"] + box["height"] - 8
        assert all(below[1] - above[1] >= 17 for above, below in pairwise(own))
    assert inside > 2 * len(GROUPS)
    for arm in ARMS:
        assert all(word in " ".join(words for *_place, words, _one in texts) for word in arm.split()), "a name is cut"
    assert max(y for _x, y, *_rest in texts) < float(drawn.get("viewBox", "").split()[-1])
