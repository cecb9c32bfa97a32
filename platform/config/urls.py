"""All addresses."""

from django.contrib import admin
from django.urls import include, path
from django.views.generic import RedirectView

from accounts.tokens.api import Account
from accounts.views import admin_door
from config import views
from config.api_schema import DocumentView

handler400 = "config.error_responses.bad_request"
handler403 = "config.error_responses.permission_denied"
handler404 = "config.error_responses.not_found"
handler429 = "config.error_responses.too_many_requests"  # allauth asks for it
handler500 = "config.error_responses.internal_error"

# /healthz is answered by `config.health.HealthMiddleware`, before anything else.
urlpatterns = [
    path("", include("surveys.urls")),  # first, with the address of a journey as its first: most requests are for it
    path("", views.home, name="home"),
    path("admin/login/", admin_door, name="admin_door"),
    # The admin's own page for a new password makes no entry in the log.
    path(
        "admin/password_change/", admin.site.admin_view(RedirectView.as_view(pattern_name="account_change_password")), name="admin_password"
    ),
    path("admin/", admin.site.urls),
    path("accounts/", include("accounts.urls")),
    path("start/", views.first_page, name="first_page"),
    path("work/", views.work, name="work"),
    path("favicon.ico", views.Favicon.as_view(), name="favicon"),
    path("api/v1/account/", Account.as_view(), name="api_account"),
    path("api/v1/schema/", DocumentView.as_view(), name="schema"),
    path("", include("webhooks.urls")),
    path("", include("lti.urls")),
    path("", include("analysis.urls")),
]
