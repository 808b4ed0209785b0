"""Savers on DynamoDB and S3, judged on moto, a stand-in."""

import contextlib
from collections.abc import Iterator
from typing import Any

from targets import on_server
from targets.standins import Moto


@on_server(Moto(), "aws-dynamodb")
@contextlib.contextmanager
def aws_dynamodb(dsn: str) -> "Iterator[Any]":
    import os

    import boto3
    from langgraph_checkpoint_aws import DynamoDBSaver

    url, _, table = dsn.rpartition("/")
    os.environ |= {"AWS_ACCESS_KEY_ID": "x", "AWS_SECRET_ACCESS_KEY": "x"}
    client = boto3.client("dynamodb", region_name="us-east-1", endpoint_url=url)
    with contextlib.suppress(client.exceptions.ResourceInUseException):
        client.create_table(
            TableName=table,
            BillingMode="PAY_PER_REQUEST",
            AttributeDefinitions=[
                {"AttributeName": "PK", "AttributeType": "S"},
                {"AttributeName": "SK", "AttributeType": "S"},
            ],
            KeySchema=[
                {"AttributeName": "PK", "KeyType": "HASH"},
                {"AttributeName": "SK", "KeyType": "RANGE"},
            ],
        )
    yield DynamoDBSaver(table, region_name="us-east-1", endpoint_url=url)


@on_server(Moto(), "amazon-dynamodb")
@contextlib.contextmanager
def amazon_dynamodb(dsn: str) -> "Iterator[Any]":
    from langgraph_checkpoint_dynamodb import DynamoDBConfig, DynamoDBSaver, DynamoDBTableConfig

    url, _, table = dsn.rpartition("/")
    keys = {"aws_access_key_id": "x", "aws_secret_access_key": "x"}
    config = DynamoDBConfig(
        DynamoDBTableConfig(table), region_name="us-east-1", endpoint_url=url, **keys
    )
    yield DynamoDBSaver(config, deploy=True)


@on_server(Moto(), "dynamodb-checkpoint")
@contextlib.contextmanager
def dynamodb_checkpoint(dsn: str) -> "Iterator[Any]":
    import os

    from langgraph_dynamodb_checkpoint import DynamoDBSaver

    url, _, table = dsn.rpartition("/")
    os.environ |= {
        "AWS_ACCESS_KEY_ID": "x",
        "AWS_SECRET_ACCESS_KEY": "x",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_ENDPOINT_URL": url,
    }
    yield DynamoDBSaver(table)


@on_server(Moto(), "tigris")
@contextlib.contextmanager
def tigris(dsn: str) -> "Iterator[Any]":
    import os

    import boto3
    from langgraph.checkpoint.tigris import TigrisSaver

    url, _, bucket = dsn.rpartition("/")
    os.environ |= {"AWS_ACCESS_KEY_ID": "x", "AWS_SECRET_ACCESS_KEY": "x"}
    bucket = bucket.replace("_", "-")
    client = boto3.client("s3", region_name="us-east-1", endpoint_url=url)
    client.create_bucket(Bucket=bucket)
    with TigrisSaver.from_conn_string(bucket, endpoint_url=url, region_name="us-east-1") as saver:
        saver.setup()
        yield saver


@on_server(Moto(), "s3")
@contextlib.contextmanager
def s3(dsn: str) -> "Iterator[Any]":
    import boto3
    from langgraph_checkpoint_s3 import S3CheckpointSaver

    url, _, bucket = dsn.rpartition("/")
    keys = {"aws_access_key_id": "x", "aws_secret_access_key": "x"}
    client = boto3.client("s3", region_name="us-east-1", endpoint_url=url, **keys)
    bucket = bucket.replace("_", "-")
    client.create_bucket(Bucket=bucket)
    yield S3CheckpointSaver(bucket, s3_client=client)


@on_server(Moto(), "s3-checkpointer")
@contextlib.contextmanager
def s3_checkpointer(dsn: str) -> "Iterator[Any]":
    import os

    from s3checkpointer.s3saver import S3CheckpointSaver

    url, _, bucket = dsn.rpartition("/")
    os.environ["AWS_ENDPOINT_URL"] = url
    bucket = bucket.replace("_", "-")
    saver = S3CheckpointSaver(
        bucket, aws_access_key_id="x", aws_secret_access_key="x", region_name="us-east-1"
    )
    saver.setup()
    yield saver
