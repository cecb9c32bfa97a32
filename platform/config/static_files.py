"""Static files whose names hold a hash of what is in them, also where a script imports another: browsers keep them for ever."""

from whitenoise.storage import CompressedManifestStaticFilesStorage  # type: ignore[import-untyped]


class HashedStaticFiles(CompressedManifestStaticFilesStorage):  # type: ignore[misc]  # untyped
    support_js_module_import_aggregation = True
