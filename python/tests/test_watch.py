import threading

import pytest

from gridgate import FINAL, LiveJobs


def test_lists_then_watches_and_goes_on_after(grid, group):
    [first] = grid.submit({"Executable": "/bin/true", "JobGroup": group})
    grid.wait(first)
    kinds = []
    for change in grid.watch(job_group=group):
        kinds.append((change.kind, change.anew, change.job and change.job.jid))
        if change.kind == "current":
            break
    assert kinds == [("listed", True, None), ("listed", False, first), ("current", False, None)]
    position = change.position
    [second] = grid.submit({"Executable": "/bin/true", "JobGroup": group})
    states = []
    for change in grid.watch(job_group=group, after=position):
        assert (change.kind, change.job.jid) == ("job", second)
        states.append(change.job.status)
        if change.job.is_final:
            break
    assert states[0] == "Received" and states[-1] == "Done"


@pytest.mark.parametrize("is_away", [False, True])
def test_a_watch_goes_on_through_cuts_without_loss_or_repeat(grid, service, group, proxy, is_away):
    seen = []
    current = threading.Event()
    done = threading.Event()

    def watch():
        with service.client(url=f"https://localhost:{proxy.port}") as through:
            for change in through.watch(job_group=group):
                if change.kind == "current":
                    current.set()
                if change.kind == "job":
                    seen.append((change.position, change.job.jid, change.job.status))
                    if {jid for _, jid, status in seen if status in FINAL} >= set(jids):
                        done.set()
                        return

    jids = [-1]
    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    assert current.wait(20)
    jids = grid.submit({"Executable": "/bin/sh", "Arguments": ["-c", "sleep 0.3"], "JobGroup": group, "Parameters": 6})
    proxy.cut(is_open=not is_away)
    grid.wait(jids)
    proxy.is_open = True
    assert done.wait(30)
    told = []
    last = max(int(position) for position, _, _ in seen)
    for change in grid.watch(job_group=group, after="0"):
        told.append((change.position, change.job.jid, change.job.status))
        if int(change.position) >= last:
            break
    assert seen == told


def test_a_live_table_follows_until_it_is_stopped(grid, service, group):
    from IPython.core.interactiveshell import InteractiveShell
    from IPython.display import display
    from IPython.utils.capture import capture_output

    InteractiveShell.instance()
    own = service.client()
    live = LiveJobs(own, job_group=group)
    with capture_output() as shown:
        display(live)
    assert "no jobs" in shown.stdout or shown.outputs
    [jid] = grid.submit({"Executable": "/bin/true", "JobGroup": group})
    updated = threading.Event()

    told = []

    class Handle:
        def update(self, value):
            told.append(repr(value._live))
            text = value._repr_mimebundle_()["text/html"]
            if f"<td>{jid}</td><td>Done</td>" in text:
                updated.set()

    live._shown.append(Handle())
    assert updated.wait(20)
    assert repr(live) == "<1 Done>"
    live.stop()
    own.close()
    live._thread.join(20)
    assert not live._thread.is_alive()
    assert repr(live) == "<1 Done>"
    assert [text for text in told if "ended" in text] == []


def test_a_live_table_says_that_its_client_was_closed(service, group):
    own = service.client()
    live = LiveJobs(own, job_group=group)
    told = []
    current = threading.Event()

    class Handle:
        def update(self, value):
            told.append(repr(value._live))
            current.set()

    live._shown.append(Handle())
    live.start()
    assert current.wait(20)
    own.close()
    live._thread.join(20)
    assert told == ["<no jobs>", "<no jobs; ended: the client was closed>"]
