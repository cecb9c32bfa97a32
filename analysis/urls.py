"""The addresses of analysis."""

from django.urls import URLPattern, URLResolver, include, path

from analysis import api, views

app_name = "analysis"
urlpatterns: list[URLPattern | URLResolver] = [
    path("", include("analysis.planning.urls")),
    path("studies/<slug:slug>/results/", views.results, name="results"),
    path("studies/<slug:slug>/results/compute/", views.compute, name="compute"),
    path("studies/<slug:slug>/results/blinding/", views.blinding, name="blinding"),
    path("studies/<slug:slug>/results/figures/<slug:figure>.svg", views.figure, name="figure"),
    path("studies/<slug:slug>/results/tables/<slug:table>.csv", views.table, name="table"),
    path("api/v1/power/", api.Power.as_view(), name="api_power"),
    path("api/v1/studies/<slug:slug>/counts/", api.StudyCounts.as_view(), name="api_counts"),
    path("api/v1/studies/<slug:slug>/results/", api.Results.as_view(), name="api_results"),
    path("api/v1/studies/<slug:slug>/runs/", api.Runs.as_view(), name="api_runs"),
]
