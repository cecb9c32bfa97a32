# One image for web, worker and beat. Two stages: what installs stays behind, what runs is small and nobody's root.

FROM python:3.13.7-slim AS build
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1 PIP_ROOT_USER_ACTION=ignore
RUN python -m venv /opt/candor
# All that production.txt has, the client of an object store, and OpenTelemetry.
COPY requirements/complete.txt /tmp/requirements.txt
RUN /opt/candor/bin/pip install --no-deps --only-binary :all: --require-hashes -r /tmp/requirements.txt
WORKDIR /srv/candor
COPY . .
# Editable: the code stays in /srv/candor, beside its templates; this puts it on the path and adds the `candor` command.
RUN /opt/candor/bin/pip install --no-deps --no-build-isolation --editable .
# What the application never writes to: collected, compressed, named by content. The values stand in for the real ones, which come at start.
RUN SECRET_KEY=build DATABASE_URL=sqlite:///:memory: REDIS_URL=redis://build ALLOWED_HOSTS=build MEDIA_ROOT=/tmp CANDOR_VAR=/var/lib/candor \
    DJANGO_SETTINGS_MODULE=config.settings.production /opt/candor/bin/python manage.py collectstatic --noinput
# The user of the image cannot write, and each process would compile every module again: a third of a second.
RUN /opt/candor/bin/python -m compileall -q --invalidation-mode unchecked-hash candor platform surveys webhooks lti analysis

FROM python:3.13.7-slim
RUN useradd --system --uid 10001 --home-dir /nonexistent --shell /usr/sbin/nologin candor \
    && install --directory --owner candor --group candor /var/lib/candor/media /var/lib/candor/media/.incoming /var/lib/candor/languages
COPY --from=build /opt/candor /opt/candor
COPY --from=build /srv/candor /srv/candor
COPY --from=build /var/lib/candor/static /var/lib/candor/static
ENV PATH=/opt/candor/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    DJANGO_SETTINGS_MODULE=config.settings.production \
    CANDOR_VAR=/var/lib/candor \
    MEDIA_ROOT=/var/lib/candor/media \
    LANGUAGES_FOLDER=/var/lib/candor/languages \
    PROMETHEUS_MULTIPROC_DIR=/tmp/metrics \
    TMPDIR=/var/lib/candor/media/.incoming
# An upload arrives on the disk where it will stay, not in memory, and is then only renamed.
WORKDIR /srv/candor
USER candor
VOLUME /var/lib/candor/media /var/lib/candor/languages
EXPOSE 8000
HEALTHCHECK --interval=15s --timeout=5s --start-period=40s \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/healthz', timeout=4)"]
# Two processes of eight threads each: a request waits for the database far more than it computes.
CMD ["granian", "--interface", "wsgi", "--host", "0.0.0.0", "--port", "8000", "--workers", "2", "--blocking-threads", "8", \
     "--respawn-failed-workers", "--no-access-log", "config.wsgi:application"]
