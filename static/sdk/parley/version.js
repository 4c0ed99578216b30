// Written by `manage.py write_sdk` from core/version.py.
export const VERSION = "1.0.0";
