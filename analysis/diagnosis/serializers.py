"""Diagnoses as the API shows them, and what it is told to expect: proportions, not percentages, within the limits of the page."""

from rest_framework import serializers

from analysis.diagnosis.services import FEWEST_STUDIES, MOST_PEOPLE, MOST_STUDIES, Asked
from analysis.models import DiagnosisStatus
from analysis.serializers import NumberField, WholeField
from surveys.definition import StudyDefinition
from surveys.questions.sections import INTRACLASS_CORRELATION

# In the words of the methods; the module with them loads SciPy, which web processes can do without.
CHEATING = ("none", "always_no", "random", "opposite", "refuse_forced_yes", "truthful", "arm_dependent")
LEAVING = ("none", "anybody", "treated", "treated_yes")


class AskedSerializer(serializers.Serializer[object]):
    people = WholeField(low=1, high=MOST_PEOPLE, required=False, help_text="Default: as many as are planned with the die.")
    prevalence = NumberField(
        low=0, high=1, default=0.4, help_text="Share of honest ones who truly say yes; with several arms, in the control arm."
    )
    effect = NumberField(
        low=-1, high=1, default=0.2, help_text="How much larger it is in every other arm; left out of account in a survey."
    )
    cheaters = NumberField(low=0, high=0.95, default=0.1, help_text="Share who do not follow the die, where anybody cheats.")
    dropout = NumberField(low=0, high=0.9, default=0.1, help_text="Share who leave, of those who may leave.")
    alike = NumberField(
        low=0,
        high=1,
        default=INTRACLASS_CORRELATION,
        help_text="Correlation of the true answers of two people of a section; left out of account where people are assigned one by one.",
    )
    studies = WholeField(low=FEWEST_STUDIES, high=MOST_STUDIES, default=4000, help_text="Simulated studies for each setting.")
    answer = serializers.CharField(
        required=False,
        allow_blank=True,
        max_length=110,
        help_text="Such as `copying/often`: that answer stands for yes, every other one for no. Empty: the yes/no questions.",
    )

    def asked(self, definition: StudyDefinition) -> Asked:
        """A survey, which compares nothing, has no effect."""
        given = self.validated_data
        return Asked(
            people=given.get("people", definition.planned_with_die),
            prevalence=given["prevalence"],
            effect=0.0 if definition.is_survey else given["effect"],
            cheater_proportion=given["cheaters"],
            drop_out=given["dropout"],
            studies=given["studies"],
            intraclass_correlation=given["alike"] if definition.in_sections else 0.0,
            answer=given.get("answer"),
        )


class SimulatedNumberSerializer(serializers.Serializer[object]):
    value = serializers.FloatField(allow_null=True)
    error = serializers.FloatField(allow_null=True, help_text="Monte-Carlo standard error.")


class FoundSerializer(serializers.Serializer[object]):
    treatment = serializers.CharField()
    truth = serializers.FloatField(help_text="The effect; honest share times effect where the design does not identify it.")
    estimated = serializers.FloatField(help_text="Share of studies with an estimate at all.")
    bias = SimulatedNumberSerializer()
    spread = SimulatedNumberSerializer(help_text="Standard deviation of the estimates.")
    region = SimulatedNumberSerializer(help_text="Coverage of the intervals of results; null where sections are assigned: see `coverage`.")
    coverage = SimulatedNumberSerializer()
    unbounded = SimulatedNumberSerializer(help_text="Share of studies whose interval has no end.")
    power = SimulatedNumberSerializer()
    wrong_sign = SimulatedNumberSerializer(help_text="The share of the studies that reject whose sign is wrong.")
    contradicted = SimulatedNumberSerializer(help_text="Share of studies whose specification test says that the model does not fit.")


class SettingSerializer(serializers.Serializer[object]):
    cheating = serializers.ChoiceField(choices=CHEATING)
    drop_out = serializers.ChoiceField(choices=LEAVING)
    contrasts = FoundSerializer(many=True)


class DiagnosisSerializer(serializers.Serializer[object]):
    status = serializers.ChoiceField(choices=DiagnosisStatus.choices)
    parts_done = serializers.IntegerField()
    parts = serializers.IntegerField()
    error = serializers.CharField(allow_blank=True)
    people = serializers.IntegerField()
    prevalence = serializers.FloatField()
    effect = serializers.FloatField()
    cheaters = serializers.FloatField(source="cheater_proportion")
    dropout = serializers.FloatField(source="drop_out")
    cluster_size = serializers.FloatField(help_text="People in a section that is assigned as a whole.")
    alike = serializers.FloatField(source="intraclass_correlation")
    studies = serializers.IntegerField()
    seed = serializers.IntegerField()
    design = serializers.JSONField()
    answer = serializers.CharField(allow_blank=True)
    settings = SettingSerializer(many=True)


class DiagnosisStateSerializer(serializers.Serializer[object]):
    study = serializers.CharField()
    diagnosis = DiagnosisSerializer(allow_null=True, help_text="Null: there is none.")
