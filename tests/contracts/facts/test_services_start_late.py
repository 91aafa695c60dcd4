"""Redis and RabbitMQ start after server and worker, which serve without them and then use them."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

from scripts.private_services.rabbit import RabbitServer
from scripts.private_services.redis import RedisServer
from tests.contracts.facts.memory import eventually
from tests.contracts.facts.programs import Programs, Server, Stream
from tests.contracts.facts.world import Consumer, Sender, put_up_again


def states(server: Server, name: str) -> str:
    """The state of one dependency, while the server is ready."""
    status, payload = server.ready()
    assert (status, payload["status"], payload["database"]) == (200, "ok", "ok")
    return str(payload[name])


def received(partner: Consumer) -> list[object]:
    """The descriptions that a partner has received."""
    partner.read()
    return [(payload["payload"].get("after") or {}).get("description") for payload in partner.seen.values()]


def test_server_and_worker_start_before_redis_and_the_broker(
    postgres_url: str, rabbit_server: RabbitServer, tmp_path: Path
) -> None:
    """A reader of one process continues at another where it left off."""
    redis, amqp_url = RedisServer(), rabbit_server.new_vhost()
    partner = Consumer(amqp_url)
    rabbit_server.kill()
    with ExitStack() as ends:
        ends.callback(put_up_again, rabbit_server)
        ends.callback(redis.remove)
        sender = Sender(tmp_path, postgres_url, amqp_url, redis.url)
        ends.callback(sender.close)
        programs = Programs(sender, tmp_path, ends)
        here, there = programs.server(), programs.server()
        programs.worker()
        here.up()
        there.up()
        assert [states(here, name) for name in ("redis", "amqp")] == ["lost", "lost"]
        with Stream(here, "/api/live") as stream:
            stream.until("ready")
            there.change("with strings")
            stream.until("event_updated")  # nobody tells, so it looks
            redis.start()
            rabbit_server.start()
            for server in (here, there):
                for name in ("redis", "amqp"):
                    eventually(lambda: states(server, name) == "ok", f"{name} is there")  # noqa: B023 - called at once
            eventually(lambda: "with strings" in received(partner), "what was kept is sent")
            there.change("with brass")
            seen = stream.until("event_updated")[-1]["id"]
        here.change("with drums")
        eventually(lambda: "with drums" in received(partner), "it is sent, too")
        with Stream(there, "/api/live", seen) as again:
            missed = again.until("ready")
        assert [frame["event"] for frame in missed[-2:]] == ["event_updated", "ready"]
        assert int(missed[-2]["id"]) > int(seen)
        redis.kill()
        eventually(lambda: states(here, "redis") == "lost", "its loss is told")
