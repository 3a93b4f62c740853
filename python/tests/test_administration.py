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
