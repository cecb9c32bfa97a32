"""The people of a study as the API shows them and is told about them."""

from rest_framework import serializers

from surveys.models import Invitation, MemberRole


class MemberSerializer(serializers.Serializer[object]):
    person = serializers.CharField(source="user.username", help_text="User name.")
    role = serializers.ChoiceField(choices=MemberRole.choices)


class InvitationSerializer(serializers.ModelSerializer[Invitation]):
    number = serializers.IntegerField(source="pk")

    class Meta:
        model = Invitation
        fields = ("number", "addressee", "role", "last_day")
        read_only_fields = fields


class TeamSerializer(serializers.Serializer[object]):
    study = serializers.CharField()
    owner = serializers.CharField(help_text="User name.")
    members = MemberSerializer(many=True)
    invitations = InvitationSerializer(many=True, help_text="Those that can still be accepted.")


class InviteSerializer(serializers.Serializer[object]):
    addressee = serializers.CharField(max_length=254, help_text="An e-mail address, or the name of an account.")
    role = serializers.ChoiceField(choices=MemberRole.choices)


class OfferedSerializer(serializers.Serializer[object]):
    """An invitation that was just made."""

    addressee = serializers.CharField()
    link = serializers.CharField(help_text="In this answer and nowhere else. Anybody who opens it can accept.")
    sent = serializers.BooleanField(help_text="Whether it went out by e-mail.")


class ChangeRoleSerializer(serializers.Serializer[object]):
    role = serializers.ChoiceField(choices=MemberRole.choices)


class NewOwnerSerializer(serializers.Serializer[object]):
    person = serializers.CharField(max_length=150, help_text="User name of a member, who becomes the owner; you stay as an editor.")


class InvitedToSerializer(serializers.Serializer[object]):
    """The study or data set of an invitation."""

    title = serializers.CharField(source="whole.title")
    owner = serializers.CharField(source="whole.owner.username", help_text="User name.")
    role = serializers.CharField(source="get_role_display", help_text="In words.")
    last_day = serializers.DateField()


class AcceptedSerializer(serializers.Serializer[object]):
    slug = serializers.CharField(help_text="The study or data set that is shared with you now.")
