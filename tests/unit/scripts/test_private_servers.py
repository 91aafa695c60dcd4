"""The services that other tests use are real, empty each time, and gone afterwards."""

from __future__ import annotations

from pathlib import Path

import pika
import psycopg
import pytest
import redis
from playwright.sync_api import Page

from scripts.private_services.postgres import PostgresServer
from scripts.private_services.rabbit import RabbitServer
from scripts.private_services.redis import RedisServer
from tests.services.optional_services import excluded_services


def number_of_tables(url: str) -> int:
    with psycopg.connect(url) as connection:
        row = connection.execute("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'").fetchone()
        connection.execute("CREATE TABLE left_behind (id int)")
    assert row is not None
    return int(row[0])


@pytest.mark.parametrize("run", ["first", "second"])
def test_each_test_gets_an_empty_postgresql_database(empty_postgres_url: str, run: str) -> None:
    assert number_of_tables(empty_postgres_url) == 0


def test_postgresql_comes_back_with_its_rows_after_a_power_cut(postgres_server: PostgresServer) -> None:
    url = postgres_server.new_database()
    number_of_tables(url)
    postgres_server.kill()
    with pytest.raises(psycopg.OperationalError):
        psycopg.connect(url)
    postgres_server.start()
    assert number_of_left_behind_tables(url) == 1


def number_of_left_behind_tables(url: str) -> int:
    with psycopg.connect(url) as connection:
        return len(connection.execute("SELECT 1 FROM pg_tables WHERE tablename = 'left_behind'").fetchall())


def test_a_suite_for_both_databases_sees_both(database_url: str, tmp_path: Path) -> None:
    assert database_url.startswith(("postgresql://", f"sqlite:///{tmp_path}"))


@pytest.mark.parametrize("run", ["first", "second"])
def test_each_test_gets_an_empty_redis(redis_url: str, run: str) -> None:
    with redis.Redis.from_url(redis_url) as client:
        assert client.dbsize() == 0
        client.set("left", "behind")


def test_redis_can_go_away_and_come_back(redis_server: RedisServer) -> None:
    with redis.Redis.from_url(redis_server.url) as client:
        assert client.ping()
        redis_server.stop()
        with pytest.raises(redis.ConnectionError):
            client.ping()
        redis_server.start()
        assert client.ping()


def declare_and_send(url: str) -> None:
    with pika.BlockingConnection(pika.URLParameters(url)) as connection:
        channel = connection.channel()
        channel.queue_declare("greetings", durable=True)
        channel.confirm_delivery()
        channel.basic_publish("", "greetings", b"hello", pika.BasicProperties(delivery_mode=2))


def fetch(url: str) -> bytes | None:
    with pika.BlockingConnection(pika.URLParameters(url)) as connection:
        _, _, body = connection.channel().basic_get("greetings", auto_ack=True)
        return body


def test_a_message_in_a_durable_queue_survives_the_brokers_restart(rabbit_server: RabbitServer) -> None:
    url = rabbit_server.new_vhost()
    declare_and_send(url)
    rabbit_server.stop()
    rabbit_server.start()
    assert fetch(url) == b"hello"


def test_each_test_gets_a_broker_without_queues(amqp_url: str, rabbit_server: RabbitServer) -> None:
    declare_and_send(rabbit_server.new_vhost())
    with pytest.raises(pika.exceptions.ChannelClosedByBroker):
        fetch(amqp_url)


def test_a_page_is_shown_by_a_real_browser(browser_page: Page) -> None:
    browser_page.set_content("<h1>Doors open</h1>")
    assert browser_page.inner_text("h1") == "Doors open"


def test_a_page_cannot_reach_the_outside_world(
    pytester: pytest.Pytester, pytestconfig: pytest.Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    if "browser" in excluded_services():
        pytest.skip("the browser is excluded")
    monkeypatch.setenv("PYTHONPATH", str(pytestconfig.rootpath))
    pytester.makeconftest("from tests.services.browser import browser, browser_page")
    pytester.makepyfile(
        """
        def test_asks(browser_page):
            browser_page.set_content('<img src="http://pictures.example/a.png">')
        """
    )
    outcome = pytester.runpytest_subprocess("-p", "no:cacheprovider")
    outcome.assert_outcomes(passed=1, errors=1)
    outcome.stdout.fnmatch_lines(["*http://pictures.example/a.png*"])


def test_an_unknown_service_name_stops_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GATEHOUSE_TEST_SKIP", "postgres")
    with pytest.raises(pytest.UsageError, match="the services are postgresql, redis"):
        excluded_services()
