"""The addresses of releases."""

from django.urls import URLPattern, URLResolver, path

from analysis.releases import api, views

urlpatterns: list[URLPattern | URLResolver] = [
    path("studies/<slug:slug>/releases/", views.study_releases, name="releases"),
    path("studies/<slug:slug>/releases/<int:release_id>/", views.study_release, name="releases_one"),
    path("data/", views.public_list, name="public_releases"),
    path("data/signing-key.pem", views.signing_keys, name="signing_keys"),
    path("data/<slug:slug>/", views.public_list, name="public_study_releases"),
    path("data/<slug:slug>/<int:version>/", views.public_page, name="public_release"),
    path("data/<slug:slug>/<int:version>/package.zip", views.public_package, name="public_package"),
    path("studies/<slug:slug>/releases/<int:release_id>/deposit/", views.what_would_be_sent, name="releases_deposit"),
    path("data/<slug:slug>/<int:version>/files/", views.public_files, name="public_files"),
    path("data/<slug:slug>/<int:version>/files/<str:name>", views.public_file, name="public_file"),
    path("api/v1/studies/<slug:slug>/releases/", api.StudyReleases.as_view(), name="api_study_releases"),
    path("api/v1/studies/<slug:slug>/releases/<int:number>/", api.StudyRelease.as_view(), name="api_study_release"),
    path("api/v1/studies/<slug:slug>/releases/<int:number>/<slug:step>/", api.ReleaseStep.as_view(), name="api_release_step"),
    path("api/v1/releases/", api.Releases.as_view(), name="api_releases"),
    path("api/v1/releases/<slug:slug>/<int:version>/", api.ReleaseDetail.as_view(), name="api_release"),
    path("api/v1/releases/<slug:slug>/<int:version>/package/", api.ReleasePackage.as_view(), name="api_release_package"),
]
