"""The WSGI application for production servers."""

import os

from django.core.wsgi import get_wsgi_application
from django.urls import get_resolver

from config.outages.waits import bound_waits
from config.starting.apps import end_of_start

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings.production")

bound_waits()
application = get_wsgi_application()
get_resolver()._populate()  # every page is loaded before the first person asks for one
end_of_start()
