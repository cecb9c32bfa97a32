"""The addresses of analysis."""

from django.urls import URLPattern, URLResolver, include, path

from analysis import views

app_name = "analysis"
urlpatterns: list[URLPattern | URLResolver] = [
    path("", include("analysis.planning.urls")),
    path("studies/<slug:slug>/results/", views.results, name="results"),
]
