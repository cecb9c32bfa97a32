"""The batches of a demonstration come on days that go forward and end today."""

from datetime import date, timedelta

from surveys.bots.services import day_of_batch


def test_days_go_forward_and_end_on_the_last_day() -> None:
    last, over = date(2030, 3, 29), timedelta(days=28)
    days = [day_of_batch(last=last, arrived=arrived, expected=300, over=over) for arrived in (0, 100, 140, 300, 400)]
    assert days == sorted(days)
    assert (days[0], days[-2], days[-1]) == (last - over, last, last)
    assert len(set(days)) == 4
    assert day_of_batch(last=last, arrived=0, expected=0, over=over) == last - over
