import os
from made.api.jobs import get_job, list_jobs, submit_jobs
from made.client import AuthenticatedClient
from made.models import ManifestRequest

client = AuthenticatedClient(base_url=os.environ["GRID"], token=os.environ["TOKEN"], verify_ssl=os.environ["CA"])
before = list_jobs.sync(client=client, max_jobs=5)
made = submit_jobs.sync(client=client, body=ManifestRequest(executable="/bin/true", job_name="python"))
job = get_job.sync(made.jids[0], client=client)
print(str(len(before.jobs) >= 0).lower(), str(job.jid == made.jids[0]).lower(), job.name)
