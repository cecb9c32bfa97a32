"""Reading and changing a draft's definition. Each change names the version it started from, so that no edit is lost."""

import json
from collections.abc import Mapping

from django.utils.http import parse_etags
from django.utils.translation import gettext as _
from drf_spectacular.utils import OpenApiExample, OpenApiParameter, extend_schema
from rest_framework.exceptions import NotFound, ParseError, ValidationError
from rest_framework.parsers import BaseParser, MultiPartParser
from rest_framework.renderers import BaseRenderer, JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.tokens.api_access import checked, person_of
from audit.services import record_once_a_day
from surveys import actions
from surveys.access import Seat, access_own_study, access_study
from surveys.builder.serializers import (
    ExportSerializer,
    ImportReportSerializer,
    ImportSerializer,
    StillRightSerializer,
    TranslationsSerializer,
)
from surveys.builder.services import add_questions
from surveys.definition import StudyDefinition
from surveys.drafting.edits import fingerprint_of
from surveys.drafting.translations import outdated_in
from surveys.errors import ConcurrentEditError, PreconditionFailedError, PreconditionRequiredError
from surveys.imports.choosing import chosen_of
from surveys.imports.exporting import PROGRAMS, exported
from surveys.imports.proposing import proposal_from
from surveys.models import RUNNING, Study
from surveys.protocols import definition_for, with_known_originals
from surveys.request_bodies import DEFINITION_SCHEMA, JsonFile, MergePatch, YamlFile, body_of, plain_json
from surveys.studies.services import change_definition, confirm_translations, fingerprint, may_be_edited
from surveys.study_file import define, document_of, dump, study_from_outside

IF_MATCH = OpenApiParameter(
    "If-Match",
    str,
    OpenApiParameter.HEADER,
    description="The ETag of the version that you changed. 428 without it, 412 if it is not the newest.",
)
PATCH = {"$ref": "#/components/schemas/StudyDefinitionPatch"}
DEFINITION = {(200, "application/json"): DEFINITION_SCHEMA, (200, "application/yaml"): DEFINITION_SCHEMA}


class StudyFileRenderer(BaseRenderer):
    """The definition as people read and keep it."""

    media_type = "application/yaml"
    format = "yaml"
    charset = "utf-8"

    def render(
        self, data: Mapping[str, object], accepted_media_type: str | None = None, renderer_context: Mapping[str, object] | None = None
    ) -> bytes:
        return dump(data).encode()


class Definition(APIView):
    """The study file: as JSON, or as YAML for `Accept: application/yaml` or `?format=yaml`."""

    parser_classes = (JsonFile, YamlFile)
    renderer_classes = (JSONRenderer, StudyFileRenderer)

    def get_parsers(self) -> list[BaseParser]:
        patches = self.request is not None and self.request.method == "PATCH"
        return [MergePatch(), JsonFile()] if patches else super().get_parsers()

    @extend_schema(operation_id="studies_definition", responses=DEFINITION)
    def get(self, request: Request, slug: str) -> Response:
        user = person_of(request)
        seat = access_study(user, slug)
        record_once_a_day(actor=user, action=actions.STUDY_EXPORTED, subject=seat.study)
        return definition_answer(document_of(_definition_at_hand(seat)), slug)

    @extend_schema(
        operation_id="studies_replace_definition",
        description="Replace the draft's definition by another one of the same slug.",
        parameters=[IF_MATCH],
        request={"application/json": DEFINITION_SCHEMA, "application/yaml": DEFINITION_SCHEMA},
        responses=DEFINITION,
    )
    def put(self, request: Request, slug: str) -> Response:
        study = access_own_study(person_of(request), slug).study
        seen = version_seen(study, request)
        return _change(study, study_from_outside(body_of(request)), seen=seen, request=request)

    @extend_schema(
        operation_id="studies_change_definition",
        description="Change parts of the draft by a JSON merge patch (RFC 7396): what is null is taken out, lists are replaced.",
        parameters=[IF_MATCH],
        request={"application/merge-patch+json": PATCH, "application/json": PATCH},
        responses=DEFINITION,
        examples=[OpenApiExample("another number of people", request_only=True, value={"allocation": {"planned_participants": 200}})],
    )
    def patch(self, request: Request, slug: str) -> Response:
        study = access_own_study(person_of(request), slug).study
        seen = version_seen(study, request)
        patch = plain_json(body_of(request))
        if not isinstance(patch, dict):
            raise ParseError(_("Expected an object with the parts to change, found %(found)s.") % {"found": type(patch).__name__})
        # Read as a study file, so that a patch can bring in nothing that a file cannot.
        changed = study_from_outside(json.dumps(merged(document_of(define(study.definition)), patch)).encode(), source="merged")
        return _change(study, changed, seen=seen, request=request)


