"""Files of other programs' questions, made for these tests, and a count of their attributes that shares no code with their readers."""

import csv
import io
import json
from pathlib import Path
from typing import Any

from lxml import etree

FILES = sorted((Path(__file__).parent / "data" / "imports").iterdir())
LANGUAGES = ["en", "de"]


def attributes_in(content: bytes) -> int:
    """The cells, leaves or elements in which something is said."""
    for encoding in ("utf-16", "utf-8-sig", "cp1252"):
        if encoding == "utf-16" and content[:2] not in (b"\xff\xfe", b"\xfe\xff"):
            continue
        try:
            text = content.decode(encoding)
            break
        except UnicodeDecodeError:
            continue
    if text.lstrip().startswith(("{", "[")):
        return _in_json(json.loads(text))
    if text.lstrip().startswith("<"):
        root = etree.fromstring(text.encode())
        return sum(_in_element(one) for one in root.iter() if isinstance(one.tag, str))
    delimiter = ";" if text.split("\n")[0].count(";") > text.split("\n")[0].count(",") else ","
    rows = [row for row in csv.reader(io.StringIO(text), delimiter=delimiter) if any(row)][1:]
    return sum(bool(cell.strip()) for row in rows for cell in row)


def _in_json(value: Any) -> int:
    if isinstance(value, dict):
        return sum(_in_json(one) for one in value.values())
    if isinstance(value, list):
        return sum(_in_json(one) for one in value)
    return int(value is not None and str(value).strip() != "")


def _in_element(element: Any) -> int:
    own = "".join([element.text or "", *(child.tail or "" for child in element)])
    return int(bool(own.strip())) + sum(bool(value.strip()) for value in element.attrib.values())
