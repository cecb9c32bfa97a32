"""`candor.simulate`: answers as a study would collect them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from candor.arguments import effects_of, numbers, whole_numbers
from candor.designs.design import Design
from candor.designs.sources import DesignSource, read_design
from candor.errors import MethodError, what_came
from candor.planning.margins import MOST_PARTICIPANTS
from candor.planning.simulation import Behaviour, LatentModel, simulate_trial

ROWS_AT_A_TIME = 100_000
WAYS_TO_CHEAT = [str(behaviour) for behaviour in Behaviour if behaviour is not Behaviour.HONEST]
Columns = dict[str, NDArray[np.generic]]


def simulate(
    design: DesignSource,
    *,
    n: int,
    effects: float | Mapping[str, float] = 0.0,
    seed: int,
    prevalence: float = 0.4,
    cheater_proportion: float = 0.0,
    cheater_behaviour: str = "random",
    outcome: str = "outcome",
    background_effects: Mapping[str, float] | None = None,
) -> Columns:
    """Simulate the answers that a trial would collect.

    Parameters
    ----------
    design : Design, mapping, str or Path
        See `candor.read_design`.
    n : int
        Number of participants, each randomised independently.
    effects : float or mapping of str to float
        Difference of prevalence to control, in [−1, 1]: the same for all treatment arms, or by arm. A survey has none.
    seed : int
        The same seed gives the same answers.
    prevalence : float
        Share of true "yes" in the control arm, in [0, 1].
    cheater_proportion : float
        Share of people who do not follow the die, in [0, 1].
    cheater_behaviour : str
        Their behaviour: ``always_no``, ``always_yes``, ``random``, ``opposite``, ``truthful``, ``refuse_forced_yes`` or
        ``refuse_forced_no``.
    outcome : str
        Name of the answer's column.
    background_effects : mapping of str to float
        Standard normal covariates, with the effect of each on the log-odds of a true yes, within ±1000.

    Returns
    -------
    dict of str to ndarray, shape (n,)
        ``arm`` and ``subsample`` as text, the reported answers as 0 and 1, covariates rounded to four digits.

    Raises
    ------
    MethodError
        When a share or an effect is impossible, an arm or a way to cheat unknown, or two columns would have one name.

    References
    ----------
    Kancharla, M. & Kang, H. (2021). A robust, differentially private randomized experiment for evaluating online educational programs with
    sensitive student data.

    Examples
    --------
    >>> frame = simulate({"arms": ["control", "treatment"], "control": "control", "subsamples": {
    ...     "1": {"forced_no": "2/6", "forced_yes": "1/6"}, "2": {"forced_no": "1/6", "forced_yes": "2/6"}}}, n=4, effects=0.2, seed=1)
    >>> list(frame), frame["outcome"].shape
    (['arm', 'subsample', 'outcome'], (4,))
    """
    effects, (n,), (seed,) = effects_of(effects), whole_numbers(n=n), whole_numbers(least=0, seed=seed)
    prevalence, cheater_proportion = numbers(prevalence=prevalence, cheater_proportion=cheater_proportion)
    named = (outcome, *background_effects) if isinstance(background_effects, Mapping) else (outcome,)
    nameless = [name for name in named if not isinstance(name, str) or not name.strip()]
    if nameless or not isinstance(background_effects, Mapping | None):
        given = what_came(nameless[0] if nameless else background_effects)
        raise MethodError(f"expected the name of the answer, and the effect of every covariate by its name, found {given}")
    background = {name: numbers(**{f"effect of {name}": value})[0] for name, value in (background_effects or {}).items()}
    found = read_design(design)
    names = ["arm", "subsample", outcome, *background]
    if repeated := [name for name in names if names.count(name) > 1]:
        raise MethodError(f"the column {repeated[0]!r} is there already: give the answer and every covariate a name of its own")
    if not isinstance(cheater_behaviour, str) or cheater_behaviour not in WAYS_TO_CHEAT:
        raise MethodError(f"a way to cheat is one of {', '.join(WAYS_TO_CHEAT)}, not {what_came(cheater_behaviour)}")
    model = LatentModel(
        prevalence=prevalence,
        effects=effects if isinstance(effects, Mapping) else dict.fromkeys(found.treatments, effects),
        cheater_proportion=cheater_proportion,
        cheater_behaviour=Behaviour(cheater_behaviour),
        background_effects=background,
    )
    parts = list(simulated_parts(found, model, n=n, outcome=outcome, seed=seed))
    return {name: np.concatenate([part[name] for part in parts]) for name in names}


def simulated_parts(design: Design, model: LatentModel, *, n: int, outcome: str, seed: int) -> Iterator[Columns]:
    """A simulated trial in parts, so that memory need not grow with n; at least one, which may be empty."""
    if n > MOST_PARTICIPANTS:
        raise MethodError(f"a simulation has at most {MOST_PARTICIPANTS} participants, found {n}")
    rng = np.random.default_rng(seed)
    arms, subsamples = np.array(design.arms, dtype=object), np.array(design.subsample_names, dtype=object)
    for first in range(0, max(n, 1), ROWS_AT_A_TIME):
        trial = simulate_trial(design, model, n=min(ROWS_AT_A_TIME, n - first), rng=rng)
        covariates = {name: np.round(values, 4) for name, values in trial.covariates.items()}
        yield {"arm": arms[trial.arm], "subsample": subsamples[trial.subsample], outcome: trial.reported.astype(int), **covariates}
