"""What commands make of their arguments: in a shell, and from other code by `call_command`."""

import re

import pytest
from django.core.management import CommandError, call_command, get_commands, load_command_class


def test_a_moment_is_given_as_text_by_other_code(alice):
    call_command("block_user", alice.email, reason="spam", until="2100-01-01")
    alice.refresh_from_db()
    assert alice.blocked_until.isoformat() == "2100-01-01T00:00:00+00:00"
    with pytest.raises(CommandError, match="--until: '2001-01-01' is in the past") as refused:
        call_command("block_user", alice.email, reason="spam", until="2001-01-01")
    assert refused.value.returncode == 2


@pytest.mark.parametrize(
    ("command", "option"),
    [("export_user", "--output"), ("sdk", "--output"), ("fake_fcm", "--credentials"), ("move_media", "--to")],
)
def test_no_file_has_the_name_of_standard_output(alice, tmp_path, monkeypatch, command, option):
    monkeypatch.chdir(tmp_path)
    words = {"export_user": [alice.email], "sdk": ["python"]}.get(command, [])
    with pytest.raises(CommandError, match="must be a file or folder, not '-'"):
        call_command(command, *words, option, "-")
    with pytest.raises(CommandError, match="must be a file or folder, not '-'"):
        call_command(command, *words, f"{option}=-")
    assert not list(tmp_path.iterdir())


SECRET_WORDS = ("token", "secret", "password", "key", "credential", "pin")
# A file, the name of a key, and the key of a receiver that is made for this machine alone.
NO_SECRETS = {("fake_fcm", "credentials"), ("revoke_server_key", "key"), ("fake_webhook", "key")}


@pytest.mark.once
@pytest.mark.parametrize("name", sorted(get_commands()))
def test_no_command_takes_a_secret_as_an_argument(name):
    """Other users of the machine read the arguments of a process, and the shell keeps them."""
    app = get_commands()[name]
    command = app if not isinstance(app, str) else load_command_class(app, name)
    parser = command.create_parser("manage.py", name)
    taken = {
        action.dest
        for action in parser._actions
        if action.nargs != 0 and set(SECRET_WORDS) & set(action.dest.lower().split("_"))
    }
    assert {(name, dest) for dest in taken} <= NO_SECRETS
    assert not re.search(r"\w+:(secret|password|key)@|secret@", parser.format_help())


@pytest.mark.parametrize("address", ["s3://key:secret@bucket", "s3://bucket?endpoint=https://key:secret@host"])
def test_the_address_of_a_bucket_is_not_an_argument(address):
    with pytest.raises(CommandError, match="MOVE_MEDIA_TO") as refused:
        call_command("move_media", "--to", address)
    assert "key:secret" not in str(refused.value)


def test_without_a_target_the_command_names_both_ways(db, monkeypatch):
    monkeypatch.delenv("MOVE_MEDIA_TO", raising=False)
    with pytest.raises(CommandError, match=r"--to.*MOVE_MEDIA_TO") as refused:
        call_command("move_media")
    assert refused.value.returncode == 2
    monkeypatch.setenv("MOVE_MEDIA_TO", "s3://bucket?colour=blue")
    with pytest.raises(CommandError, match="MOVE_MEDIA_TO"):
        call_command("move_media")
