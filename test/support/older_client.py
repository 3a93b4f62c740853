"""A client written for the older interface: reads `token`, posts `manifest` with files, reads `jids` and `status`.

Arguments: base URL, CA file, certificate, key. Prints one JSON line with what it saw.
"""
import json
import os
import subprocess
import sys
import tempfile
import time

import requests

url, ca, certificate, key = sys.argv[1:5]
session = requests.Session()
session.verify = ca
session.trust_env = False

answer = session.get(
    url + "/oauth2/token",
    params={"grant_type": "client_credentials", "group": "grid_user", "setup": "Prod"},
    cert=(certificate, key),
)
assert answer.status_code == 200, answer.text
token = answer.json()["token"]
access = {"access_token": token}

folder = tempfile.mkdtemp()
script = os.path.join(folder, "run.sh")
data = os.path.join(folder, "input.txt")
with open(script, "w") as file:
    file.write("#!/bin/sh\nwc -l < input.txt\n")
with open(data, "w") as file:
    file.write("one\ntwo\nthree\n")

manifest = {
    "Executable": "run.sh",
    "InputSandbox": ["run.sh", "input.txt"],
    "OutputSandbox": ["std.out", "std.err"],
}
answer = session.post(
    url + "/jobs",
    data={"manifest": json.dumps(manifest)},
    files={"file": open(script, "rb"), "file1": open(data, "rb")},
    params=access,
)
assert answer.status_code == 200, answer.text
jid = answer.json()["jids"][0]

deadline = time.time() + 30
status = ""
while time.time() < deadline:
    status = session.get("%s/jobs/%d" % (url, jid), params=access).json()["status"]
    if status in ("Done", "Failed", "Killed"):
        break
    time.sleep(0.1)

answer = session.get("%s/jobs/%d/outputsandbox" % (url, jid), params=access)
assert answer.status_code == 200, answer.text
archive = os.path.join(folder, "out.tar.gz")
with open(archive, "wb") as file:
    file.write(answer.content)
out = os.path.join(folder, "out")
os.mkdir(out)
subprocess.check_call(["tar", "xzf", archive, "-C", out])
listed = session.get(url + "/jobs", params=dict(access, jid=jid)).json()
print(
    json.dumps(
        {
            "jid": jid,
            "status": status,
            "files": sorted(os.listdir(out)),
            "output": open(os.path.join(out, "std.out")).read().strip(),
            "entries": listed["entries"],
            "disposition": answer.headers["Content-Disposition"],
        }
    )
)
