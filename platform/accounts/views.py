"""Logging in."""

from django.contrib.auth.views import LoginView as DjangoLoginView


class LoginView(DjangoLoginView):
    """Name and password; whoever is logged in already is sent on."""

    template_name = "accounts/login.html"
    redirect_authenticated_user = True
