"""The addresses of analysis."""

from django.urls import URLPattern, URLResolver, include, path

from accounts.access import in_own_language
from analysis import methods_page, site_map, views
from analysis.api import files, plans, results
from analysis.data_sets import views as data_sets
from analysis.data_sets.api import (
    DataSetPeople,
    DataSetPerson,
    DataSets,
    DataSetStep,
    InvitationToDataSet,
    OneDataSet,
    WaitingAnalystInvitation,
)
from analysis.diagnosis.api import Diagnoses, StopDiagnosis
from analysis.diagnosis.views import diagnosis
from analysis.evidence import views as evidence
from analysis.inbox.api import Decisions, ReviewQueue
from analysis.inbox.views import decisions, inbox
from analysis.learning import views as learning
from analysis.learning.api import (
    PreviewDataSetDifficulties,
    PreviewDifficulties,
    ReleasedDataSetDifficulties,
    ReleasedDifficulties,
)
from analysis.learning.budget_page import BudgetPage
from analysis.learning.networks.api import Networks, PreviewNetwork
from analysis.learning.networks.views import networks
from analysis.learning.questions.api import DataSetQuestions, PreviewDataSetQuestion, PreviewQuestion, Questions
from analysis.learning.questions.views import questions
from analysis.learning.topics.api import PreviewTopics, TopicTables
from analysis.learning.topics.views import topics
from analysis.ledger.api import DataSetLedger, DataSetTableMadeAgain, FrozenBudget, FrozenDataSetBudget, Ledger, TableMadeAgain
from analysis.ledger.views import ledger
from analysis.preregistration.api import PreregistrationReport
from analysis.preregistration.views import report
from analysis.record_sets import views as record_sets
from analysis.record_sets.api import (
    BringRecords,
    BuildRecordSet,
    ConfirmRecordSet,
    RecordHierarchy,
    RecordRoles,
    RecordSet,
    RecordSetStep,
    StopRecordSet,
)
from analysis.records.api import (
    BuildRecords,
    ConfirmRecords,
    DataSetRecordsOrQuery,
    Records,
    RecordsOrQuery,
    StopRecords,
    StudyRecordHierarchy,
)
from analysis.records.views import records, records_or_query
from analysis.rehearsal.api import Rehearsal, StopRehearsal
from analysis.rehearsal.views import rehearsal

