"""Access to S3 by Arrow's file system, and by boto3 for conditional PUT, which Arrow does not support."""

from __future__ import annotations

import os
from functools import cache
from typing import Any
from urllib.parse import urlsplit

from pyarrow import fs

from roamcast.errors import UserError

_PATIENCE = 60.0
"Timeout of connections and requests [s]; Arrow's default of 3 s is too short for a busy endpoint."


def connect_s3(bucket: str) -> fs.FileSystem:
    """Return Arrow's file system for a bucket, configured by the standard `AWS_` environment variables."""
    endpoint = _endpoint()
    region = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
    how: dict[str, Any] = {"connect_timeout": _PATIENCE, "request_timeout": _PATIENCE}
    if endpoint is None:
        return fs.S3FileSystem(region=region or fs.resolve_s3_region(bucket), **how)
    told = urlsplit(endpoint)
    how |= {"endpoint_override": told.netloc, "scheme": told.scheme}
    return fs.S3FileSystem(region=region or "us-east-1", **how)


def _endpoint() -> str | None:
    return os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL")


def put_new(path: str, content: bytes) -> bool:
    """Create an object by PUT with If-None-Match; return False if the object exists."""
    client = make_client()
    bucket, _, key = path.partition("/")
    try:
        client.put_object(Bucket=bucket, Key=key, Body=content, IfNoneMatch="*")
    except client.exceptions.ClientError as error:
        # 412: the object exists; 409: a concurrent PUT is in progress.
        if error.response["ResponseMetadata"]["HTTPStatusCode"] in (409, 412):
            return False
        raise OSError(str(error)) from None
    return True


@cache
def make_client() -> Any:
    """Return the boto3 client for conditional PUT requests."""
    try:
        import boto3
    except ImportError:
        raise UserError("s3:// needs boto3; install it with: pip install 'roamcast[s3]'") from None
    return boto3.client("s3", endpoint_url=_endpoint(), region_name=os.environ.get("AWS_REGION", "us-east-1"))
