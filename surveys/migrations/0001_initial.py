"""Studies, people and their answers. From here on the database itself refuses to change a frozen protocol."""

import uuid

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps

import surveys.models.media
from surveys.models import triggers


def install(apps: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    triggers.install(schema_editor.connection)


def remove(apps: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    triggers.remove(schema_editor.connection)


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="AllocationList",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.PositiveIntegerField()),
                ("scheme", models.CharField(max_length=20)),
                ("length", models.PositiveIntegerField()),
                ("nonce", models.CharField(max_length=64)),
                ("sha256", models.CharField(max_length=64)),
                ("drawn_on", models.DateField()),
            ],
            options={
                "ordering": ("study", "number"),
            },
        ),
        migrations.CreateModel(
            name="Protocol",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("version", models.PositiveIntegerField()),
                ("definition", models.JSONField()),
                ("media", models.JSONField(help_text="File name → id, media type, SHA-256, duration.")),
                ("sha256", models.CharField(max_length=64)),
                ("of_rehearsal", models.BooleanField(default=False, help_text="Belongs to a sandbox copy, with which it may be deleted.")),
                ("frozen_on", models.DateField(auto_now_add=True)),
            ],
            options={
                "ordering": ("study", "version"),
            },
        ),
        migrations.CreateModel(
            name="Study",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("slug", models.SlugField(unique=True)),
                ("title", models.CharField(max_length=200)),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("draft", "Draft"),
                            ("in_review", "In review"),
                            ("approved", "Approved"),
                            ("recruiting", "Recruiting"),
                            ("paused", "Paused"),
                            ("closed", "Closed"),
                            ("archived", "Archived"),
                        ],
                        default="draft",
                        max_length=20,
                    ),
                ),
                ("definition", models.JSONField(help_text="The draft, as in the study file; the journey runs on the frozen protocol.")),
                ("submitted_on", models.DateField(blank=True, null=True)),
                ("approved_until", models.DateField(blank=True, help_text="Last day on which newcomers may be taken in.", null=True)),
                ("suspended", models.BooleanField(default=False, help_text="By an officer; the investigator cannot resume it.")),
                ("epsilon_per_question", models.FloatField()),
                ("epsilon_total", models.FloatField()),
                (
                    "accepts_bots",
                    models.BooleanField(
                        default=False, help_text="Simulated participants may walk this study (rehearsals, demonstrations)."
                    ),
                ),
                ("data_published", models.BooleanField(default=False, help_text="Published data cannot be withdrawn any more.")),
                ("created_on", models.DateField(auto_now_add=True)),
                ("launched_on", models.DateField(blank=True, null=True)),
                ("closed_on", models.DateField(blank=True, null=True)),
                (
                    "forgotten_on",
                    models.DateField(
                        blank=True,
                        help_text="Since this day operational data are deleted: nobody's answers can be found any more.",
                        null=True,
                    ),
                ),
                (
                    "owner",
                    models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="studies", to=settings.AUTH_USER_MODEL),
                ),
                (
                    "protocol",
                    models.ForeignKey(
                        blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="surveys.protocol"
                    ),
                ),
                (
                    "rehearsal_of",
                    models.OneToOneField(
                        blank=True,
                        help_text="The study of which this one is a sandbox copy, for bots only.",
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="rehearsal",
                        to="surveys.study",
                    ),
                ),
                (
                    "submitted",
                    models.ForeignKey(
                        blank=True,
                        help_text="The version that waits for the officers.",
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="surveys.protocol",
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "studies",
                "ordering": ("slug",),
            },
        ),
        migrations.CreateModel(
            name="ShardedCounter",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("declined", "did not consent"),
                            ("comprehension_passed", "understood the die at once"),
                            ("comprehension_failed", "misunderstood the die at first"),
                            ("withdrew", "withdrew their data"),
                            ("unfinished", "agreed, did not finish, and were deleted with the operational data"),
                        ],
                        max_length=30,
                    ),
                ),
                (
                    "version",
                    models.PositiveIntegerField(
                        default=1, help_text="Version of the protocol that was in force, so that consent is counted per version."
                    ),
                ),
                ("shard", models.PositiveSmallIntegerField()),
                ("count", models.PositiveIntegerField(default=0)),
                ("study", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="counters", to="surveys.study")),
            ],
        ),
        migrations.AddField(
            model_name="protocol",
            name="study",
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="protocols", to="surveys.study"),
        ),
        migrations.CreateModel(
            name="Participant",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("token_hash", models.CharField(max_length=64, unique=True)),
                ("withdrawal_hash", models.CharField(max_length=64, unique=True)),
                ("language", models.CharField(max_length=12)),
                ("is_bot", models.BooleanField(default=False)),
                (
                    "step",
                    models.CharField(
                        choices=[
                            ("background", "Background"),
                            ("direct_consent", "Direct Consent"),
                            ("video", "Video"),
                            ("quiz", "Quiz"),
                            ("die", "Die"),
                            ("questions", "Questions"),
                            ("direct_questions", "Direct Questions"),
                            ("finished", "Finished"),
                        ],
                        max_length=20,
                    ),
                ),
                (
                    "agrees_to_direct",
                    models.BooleanField(help_text="Whether they may be asked without a die; empty where nobody is.", null=True),
                ),
                ("subsample", models.CharField(blank=True, max_length=50)),
                ("arm", models.CharField(blank=True, max_length=50)),
                ("background", models.JSONField(default=dict)),
                ("watched_tenths", models.PositiveSmallIntegerField(default=0)),
                ("quiz", models.JSONField(default=dict)),
                ("consented_on", models.DateField(blank=True, help_text="None once operational data are deleted.", null=True)),
                ("finished_on", models.DateField(blank=True, null=True)),
                ("protocol", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="+", to="surveys.protocol")),
                ("study", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="participants", to="surveys.study")),
            ],
        ),
        migrations.CreateModel(
            name="PanelMember",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("identifier", models.CharField(max_length=100)),
                ("panel_hash", models.CharField(max_length=64)),
                ("finished", models.BooleanField(default=False)),
                ("study", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="panel_members", to="surveys.study")),
            ],
        ),
        migrations.CreateModel(
            name="MediaFile",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("name", models.CharField(max_length=100)),
                ("file", models.FileField(upload_to=surveys.models.media.media_path)),
                ("media_type", models.CharField(max_length=100)),
                ("size", models.PositiveBigIntegerField()),
                ("sha256", models.CharField(max_length=64)),
                ("duration_seconds", models.FloatField(blank=True, null=True)),
                (
                    "current",
                    models.BooleanField(
                        default=True, help_text="The newest file of this name; older ones stay for the protocols that use them."
                    ),
                ),
                ("study", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="media_files", to="surveys.study")),
            ],
            options={
                "ordering": ("study", "name"),
            },
        ),
        migrations.CreateModel(
            name="Invitation",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "role",
                    models.CharField(
                        choices=[("editor", "Editor"), ("viewer", "Viewer"), ("blinded_viewer", "Blinded viewer")], max_length=16
                    ),
                ),
                ("addressee", models.CharField(help_text="An e-mail address, or the name of an account.", max_length=254)),
                ("token_hash", models.CharField(max_length=64, unique=True)),
                ("last_day", models.DateField()),
                ("accepted", models.BooleanField(default=False)),
                ("withdrawn", models.BooleanField(default=False)),
                (
                    "user",
                    models.ForeignKey(
                        blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                ("study", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="invitations", to="surveys.study")),
            ],
            options={
                "ordering": ("study", "addressee"),
            },
        ),
        migrations.CreateModel(
            name="EntryCode",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("code_hash", models.CharField(max_length=64)),
                ("spent", models.BooleanField(default=False)),
                ("study", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="entry_codes", to="surveys.study")),
            ],
        ),
        migrations.CreateModel(
            name="Decision",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "verdict",
                    models.CharField(
                        choices=[
                            ("approved", "Approved"),
                            ("changes", "Changes asked for"),
                            ("rejected", "Rejected"),
                            ("suspended", "Suspended"),
                            ("lifted", "Suspension lifted"),
                        ],
                        max_length=10,
                    ),
                ),
                ("reason", models.TextField(blank=True, max_length=5000)),
                (
                    "conditions",
                    models.TextField(
                        blank=True, help_text="Conditions that the investigator must acknowledge before recruiting.", max_length=5000
                    ),
                ),
                ("valid_until", models.DateField(blank=True, help_text="Last day of an approval.", null=True)),
                ("decided_on", models.DateField()),
                ("acknowledged_on", models.DateField(blank=True, null=True)),
                (
                    "acknowledged_by",
                    models.ForeignKey(
                        blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "decided_by",
                    models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL),
                ),
                (
                    "protocol",
                    models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="decisions", to="surveys.protocol"),
                ),
                ("study", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="decisions", to="surveys.study")),
            ],
            options={
                "ordering": ("pk",),
            },
        ),
        migrations.CreateModel(
            name="Comment",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "section",
                    models.CharField(
                        choices=[
                            ("overview", "In short"),
                            ("consent", "What students agree to"),
                            ("arms", "What students watch"),
                            ("background", "Background questions"),
                            ("quiz", "Quiz"),
                            ("questions", "Sensitive questions"),
                            ("die", "The die and privacy"),
                            ("allocation", "How groups are drawn"),
                            ("stored", "What is stored, and what is not"),
                            ("access", "Who can see what"),
                            ("analysis", "Analysis plan"),
                            ("retention", "How long data are kept"),
                            ("release", "What becomes public"),
                            ("debrief", "What students read at the end"),
                            ("files", "Files"),
                        ],
                        max_length=12,
                    ),
                ),
                ("text", models.TextField(blank=True, max_length=5000)),
                ("resolves", models.BooleanField(default=False)),
                ("written_on", models.DateField()),
                ("author", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
                (
                    "protocol",
                    models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="comments", to="surveys.protocol"),
                ),
                ("study", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="comments", to="surveys.study")),
            ],
            options={
                "ordering": ("pk",),
            },
        ),
        migrations.CreateModel(
            name="BotRun",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "due_at",
                    models.DateTimeField(
                        blank=True,
                        help_text="Waiting: not before. Held: until when its worker is believed to live. Empty: nothing to do.",
                        null=True,
                    ),
                ),
                (
                    "holder",
                    models.UUIDField(blank=True, editable=False, help_text="Drawn for each attempt; only its worker may write.", null=True),
                ),
                ("attempts", models.PositiveSmallIntegerField(default=0, help_text="How many workers took it since it last got on.")),
                ("error", models.TextField(blank=True)),
                (
                    "status",
                    models.CharField(
                        choices=[("walking", "On their way"), ("done", "Done"), ("stopped", "Stopped"), ("failed", "Failed")],
                        default="walking",
                        max_length=10,
                    ),
                ),
                ("bots", models.PositiveIntegerField()),
                ("seed", models.BigIntegerField()),
                ("prevalence", models.FloatField()),
                ("effect", models.FloatField()),
                ("cheater_proportion", models.FloatField()),
                ("behaviour", models.CharField(max_length=20)),
                ("drops_out", models.FloatField()),
                ("under_reports", models.FloatField(default=0.0)),
                ("endings", models.JSONField(blank=True, default=dict, help_text="How they ended → how many.")),
                ("seconds", models.FloatField(default=0)),
                ("study", models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name="bot_run", to="surveys.study")),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="AttritionCount",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "step",
                    models.CharField(
                        choices=[
                            ("background", "Background"),
                            ("direct_consent", "Direct Consent"),
                            ("video", "Video"),
                            ("quiz", "Quiz"),
                            ("die", "Die"),
                            ("questions", "Questions"),
                            ("direct_questions", "Direct Questions"),
                            ("finished", "Finished"),
                        ],
                        max_length=20,
                    ),
                ),
                ("subsample", models.CharField(blank=True, max_length=50)),
                ("arm", models.CharField(blank=True, max_length=50)),
                ("count", models.PositiveIntegerField(default=0)),
                (
                    "study",
                    models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="attrition_counts", to="surveys.study"),
                ),
            ],
        ),
        migrations.CreateModel(
            name="ArmState",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("arm", models.CharField(max_length=50)),
                ("quota", models.PositiveIntegerField(blank=True, null=True)),
                ("closed", models.BooleanField(default=False)),
                ("study", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="arm_states", to="surveys.study")),
            ],
        ),
        migrations.CreateModel(
            name="AllocationSlot",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("position", models.PositiveIntegerField(help_text="Place in the study's whole sequence, over all its lists.")),
                ("subsample", models.CharField(max_length=50)),
                ("arm", models.CharField(max_length=50)),
                (
                    "status",
                    models.CharField(
                        choices=[("free", "free"), ("taken", "taken"), ("closed", "closed: the arm is closed or its quota is reached")],
                        default="free",
                        max_length=10,
                    ),
                ),
                ("list", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="slots", to="surveys.allocationlist")),
                (
                    "study",
                    models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="allocation_slots", to="surveys.study"),
                ),
            ],
            options={
                "ordering": ("study", "position"),
            },
        ),
        migrations.AddField(
            model_name="allocationlist",
            name="study",
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="allocation_lists", to="surveys.study"),
        ),
        migrations.CreateModel(
            name="StudyMember",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "role",
                    models.CharField(
                        choices=[("editor", "Editor"), ("viewer", "Viewer"), ("blinded_viewer", "Blinded viewer")], max_length=16
                    ),
                ),
                ("study", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="members", to="surveys.study")),
                (
                    "user",
                    models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="memberships", to=settings.AUTH_USER_MODEL),
                ),
            ],
            options={
                "ordering": ("study", "user__username"),
            },
        ),
        migrations.CreateModel(
            name="DirectAnswer",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("question", models.CharField(max_length=50)),
                ("yes", models.BooleanField()),
                (
                    "participant",
                    models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="direct_answers", to="surveys.participant"),
                ),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("participant", "question"), name="each_direct_answer_is_final")],
            },
        ),
        migrations.CreateModel(
            name="Response",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("question", models.CharField(max_length=50)),
                ("reported_yes", models.BooleanField()),
                (
                    "participant",
                    models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="responses", to="surveys.participant"),
                ),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("participant", "question"), name="each_answer_is_final")],
            },
        ),
        migrations.AddConstraint(
            model_name="study",
            constraint=models.CheckConstraint(
                condition=models.Q(("status__in", ["draft", "in_review", "approved", "recruiting", "paused", "closed", "archived"])),
                name="study_status_is_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="study",
            constraint=models.CheckConstraint(
                condition=models.Q(("status__in", ("draft", "in_review")), ("protocol__isnull", False), _connector="OR"),
                name="approved_study_has_a_protocol",
            ),
        ),
        migrations.AddConstraint(
            model_name="study",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("rehearsal_of__isnull", True), models.Q(("accepts_bots", True), ("data_published", False)), _connector="OR"
                ),
                name="rehearsal_takes_bots_and_is_never_published",
            ),
        ),
        migrations.AddConstraint(
            model_name="study",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("status", "recruiting"), _negated=True),
                    ("rehearsal_of__isnull", False),
                    models.Q(("approved_until__isnull", False), ("suspended", False)),
                    _connector="OR",
                ),
                name="recruiting_study_has_an_approval_and_is_not_suspended",
            ),
        ),
        migrations.AddConstraint(
            model_name="study",
            constraint=models.CheckConstraint(
                condition=models.Q(models.Q(("status", "in_review"), _negated=True), ("submitted__isnull", False), _connector="OR"),
                name="study_in_review_was_submitted",
            ),
        ),
        migrations.AddConstraint(
            model_name="shardedcounter",
            constraint=models.UniqueConstraint(fields=("study", "kind", "version", "shard"), name="counter_shard_is_unique"),
        ),
        migrations.AddConstraint(
            model_name="protocol",
            constraint=models.UniqueConstraint(fields=("study", "version"), name="protocol_version_is_unique"),
        ),
        migrations.AddConstraint(
            model_name="participant",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("arm", ""), ("step__in", ("background", "direct_consent")), ("subsample", "")),
                    models.Q(models.Q(("subsample", ""), _negated=True), models.Q(("arm", ""), _negated=True)),
                    _connector="OR",
                ),
                name="participant_is_assigned_wholly_after_background",
            ),
        ),
        migrations.AddConstraint(
            model_name="participant",
            constraint=models.CheckConstraint(condition=models.Q(("watched_tenths__lte", 10)), name="watched_share_is_at_most_one"),
        ),
        migrations.AddConstraint(
            model_name="participant",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("finished_on__isnull", False), ("step", "finished")),
                    models.Q(models.Q(("step", "finished"), _negated=True), ("finished_on__isnull", True)),
                    models.Q(("consented_on__isnull", True), ("finished_on__isnull", True), ("step", "finished")),
                    _connector="OR",
                ),
                name="finished_participant_has_a_day",
            ),
        ),
        migrations.AddConstraint(
            model_name="panelmember",
            constraint=models.UniqueConstraint(fields=("study", "identifier"), name="panel_member_is_unique"),
        ),
        migrations.AddConstraint(
            model_name="mediafile",
            constraint=models.UniqueConstraint(
                condition=models.Q(("current", True)), fields=("study", "name"), name="one_current_file_of_a_name"
            ),
        ),
        migrations.AddConstraint(
            model_name="invitation",
            constraint=models.CheckConstraint(
                condition=models.Q(("role__in", ["editor", "viewer", "blinded_viewer"])), name="every_invitation_has_a_known_role"
            ),
        ),
        migrations.AddConstraint(
            model_name="invitation",
            constraint=models.CheckConstraint(
                condition=models.Q(("accepted", True), ("withdrawn", True), _negated=True), name="an_accepted_invitation_is_not_withdrawn"
            ),
        ),
        migrations.AddConstraint(
            model_name="entrycode",
            constraint=models.UniqueConstraint(fields=("study", "code_hash"), name="entry_code_is_unique"),
        ),
        migrations.AddConstraint(
            model_name="decision",
            constraint=models.CheckConstraint(
                condition=models.Q(("verdict__in", ["approved", "changes", "rejected", "suspended", "lifted"])), name="verdict_is_known"
            ),
        ),
        migrations.AddConstraint(
            model_name="decision",
            constraint=models.CheckConstraint(
                condition=models.Q(("verdict", "approved"), models.Q(("reason", ""), _negated=True), _connector="OR"),
                name="refusal_has_a_reason",
            ),
        ),
        migrations.AddConstraint(
            model_name="decision",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("valid_until__isnull", False), ("verdict", "approved")),
                    models.Q(models.Q(("verdict", "approved"), _negated=True), ("valid_until__isnull", True)),
                    _connector="OR",
                ),
                name="approval_and_only_it_has_a_last_day",
            ),
        ),
        migrations.AddConstraint(
            model_name="comment",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    (
                        "section__in",
                        [
                            "overview",
                            "consent",
                            "arms",
                            "background",
                            "quiz",
                            "questions",
                            "die",
                            "allocation",
                            "stored",
                            "access",
                            "analysis",
                            "retention",
                            "release",
                            "debrief",
                            "files",
                        ],
                    )
                ),
                name="comment_is_on_a_section",
            ),
        ),
        migrations.AddConstraint(
            model_name="comment",
            constraint=models.CheckConstraint(
                condition=models.Q(("resolves", True), models.Q(("text", ""), _negated=True), _connector="OR"),
                name="comment_says_something_or_resolves",
            ),
        ),
        migrations.AddIndex(
            model_name="botrun",
            index=models.Index(condition=models.Q(("due_at__isnull", False)), fields=["due_at"], name="botrun_by_due_time"),
        ),
        migrations.AddConstraint(
            model_name="botrun",
            constraint=models.CheckConstraint(
                condition=models.Q(("holder", None), ("due_at__isnull", False), _connector="OR"), name="held_botrun_has_a_term"
            ),
        ),
        migrations.AddConstraint(
            model_name="botrun",
            constraint=models.CheckConstraint(
                condition=models.Q(("due_at__isnull", True), ("status", "walking"), _connector="OR"), name="ended_crowd_keeps_no_time"
            ),
        ),
        migrations.AddConstraint(
            model_name="attritioncount",
            constraint=models.UniqueConstraint(fields=("study", "step", "subsample", "arm"), name="attrition_is_counted_once"),
        ),
        migrations.AddConstraint(
            model_name="armstate",
            constraint=models.UniqueConstraint(fields=("study", "arm"), name="arm_state_is_unique"),
        ),
        migrations.AddIndex(
            model_name="allocationslot",
            index=models.Index(condition=models.Q(("status", "free")), fields=["study", "position"], name="free_slots_in_order"),
        ),
        migrations.AddConstraint(
            model_name="allocationslot",
            constraint=models.UniqueConstraint(fields=("study", "position"), name="allocation_position_is_unique"),
        ),
        migrations.AddConstraint(
            model_name="allocationlist",
            constraint=models.UniqueConstraint(fields=("study", "number"), name="allocation_list_number_is_unique"),
        ),
        migrations.AddConstraint(
            model_name="studymember",
            constraint=models.UniqueConstraint(fields=("study", "user"), name="one_membership_of_a_person_in_a_study"),
        ),
        migrations.AddConstraint(
            model_name="studymember",
            constraint=models.CheckConstraint(
                condition=models.Q(("role__in", ["editor", "viewer", "blinded_viewer"])), name="every_member_has_a_known_role"
            ),
        ),
        migrations.RunPython(install, remove),
    ]
