"""bench/links.py, run small: every link is sent its messages, and the table tells what they add."""

import links


def test_every_number_of_links_is_measured():
    figures = links.measure([0, 2], rounds=2, publishes=48)
    assert {key: len(rounds) for key, rounds in figures.items()} == {
        (number, kind): 2 for number in (0, 2) for kind in links.KINDS}
    assert all(cost > 0 for rounds in figures.values() for cost in rounds)
    assert [row[0] for row in links.rows(figures, [0, 2])] == ["0", "2"]


def test_what_links_add_is_told_by_round_and_link():
    """Medians of differences within each round: a slow round is nobody's."""
    figures = {(0, "alone"): [10.0, 110.0, 10.0], (4, "alone"): [18.0, 119.0, 19.0],
               (0, "16 together"): [1.0, 1.0, 1.0], (4, "16 together"): [3.0, 3.0, 3.0]}
    assert links.rows(figures, [0, 4]) == [
        ["0", "10.00", "", "", "1.00", "", ""], ["4", "19.00", "9.00", "2.25", "3.00", "2.00", "0.50"]]
