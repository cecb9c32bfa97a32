"""A step of one account leaves the account beside it alone."""

import pytest
from allauth.mfa.models import Authenticator

from accounts import services
from accounts.attempts import forget_attempts, give_attempt_back, take_attempt
from accounts.login.middleware import has_second_factor
from accounts.models import ApiToken, Language, Role, TokenScope, User
from tests.factories import person

pytestmark = pytest.mark.django_db


def stored_of(user: User) -> list[str]:
    """All rows of an account."""
    rows = User.objects.filter(pk=user.pk), ApiToken.objects.filter(user=user), Authenticator.objects.filter(user=user).order_by("pk")
    return [repr(row) for some in rows for row in some.values()]


def test_what_somebody_sets_or_removes_is_their_own_alone() -> None:
    ada, beside = (person(Role.IRB_OFFICER) for _person in range(2))
    for one in (ada, beside):
        for name in ("a script", "another script"):
            services.issue_token(user=one, name=name, scope=TokenScope.READ, days=30)
        for kind in (Authenticator.Type.TOTP, Authenticator.Type.RECOVERY_CODES):
            Authenticator.objects.create(user=one, type=kind, data={})
    before, kept = stored_of(ada), stored_of(beside)
    services.want_notices(user=ada, wanted=not ada.wants_notices)
    services.choose_language(user=ada, language=Language.GERMAN)
    services.end_sessions(user=ada)
    services.change_role(user=ada, role=Role.ADMINISTRATOR)
    assert services.revoke_token(user=ada, name="a script")
    assert services.remove_second_factor(user=ada) == 2
    assert (stored_of(beside), len(stored_of(ada))) == (kept, len(before) - 3)
    Authenticator.objects.create(user=ada, type=Authenticator.Type.RECOVERY_CODES, data={})
    assert [has_second_factor(one) for one in (ada, beside)] == [False, True], "neither codes alone nor the factor of somebody else"


def test_attempts_are_counted_for_each_name_and_each_kind_alone() -> None:
    others = (("login", "beside"), ("code", "ada"))
    for one in (("login", "ada"), *others):
        assert take_attempt(*one, at_most=2)
    give_attempt_back("login", "ada")
    assert [take_attempt("login", "ada", at_most=2) for _attempt in range(3)] == [True, True, False]
    forget_attempts("login", "ada")
    assert take_attempt("login", "ada", at_most=2)
    assert [[take_attempt(*one, at_most=2) for _attempt in range(2)] for one in others] == [[True, False]] * 2
