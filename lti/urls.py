"""The addresses of course platforms."""

from django.urls import URLPattern, URLResolver, path

from accounts.access import in_own_language
from lti import api, views

app_name = "lti"
urlpatterns: list[URLPattern | URLResolver] = [
    path("lti/keys/", views.keys, name="keys"),
    path("lti/login/", views.login, name="login"),
    path("lti/launch/", views.launch, name="launch"),
    path("lti/choose/", in_own_language(views.choose), name="choose"),
    path("lti/own-keys/", in_own_language(views.platform_keys), name="platform_keys"),
    path("credit/<slug:slug>/", views.credit, name="credit"),
    path("studies/<slug:slug>/credit/", in_own_language(views.study_credit), name="study_credit"),
    path("api/v1/studies/<slug:slug>/credit/", api.StudyCredit.as_view(), name="api_study_credit"),
    path("api/v1/studies/<slug:slug>/credit/send-again/", api.SendCreditAgain.as_view(), name="api_send_credit_again"),
]
