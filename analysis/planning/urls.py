"""The addresses of the design page."""

from django.urls import URLPattern, path

from analysis.planning import views

urlpatterns: list[URLPattern] = [
    path("plan/", views.plan, name="plan"),
    path("studies/<slug:slug>/plan/", views.study_plan, name="study_plan"),
]
