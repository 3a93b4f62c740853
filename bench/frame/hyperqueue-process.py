"""Runs /bin/true as many times as tasks of one HyperQueue job on this machine; prints the seconds from submission to the end.

Arguments: a fresh folder, the number of tasks.
"""

import sys
import time
from pathlib import Path

from hyperqueue import Job
from hyperqueue.cluster import LocalCluster, WorkerConfig

folder, tasks = Path(sys.argv[1]), int(sys.argv[2])
with LocalCluster(server_dir=str(folder / "server"), worker_config=WorkerConfig()) as cluster:
    client = cluster.client()
    job = Job(default_workdir=folder)
    for _ in range(tasks):
        job.program(["/bin/true"], stdout=None, stderr=None)
    began = time.perf_counter()
    submitted = client.submit(job)
    client.wait_for_jobs([submitted])
    print("seconds", time.perf_counter() - began)
