"""Administration: users, groups, applications, signing keys and sites."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Optional
from urllib.parse import quote

from .._call import Call
from .transport import Transport
from .watching import pages_of

PAGE = 500


class Administration:
    """What takes a token with the scope ``admin``; ``client.administration``. Answers are those of the service."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def users(self, search: Optional[str] = None) -> Iterator[dict[str, Any]]:
        """The users by name, page by page; ``search``: a part of names, e-mail addresses, certificates or subjects."""
        query = {"limit": PAGE, "search": search}
        return pages_of(self._transport, Call("GET", "/admin/users", query), "users")

    def user(self, name: str) -> dict[str, Any]:
        """One user."""
        return self._json(Call("GET", f"/admin/users/{_part(name)}"))

    def add_user(self, name: str, **members: Any) -> dict[str, Any]:
        """Adds a user and answers it. Raises Conflict for a name or an identity that is taken.

        ``members`` are those of the body: ``certificates=[{"subject": "/DC=org/CN=Dora"}]``, ``groups=["grid_user"]``.
        """
        return self._json(Call("POST", "/admin/users", json={"name": name, **members}))

    def change_user(self, name: str, **members: Any) -> dict[str, Any]:
        """Changes a user: what is left out stays, lists are replaced, None takes away."""
        return self._json(Call("PATCH", f"/admin/users/{_part(name)}", json=members, again=True))

    def remove_user(self, name: str) -> None:
        """Removes a user; jobs and files stay with the name. Raises Conflict for the last administrator."""
        self._transport.answer(Call("DELETE", f"/admin/users/{_part(name)}"))

    def disable(self, name: str) -> dict[str, Any]:
        """Disables a user: no token is good any more; the groups stay. Raises Conflict for the last administrator."""
        return self._json(Call("POST", f"/admin/users/{_part(name)}/disable", again=True))

    def enable(self, name: str) -> dict[str, Any]:
        """Enables a user who was disabled, with the groups as they are."""
        return self._json(Call("POST", f"/admin/users/{_part(name)}/enable", again=True))

    def groups(self) -> list[dict[str, Any]]:
        """All groups with their members."""
        return list((self._json(Call("GET", "/admin/groups")))["groups"])

    def group(self, name: str) -> dict[str, Any]:
        """One group with its members."""
        return self._json(Call("GET", f"/admin/groups/{_part(name)}"))

    def add_group(self, name: str, **members: Any) -> dict[str, Any]:
        """Adds a group and answers it: ``add_group("night", properties=["NormalUser"], members=["dora"])``."""
        return self._json(Call("POST", "/admin/groups", json={"name": name, **members}))

    def change_group(self, name: str, **members: Any) -> dict[str, Any]:
        """Changes a group: what is left out stays, lists are replaced, None takes away."""
        return self._json(Call("PATCH", f"/admin/groups/{_part(name)}", json=members, again=True))

    def remove_group(self, name: str) -> None:
        """Removes a group. Raises Conflict when it has members."""
        self._transport.answer(Call("DELETE", f"/admin/groups/{_part(name)}"))

    def add_member(self, group: str, user: str) -> dict[str, Any]:
        """Takes a user into a group."""
        return self._json(Call("PUT", f"/admin/groups/{_part(group)}/members/{_part(user)}"))

    def remove_member(self, group: str, user: str) -> dict[str, Any]:
        """Takes a user out of a group. Raises Conflict for the last administrator."""
        return self._json(Call("DELETE", f"/admin/groups/{_part(group)}/members/{_part(user)}"))

    def applications(self) -> list[dict[str, Any]]:
        """All applications, never with a secret."""
        return list((self._json(Call("GET", "/admin/applications")))["applications"])

    def application(self, id: str) -> dict[str, Any]:
        """One application."""
        return self._json(Call("GET", f"/admin/applications/{_part(id)}"))

    def add_application(self, name: str, **members: Any) -> dict[str, Any]:
        """Registers an application and answers its id, and its secret this one time.

        ``members`` are those of the body: ``redirectUris=["https://..."]``, ``confidential=True``.
        """
        return self._json(Call("POST", "/admin/applications", json={"name": name, **members}))

    def remove_application(self, id: str) -> dict[str, Any]:
        """Removes an application; its tokens are refused from then on."""
        return self._json(Call("DELETE", f"/admin/applications/{_part(id)}"))

    def signing_keys(self) -> list[dict[str, Any]]:
        """The signing keys, without anything private."""
        return list((self._json(Call("GET", "/admin/keys")))["keys"])

    def rotate_keys(self) -> list[dict[str, Any]]:
        """Lets the next signing keys take over and answers all."""
        return list((self._json(Call("POST", "/admin/keys/rotation")))["keys"])

    def sites(self) -> list[dict[str, Any]]:
        """All sites, and which are drained."""
        return list((self._json(Call("GET", "/admin/sites")))["sites"])

    def site(self, name: str) -> dict[str, Any]:
        """One site."""
        return self._json(Call("GET", f"/admin/sites/{_part(name)}"))

    def add_site(self, name: str, backend: str, **members: Any) -> dict[str, Any]:
        """Adds a site and answers it; ``backend`` is ``local-process``, ``slurm`` or ``worker``."""
        return self._json(Call("POST", "/admin/sites", json={"name": name, "backend": backend, **members}))

    def change_site(self, name: str, **members: Any) -> dict[str, Any]:
        """Changes a site: what is left out stays, lists are replaced, None takes away."""
        return self._json(Call("PATCH", f"/admin/sites/{_part(name)}", json=members, again=True))

    def remove_site(self, name: str) -> None:
        """Removes a site; what runs there goes on to its end."""
        self._transport.answer(Call("DELETE", f"/admin/sites/{_part(name)}"))

    def drain(self, site: str, reason: str) -> dict[str, Any]:
        """Gives a site no new jobs; what runs there goes on."""
        return self._json(Call("POST", f"/admin/sites/{_part(site)}/drain", json={"reason": reason}, again=True))

    def resume(self, site: str) -> dict[str, Any]:
        """Gives a drained site jobs again."""
        return self._json(Call("POST", f"/admin/sites/{_part(site)}/resume", again=True))

    def _json(self, call: Call) -> dict[str, Any]:
        return dict(self._transport.json(call))


def _part(name: str) -> str:
    """A name as part of a path."""
    if name in ("", ".", ".."):
        raise ValueError(f"{name!r} is no name")
    return quote(name, safe="")
