"""The addresses of surveys."""

from django.urls import URLPattern, URLResolver, path

from accounts.access import in_own_language
from surveys.allocation import api as arms
from surveys.allocation import views as allocation
from surveys.builder.about import About, Languages, ListOfSentences, Publishing, WaysIn
from surveys.builder.allocation import AllocationPage
from surveys.builder.api import definitions, drafts
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
from surveys.entrances import api as entrances_api
from surveys.entrances import views as entrances
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
from surveys.retention import api as forgetting
from surveys.retention import views as retention
from surveys.review import api as reviews
from surveys.review import views as irb
from surveys.sharing import api as team
from surveys.sharing import views as people
from surveys.studies import api as studies
from surveys.studies import views as investigator
from surveys.words import api as texts
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
    path("join/", entrances.join, name="join"),
    path("open-studies/", about.open_studies, name="open_studies"),
    path("two-worlds/", about.two_worlds, name="two_worlds"),
    path("privacy/", about.privacy_for_strangers, name="privacy_for_strangers"),
    path("data/log-heads.json", about.log_heads, name="log_heads"),
    path("studies/", in_own_language(investigator.studies), name="studies"),
    path("studies/<slug:slug>/", in_own_language(investigator.study), name="study"),
    path("studies/<slug:slug>/build/", in_own_language(Overview.as_view()), name="build"),
    path("studies/<slug:slug>/build/company/", in_own_language(Company.as_view()), name="build_company"),
    path("studies/<slug:slug>/build/history/", in_own_language(History.as_view()), name="build_history"),
    path("studies/<slug:slug>/build/about/", in_own_language(About.as_view()), name="build_about"),
    path("studies/<slug:slug>/build/languages/", in_own_language(Languages.as_view()), name="build_languages"),
    path("studies/<slug:slug>/build/ways/", in_own_language(WaysIn.as_view()), name="build_ways"),
    path("studies/<slug:slug>/build/languages/words.po", ListOfSentences.as_view(), name="build_words"),
    path("studies/<slug:slug>/build/consent/", in_own_language(Consent.as_view()), name="build_consent"),
    path("studies/<slug:slug>/build/allocation/", in_own_language(AllocationPage.as_view()), name="build_allocation"),
    path("studies/<slug:slug>/build/subgroups/", in_own_language(Subgroups.as_view()), name="build_subgroups"),
    path("studies/<slug:slug>/build/direct-questions/", in_own_language(DirectQuestions.as_view()), name="build_direct"),
    path("studies/<slug:slug>/build/arms/", in_own_language(Arms.as_view()), name="build_arms"),
    path("studies/<slug:slug>/build/arms/<slug:arm>/", in_own_language(ArmPage.as_view()), name="build_arm"),
    path("studies/<slug:slug>/build/arms/<slug:arm>/<slug:page>/", in_own_language(PageOfArm.as_view()), name="build_arm_page"),
    path("studies/<slug:slug>/build/background/", in_own_language(ListPage.as_view(part="background")), name="build_background"),
    path("studies/<slug:slug>/build/background/import/", in_own_language(ImportPage.as_view()), name="build_import"),
    path("studies/<slug:slug>/build/background/export/<slug:program>/", in_own_language(ExportPage.as_view()), name="build_export"),
    path("studies/<slug:slug>/build/background/export/<slug:program>/file/", ExportFile.as_view(), name="build_export_file"),
    path("studies/<slug:slug>/build/quiz/", in_own_language(ListPage.as_view(part="quiz")), name="build_quiz"),
    path("studies/<slug:slug>/build/questions/", in_own_language(ListPage.as_view(part="questions")), name="build_questions"),
    path("studies/<slug:slug>/build/<slug:part>/add/", in_own_language(ItemPage.as_view()), name="build_add"),
    path("studies/<slug:slug>/build/<slug:part>/paste/", in_own_language(PastePage.as_view()), name="build_paste"),
    path("studies/<slug:slug>/build/<slug:part>/edit/<slug:name>/", in_own_language(ItemPage.as_view()), name="build_item"),
    path("studies/<slug:slug>/build/debrief/", in_own_language(Debrief.as_view()), name="build_debrief"),
    path("studies/<slug:slug>/build/tests/", in_own_language(PlannedTestsPage.as_view()), name="build_tests"),
    path("studies/<slug:slug>/build/plans/", in_own_language(Plans.as_view()), name="build_plans"),
    path("studies/<slug:slug>/build/publication/", in_own_language(Publishing.as_view()), name="build_publication"),
    path("studies/<slug:slug>/build/file/", in_own_language(StudyFile.as_view()), name="build_file"),
    path("studies/<slug:slug>/build/file/archive/", Archive.as_view(), name="build_archive"),
    path("studies/<slug:slug>/duplicate/", in_own_language(duplicate), name="duplicate_study"),
    path("new-study/", in_own_language(new_study), name="new_study"),
    path("import-study/", in_own_language(import_page), name="import_study"),
    path("studies/<slug:slug>/actions/<slug:action>/", in_own_language(investigator.action), name="action"),
    path("studies/<slug:slug>/protocol/", in_own_language(irb.protocol), name="protocol"),
    path("studies/<slug:slug>/protocol/<int:version>/", in_own_language(irb.protocol), name="protocol_version"),
    path("studies/<slug:slug>/protocol/<int:version>/changes/", in_own_language(irb.changes), name="protocol_changes"),
    path("studies/<slug:slug>/preregistration/", in_own_language(plans.preregistration), name="protocol_preregistration"),
    path(
        "studies/<slug:slug>/preregistration/<int:version>/",
        in_own_language(plans.preregistration),
        name="protocol_preregistration_version",
    ),
    path(
        "studies/<slug:slug>/preregistration/<int:version>.<slug:file_kind>",
        plans.preregistration_file,
        name="protocol_preregistration_file",
    ),
    path("studies/<slug:slug>/review/", irb.review, name="review"),
    path("studies/<slug:slug>/review/comments/", in_own_language(irb.comment), name="comment"),
    path("studies/<slug:slug>/review/reviewer/", irb.assign, name="assign"),
    path("studies/<slug:slug>/protocol/<int:version>/sign-offs/", in_own_language(irb.sign), name="sign"),
    path("review/privacy-limit/", irb.privacy_limit, name="privacy_limit"),
    path("studies/<slug:slug>/arms/", in_own_language(allocation.arms), name="arms"),
    path("studies/<slug:slug>/codes/", in_own_language(recruitment.codes), name="codes"),
    path("studies/<slug:slug>/ways-in/", entrances.ways_in, name="ways_in"),
    path("studies/<slug:slug>/poster/", entrances.poster, name="poster"),
    path("studies/<slug:slug>/letters/", entrances.letters, name="letters"),
    path("studies/<slug:slug>/link.svg", recruitment.link_qr, name="study_link_qr"),
    path("studies/<slug:slug>/preview/", in_own_language(preview.preview), name="preview"),
    path("studies/<slug:slug>/preview/media/<uuid:media_id>/", preview.preview_media, name="preview_media"),
    path("studies/<slug:slug>/log/", log.study_log, name="study_log"),
    path("studies/<slug:slug>/log/export/", log.export_study_log, name="export_study_log"),
    path("studies/<slug:slug>/forget/", in_own_language(retention.forget), name="forget"),
    path("studies/<slug:slug>/words/", in_own_language(written.words), name="words"),
    path("log/", log.whole_log, name="log"),
    path("log/verify/", log.verify_log, name="verify_log"),
    path("log/export/", log.export_log, name="export_log"),
    path("studies/<slug:slug>/people/", in_own_language(people.people), name="people"),
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
    path("api/v1/new-study/", studies.Beginnings.as_view(), name="api_new_study"),
    path("api/v1/import-study/", studies.ImportStudy.as_view(), name="api_import_study"),
    path("api/v1/invitations/<str:token>/", team.InvitationToStudy.as_view(), name="api_invitation"),
    path("api/v1/studies/<slug:slug>/archive/", studies.StudyArchive.as_view(), name="api_archive"),
    path("api/v1/studies/<slug:slug>/duplicate/", studies.Duplicate.as_view(), name="api_duplicate"),
    path("api/v1/studies/<slug:slug>/new-version/", drafts.NewVersion.as_view(), name="api_new_version"),
    path("api/v1/studies/<slug:slug>/history/", drafts.History.as_view(), name="api_history"),
    path("api/v1/studies/<slug:slug>/history/taken-back/", drafts.TakeBackChange.as_view(), name="api_take_back_change"),
    path("api/v1/studies/<slug:slug>/history/restored/", drafts.RestoreVersion.as_view(), name="api_restore_version"),
    path("api/v1/studies/<slug:slug>/people/", team.People.as_view(), name="api_people"),
    path("api/v1/studies/<slug:slug>/people/<str:username>/", team.Person.as_view(), name="api_person"),
    path("api/v1/studies/<slug:slug>/owner/", team.Owner.as_view(), name="api_owner"),
    path("api/v1/studies/<slug:slug>/invitations/<int:number>/", team.WaitingInvitation.as_view(), name="api_waiting_invitation"),
    path("api/v1/studies/<slug:slug>/retention/", forgetting.Retention.as_view(), name="api_retention"),
    path("api/v1/studies/<slug:slug>/words/", texts.WrittenWords.as_view(), name="api_words"),
    path("api/v1/studies/<slug:slug>/translations/", definitions.Translations.as_view(), name="api_translations"),
    path("api/v1/studies/<slug:slug>/imports/", definitions.Imports.as_view(), name="api_imports"),
    path("api/v1/studies/<slug:slug>/exports/<slug:program>/", definitions.Export.as_view(), name="api_export"),
    path("api/v1/studies/<slug:slug>/media/", files.MediaFiles.as_view(), name="api_media"),
    path("api/v1/studies/<slug:slug>/codes/", codes.EntryCodes.as_view(), name="api_codes"),
    path("api/v1/studies/<slug:slug>/codes/made/", codes.MadeCodes.as_view(), name="api_make_codes"),
    path("api/v1/studies/<slug:slug>/ways-in/", entrances_api.WaysIn.as_view(), name="api_ways_in"),
    path("api/v1/studies/<slug:slug>/ways-in/join-codes/", entrances_api.JoinCodes.as_view(), name="api_join_codes"),
    path("api/v1/studies/<slug:slug>/completion-codes/", codes.CompletionCodes.as_view(), name="api_completion_codes"),
    path("api/v1/studies/<slug:slug>/arms/", arms.Arms.as_view(), name="api_arms"),
    path("api/v1/studies/<slug:slug>/arms/<str:arm>/files/", drafts.ArmFiles.as_view(), name="api_arm_files"),
    path("api/v1/studies/<slug:slug>/arms/<str:arm>/files/<str:name>/", drafts.ArmFile.as_view(), name="api_arm_file"),
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
