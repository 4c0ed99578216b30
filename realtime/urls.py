from django.urls import path

from realtime.calls.viewsets import CallViewSet
from realtime.viewsets.asyncapi import RealtimeSchemaView
from realtime.viewsets.changes import ChangesViewSet

urlpatterns = [
    path("realtime/changes", ChangesViewSet.as_view({"get": "list"})),
    path("realtime/schema", RealtimeSchemaView.as_view()),
    path("calls", CallViewSet.as_view({"get": "list"})),
    path("calls/<str:call_id>", CallViewSet.as_view({"get": "retrieve"})),
    path("calls/<str:call_id>/decline", CallViewSet.as_view({"post": "decline"})),
    path("calls/<str:call_id>/ice-servers", CallViewSet.as_view({"get": "ice_servers"})),
]