app_name = "analysis"
urlpatterns: list[URLPattern | URLResolver] = [
    path("", include("analysis.planning.urls")),
    path("s/<slug:slug>/feedback/", learning.feedback, name="feedback"),
    path("s/<slug:slug>/outlook/", learning.outlook, name="outlook"),
    path("studies/<slug:slug>/analytics/", learning.analytics, name="analytics"),
    path("studies/<slug:slug>/analytics/networks/", networks, name="analytics_networks"),
    path("studies/<slug:slug>/analytics/difficulties/", learning.difficulties, name="analytics_difficulties"),
    path("studies/<slug:slug>/analytics/difficulties/<int:number>.json", learning.difficulties_file, name="analytics_difficulties_file"),
    path("studies/<slug:slug>/build/budget/", in_own_language(BudgetPage.as_view()), name="build_budget"),
    path("studies/<slug:slug>/analytics/questions/", questions, name="analytics_questions"),
    path("studies/<slug:slug>/analytics/ledger/", ledger, name="analytics_ledger"),
    path("data-sets/", data_sets.data_sets, name="data_sets"),
    path("data-sets/new/", data_sets.bring, name="bring_data"),
    path("data-sets/new/records/", record_sets.bring_records, name="bring_records"),
    path("data-sets/<slug:data_set>/records/", record_sets.data_set_records, name="data_set_records"),
    path("data-sets/<slug:data_set>/records/or-query/", records_or_query, name="data_set_records_or_query"),
    path("data-sets/<slug:data_set>/public/", record_sets.public_records, name="public_records"),
    path("data-sets/<slug:data_set>/public/package.zip", record_sets.public_records_package, name="public_records_package"),
    path("data-set-invitations/<str:token>/", data_sets.invitation, name="data_set_invitation"),
    path("data-set-invitations/<str:token>/account/", data_sets.new_account, name="data_set_account"),
    path("data-sets/<slug:data_set>/", data_sets.data_set, name="data_set"),
    path("data-sets/<slug:data_set>/difficulties/", learning.difficulties, name="data_set_difficulties"),
    path("data-sets/<slug:data_set>/difficulties/<int:number>.json", learning.difficulties_file, name="data_set_difficulties_file"),
    path("data-sets/<slug:data_set>/questions/", questions, name="data_set_questions"),
    path("data-sets/<slug:data_set>/topics/", topics, name="data_set_topics"),
    path("data-sets/<slug:data_set>/ledger/", ledger, name="data_set_ledger"),
    path("robots.txt", site_map.robots, name="robots"),
    path("sitemap.xml", site_map.site_map, name="site_map"),
    path("evidence/", evidence.evidence, name="evidence"),
    path("evidence/evidence.zip", evidence.evidence_package, name="evidence_package"),
    path("methods/", methods_page.methods_page, name="methods_page"),
    path("review/", inbox, name="inbox"),
    path("review/decisions/", decisions, name="decisions"),
    path("review/decisions.csv", decisions, {"kind": "csv"}, name="decisions_table"),
    path("studies/<slug:slug>/rehearsal/", in_own_language(rehearsal), name="rehearsal"),
    path("studies/<slug:slug>/diagnosis/", in_own_language(diagnosis), name="diagnosis"),
    path("studies/<slug:slug>/records/", records, name="records"),
    path("studies/<slug:slug>/records/or-query/", records_or_query, name="records_or_query"),
    path("", include("analysis.releases.urls")),
    path("studies/<slug:slug>/results/", views.results, name="results"),
    path("studies/<slug:slug>/results/preregistration/", in_own_language(report), name="results_preregistration"),
    path("studies/<slug:slug>/results/compute/", views.compute, name="compute"),
    path("studies/<slug:slug>/results/blinding/", in_own_language(views.blinding), name="blinding"),
    path("studies/<slug:slug>/results/figures/<slug:figure>.<slug:kind>", views.figure, name="figure"),
    path("studies/<slug:slug>/results/tables/<slug:table>.csv", views.table, name="table"),
    path("api/v1/review/", ReviewQueue.as_view(), name="api_review_queue"),
    path("api/v1/review/decisions/", Decisions.as_view(), name="api_decisions"),
    path("api/v1/power/", plans.Power.as_view(), name="api_power"),
    path("api/v1/studies/<slug:slug>/rehearsal/", Rehearsal.as_view(), name="api_rehearsal"),
    path("api/v1/studies/<slug:slug>/rehearsal/stop/", StopRehearsal.as_view(), name="api_stop_rehearsal"),
    path("api/v1/studies/<slug:slug>/records/", Records.as_view(), name="api_records"),
    path("api/v1/studies/<slug:slug>/records/hierarchies/", StudyRecordHierarchy.as_view(), name="api_study_hierarchy"),
    path("api/v1/studies/<slug:slug>/records/stop/", StopRecords.as_view(), name="api_stop_records"),
    path("api/v1/studies/<slug:slug>/records/or-query/", RecordsOrQuery.as_view(), name="api_records_or_query"),
    path("api/v1/studies/<slug:slug>/records/confirm/", ConfirmRecords.as_view(), name="api_confirm_records"),
    path("api/v1/studies/<slug:slug>/records/build/", BuildRecords.as_view(), name="api_build_records"),
    path("api/v1/studies/<slug:slug>/diagnosis/", Diagnoses.as_view(), name="api_diagnosis"),
    path("api/v1/studies/<slug:slug>/diagnosis/stop/", StopDiagnosis.as_view(), name="api_stop_diagnosis"),
    path("api/v1/studies/<slug:slug>/analytics/difficulties/", ReleasedDifficulties.as_view(), name="api_analytics_difficulties"),
    path("api/v1/studies/<slug:slug>/analytics/difficulties/preview/", PreviewDifficulties.as_view(), name="api_preview_difficulties"),
    path("api/v1/studies/<slug:slug>/analytics/questions/", Questions.as_view(), name="api_analytics_questions"),
    path("api/v1/studies/<slug:slug>/analytics/questions/preview/", PreviewQuestion.as_view(), name="api_analytics_preview"),
    path("api/v1/studies/<slug:slug>/analytics/ledger/", Ledger.as_view(), name="api_analytics_ledger"),
    path("api/v1/studies/<slug:slug>/analytics/ledger/made-again/", TableMadeAgain.as_view(), name="api_table_made_again"),
    path("api/v1/data-sets/<slug:data_set>/ledger/made-again/", DataSetTableMadeAgain.as_view(), name="api_data_set_table_made_again"),
    path("api/v1/studies/<slug:slug>/analytics/ledger/frozen/", FrozenBudget.as_view(), name="api_analytics_frozen"),
    path("api/v1/studies/<slug:slug>/analytics/networks/", Networks.as_view(), name="api_analytics_networks"),
    path("api/v1/studies/<slug:slug>/analytics/networks/preview/", PreviewNetwork.as_view(), name="api_preview_network"),
    path("api/v1/data-sets/", DataSets.as_view(), name="api_data_sets"),
    path("api/v1/data-sets/new/records/", BringRecords.as_view(), name="api_bring_records"),
    path("api/v1/data-sets/<slug:data_set>/records/", RecordSet.as_view(), name="api_record_set"),
    path("api/v1/data-sets/<slug:data_set>/records/roles/", RecordRoles.as_view(), name="api_record_roles"),
    path("api/v1/data-sets/<slug:data_set>/records/hierarchies/", RecordHierarchy.as_view(), name="api_record_hierarchy"),
    path("api/v1/data-sets/<slug:data_set>/records/stop/", StopRecordSet.as_view(), name="api_stop_record_set"),
    path("api/v1/data-sets/<slug:data_set>/records/confirm/", ConfirmRecordSet.as_view(), name="api_confirm_record_set"),
    path("api/v1/data-sets/<slug:data_set>/records/build/", BuildRecordSet.as_view(), name="api_build_record_set"),
    path("api/v1/data-sets/<slug:data_set>/records/actions/<slug:action>/", RecordSetStep.as_view(), name="api_record_set_step"),
    path("api/v1/data-sets/<slug:data_set>/records/or-query/", DataSetRecordsOrQuery.as_view(), name="api_record_set_or_query"),
    path("api/v1/data-sets/<slug:data_set>/actions/<slug:action>/", DataSetStep.as_view(), name="api_data_set_step"),
    path("api/v1/data-sets/<slug:data_set>/people/", DataSetPeople.as_view(), name="api_data_set_people"),
    path("api/v1/data-sets/<slug:data_set>/people/<str:username>/", DataSetPerson.as_view(), name="api_data_set_person"),
    path(
        "api/v1/data-sets/<slug:data_set>/invitations/<int:number>/",
        WaitingAnalystInvitation.as_view(),
        name="api_waiting_analyst_invitation",
    ),
    path("api/v1/data-set-invitations/<str:token>/", InvitationToDataSet.as_view(), name="api_data_set_invitation"),
    path("api/v1/data-sets/<slug:data_set>/", OneDataSet.as_view(), name="api_data_set"),
    path("api/v1/data-sets/<slug:data_set>/questions/", DataSetQuestions.as_view(), name="api_data_set_questions"),
    path("api/v1/data-sets/<slug:data_set>/questions/preview/", PreviewDataSetQuestion.as_view(), name="api_data_set_preview"),
    path("api/v1/data-sets/<slug:data_set>/difficulties/", ReleasedDataSetDifficulties.as_view(), name="api_data_set_difficulties"),
    path(
        "api/v1/data-sets/<slug:data_set>/difficulties/preview/",
        PreviewDataSetDifficulties.as_view(),
        name="api_data_set_preview_difficulties",
    ),
    path("api/v1/data-sets/<slug:data_set>/topics/", TopicTables.as_view(), name="api_data_set_topics"),
    path("api/v1/data-sets/<slug:data_set>/topics/preview/", PreviewTopics.as_view(), name="api_data_set_preview_topics"),
    path("api/v1/data-sets/<slug:data_set>/ledger/", DataSetLedger.as_view(), name="api_data_set_ledger"),
    path("api/v1/data-sets/<slug:data_set>/ledger/frozen/", FrozenDataSetBudget.as_view(), name="api_data_set_frozen"),
    path("api/v1/studies/<slug:slug>/counts/", results.StudyCounts.as_view(), name="api_counts"),
    path("api/v1/studies/<slug:slug>/results/", results.Results.as_view(), name="api_results"),
    path("api/v1/studies/<slug:slug>/results/preregistration/", PreregistrationReport.as_view(), name="api_preregistration_report"),
    path("api/v1/studies/<slug:slug>/runs/", results.Runs.as_view(), name="api_runs"),
    path("api/v1/studies/<slug:slug>/runs/cancel/", results.CancelRun.as_view(), name="api_cancel_run"),
    path("api/v1/studies/<slug:slug>/blinding/", results.BlindingState.as_view(), name="api_blinding"),
    path("api/v1/studies/<slug:slug>/files/", files.Files.as_view(), name="api_files"),
    path("api/v1/studies/<slug:slug>/figures/<slug:figure>.<slug:kind>", files.Figure.as_view(), name="api_figure"),
    path("api/v1/studies/<slug:slug>/tables/<slug:table>.csv", files.Table.as_view(), name="api_table"),
]
