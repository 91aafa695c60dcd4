"""A private RabbitMQ with its own node, ports, port mapper and cookie."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from scripts.private_services.installed import find_program
from scripts.processes.child import Child
from scripts.processes.ports import LOOPBACK, free_port, responds

#: Debian's wrapper in /usr/sbin requires the account and node of the machine's own broker; the inner scripts do not.
INNER = "usr/lib/rabbitmq/lib/rabbitmq_server-*/sbin"
PACKAGE = "rabbitmq-server"
GREETING = b"AMQP\x00\x00\x09\x01"
VHOSTS_AT_ONCE = 16
#: One call of rabbitmqctl takes longer than a broker takes for all of these.
NEW_VHOSTS = """\
[begin
   Name = list_to_binary("test" ++ integer_to_list(Number)),
   ok = rabbit_vhost:add(Name, <<"gatehouse">>),
   ok = rabbit_auth_backend_internal:set_permissions(<<"guest">>, Name, <<".*">>, <<".*">>, <<".*">>, <<"gatehouse">>)
 end || Number <- lists:seq({first}, {last})]."""


class RabbitServer:
    """A broker that tests may stop, start and kill; `new_vhost` gives each test an empty virtual host."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="gatehouse-rabbit-"))
        self.port, self._distribution_port, self._mapper_port = free_port(), free_port(), free_port()
        self._vhosts, self._unused = 0, list[int]()
        self._environment = self._settings()
        mapper = [find_program("epmd", "erlang-base"), "-port", str(self._mapper_port), "-address", LOOPBACK]
        self._mapper = Child("Erlang's port mapper", mapper, self.folder / "mapper.log", self._environment)
        # Told that it runs under systemd, the script execs the broker instead of supervising it.
        broker_environment = {**self._environment, "RUNNING_UNDER_SYSTEMD": "1"}
        broker = [find_program("rabbitmq-server", PACKAGE, INNER)]
        self._child = Child("RabbitMQ", broker, self.folder / "log", broker_environment, stop_timeout=20)

    def _settings(self) -> dict[str, str]:
        config = self.folder / "rabbitmq.conf"
        config.write_text(f"listeners.tcp.1 = {LOOPBACK}:{self.port}\nlog.file = false\nlog.console.level = warning\n")
        (self.folder / "plugins").write_text("[].\n")
        return {
            "HOME": str(self.folder),
            "ERL_CRASH_DUMP": str(self.folder / "crash.dump"),
            "ERL_EPMD_PORT": str(self._mapper_port),
            "RABBITMQ_NODENAME": f"gatehouse{self.port}@localhost",
            "RABBITMQ_NODE_PORT": str(self.port),
            "RABBITMQ_DIST_PORT": str(self._distribution_port),
            "RABBITMQ_MNESIA_BASE": str(self.folder / "mnesia"),
            "RABBITMQ_LOG_BASE": str(self.folder / "logs"),
            "RABBITMQ_PID_FILE": str(self.folder / "pid"),
            "RABBITMQ_ENABLED_PLUGINS_FILE": str(self.folder / "plugins"),
            "RABBITMQ_CONFIG_FILE": str(config),
            "RABBITMQ_CONF_ENV_FILE": str(self.folder / "no-such-file"),
        }

    @property
    def url(self) -> str:
        """URL of the default virtual host."""
        return f"amqp://guest:guest@{LOOPBACK}:{self.port}/%2F"

    def start(self) -> None:
        """Start the broker and wait until it speaks AMQP."""
        if not self._mapper.running:
            self._mapper.start()
        self._child.start()
        self._child.wait_until(lambda: responds(self.port, GREETING, b"\x01"), seconds=120)

    def stop(self) -> None:
        """Stop cleanly; durable queues and their messages are back after `start`."""
        self._child.stop()

    def kill(self) -> None:
        """Kill the broker, as a power cut would."""
        self._child.kill()

    def remove(self) -> None:
        """Kill the broker and delete its files."""
        self._child.kill()
        self._mapper.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def new_vhost(self) -> str:
        """Create an empty virtual host; return its URL."""
        if not self._unused:
            first, self._vhosts = self._vhosts + 1, self._vhosts + VHOSTS_AT_ONCE
            self._control("eval", NEW_VHOSTS.format(first=first, last=self._vhosts))
            self._unused = [*range(first, self._vhosts + 1)]
        return f"amqp://guest:guest@{LOOPBACK}:{self.port}/test{self._unused.pop()}"

    def _control(self, *arguments: str) -> None:
        program = find_program("rabbitmqctl", PACKAGE, INNER)
        command = [program, "-n", self._environment["RABBITMQ_NODENAME"], *arguments]
        done = subprocess.run(
            command, env={**os.environ, **self._environment}, capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise RuntimeError(f"RabbitMQ refused {arguments[0]}: {done.stderr.strip() or done.stdout.strip()}")
