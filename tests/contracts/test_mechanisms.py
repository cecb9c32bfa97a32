"""Every private mechanism of the library keeps these promises. A new one is found by its `contract.py`."""

import inspect
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import candor
from candor.errors import MethodError
from candor.privacy import noise
from candor.privacy.auditing import Audit
from candor.privacy.contracts import Contract, contracts

MECHANISMS = contracts()
# A true claim is refuted by chance once in ten million attacks; the wrong calibrations are caught with the same confidence.
SURE = 1 - 1e-7


@pytest.fixture(scope="module", params=MECHANISMS)
def contract(request: pytest.FixtureRequest) -> Contract:
    return MECHANISMS[request.param]


@pytest.fixture(scope="module")
def attack(contract: Contract) -> Audit:
    """The attack with releases that were drawn once: they are most of its work."""
    worlds = [contract.audit.draw(world, contract.runs) for world in (0, 1)]
    for scores in worlds:
        scores.setflags(write=False)
    return replace(contract.audit, draw=lambda world, _runs: worlds[world])


def test_the_sensitivity_is_what_every_replacement_of_every_row_gives(contract: Contract) -> None:
    for small in contract.small:
        assert small.true_sensitivity() == small.claimed


def test_nothing_but_whole_numbers_gets_noise(contract: Contract) -> None:
    for numbers in ([np.nan, 1.0], [1.5, 2.0], [np.inf, 0.0], ["one"], []):
        with pytest.raises((MethodError, ValueError)):
            contract.release(np.array(numbers))


def test_the_attack_does_not_refute_the_claim(contract: Contract, attack: Audit) -> None:
    assert attack.excess(contract.runs, confidence=SURE) <= 0


def test_the_attack_reaches_half_of_the_claim(contract: Contract, attack: Audit) -> None:
    """An attack that finds little proves little: a wrong calibration by a factor of two must come into its sight."""
    attacks = (one.epsilon_at_least(contract.runs) for one in (attack, *[contract.audit] * 4))
    assert any(bounds[delta] > contract.audit.claim.epsilon(delta) / 2 for bounds in attacks for delta in bounds)


def test_the_same_attack_catches_a_wrong_calibration(contract: Contract) -> None:
    """Chance hides the wrong calibration of some mechanisms from one attack in 25, and from five once in ten million runs."""
    assert any(contract.control.excess(contract.runs, confidence=SURE) > 0 for _attack in range(5))


@pytest.mark.parametrize("folder", MECHANISMS)
def test_a_mechanism_has_its_page(folder: str) -> None:
    page = Path(candor.__file__).parent / folder.replace(".", "/") / "README.md"
    text = page.read_text()
    assert all(part in text for part in ("**Neighbours.**", "**Sensitivity.**", "**Loss.**", "```pycon"))


def test_noise_takes_no_seed_and_no_generator() -> None:
    for name, function in inspect.getmembers(noise, inspect.isfunction):
        assert not {"seed", "rng", "generator", "random_state"} & set(inspect.signature(function).parameters), name
