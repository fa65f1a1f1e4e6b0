"""Records are plain data, kept in order, bounded, and of a known subject."""

from __future__ import annotations

import threading

import pytest

from jitwise.record import SUBJECTS, Decision, Event, Recorder, Span


@pytest.fixture
def recorder() -> Recorder:
    return Recorder(limit=10)


def test_records_are_kept_in_order(recorder):
    recorder.event("trace", "f", {"ops": 3}, ("model.py", 14))
    recorder.decide("inline", "g", "call", {"call": 2.0, "inline": 9.0}, "seconds", "cheaper")
    with recorder.span("compile", "k", {"lanes": 8}):
        pass
    event, decision, span = recorder.records()
    assert isinstance(event, Event)
    assert (event.subject, event.name, event.detail) == ("trace", "f", {"ops": 3})
    assert event.source == ("model.py", 14)
    assert isinstance(decision, Decision)
    assert decision.estimates == {"call": 2.0, "inline": 9.0}
    assert (decision.winner, decision.unit, decision.reason) == ("call", "seconds", "cheaper")
    assert isinstance(span, Span)
    assert span.duration >= 0
    assert span.thread == threading.get_ident()
    assert event.time <= decision.time <= span.start + span.duration


def test_the_oldest_records_go_first(recorder):
    for number in range(25):
        recorder.event("rule", str(number))
    assert [record.name for record in recorder.records()] == [str(n) for n in range(15, 25)]
    assert recorder.counts["rule"] == 25
    recorder.clear()
    assert recorder.records() == []
    assert not any(recorder.counts.values())


def test_records_are_found_by_subject_and_name(recorder):
    for subject in ("trace", "kernel"):
        for name in ("f", "g"):
            recorder.event(subject, name)
    assert len(recorder.records("trace")) == 2
    assert [record.subject for record in recorder.records(name="g")] == ["trace", "kernel"]
    assert len(recorder.records("kernel", "f")) == 1


def test_a_subject_nobody_knows_is_refused(recorder):
    with pytest.raises(ValueError, match=r"no subject of records; they are trace, "):
        recorder.event("tracing", "f")
    assert recorder.records() == []


def test_a_span_ends_also_when_its_block_fails(recorder):
    with pytest.raises(KeyError), recorder.span("pass", "fuse"):
        raise KeyError
    assert [record.name for record in recorder.records()] == ["fuse"]


def test_records_cannot_be_changed(recorder):
    recorder.event("trace", "f")
    with pytest.raises(AttributeError):
        recorder.records()[0].name = "g"


def test_threads_record_side_by_side():
    recorder = Recorder()
    threads = [
        threading.Thread(target=lambda: [recorder.event("rule", "x") for _ in range(500)])
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(recorder.records()) == 2_000


def test_every_subject_has_a_sentence():
    assert all(len(sentence) > 10 for sentence in SUBJECTS.values())


def test_recording_an_event_costs_few_calls(count_calls):
    recorder = Recorder()
    assert count_calls(recorder.event, "trace", "f").total <= 4
