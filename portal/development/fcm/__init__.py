"""A local push service in place of FCM, which `manage.py fake_fcm` starts."""
