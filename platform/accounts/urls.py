"""Where staff log in and out."""

from django.contrib.auth.views import LogoutView
from django.urls import path

from accounts import token_views
from accounts.views import LoginView

app_name = "accounts"
urlpatterns = [
    path("login/", LoginView.as_view(), name="login"),
    path("logout/", LogoutView.as_view(), name="logout"),
    path("tokens/", token_views.tokens, name="tokens"),
]