class Translations(APIView):
    """The outdated translations of the draft: their originals were changed after they were translated."""

    @extend_schema(operation_id="studies_translations", responses=TranslationsSerializer)
    def get(self, request: Request, slug: str) -> Response:
        return _outdated(access_own_study(person_of(request), slug).study)

    @extend_schema(
        operation_id="studies_confirm_translations",
        description="Say that these translations are still right beside their originals as they are now.",
        request=StillRightSerializer,
        responses=TranslationsSerializer,
        examples=[OpenApiExample("the consent", request_only=True, value={"still_right": [{"place": "consent", "language": "de"}]})],
    )
    def post(self, request: Request, slug: str) -> Response:
        study = access_own_study(person_of(request), slug).study
        asked = checked(StillRightSerializer, request.data)
        named = [(one["place"], one["language"]) for one in asked.validated_data["still_right"]]
        texts = {(one.place, one.language): one for one in outdated_in(with_known_originals(study, define(study.definition)))}
        if missing := [place for place in named if place not in texts]:
            found = ", ".join(f"{place} ({language})" for place, language in texts) or _("none")
            raise ValidationError(
                {
                    "still_right": [
                        _("%(place)s (%(language)s) is not outdated; expected some of these: %(found)s.")
                        % {"place": missing[0][0], "language": missing[0][1], "found": found}
                    ]
                }
            )
        return _outdated(confirm_translations(study, texts=[texts[place] for place in named], actor=person_of(request)))


class Imports(APIView):
    """Questions from another program's file: the report, and the questions themselves if it is no dry run."""

    parser_classes = (MultiPartParser,)

    @extend_schema(
        operation_id="studies_import_questions",
        description="A dry run, which is the default, stores nothing. The numbers of questions are those of its `offers`.",
        request={"multipart/form-data": ImportSerializer},
        responses=ImportReportSerializer,
    )
    def post(self, request: Request, slug: str) -> Response:
        user = person_of(request)
        study = access_own_study(user, slug).study
        asked = checked(ImportSerializer, request.data)
        wanted = asked.validated_data
        definition = define(study.definition)
        proposal = proposal_from(wanted["file"], definition)
        chosen = chosen_of(proposal, definition, with_die=wanted["with_die"], left_out=wanted["left_out"])
        added = 0 if wanted["dry_run"] else add_questions(study, seen=document_of(definition), chosen=chosen, actor=user)
        facts = {"kind": proposal["kind"], "encoding": proposal["encoding"], "counts": chosen.counts, "added": added}
        return Response(ImportReportSerializer({**facts, "offers": chosen.offers, "lines": list(chosen.lines)}).data)


class Export(APIView):
    """The background questions for another program, and all that does not come through."""

    @extend_schema(
        operation_id="studies_export_questions",
        parameters=[OpenApiParameter("program", str, OpenApiParameter.PATH, enum=list(PROGRAMS))],
        responses=ExportSerializer,
    )
    def get(self, request: Request, slug: str, program: str) -> Response:
        user = person_of(request)
        study = access_own_study(user, slug).study
        if program not in PROGRAMS:
            raise NotFound(_("Expected one of %(programs)s.") % {"programs": ", ".join(PROGRAMS)})
        record_once_a_day(actor=user, action=actions.STUDY_EXPORTED, subject=study)
        return Response(ExportSerializer(exported(define(study.definition), program)).data)


def _outdated(study: Study) -> Response:
    outdated = outdated_in(with_known_originals(study, define(study.definition)))
    return Response(TranslationsSerializer({"outdated": outdated}).data)


def merged(document: object, patch: object) -> object:
    """`document` after the merge patch, by RFC 7396."""
    if not isinstance(patch, dict):
        return patch
    kept = document if isinstance(document, dict) else {}
    changed = {name: merged(kept.get(name), part) for name, part in patch.items() if part is not None}
    return {name: part for name, part in kept.items() if name not in patch} | changed


def version_seen(study: Study, request: Request) -> str:
    """The fingerprint of the version that the program has seen, which is the newest one."""
    given = request.headers.get("If-Match")
    if not given:
        raise PreconditionRequiredError
    newest = fingerprint(study)
    if not {"*", f'"{newest}"'} & set(parse_etags(given)):
        raise PreconditionFailedError
    return newest


def _definition_at_hand(seat: Seat) -> StudyDefinition:
    """The definition from which this person's next change begins: an amendment in the making; for all others that of `definition_for`."""
    amends = seat.may_change and seat.study.status in RUNNING and may_be_edited(seat.study)
    return define(seat.study.definition) if amends else definition_for(seat)


def _change(study: Study, definition: StudyDefinition, *, seen: str, request: Request) -> Response:
    try:
        changed = change_definition(study, definition=definition, actor=person_of(request), expected_fingerprint=seen)
    except ConcurrentEditError as error:
        raise PreconditionFailedError from error
    return definition_answer(changed.definition, changed.slug)


def definition_answer(document: dict[str, object], slug: str) -> Response:
    """A definition with its ETag."""
    headers = {"ETag": f'"{fingerprint_of(document)}"', "Content-Disposition": f'inline; filename="{slug}.yaml"'}
    return Response(document, headers=headers)
