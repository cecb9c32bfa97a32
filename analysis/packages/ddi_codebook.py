"""ddi-codebook.xml: the data described in DDI-Codebook 2.5, for social science archives."""

import hashlib
import re
from collections import Counter
from collections.abc import Mapping
from typing import cast

from lxml import etree

from analysis.packages.background_counts import NOT_ANSWERED
from analysis.packages.codebook import MEANING
from analysis.packages.content import Column, Content, columns_of
from analysis.packages.privacy_statement import privacy_statement

NAMESPACE = "ddi:codebook:2_5"
SCHEMA = "http://www.ddialliance.org/Specification/DDI-Codebook/2.5/XMLSchema/codebook.xsd"
XSI = "http://www.w3.org/2001/XMLSchema-instance"
NAMESPACES = cast("dict[str, str]", {None: NAMESPACE, "xsi": XSI})  # the stubs do not know the nameless one
DATA_FILE = "F1"
DATA_KIND = {
    False: "Experimental data: answers under randomised response",
    True: "Survey data: answers under randomised response",
}
"""By whether the study was a survey."""
HIDDEN = "because it is small, or so that small ones cannot be worked out"
NO_CHARACTERS = re.compile("[\ufffe\uffff]")
"""XML cannot hold them, and nobody can see them."""


def ddi_codebook(content: Content, documents: Mapping[str, bytes]) -> bytes:
    """Elements in the order in which the standard wants them. `documents` are the JSON files of records, by name."""
    root = etree.Element(f"{{{NAMESPACE}}}codeBook", nsmap=NAMESPACES, version="2.5", ID=f"DDI-{content.name}")
    root.set(f"{{{XSI}}}schemaLocation", f"{NAMESPACE} {SCHEMA}")
    _document_description(root, content)
    _study_description(root, content)
    _file_description(root, content)
    values = {name: [getattr(row, name) for row in content.rows] for name in ("arm", "subsample", "cluster")}
    values |= {
        column.name: ["" if row.answers[index] is None else str(row.answers[index]) for row in content.rows]
        for index, column in enumerate(one for one in columns_of(content) if one.is_answer)
    }
    variables = _add(root, "dataDscr")
    for number, column in enumerate(columns_of(content), start=1):
        _variable(variables, column, number=number, counts=Counter(values[column.name]))
    _background(variables, content, first=len(columns_of(content)) + 1)
    for name, document in documents.items():
        other = _add(root, "otherMat", level="study", URI=name)
        _add(other, "labl", MEANING[name])
        _add(other, "notes", hashlib.sha256(document).hexdigest(), type="SHA-256")
    return bytes(etree.tostring(root, encoding="UTF-8", xml_declaration=True, pretty_print=True))


def _add(parent: etree._Element, element: str, text: str | None = None, **attributes: str) -> etree._Element:
    child = etree.SubElement(parent, f"{{{NAMESPACE}}}{element}", attributes)
    child.text = text and NO_CHARACTERS.sub("\N{REPLACEMENT CHARACTER}", text)
    return child


def _title(citation: etree._Element, content: Content) -> None:
    statement = _add(citation, "titlStmt")
    _add(statement, "titl", content.title)
    _add(statement, "IDNo", content.address)
    if content.doi:
        _add(statement, "IDNo", content.doi, agency="DOI")


def _document_description(root: etree._Element, content: Content) -> None:
    citation = _add(_add(root, "docDscr"), "citation")
    _title(citation, content)
    _add(_add(citation, "prodStmt"), "software", "Candor")


