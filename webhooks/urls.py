"""The addresses of webhooks."""

from django.urls import URLPattern, URLResolver, path

from accounts.access import in_own_language
from webhooks import api, views

app_name = "webhooks"
API = "api/v1/studies/<slug:slug>/webhooks/"
urlpatterns: list[URLPattern | URLResolver] = [
    path("studies/<slug:slug>/webhooks/", in_own_language(views.webhooks), name="webhooks"),
    path(API, api.Webhooks.as_view(), name="api_webhooks"),
    path(f"{API}<uuid:webhook_id>/", api.WebhookDetail.as_view(), name="api_webhook"),
    path(f"{API}<uuid:webhook_id>/secret/", api.Secret.as_view(), name="api_secret"),
    path(f"{API}<uuid:webhook_id>/deliveries/", api.Deliveries.as_view(), name="api_deliveries"),
    path(f"{API}<uuid:webhook_id>/deliveries/<uuid:delivery_id>/send-again/", api.SendAgain.as_view(), name="api_send_again"),
]
