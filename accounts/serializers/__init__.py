"""Serializers of accounts; this module names those that other apps use."""

from accounts.serializers.users import MediaPathField, PersonProfileOutput, PersonSerializer, ProfileSerializer
