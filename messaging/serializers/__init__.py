"""Serializers of messaging: input serializers validate requests, output serializers describe replies."""
