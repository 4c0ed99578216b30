"""The paths of calls and of the real-time channel over HTTP; the socket itself is in routing.py."""

from django.urls import path

from realtime.calls.viewsets import CallViewSet
from realtime.viewsets import ChangesViewSet, RealtimeSchemaView

app_name = "realtime"

urlpatterns = [
    path("realtime/changes", ChangesViewSet.as_view({"get": "list"}), name="changes"),
    path("realtime/schema", RealtimeSchemaView.as_view(), name="schema"),
    path("calls", CallViewSet.as_view({"get": "list"}), name="calls"),
    path("calls/<str:call_id>", CallViewSet.as_view({"get": "retrieve"}), name="call"),
    path("calls/<str:call_id>/decline", CallViewSet.as_view({"post": "decline"}), name="call-decline"),
    path("calls/<str:call_id>/ice-servers", CallViewSet.as_view({"get": "ice_servers"}), name="ice-servers"),
]
