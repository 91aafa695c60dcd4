"""Where archives lie: below the folder that the settings name, one folder for each organisation."""

from __future__ import annotations

from pathlib import Path

from shared.errors import Conflict, NotFound
from sync_server.config import Config


def folder(config: Config) -> Path:
    """The folder of archives; Conflict where there is none: then nothing is put away."""
    found = config.archives
    if found is None:
        raise Conflict(
            "There is no folder for archives, so nothing is put away. Name one in GATEHOUSE_ARCHIVES_FOLDER that every "
            "server and worker reaches, and that is backed up.",
            code="no_archives_folder",
        )
    return found


def path_of(config: Config, name: str) -> Path:
    """The file of an archive; NotFound where this machine does not have it."""
    file = folder(config) / name
    if not file.is_file():
        raise NotFound(
            f"The file {name} is not in this server's folder of archives. Put it back from its backup.",
            code="archive_file_missing",
        )
    return file
