"""The addresses of the design page."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponseBase
from django.urls import URLPattern, path

from accounts.access import in_own_language


def _when_asked_for(name: str) -> Callable[..., HttpResponseBase]:
    """A view whose module, and SciPy with it, is loaded with the first plan that somebody makes: most web processes never see one."""

    def view(request: HttpRequest, **arguments: object) -> HttpResponseBase:
        from analysis.planning import designer, views

        views_by_name: dict[str, Callable[..., HttpResponseBase]] = {
            "plan": views.plan,
            "study_plan": views.study_plan,
            "build_die": designer.DieDesigner.as_view(),
        }
        return views_by_name[name](request, **arguments)

    return in_own_language(view)


urlpatterns: list[URLPattern] = [
    path("plan/", _when_asked_for("plan"), name="plan"),
    path("studies/<slug:slug>/plan/", _when_asked_for("study_plan"), name="study_plan"),
    path("studies/<slug:slug>/build/die/", _when_asked_for("build_die"), name="build_die"),
]
