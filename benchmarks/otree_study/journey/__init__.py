"""The demonstration study's seven forms, as plain as oTree can show them: no script, no checks beyond oTree's own."""

from otree.api import BaseConstants, BaseGroup, BasePlayer, BaseSubsession, Page, models


class C(BaseConstants):
    NAME_IN_URL = "journey"
    PLAYERS_PER_GROUP = None
    NUM_ROUNDS = 1


class Subsession(BaseSubsession):
    pass


class Group(BaseGroup):
    pass


class Player(BasePlayer):
    language = models.StringField()
    consent = models.StringField()
    gender = models.StringField()
    year = models.IntegerField()
    devices = models.StringField()
    course = models.StringField()
    grade = models.IntegerField()
    watched = models.StringField()
    groups = models.StringField()
    control = models.StringField()
    situation_1 = models.StringField()
    check_1 = models.StringField()
    attention = models.IntegerField()
    retention = models.IntegerField()
    judgement = models.IntegerField()
    comprehension = models.IntegerField()


class Welcome(Page):
    form_model, form_fields = "player", ("language",)


class Consent(Page):
    form_model, form_fields = "player", ("consent",)


class Background(Page):
    form_model, form_fields = "player", ("gender", "year", "devices", "course", "grade")


class Video(Page):
    form_model, form_fields = "player", ("watched",)


class Quiz(Page):
    form_model, form_fields = "player", ("groups", "control")


class Die(Page):
    form_model, form_fields = "player", ("situation_1", "check_1")


class Questions(Page):
    form_model, form_fields = "player", ("attention", "retention", "judgement", "comprehension")


class Finished(Page):
    pass


page_sequence = [Welcome, Consent, Background, Video, Quiz, Die, Questions, Finished]
