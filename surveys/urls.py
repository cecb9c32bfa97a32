"""The addresses of surveys."""

from django.urls import URLPattern, URLResolver, path

from accounts.access import in_own_language
from surveys.allocation import api as arms
from surveys.builder import api as definitions
from surveys.builder.about import About, Languages, ListOfSentences, Publishing
from surveys.builder.allocation import AllocationPage
from surveys.builder.arms import ArmPage, Arms, PageOfArm
from surveys.builder.beginnings import duplicate, import_page, new_study
from surveys.builder.file import Archive, StudyFile
from surveys.builder.history import History
from surveys.builder.imports import ExportFile, ExportPage, ImportPage
from surveys.builder.lists import ItemPage, ListPage, PastePage
from surveys.builder.overview import Company, Overview
from surveys.builder.planned_tests import PlannedTestsPage
from surveys.builder.texts import Consent, Debrief, DirectQuestions, Plans, Subgroups
from surveys.classroom import views as classroom
from surveys.journey import preview
from surveys.journey import views as participant
from surveys.log import api as api_log
from surveys.log import views as log
from surveys.media import api as files
from surveys.preregistration import api as registered
from surveys.preregistration import views as plans
from surveys.public import views as about
from surveys.recruitment import api as codes
from surveys.recruitment import views as recruitment
from surveys.retention import views as retention
from surveys.review import api as reviews
from surveys.review import views as irb
from surveys.sharing import views as people
from surveys.studies import api as studies
from surveys.studies import views as investigator
from surveys.words import views as written

