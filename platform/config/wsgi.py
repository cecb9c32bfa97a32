"""The WSGI application for production servers."""

import os

from django.core.wsgi import get_wsgi_application

from config.outages.waits import bound_waits

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings.production")

bound_waits()
application = get_wsgi_application()
