"""`manage.py changepassword`, recorded."""

import getpass

from django.contrib.auth.management.commands import changepassword

from accounts.models import User
from accounts.services import record_password_given, with_its_entry


class Command(changepassword.Command):
    @with_its_entry
    def handle(self, *args: object, **options: object) -> str | None:
        changed = super().handle(*args, **options)
        record_password_given(User.objects.get(username=options["username"] or getpass.getuser()))
        return changed
