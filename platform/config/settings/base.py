"""Settings of every installation; development, production and test change only what must differ."""

import gc
import os
import sys
from importlib.util import find_spec
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured
from django.utils.translation import gettext_lazy as _
from kombu import Queue as TaskQueue

from config.log_privacy import HOUR_FORMAT
from jobs.queues import Queue, queues_in

from . import media, single_sign_on
from .redis_address import RedisAddress

# Python looks for garbage after every 700 new objects; at the start, when all of them stay, that takes a tenth of the time. The last
# application, `config.starting`, lets it look again.
gc.disable()
gc.set_threshold(20_000, 10, 10)

# Web processes and workers are as many as processors, and their matrices are small: OpenBLAS's own threads would only wait for each other.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

BASE_DIR = Path(__file__).resolve().parents[3]
SHORTEST_TOKEN = 20
VAR_DIR = Path(os.environ.get("CANDOR_VAR") or BASE_DIR / "var")

INSTALLED_APPS = [
    "config",
    "accounts",
    "audit",
    "jobs",
    "surveys",
    "webhooks",
    "lti",
    "analysis",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.sitemaps",
    "django.contrib.staticfiles",
    "rest_framework",
    "drf_spectacular",
    "allauth",
    "accounts.login.app.LoginConfig",
    "allauth.mfa",
    *single_sign_on.INSTALLED,
    "config.starting.apps.StartingConfig",  # the last one
]

MIDDLEWARE = [
    "config.health.HealthMiddleware",
    "config.metrics.middleware.MetricsMiddleware",
    "config.traces.middleware.TracesMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "config.content_security.ContentSecurityPolicyMiddleware",
    "config.body_sizes.BodySizeMiddleware",
    "accounts.login.middleware.StaffSessions",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "accounts.login.middleware.StaffUsers",
    "accounts.login.middleware.StaffMessages",
    "accounts.login.middleware.StaffMiddleware",
    "config.idempotency.middleware.IdempotencyMiddleware",
    "config.api_schema.ConditionalApiMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "config.error_responses.ExpectedErrorMiddleware",
]

ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.wsgi.application"
AUTH_USER_MODEL = "accounts.User"
AUTHENTICATION_BACKENDS = ["accounts.login.backends.SlowedBackend"]
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "first_page"
LOGOUT_REDIRECT_URL = "home"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

TEMPLATES: list[dict[str, object]] = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
            "builtins": ["surveys.templatetags.written_numbers"],
        },
    }
]

LANGUAGE_CODE = "en"
LANGUAGES = [("en", _("English")), ("de", _("German"))]
# Further languages of participants' pages, put there by `manage.py check_language --install`.
LANGUAGES_FOLDER = Path(os.environ.get("LANGUAGES_FOLDER", VAR_DIR / "languages"))
LANGUAGES_BIDI = ["ar", "ckb", "dv", "fa", "he", "ps", "sd", "syr", "ug", "ur", "yi"]  # a file may bring any of them
LOCALE_PATHS = [BASE_DIR / "templates" / "locale", LANGUAGES_FOLDER]
USE_I18N = True
USE_TZ = True
TIME_ZONE = "UTC"

STATIC_URL = "/static/"
STATICFILES_DIRS = [BASE_DIR / "platform" / "static"]
# Without a mail server nothing is sent: links are shown to be copied, and administrators set new passwords.
EMAIL_IS_CONFIGURED = bool(os.environ.get("EMAIL_HOST"))
EMAIL_BACKEND = f"django.core.mail.backends.{'smtp' if EMAIL_IS_CONFIGURED else 'dummy'}.EmailBackend"
EMAIL_HOST = os.environ.get("EMAIL_HOST", "")
EMAIL_PORT = int(os.environ.get("EMAIL_PORT", "587"))
EMAIL_HOST_USER = os.environ.get("EMAIL_USER", "")
EMAIL_HOST_PASSWORD = os.environ.get("EMAIL_PASSWORD", "")
EMAIL_USE_TLS = os.environ.get("EMAIL_TLS", "1") == "1"
EMAIL_TIMEOUT = 10
# For links in e-mails that no request asks for. Empty: the e-mails hold paths only.
SITE_URL = os.environ.get("SITE_URL", "").rstrip("/")
DEFAULT_FROM_EMAIL = os.environ.get("EMAIL_FROM", EMAIL_HOST_USER)

# A service that gives DOIs to public data: zenodo, dataverse or osf. The token stands in no table, and in no log.
DOI_SERVICE = os.environ.get("DOI_SERVICE", "")
DOI_ADDRESS = os.environ.get("DOI_ADDRESS", "")
DOI_TOKEN = os.environ.get("DOI_TOKEN", "")
DOI_COLLECTION = os.environ.get("DOI_COLLECTION", "")
DOI_SUBJECT = os.environ.get("DOI_SUBJECT", "") or "Social Sciences"
DOI_PREFIX = os.environ.get("DOI_PREFIX", "") or "10.17605"

