"""A bucket of a real server with the S3 API."""

import os
import subprocess
import sys
import time
from urllib.parse import quote

import boto3
import httpx

from tests.server import free_port

MODULE = "import sys; from moto.server import main; main(sys.argv[1:])"


class Bucket:
    def __init__(self):
        self.port = free_port()
        self.start()
        boto3.client("s3", **self.access()).create_bucket(Bucket="pictures")

    def start(self):
        command = [sys.executable, "-W", "ignore", "-c", MODULE, "-H", "127.0.0.1", "-p", str(self.port)]
        self.process = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**os.environ, "NO_PROXY": "*"}
        )
        deadline = time.monotonic() + 60
        while True:
            try:
                httpx.get(f"http://127.0.0.1:{self.port}/", trust_env=False)
                return
            except httpx.HTTPError:
                assert time.monotonic() < deadline, "the object store does not start"
                time.sleep(0.1)

    def stop(self):
        self.process.kill()
        self.process.wait()

    def access(self):
        return {
            "endpoint_url": f"http://127.0.0.1:{self.port}",
            "region_name": "us-east-1",
            "aws_access_key_id": "key",
            "aws_secret_access_key": "se/cret",
        }

    @property
    def url(self):
        return self.url_at(self.port)

    def url_at(self, port):
        """MEDIA_URL, through another port."""
        endpoint = quote(f"http://127.0.0.1:{port}", safe="")
        return f"s3://key:{quote('se/cret', safe='')}@pictures?endpoint={endpoint}&region=us-east-1"

    def names(self):
        listed = boto3.client("s3", **self.access()).list_objects_v2(Bucket="pictures")
        return {entry["Key"] for entry in listed.get("Contents", [])}
