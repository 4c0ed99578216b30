"""The settings of an app: what the project sets, else the default of the app."""

from django.test import override_settings

from notifications.conf import Defaults, conf


def test_a_setting_overrides_the_default_while_it_is_set():
    assert conf.PUSH_SECONDS == Defaults().PUSH_SECONDS
    with override_settings(NOTIFICATIONS_PUSH_SECONDS=7):
        assert conf.PUSH_SECONDS == 7
        with override_settings(NOTIFICATIONS_PUSH_SECONDS=8):
            assert conf.PUSH_SECONDS == 8
        assert conf.PUSH_SECONDS == 7
    assert conf.PUSH_SECONDS == Defaults().PUSH_SECONDS


def test_a_name_without_default_is_no_setting():
    assert not hasattr(conf, "PUSH_SECOND")