# Whether `manage.py demo` may make accounts with a password that it prints.
DEMONSTRATIONS = False
# Whether webhooks may go to this computer and its network: for development only, where the people who run studies own the server.
WEBHOOKS_MAY_STAY_PRIVATE = False
# Where the web server in front (nginx) finds MEDIA_ROOT; empty: the application sends the bytes itself.
MEDIA_ACCEL_PREFIX = ""
# The object store that has uploaded files, or none: then they lie in MEDIA_ROOT, as withdrawals and copies always do.
MEDIA_BUCKET, MEDIA_KEYS = media.BUCKET, media.KEYS
STORAGES = {"default": media.STORAGE, "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}}

PASSWORD_HASHERS = [
    "django.contrib.auth.hashers.PBKDF2PasswordHasher",
]
AUTH_PASSWORD_VALIDATORS: list[dict[str, object]] = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in ("UserAttributeSimilarityValidator", "CommonPasswordValidator", "NumericPasswordValidator")
]
AUTH_PASSWORD_VALIDATORS += [
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 12}},
    {"NAME": "accounts.passwords.KnownWordsValidator"},
]
REQUIRE_MFA = os.environ.get("REQUIRE_MFA", "0") == "1"
ACCOUNT_ADAPTER = "accounts.login.adapters.AccountAdapter"
ACCOUNT_LOGIN_METHODS = {"username"}
ACCOUNT_SIGNUP_FIELDS = ["username*", "password1*", "password2*"]
ACCOUNT_PRESERVE_USERNAME_CASING = True
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_EMAIL_UNKNOWN_ACCOUNTS = False
ACCOUNT_SESSION_REMEMBER = True
ACCOUNT_CHANGE_EMAIL = False
ACCOUNT_UNIQUE_EMAIL = False
# By account, never by address. Wrong passwords are counted by `accounts.login.backends`, wrong codes here as failed logins.
ACCOUNT_RATE_LIMITS = {
    "login": None,
    "login_failed": "20/15m/key",
    "reset_password": "5/15m/key",
    "reset_password_from_key": None,
    "signup": None,
    "request_login_code": None,
    "verify_phone": None,
}
MFA_ADAPTER = "accounts.login.adapters.SecondFactorAdapter"
ACCOUNT_FORMS = {
    "reset_password": "accounts.login.forms.ForgottenPasswordForm",
    "change_password": "accounts.login.forms.OtherPasswordForm",
}
MFA_FORMS = {"authenticate": "accounts.login.forms.CodeForm", "reauthenticate": "accounts.login.forms.CodeAgainForm"}
MFA_SUPPORTED_TYPES = ["totp", "recovery_codes"]
MFA_ALLOW_UNVERIFIED_EMAIL = True
MFA_TOTP_ISSUER = "Candor"
MFA_TOTP_TOLERANCE = 1
MFA_RATE_LIMITS = {"webauthn_login": None}
SOCIALACCOUNT_LOGIN_ON_GET = True  # a form that leads to another site would need a hole in the content security policy
SOCIALACCOUNT_ADAPTER = "accounts.login.single_sign_on.SingleSignOnAdapter"
SOCIALACCOUNT_PROVIDERS = single_sign_on.PROVIDERS
SESSION_COOKIE_AGE = 12 * 60 * 60
CSRF_COOKIE_HTTPONLY = True  # scripts send the forms' own fields
SECURE_REFERRER_POLICY = "same-origin"  # `no-referrer` would break CSRF
X_FRAME_OPTIONS = "DENY"
# Days after which a back-up is destroyed: withdrawals are remembered for so long, to be repeated after a restore.
BACKUP_DAYS = int(os.environ.get("BACKUP_DAYS", "30"))
# PostgreSQL plans a statement once for each connection and not for each request: a quarter less of its processor time in a journey.
PREPARED_STATEMENTS = {"server_side_binding": True, "prepare_threshold": 1} if os.environ.get("PREPARED_STATEMENTS", "1") == "1" else {}
# Whether a pool (PgBouncer) gives each transaction another connection: then nothing may be set for longer than a transaction.
DATABASE_POOLED = os.environ.get("DATABASE_POOLED", "0") == "1"
SECOND_READER = os.environ.get("SECOND_READER", "0") == "1"
LARGEST_EPSILON = float(os.environ.get("LARGEST_EPSILON", "12"))
"""No study is launched whose answers lose more privacy than this, all questions together."""
# Secret for the release signing key; defaults to SECRET_KEY. Before rotating SECRET_KEY, set this to its old value.
RELEASE_SIGNING_SECRET = os.environ.get("RELEASE_SIGNING_SECRET", "")
# Redis, where `manage.py push` hears of new results. None: open pages ask for themselves every few seconds.
PUSH: RedisAddress | None = None
# The secret with which a monitoring program reads /metrics. Empty: there is no such page, and nothing is counted for it.
METRICS_TOKEN = os.environ.get("METRICS_TOKEN", "")
if METRICS_TOKEN and len(METRICS_TOKEN) < SHORTEST_TOKEN:
    raise ImproperlyConfigured(f"Expected a METRICS_TOKEN of at least {SHORTEST_TOKEN} characters, found {len(METRICS_TOKEN)}.")