app_name = "surveys"
urlpatterns: list[URLPattern | URLResolver] = [
    path("s/<slug:slug>/", participant.journey, name="journey"),
    path("s/<slug:slug>/somebody-else/", participant.begin_anew, name="begin_anew"),
    path("s/<slug:slug>/progress/", participant.progress, name="progress"),
    path("s/<slug:slug>/resume/<str:token>/", participant.resume, name="resume"),
    path("s/<slug:slug>/return/<str:ticket>/", participant.come_back, name="return"),
    path("s/<slug:slug>/credit/", participant.credit, name="credit"),
    path("s/<slug:slug>/withdraw/", participant.withdraw, name="withdraw"),
    path("s/<slug:slug>/consent/", about.consent_copy, name="consent_copy"),
    path("s/<slug:slug>/about/", about.about_study, name="transparency"),
    path("s/<slug:slug>/privacy/", about.privacy, name="privacy"),
    path("s/<slug:slug>/allocation/", about.allocation, name="allocation"),
    path("s/<slug:slug>/allocation/<int:number>/", about.allocation_list, name="allocation_list"),
    path("s/<slug:slug>/media/<uuid:media_id>/", about.media, name="media"),
    path("in-class/", classroom.in_class, name="in_class"),
    path("in-class/<str:code>/", classroom.class_room, name="class_room"),
    path("in-class/<str:code>/screen/", classroom.class_screen, name="class_screen"),
    path("in-class/<str:code>/batches/", classroom.class_batches, name="class_batches"),
    path("open-studies/", about.open_studies, name="open_studies"),
    path("two-worlds/", about.two_worlds, name="two_worlds"),
    path("data/log-heads.json", about.log_heads, name="log_heads"),
    path("studies/", investigator.studies, name="studies"),
    path("studies/<slug:slug>/", investigator.study, name="study"),
    path("studies/<slug:slug>/build/", Overview.as_view(), name="build"),
    path("studies/<slug:slug>/build/company/", Company.as_view(), name="build_company"),
    path("studies/<slug:slug>/build/history/", History.as_view(), name="build_history"),
    path("studies/<slug:slug>/build/about/", About.as_view(), name="build_about"),
    path("studies/<slug:slug>/build/languages/", Languages.as_view(), name="build_languages"),
    path("studies/<slug:slug>/build/languages/words.po", ListOfSentences.as_view(), name="build_words"),
    path("studies/<slug:slug>/build/consent/", Consent.as_view(), name="build_consent"),
    path("studies/<slug:slug>/build/allocation/", AllocationPage.as_view(), name="build_allocation"),
    path("studies/<slug:slug>/build/subgroups/", Subgroups.as_view(), name="build_subgroups"),
    path("studies/<slug:slug>/build/direct-questions/", DirectQuestions.as_view(), name="build_direct"),
    path("studies/<slug:slug>/build/arms/", in_own_language(Arms.as_view()), name="build_arms"),
    path("studies/<slug:slug>/build/arms/<slug:arm>/", in_own_language(ArmPage.as_view()), name="build_arm"),
    path("studies/<slug:slug>/build/arms/<slug:arm>/<slug:page>/", in_own_language(PageOfArm.as_view()), name="build_arm_page"),
    path("studies/<slug:slug>/build/background/", ListPage.as_view(part="background"), name="build_background"),
    path("studies/<slug:slug>/build/background/import/", ImportPage.as_view(), name="build_import"),
    path("studies/<slug:slug>/build/background/export/<slug:program>/", ExportPage.as_view(), name="build_export"),
    path("studies/<slug:slug>/build/background/export/<slug:program>/file/", ExportFile.as_view(), name="build_export_file"),
    path("studies/<slug:slug>/build/quiz/", ListPage.as_view(part="quiz"), name="build_quiz"),
    path("studies/<slug:slug>/build/questions/", ListPage.as_view(part="questions"), name="build_questions"),
    path("studies/<slug:slug>/build/<slug:part>/add/", ItemPage.as_view(), name="build_add"),
    path("studies/<slug:slug>/build/<slug:part>/paste/", PastePage.as_view(), name="build_paste"),
    path("studies/<slug:slug>/build/<slug:part>/edit/<slug:name>/", ItemPage.as_view(), name="build_item"),
    path("studies/<slug:slug>/build/debrief/", Debrief.as_view(), name="build_debrief"),
    path("studies/<slug:slug>/build/tests/", PlannedTestsPage.as_view(), name="build_tests"),
    path("studies/<slug:slug>/build/plans/", Plans.as_view(), name="build_plans"),
    path("studies/<slug:slug>/build/publication/", Publishing.as_view(), name="build_publication"),
    path("studies/<slug:slug>/build/file/", StudyFile.as_view(), name="build_file"),
    path("studies/<slug:slug>/build/file/archive/", Archive.as_view(), name="build_archive"),
    path("studies/<slug:slug>/duplicate/", duplicate, name="duplicate_study"),
    path("new-study/", new_study, name="new_study"),
    path("import-study/", import_page, name="import_study"),
    path("studies/<slug:slug>/actions/<slug:action>/", investigator.action, name="action"),
    path("studies/<slug:slug>/protocol/", irb.protocol, name="protocol"),
    path("studies/<slug:slug>/protocol/<int:version>/", irb.protocol, name="protocol_version"),
    path("studies/<slug:slug>/protocol/<int:version>/changes/", irb.changes, name="protocol_changes"),
    path("studies/<slug:slug>/preregistration/", plans.preregistration, name="protocol_preregistration"),
    path("studies/<slug:slug>/preregistration/<int:version>/", plans.preregistration, name="protocol_preregistration_version"),
    path(
        "studies/<slug:slug>/preregistration/<int:version>.<slug:file_kind>",
        plans.preregistration_file,
        name="protocol_preregistration_file",
    ),
    path("studies/<slug:slug>/review/", irb.review, name="review"),
    path("studies/<slug:slug>/review/comments/", irb.comment, name="comment"),
    path("studies/<slug:slug>/review/reviewer/", irb.assign, name="assign"),
    path("studies/<slug:slug>/protocol/<int:version>/sign-offs/", irb.sign, name="sign"),
    path("review/privacy-limit/", irb.privacy_limit, name="privacy_limit"),
    path("studies/<slug:slug>/codes/", recruitment.codes, name="codes"),
    path("studies/<slug:slug>/link.svg", recruitment.link_qr, name="study_link_qr"),
    path("studies/<slug:slug>/preview/", preview.preview, name="preview"),
    path("studies/<slug:slug>/preview/media/<uuid:media_id>/", preview.preview_media, name="preview_media"),
    path("studies/<slug:slug>/log/", log.study_log, name="study_log"),
    path("studies/<slug:slug>/log/export/", log.export_study_log, name="export_study_log"),
    path("studies/<slug:slug>/forget/", retention.forget, name="forget"),
    path("studies/<slug:slug>/words/", written.words, name="words"),
    path("log/", log.whole_log, name="log"),
    path("log/verify/", log.verify_log, name="verify_log"),
    path("log/export/", log.export_log, name="export_log"),
    path("studies/<slug:slug>/people/", people.people, name="people"),
    path("invitations/<str:token>/", people.invitation, name="invitation"),
    path("invitations/<str:token>/account/", people.new_account, name="new_account"),
    path("api/v1/log/", api_log.WholeLog.as_view(), name="api_log"),
    path("api/v1/log/verify/", api_log.Verify.as_view(), name="api_verify_log"),
    path("api/v1/log/export/", api_log.Export.as_view(), name="api_export_log"),
    path("api/v1/studies/<slug:slug>/log/", api_log.StudyLog.as_view(), name="api_study_log"),
    path("api/v1/studies/<slug:slug>/log/export/", api_log.StudyExport.as_view(), name="api_export_study_log"),
    path("api/v1/studies/", studies.Studies.as_view(), name="api_studies"),
    path("api/v1/studies/<slug:slug>/", studies.StudyDetail.as_view(), name="api_study"),
    path("api/v1/studies/<slug:slug>/definition/", definitions.Definition.as_view(), name="api_definition"),
    path("api/v1/studies/<slug:slug>/translations/", definitions.Translations.as_view(), name="api_translations"),
    path("api/v1/studies/<slug:slug>/imports/", definitions.Imports.as_view(), name="api_imports"),
    path("api/v1/studies/<slug:slug>/exports/<slug:program>/", definitions.Export.as_view(), name="api_export"),
    path("api/v1/studies/<slug:slug>/media/", files.MediaFiles.as_view(), name="api_media"),
    path("api/v1/studies/<slug:slug>/codes/", codes.EntryCodes.as_view(), name="api_codes"),
    path("api/v1/studies/<slug:slug>/codes/made/", codes.MadeCodes.as_view(), name="api_make_codes"),
    path("api/v1/studies/<slug:slug>/completion-codes/", codes.CompletionCodes.as_view(), name="api_completion_codes"),
    path("api/v1/studies/<slug:slug>/arms/", arms.Arms.as_view(), name="api_arms"),
    path("api/v1/studies/<slug:slug>/arms/<str:arm>/", arms.Arm.as_view(), name="api_arm"),
    path("api/v1/studies/<slug:slug>/protocol/", reviews.ProtocolPacket.as_view(), name="api_protocol"),
    path("api/v1/studies/<slug:slug>/protocol/changes/", reviews.ProtocolChanges.as_view(), name="api_protocol_changes"),
    path("api/v1/studies/<slug:slug>/preregistration/", registered.Preregistrations.as_view(), name="api_preregistration"),
    path("api/v1/review/privacy-limit/", reviews.PrivacyLimitOfInstallation.as_view(), name="api_privacy_limit"),
    path("api/v1/studies/<slug:slug>/review/", reviews.Review.as_view(), name="api_review"),
    path("api/v1/studies/<slug:slug>/review/comments/", reviews.Comments.as_view(), name="api_comment"),
    path("api/v1/studies/<slug:slug>/review/reviewer/", reviews.Reviewer.as_view(), name="api_assign"),
    path("api/v1/studies/<slug:slug>/review/sign-offs/", reviews.SignOffs.as_view(), name="api_sign"),
    path("api/v1/studies/<slug:slug>/actions/<slug:action>/", studies.StudyAction.as_view(), name="api_action"),
]
