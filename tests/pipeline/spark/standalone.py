"""A Spark standalone cluster for tests, from the pip package: a master, and workers that come and go."""

import os
import re
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pyspark

HOME = Path(pyspark.__file__).parent


class Standalone:
    """A master on `address`; workers are added one by one."""

    def __init__(self, folder, address="127.0.0.1"):
        self.folder = folder
        self.address = address
        self.started = {}
        log = self.start("master", "master.Master", address)
        self.url = self.heard(log, rf"spark://{re.escape(address)}:\d+")[0]

    def add(self, name, address=None, namespace=None, **environment):
        """Add a worker, in a network namespace of its own if one is given."""
        size = ("--cores", "1", "--memory", "1g")
        log = self.start(
            name,
            "worker.Worker",
            address or self.address,
            *size,
            self.url,
            namespace=namespace,
            environment=environment,
        )
        self.heard(log, "Successfully registered with master")

    def start(self, name, main, address, *arguments, namespace=None, environment=None):
        log = self.folder / f"{name}.log"
        command = [str(HOME / "bin" / "spark-class"), f"org.apache.spark.deploy.{main}"]
        command += ["--host", address, "--port", "0", "--webui-port", "0", *arguments]
        if namespace:
            command = ["ip", "netns", "exec", namespace, *command]
        settings = {
            "SPARK_HOME": str(HOME),
            "SPARK_LOCAL_IP": address,
            "PYSPARK_PYTHON": sys.executable,
            "SPARK_WORKER_DIR": str(self.folder / f"work-{name}"),
        }
        with log.open("wb") as sink:
            self.started[name] = subprocess.Popen(
                command,
                env=os.environ | settings | (environment or {}),
                stdout=sink,
                stderr=sink,
                start_new_session=True,
            )
        return log

    def heard(self, log, pattern):
        while not (found := re.search(pattern, log.read_text())):
            assert all(process.poll() is None for process in self.started.values()), log.read_text()[-2000:]
            time.sleep(0.2)
        return found

    def kill(self, name):
        """End a worker and its executors at once."""
        process = self.started.pop(name)
        with suppress(ProcessLookupError):
            os.killpg(process.pid, 9)
        process.wait(60)

    def end(self):
        for name in list(self.started):
            self.kill(name)
