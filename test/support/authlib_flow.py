"""Flow B with Authlib's requests session: reads JSON lines on standard input, writes JSON lines."""

import json
import sys

from authlib.integrations.requests_client import OAuth2Session

settings = json.loads(sys.stdin.readline())
session = OAuth2Session(
    settings["client_id"],
    scope="jobs:read catalogue:read",
    redirect_uri=settings["redirect_uri"],
    code_challenge_method="S256",
    token_endpoint_auth_method="none",
)
session.verify = settings["ca"]
session.trust_env = False  # REQUESTS_CA_BUNDLE would win over verify
verifier = "v" * 50
url, state = session.create_authorization_url(settings["url"] + "/oauth2/auth", code_verifier=verifier)
print(json.dumps({"url": url}), flush=True)

location = json.loads(sys.stdin.readline())["location"]
endpoint = settings["url"] + "/oauth2/token"
token = session.fetch_token(endpoint, authorization_response=location, code_verifier=verifier)
jobs = session.get(settings["url"] + "/jobs")
renewed = session.refresh_token(endpoint, refresh_token=token["refresh_token"])
revoked = session.revoke_token(settings["url"] + "/oauth2/revoke", token=renewed["refresh_token"])
after = session.get(settings["url"] + "/jobs")
print(
    json.dumps(
        {
            "scope": token["scope"],
            "jobs": jobs.status_code,
            "isRenewed": renewed["refresh_token"] != token["refresh_token"],
            "revoked": revoked.status_code,
            "after": after.status_code,
        }
    ),
    flush=True,
)
