"""What commands make of their arguments: in a shell, and from other code by `call_command`."""

import pytest
from django.core.management import CommandError, call_command


def test_a_moment_is_given_as_text_by_other_code(alice):
    call_command("block_user", alice.email, reason="spam", until="2100-01-01")
    alice.refresh_from_db()
    assert alice.blocked_until.isoformat() == "2100-01-01T00:00:00+00:00"
    with pytest.raises(CommandError, match="--until: '2001-01-01' is over") as refused:
        call_command("block_user", alice.email, reason="spam", until="2001-01-01")
    assert refused.value.returncode == 2


@pytest.mark.parametrize(
    ("command", "option"),
    [("export_user", "--output"), ("sdk", "--output"), ("fake_fcm", "--credentials"), ("move_media", "--to")],
)
def test_no_file_has_the_name_of_standard_output(alice, tmp_path, monkeypatch, command, option):
    monkeypatch.chdir(tmp_path)
    words = {"export_user": [alice.email], "sdk": ["python"]}.get(command, [])
    with pytest.raises(CommandError, match="'-' is no file or folder"):
        call_command(command, *words, option, "-")
    with pytest.raises(CommandError, match="'-' is no file or folder"):
        call_command(command, *words, f"{option}=-")
    assert not list(tmp_path.iterdir())
