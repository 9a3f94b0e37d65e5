"""`ts.utils.benchmark`: statistics of given times, and PyTorch's output format."""

import pytest

import ts
from ts.utils.benchmark import Compare, Measurement, TaskSpec, Timer, select_unit, trim_sigfig, unit_to_english


class Clock:
    """Clock that advances by `step` seconds at each reading."""

    def __init__(self, step=1.0):
        self.now, self.step = 0.0, step

    def __call__(self):
        self.now += self.step
        return self.now


def measured(times, number=10, **texts):
    return Measurement(number, times, TaskSpec("f(x)", "pass", **texts))


def test_statements_share_names():
    runs = []
    measurement = Timer("runs.append(y)", setup="y = torch.ones(2)", globals={"runs": runs}, timer=Clock()).timeit(5)
    assert len(runs) == 2 + 5 and measurement.raw_times == [1.0] and measurement.median == 0.2
    assert runs[0].tolist() == [1.0, 1.0]


def test_number_of_threads():
    seen, before = [], ts.get_num_threads()
    Timer("seen.append(torch.get_num_threads())", globals={"seen": seen}, num_threads=3).timeit(1)
    assert set(seen) == {3} and ts.get_num_threads() == before


def test_blocks():
    calls, clock = [], Clock(1e-6)
    slow = Timer("clock.now += 0.01", globals={"clock": clock}, timer=clock)
    measurement = slow.blocked_autorange(lambda number, seconds: calls.append(number), min_run_time=3.0)
    assert sum(measurement.raw_times) >= 3.0 and len(calls) == len(measurement.raw_times) and set(calls) == {measurement.number_per_run}
    steady = Timer("clock.now += 1.0", globals={"clock": clock}, timer=clock).adaptive_autorange(min_run_time=2.0, max_run_time=50.0)
    assert len(steady.times) == 4 and steady.iqr < 1e-6


def test_numbers():
    measurement = measured([10.0, 20.0, 30.0, 40.0])
    assert measurement.times == [1.0, 2.0, 3.0, 4.0] and measurement.median == measurement.mean == 2.5 and measurement.iqr == 1.5
    assert not measurement.meets_confidence() and measurement.has_warnings and measurement.significant_figures == 1
    assert measured([10.0] * 8).significant_figures == 5 and measurement.num_threads == 1
    assert select_unit(3e-5) == ("us", 1e-6) and unit_to_english("ms") == "millisecond" and trim_sigfig(1234.5, 2) == 1200.0


def test_texts():
    text = repr(measured([1e-3, 3e-3, 3e-3, 9e-3], label="sum", sub_label="rows", description="one"))
    assert text.splitlines()[1:] == [
        "sum: rows",
        "one",
        "  Median: 300.00 us",
        "  IQR:    200.00 us (250.00 to 450.00)",
        "  4 measurements, 10 runs per measurement, 1 thread",
        "  WARNING: Interquartile range is 66.7% of the median measurement.",
        "           This suggests significant environmental influence.",
    ]
    assert repr(measured([1e-4], number=1)).splitlines()[1:] == ["f(x)", "  100.00 us", "  1 measurement, 1 runs , 1 thread"]


def test_merging():
    one, two = Measurement.merge([measured([10.0]), measured([4.0, 6.0], 2), measured([1.0], label="other")])
    assert one.times == [1.0, 2.0, 3.0] and two.title == "other"


def test_tables():
    def of(time, column, row, threads=1):
        return measured([time], 1, label="add", sub_label=row, description=column, num_threads=threads)

    table = Compare([of(2.5e-5, "one", "small"), of(9e-6, "two", "large"), of(1e-6, "two", "large", 2)])
    lines = str(table).splitlines()
    assert lines[0].startswith("[---") and " add " in lines[0] and lines[1].split() == ["|", "one", "|", "two"]
    assert [line.split() for line in lines[3:5]] == [["small", "|", "25.0", "|"], ["large", "|", "|", "9.0"]]
    assert lines[5].startswith("2 threads: ---") and lines[6].split() == ["large", "|", "|", "1.0"]
    assert lines[-1] == "Times are in microseconds (us)."
    table.colorize()
    assert "25.0*" in str(table) and "1.0*" in str(table) and "9.0*" not in str(table)


def test_invalid_calls():
    with pytest.raises(NotImplementedError, match=r"C\+\+ is unsupported"):
        Timer("x;", language="cpp")
    with pytest.raises(ValueError, match="expected measurements"):
        Compare([1.0])
    with pytest.raises(NameError):
        Timer("nothing_by_this_name").timeit(1)
