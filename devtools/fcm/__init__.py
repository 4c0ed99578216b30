"""A stand-in for FCM, which `manage.py fake_fcm` starts."""
