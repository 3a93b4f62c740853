import httpx
import pytest

from gridgate import Client, Conflict, Forbidden, NotFound
from gridgate.login import ssl_context


@pytest.fixture
def adam(service):
    """A client for administration."""
    context = ssl_context(service.ca)
    context.load_cert_chain(*service.cert("adam"))
    query = {"grant_type": "client_credentials", "group": "grid_adm", "setup": "Prod", "scope": "admin"}
    with httpx.Client(verify=context) as http:
        token = http.get(f"{service.url}/oauth2/token", params=query).json()["access_token"]
    with Client(service.url, token=token, ca=service.ca) as client:
        yield client.administration


def test_shows_users_and_changes_groups(adam):
    assert [user["name"] for user in adam.users("CN=m")] == ["mona"]
    assert adam.user("mona")["groups"] == ["grid_mon"]
    assert "grid_user" in [group["name"] for group in adam.groups()]
    assert adam.add_member("grid_fc", "mona") == {"changes": ["~ groups.grid_fc: members +mona"]}
    assert adam.group("grid_fc")["members"] == ["fred", "mona"]
    assert adam.remove_member("grid_fc", "mona") == {"changes": ["~ groups.grid_fc: members -mona"]}
    assert adam.disable("mona") == {"changes": ["~ users.mona: disabled"]}
    assert adam.user("mona")["disabled"] and adam.user("mona")["groups"] == ["grid_mon"]
    assert adam.enable("mona") == {"changes": ["~ users.mona: enabled"]}
    with pytest.raises(Conflict, match="Nobody could administer"):
        adam.disable("adam")
    with pytest.raises(NotFound):
        adam.user("a/b")
    with pytest.raises(ValueError, match="is no name"):
        adam.user("..")


def test_adds_changes_and_removes_users_groups_and_sites(adam):
    dora = adam.add_user("dora", certificates=[{"subject": "/CN=Dora"}], email="d@example.org", groups=["grid_user"])
    assert dora["groups"] == ["grid_user"] and not dora["disabled"]
    with pytest.raises(Conflict, match="already a user dora"):
        adam.add_user("dora")
    assert adam.change_user("dora", email=None) == {"changes": ["~ users.dora: email d@example.org -> (none)"]}
    assert adam.add_group("night", properties=["NormalUser"], members=["dora"])["members"] == ["dora"]
    with pytest.raises(Conflict, match="take them out first"):
        adam.remove_group("night")
    assert adam.change_group("night", members=[]) == {"changes": ["~ groups.night: members -dora"]}
    assert adam.remove_group("night") is None and adam.remove_user("dora") is None
    with pytest.raises(NotFound):
        adam.remove_user("dora")
    assert adam.add_site("BATCH.new", "slurm", slots=2)["slots"] == 2
    assert adam.change_site("BATCH.new", slots=None) == {"changes": ["~ sites.BATCH.new: slots 2 -> (none)"]}
    assert "slots" not in adam.site("BATCH.new")
    assert adam.remove_site("BATCH.new") is None


def test_keeps_applications_keys_and_sites(adam):
    added = adam.add_application("Python", id="python", confidential=True)
    assert added["id"] == "python" and len(added["secret"]) > 40
    assert adam.application("python")["authentication"] == "client_secret"
    assert "python" in [one["id"] for one in adam.applications()]
    assert adam.remove_application("python") == {"id": "python", "deleted": True}
    ready = [key["kid"] for key in adam.signing_keys() if key["state"] == "next"]
    rotated = {key["kid"]: key["state"] for key in adam.rotate_keys()}
    # used at once where it has been published for ten minutes, else when it will have been
    assert ready and {rotated.pop(kid) for kid in ready} <= {"signing", "scheduled"}
    assert list(rotated.values()).count("next") == len(ready)
    assert adam.drain("LOCAL.spare", "new kernel")["reason"] == "new kernel"
    assert [site["state"] for site in adam.sites()] == ["open", "drained"]
    assert adam.resume("LOCAL.spare")["state"] == "open"


def test_is_for_the_scope(grid):
    with pytest.raises(Forbidden):
        grid.administration.groups()
