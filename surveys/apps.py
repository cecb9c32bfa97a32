"""The surveys app."""

import logging

from django.apps import AppConfig
from django.conf import settings

from surveys.languages.offered import offer_from, participants_words

logger = logging.getLogger(__name__)


class SurveysConfig(AppConfig):
    name = "surveys"

    def ready(self) -> None:
        from surveys import tasks as tasks  # registers what workers do

        for problem in offer_from(settings.LANGUAGES_FOLDER, participants_words()):
            logger.warning("A language is not offered: %s", problem)
