"""Results are kept up to so many bytes; what nobody asked for longest goes first."""

from concurrent.futures import ThreadPoolExecutor

from surveys.shelves.by_bytes import Shelf, kept, pickled_bytes


def shelf(most_bytes: int) -> tuple[Shelf[str], list[int]]:
    made: list[int] = []

    @kept(most_bytes=most_bytes, size=len)
    def make(number: int) -> str:
        made.append(number)
        return "x" * number

    return make, made


def test_a_result_is_made_once() -> None:
    make, made = shelf(100)
    assert [make(7), make(8), make(7)] == ["x" * 7, "x" * 8, "x" * 7]
    assert (made, make.bytes, len(make)) == ([7, 8], 15, 2)


def test_the_one_that_nobody_asked_for_longest_goes() -> None:
    make, made = shelf(100)
    for number in (40, 50, 40, 20):  # 50 has to go, not 40
        make(number)
    assert make.bytes == 60
    make(40)
    assert made == [40, 50, 20]
    make(50)
    assert (made, make.bytes) == ([40, 50, 20, 50], 90)


def test_what_is_too_large_is_given_and_not_kept() -> None:
    make, made = shelf(100)
    assert len(make(101)) == len(make(101)) == 101
    assert (made, make.bytes, len(make)) == ([101, 101], 0, 0)


def test_everything_can_be_forgotten() -> None:
    make, made = shelf(100)
    make(7)
    make.cache_clear()
    make(7)
    assert (made, make.bytes) == ([7, 7], 7)


def test_requests_at_once_leave_the_bytes_right() -> None:
    make, _made = shelf(100)
    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(lambda number: len(make(number % 17)) == number % 17, range(2000)))
    assert make.bytes == sum(len(one) for one, _size in make._kept.values()) <= 100


def test_the_size_of_any_object() -> None:
    assert pickled_bytes(["x" * 1000, 1]) in range(1000, 1100)