def _study_description(root: etree._Element, content: Content) -> None:
    study = _add(root, "stdyDscr")
    citation = _add(study, "citation")
    _title(citation, content)
    responsible = _add(citation, "rspStmt")
    known = content.publication
    for author in known.creators:
        _add(responsible, "AuthEnty", author.name, **({"affiliation": author.institution} if author.institution else {}))
    if known.funding:
        produced = _add(citation, "prodStmt")
        for grant in known.funding:
            _add(produced, "fundAg", grant.funder)
        for grant in known.funding:
            if grant.award:
                _add(produced, "grantNo", grant.award, agency=grant.funder)
    distributed = _add(citation, "distStmt")
    _add(distributed, "distrbtr", content.site, URI=content.site)
    if known.contact:
        _add(distributed, "contact", known.contact.name, **({"email": known.contact.email} if known.contact.email else {}))
    _add(_add(citation, "verStmt"), "version", str(content.version))
    _add(citation, "biblCit", content.citation)
    information = _add(study, "stdyInfo")
    subject = _add(information, "subject")
    for keyword in content.keywords:
        _add(subject, "keyword", keyword)
    _add(information, "abstract", content.protocol["summary"])
    summary = _add(information, "sumDscr")
    if known.collected:
        _add(summary, "collDate", known.collected.first, date=known.collected.first, event="start")
        _add(summary, "collDate", known.collected.last, date=known.collected.last, event="end")
    _add(summary, "anlyUnit", "Individual")
    _add(summary, "universe", "Those who consented and answered all questions")
    _add(summary, "dataKind", "Simulated data" if content.simulated else DATA_KIND[content.is_survey])
    collection = _add(_add(study, "method"), "dataColl")
    allocation = content.protocol["allocation"]
    _add(collection, "sampProc", f"Randomised by concealed lists (scheme: {allocation['scheme']}), see allocation-proof.txt")
    _add(collection, "collMode", "Self-administered questionnaire: web-based, each sensitive answer after a private die")
    access = _add(study, "dataAccs")
    use = _add(access, "useStmt")
    _add(use, "citReq", content.citation)
    _add(use, "conditions", f"{content.terms}, {content.licence.address}")
    for sentence in map(str, privacy_statement(content)):
        _add(access, "notes", sentence, type="privacy")


def _file_description(root: etree._Element, content: Content) -> None:
    """The hash stands in a note: only later editions of version 2.5 have an element for it."""
    file = _add(root, "fileDscr", ID=DATA_FILE, URI="data.csv")
    text = _add(file, "fileTxt")
    _add(text, "fileName", "data.csv")
    dimensions = _add(text, "dimensns")
    _add(dimensions, "caseQnty", str(len(content.rows)))
    _add(dimensions, "varQnty", str(len(columns_of(content))))
    _add(text, "fileType", "text/csv", charset="UTF-8")
    _add(file, "notes", hashlib.sha256(content.data_csv.encode()).hexdigest(), type="SHA-256")


def _variable(parent: etree._Element, column: Column, *, number: int, counts: Counter[str]) -> None:
    variable = _add(parent, "var", ID=f"V{number}", name=column.name, files=DATA_FILE, intrvl="discrete", nature="nominal")
    _label(variable, column.label)
    if column.is_answer:
        _add(_add(variable, "qstn"), "qstnLit", column.label)
    for value, label in column.values.items():
        category = _add(variable, "catgry")
        _add(category, "catValu", value)
        _add(category, "labl", label)
        _add(category, "catStat", str(counts[value]), type="freq")
    _add(variable, "varFormat", type="numeric" if column.is_number else "character")


def _background(parent: etree._Element, content: Content, *, first: int) -> None:
    """The questions whose answers are counted: a variable each, with the shown counts as frequencies. No row of the data has them."""
    if content.background is None:
        return
    questions = {one["name"]: one for one in content.protocol["background_questions"]}
    counted = dict.fromkeys(cell.question for cell in content.background)
    for number, name in enumerate(counted, start=first):
        question = questions[name]
        variable = _add(parent, "var", ID=f"V{number}", name=name, intrvl="discrete", nature="nominal")
        _label(variable, question["text"])
        _add(_add(variable, "qstn"), "qstnLit", question["text"])
        for cell in content.background:
            if cell.question == name:
                category = _add(variable, "catgry", missing="Y") if cell.answer == NOT_ANSWERED else _add(variable, "catgry")
                _add(category, "catValu", cell.answer)
                _add(category, "labl", (question["answers"] or {}).get(cell.answer, cell.answer))
                if cell.count is not None:
                    _add(category, "catStat", str(cell.count), type="freq")
        _add(variable, "varFormat", type="character")
        _add(variable, "notes", f"Counts over everybody, from background-counts.csv. Without a count: hidden, {HIDDEN}.")


def _label(variable: etree._Element, text: str) -> None:
    _add(variable, "labl", text if len(text) <= 100 else text[:99] + "…")
