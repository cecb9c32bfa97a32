"""Lets requests for results and public data read from the copy of the database, if it is not behind."""

from collections.abc import Callable, Sequence

from django.db import DatabaseError
from django.http import HttpRequest, HttpResponseBase

from config.replica.freshness import is_fresh, let_rest, reads_from_replica

RESULTS = {
    *("results", "figure", "table", "results_preregistration"),
    *("api_results", "api_figure", "api_table", "api_files", "api_counts", "api_runs", "api_preregistration_report"),
}
PUBLIC_DATA = {
    *("public_releases", "public_study_releases", "public_release", "public_package", "public_files", "public_file"),
    *("public_records", "public_records_package", "api_releases", "api_release", "api_release_package"),
}
PAGES = {"surveys:transparency", *(f"analysis:{name}" for name in RESULTS | PUBLIC_DATA)}


class ReplicaMiddleware:
    """The last one before the page, because it is the page that reads. After a failure of the copy the page is made again."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        try:
            return self.get_response(request)
        finally:
            reads_from_replica.set(False)

    def process_view(self, request: HttpRequest, view: object, arguments: Sequence[object], named: dict[str, object]) -> None:
        match = request.resolver_match
        if request.method in ("GET", "HEAD") and match is not None and match.view_name in PAGES:
            reads_from_replica.set(is_fresh())

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponseBase | None:
        if not reads_from_replica.get() or not isinstance(error, DatabaseError) or request.resolver_match is None:
            return None
        reads_from_replica.set(False)
        let_rest()
        function, arguments, named = request.resolver_match
        answer: HttpResponseBase = function(request, *arguments, **named)
        return answer