METRICS_PROCESSES = False
"""Whether several web processes add their numbers up."""
# Whether staff's requests and some work are traced. Nothing that follows a participant ever is (config.traces.safe).
TRACES = os.environ.get("TRACES", "0") == "1"
if TRACES:
    if find_spec("opentelemetry") is None:
        raise ImproperlyConfigured("TRACES=1 needs OpenTelemetry: expected requirements/complete.txt to be installed.")
    if not os.environ.get("OTEL_EXPORTER_OTLP_ENDPOINT"):
        raise ImproperlyConfigured("TRACES=1: expected an address such as http://collector:4318 in OTEL_EXPORTER_OTLP_ENDPOINT.")
    os.environ["OTEL_SERVICE_NAME"] = os.environ.get("OTEL_SERVICE_NAME") or "candor"
CSRF_FAILURE_VIEW = "config.error_responses.csrf_failure"

REST_FRAMEWORK = {
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "accounts.tokens.api_access.ApiTokenAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": [
        "rest_framework.permissions.IsAuthenticated",
        "accounts.tokens.api_access.HasRole",
        "accounts.tokens.api_access.HasScope",
    ],
    "DEFAULT_PARSER_CLASSES": ["surveys.request_bodies.BoundedJson"],
    "DEFAULT_PAGINATION_CLASS": "rest_framework.pagination.PageNumberPagination",
    "PAGE_SIZE": 50,
    # By account, never by address: requests without an account are refused before anything is counted.
    "DEFAULT_THROTTLE_CLASSES": ["rest_framework.throttling.UserRateThrottle", "rest_framework.throttling.ScopedRateThrottle"],
    "DEFAULT_THROTTLE_RATES": {"user": "600/min", "planning": "60/min"},
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "EXCEPTION_HANDLER": "config.error_responses.api_error",
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Candor",
    "VERSION": "1",
    "DESCRIPTION": "Studies, how many people are where, results and plans. Errors are RFC 9457 problem documents.",
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "OAS_VERSION": "3.1.1",
    "SERVE_INCLUDE_SCHEMA": False,
    "ENUM_NAME_OVERRIDES": {
        "AccountRole": "accounts.models.Role",
        "MemberRole": "surveys.models.MemberRole",
        "StudyStatus": "surveys.models.StudyStatus",
        "RunStatus": "analysis.models.RunStatus",
        "SweepStatus": "analysis.models.SweepStatus",
        "ReleaseStatus": "analysis.models.ReleaseStatus",
        "CrowdStatus": "surveys.models.BotRunStatus",
        "PackageStatus": "analysis.models.PackageStatus",
        "DataSetStatus": "analysis.models.DataSetStatus",
        "WebhookEvent": "webhooks.models.Event",
    },
    "POSTPROCESSING_HOOKS": ["drf_spectacular.hooks.postprocess_schema_enums", "config.api_schema.with_problems"],
}

# The longest form has a role for each of 240 columns of 20 files.
DATA_UPLOAD_MAX_NUMBER_FIELDS = 5_000
FILE_UPLOAD_HANDLERS = [
    "django.core.files.uploadhandler.MemoryFileUploadHandler",
    "config.uploads.NamelessFileUploadHandler",
    "django.core.files.uploadhandler.TemporaryFileUploadHandler",
]

# The queues that a worker of this environment takes; the others are for other workers.
WORKER_QUEUES = queues_in(os.environ.get("CANDOR_QUEUES", ""))
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_TASK_IGNORE_RESULT = True
CELERY_DB_REUSE_MAX = sys.maxsize  # Celery closes no connection after a task: `config.celery` sees to them
CELERY_TASK_SERIALIZER = "json"
CELERY_TASK_QUEUES = [TaskQueue(name, routing_key=name) for name in Queue]
CELERY_TASK_DEFAULT_QUEUE = Queue.FIRST
CELERY_TIMEZONE = "UTC"
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_BEAT_SCHEDULER = "config.heartbeat.Scheduler"
CELERY_BEAT_SCHEDULE = {"sweep": {"task": "jobs.tasks.sweep", "schedule": 15.0}}

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "filters": {"private": {"()": "config.log_privacy.RouteInsteadOfPath"}},
    "formatters": {"hourly": {"format": "{asctime} {levelname} {name}: {message}", "datefmt": HOUR_FORMAT, "style": "{"}},
    "handlers": {"console": {"class": "logging.StreamHandler", "filters": ["private"], "formatter": "hourly"}},
    "root": {"handlers": ["console"], "level": "INFO"},
    # Without Django's own handlers, which would mail whole requests to ADMINS.
    "loggers": {
        "django": {"handlers": [], "propagate": True},
        "waitress.queue": {"level": "ERROR"},
        # "Task … received" follows each finished participant within a second, and whatever collects these lines stamps them.
        "celery": {"level": "WARNING"},
        "httpx": {"level": "WARNING"},
        # Below this level they name keys, addresses and signatures.
        **{name: {"level": "WARNING"} for name in ("boto3", "botocore", "s3transfer", "urllib3")},
    },
}
