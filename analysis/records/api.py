"""Protected records for programs: what is possible, the build of a release, and the checker's verdict."""

from dataclasses import asdict

from django.utils.translation import gettext as _
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.tokens.api_access import checked, person_of
from analysis.answers.study_records import roles_of, words_of
from analysis.models import BackgroundHandling, DataSet, RecordSweep, ReleaseStatus, key_of
from analysis.packages.errors import ReleaseError
from analysis.records.serializers import RecordHierarchySerializer, RecordsOrQuerySerializer, RecordsSerializer
from analysis.records.services import save_hierarchy, start_sweep, stop_sweep
from analysis.releases.protecting import hierarchies_for
from analysis.releases.selectors import releases
from analysis.releases.serializers import SIMULATED, BuildRequestSerializer, ConfirmRequestSerializer, SweepRequestSerializer
from analysis.releases.services import confirm_auxiliary, start_release
from analysis.sources.seats import access_record_set
from surveys.access import Seat, access_own_study, access_study
from surveys.models import Study
from surveys.protocols import definition_for


class Records(APIView):
    """Roles, hierarchies, what is possible, and what the checker says of the newest release with records."""

    @extend_schema(operation_id="studies_records", responses=RecordsSerializer)
    def get(self, request: Request, slug: str) -> Response:
        return Response(_state(access_own_study(person_of(request), slug), numbers=True))

    @extend_schema(operation_id="studies_try_records", request=SweepRequestSerializer, responses={202: RecordsSerializer})
    def post(self, request: Request, slug: str) -> Response:
        """Try every class size. The new numbers take the place of older ones."""
        user = person_of(request)
        seat = access_own_study(user, slug)
        sent = checked(SweepRequestSerializer, request.data)
        start_sweep(seat.study, simulated=sent.validated_data["whose"] == SIMULATED, actor=user)
        return Response(_state(seat), status=202)


class StopRecords(APIView):
    """Try no further class sizes. There may be nothing to stop."""

    @extend_schema(operation_id="studies_stop_trying_records", request=None, responses=RecordsSerializer)
    def post(self, request: Request, slug: str) -> Response:
        user = person_of(request)
        seat = access_own_study(user, slug)
        stop_sweep(seat.study, actor=user)
        return Response(_state(seat))


class StudyRecordHierarchy(APIView):
    """Edit the hierarchy of one question, or go back to the suggested one. Releases that were made keep theirs."""

    @extend_schema(operation_id="studies_edit_record_hierarchy", request=RecordHierarchySerializer, responses=RecordsSerializer)
    def post(self, request: Request, slug: str) -> Response:
        user = person_of(request)
        seat = access_own_study(user, slug)
        sent = checked(RecordHierarchySerializer, request.data)
        asked = sent.validated_data
        save_hierarchy(seat.study, attribute=asked["attribute"], chains=asked["hierarchy"], actor=user)
        return Response(_state(seat))


class BuildRecords(APIView):
    """Build a release with protected records, as `releases/` does; here with the state of all records as the answer."""

    @extend_schema(operation_id="studies_build_records", request=BuildRequestSerializer, responses={202: RecordsSerializer})
    def post(self, request: Request, slug: str) -> Response:
        user = person_of(request)
        seat = access_own_study(user, slug)
        sent = checked(BuildRequestSerializer, request.data)
        start_release(seat.study, choices=sent.choices(), site=request.build_absolute_uri("/").rstrip("/"), actor=user)
        return Response(_state(seat), status=202)


class RecordsOrQuery(APIView):
    """The same counts from protected records and from a desk with noise. Trying all class sizes (`studies_try_records`) finds them."""

    @extend_schema(operation_id="studies_records_or_query", responses=RecordsOrQuerySerializer)
    def get(self, request: Request, **where: str) -> Response:
        user = person_of(request)
        if "slug" in where:
            whole: Study | DataSet = access_own_study(user, where["slug"]).study
        else:
            whole = access_record_set(user, where["data_set"], needs="has_the_files").data_set
        from analysis.records.comparison import comparison_of

        sweep = RecordSweep.objects.filter(**key_of(whole)).first()
        found = comparison_of(sweep)
        shown = {
            "study": whole.slug if isinstance(whole, Study) else None,
            "data_set": whole.slug if isinstance(whole, DataSet) else None,
            "status": sweep and sweep.status,
            "queries": found and found.queries,
            "left_out": found and found.left_out,
            "records": [asdict(one) for one in found.records] if found else [],
            "desk": [{"epsilon": epsilon, "error": error} for epsilon, error in found.desk] if found else [],
        }
        return Response(RecordsOrQuerySerializer(shown).data)


@extend_schema_view(get=extend_schema(operation_id="data_sets_records_or_query", responses=RecordsOrQuerySerializer))
class DataSetRecordsOrQuery(RecordsOrQuery):
    """The same of records that somebody brought. Trying all class sizes (`try_record_set`) finds them."""


class ConfirmRecords(APIView):
    """An IRB officer confirms by name auxiliary answers that are published as they are; the package is then built again."""

    @extend_schema(operation_id="studies_confirm_records", request=ConfirmRequestSerializer, responses={202: RecordsSerializer})
    def post(self, request: Request, slug: str) -> Response:
        user = person_of(request)
        seat = access_study(user, slug)
        sent = checked(ConfirmRequestSerializer, request.data)
        asked = releases().filter(study=seat.study, status=ReleaseStatus.REQUESTED, background=BackgroundHandling.RECORDS).first()
        if asked is None:
            raise ReleaseError(_("No release with protected records waits for a decision."))
        given = sent.validated_data
        confirm_auxiliary(asked, names=given["attributes"], sha256=given.get("sha256"), actor=user)
        return Response(_state(seat), status=202)


def _state(seat: Seat, *, numbers: bool = False) -> dict[str, object]:
    """The state, with numbers if it was asked for. The answer to a step has none: it may be kept, and a withdrawal deletes them."""
    definition, study = definition_for(seat), seat.study
    words, hierarchies = words_of(definition.asked, definition.languages[0]), hierarchies_for(study, definition)
    attributes = [
        {"name": name, "words": words[name], "role": role, "hierarchy": hierarchies.get(name)}
        for name, role in roles_of(definition.asked).items()
    ]
    sweep = RecordSweep.objects.filter(study=study).first()
    tried = sweep and {"status": sweep.status, "error": sweep.error, "parts": len(sweep.plan), "found": sweep.findings if numbers else []}
    built = releases().filter(study=study, background=BackgroundHandling.RECORDS).order_by("-pk").first()
    verdict = built and {
        "version": built.version,
        "status": built.status,
        "error": built.error,
        # A package that the checker refuses is never stored.
        "holds": True if built.summary else None,
        "records": built.summary.get("records") if numbers else None,
    }
    shown = {"study": study.slug, "attributes": attributes, "sweep": tried, "verdict": verdict}
    return dict(RecordsSerializer(shown).data)
