"""The addresses of surveys."""

from django.urls import URLPattern, URLResolver

app_name = "surveys"
urlpatterns: list[URLPattern | URLResolver] = []
