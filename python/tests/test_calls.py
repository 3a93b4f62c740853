"""What only a service in trouble does, by a small one of our own."""

import json
import pickle
import time
from datetime import date, datetime, timezone
from urllib.parse import parse_qs, urlsplit

import pytest

from gridgate import Client, FeedGone, GridgateError, ProblemError, RateLimited, ServiceError, UnreachableError


def problem(status, code, **headers):
    return status, headers, {"status": status, "code": code, "title": code, "detail": "so it is"}


def test_passing_trouble_is_tried_again(troubled):
    troubled.answers += [problem(503, "service.overloaded", **{"Retry-After": "0"}), (0, {}, ""), (200, {}, {"Done": 1})]
    with Client(troubled.url, token="t") as grid:
        assert grid.summary() == {"Done": 1}
    assert len(troubled.asked) == 3
    assert troubled.asked[0][2]["Authorization"] == "Bearer t"


def test_it_is_not_tried_for_ever_nor_waited_for_too_long(troubled):
    troubled.answers += [problem(503, "service.unavailable")] * 2
    with Client(troubled.url, token="t", retries=1) as grid:
        with pytest.raises(ServiceError) as caught:
            grid.summary()
        assert caught.value.code == "service.unavailable"
        troubled.answers += [problem(429, "rate.limited", **{"Retry-After": "3600"})]
        with pytest.raises(RateLimited) as limited:
            grid.summary()
        assert limited.value.retry_after == 3600
    assert len(troubled.asked) == 3


def test_a_submit_is_tried_again_with_the_same_key_and_files(troubled):
    troubled.answers += [(0, {}, ""), problem(409, "idempotency.in-flight"), (200, {}, {"jids": [7]})]
    with Client(troubled.url, token="t") as grid:
        assert grid.submit({"Executable": "x"}, {"x": b"content of x"}) == [7]
    keys = {headers["Idempotency-Key"] for _, _, headers, _ in troubled.asked}
    assert len(keys) == 1
    assert all(b"content of x" in body for _, _, _, body in troubled.asked)


def test_what_is_not_idempotent_is_not_repeated(troubled):
    troubled.answers += [(0, {}, "")]
    with Client(troubled.url, token="t") as grid, pytest.raises(UnreachableError):
        grid.reschedule(1)
    assert len(troubled.asked) == 1


def test_a_feed_that_is_gone_is_listed_again(troubled):
    job = {"jid": 1, "status": "Running"}
    troubled.answers += [
        problem(410, "feed.gone"),
        (200, {"Grid-Feed-Position": "9"}, {"jobs": [job]}),
        (200, {}, json.dumps({"id": "10", "event": "job", "data": {**job, "status": "Done"}}).encode() + b"\n{half"),
    ]
    with Client(troubled.url, token="t") as grid:
        changes = grid.watch(after="1")
        seen = [next(changes) for _ in range(4)]
        changes.close()
    assert [(one.kind, one.anew, one.position) for one in seen] == [
        ("listed", True, None),
        ("listed", False, None),
        ("current", False, "9"),
        ("job", False, "10"),
    ]
    assert [path.split("?")[0] for _, path, _, _ in troubled.asked] == ["/jobs/events", "/jobs", "/jobs/events"]


def test_links_and_redirections_to_other_places_are_not_followed(troubled):
    page = {"jobs": [{"jid": 1, "status": "Done"}]}
    troubled.answers += [(200, {"Link": '<https://elsewhere.example/jobs?after=1>; rel="next"'}, page)]
    troubled.answers += [(302, {"Location": "https://elsewhere.example/"}, "")]
    with Client(troubled.url, token="t") as grid:
        assert [job.jid for job in grid.jobs()] == [1]
        with pytest.raises(ProblemError) as caught:
            grid.summary()
    assert caught.value.status == 302


@pytest.mark.parametrize("text", [b"<html>", b"[1]", b'"x"', b"\xff"])
def test_answers_of_something_else_are_errors(troubled, text):
    troubled.answers += [(400, {}, text)]
    with Client(troubled.url, token="t") as grid:
        with pytest.raises(ProblemError) as caught:
            grid.summary()
        assert caught.value.code == "unknown"
        troubled.answers += [(200, {}, b"<html>")]
        with pytest.raises(GridgateError, match="not one of Gridgate"):
            grid.summary()


def test_errors_survive_pickling():
    error = pickle.loads(pickle.dumps(FeedGone(410, {"code": "feed.gone", "detail": "gone", "pointer": "/a"}, 3)))
    assert (type(error), error.code, error.pointer, error.retry_after, str(error)) == (FeedGone, "feed.gone", "/a", 3, "gone")


def test_a_refused_token_is_asked_for_once_more(troubled):
    tokens = iter(["old", "new"])
    troubled.answers += [problem(401, "auth.token-invalid"), (200, {}, {"Done": 2})]
    with Client(troubled.url, token=lambda: next(tokens)) as grid:
        assert grid.summary() == {"Done": 2}
    assert [headers["Authorization"] for _, _, headers, _ in troubled.asked] == ["Bearer old", "Bearer new"]


def test_what_is_no_id_of_a_job_is_refused_before_anything_is_sent(troubled):
    with Client(troubled.url, token="t") as grid:
        for wrong in (1.5, "1.5", "x", b"12", None, float("nan")):
            for call in (grid.job, grid.hold, grid.read_output, grid.manifest):
                with pytest.raises((TypeError, ValueError)):
                    call(wrong)
            for many in (wrong, [wrong]):
                with pytest.raises((TypeError, ValueError)):
                    grid.kill(many)
                with pytest.raises((TypeError, ValueError)):
                    grid.wait(many)
        for start, end in ((-3, None), (0, -1), (-5, -1)):
            with pytest.raises(ValueError, match="start and end are positions from 0 on"):
                grid.read_output(1, start=start, end=end)
    assert troubled.asked == []


def test_a_text_is_one_id_not_one_for_each_of_its_digits(troubled):
    troubled.answers += [(200, {}, {"jid": 12})]
    with Client(troubled.url, token="t") as grid:
        assert grid.kill("12") == [12]
    assert [path for _, path, *_ in troubled.asked] == ["/jobs/12"]


def test_a_time_without_zone_is_of_this_machine(troubled, monkeypatch):
    monkeypatch.setenv("TZ", "UTC-5")
    time.tzset()
    try:
        troubled.answers += [(200, {}, {})] * 3
        with Client(troubled.url, token="t") as grid:
            for moment in (datetime(2026, 1, 1, 5), datetime(2026, 1, 1, tzinfo=timezone.utc), date(2026, 1, 1)):
                grid.summary(from_date=moment)
    finally:
        monkeypatch.undo()
        time.tzset()
    assert [parse_qs(urlsplit(path).query)["fromDate"] for _, path, *_ in troubled.asked] == [
        ["2026-01-01T05:00:00+05:00"],
        ["2026-01-01T00:00:00+00:00"],
        ["2026-01-01"],
    ]
