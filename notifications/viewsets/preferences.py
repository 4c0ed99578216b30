"""The six switches."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import ViewSet

from accounts.authentication import person
from notifications import selectors
from notifications.serializers.preferences import (
    PreferencesInput,
    PreferencesOutput,
)
from notifications.services import preferences


class PreferencesViewSet(ViewSet):
    @extend_schema(operation_id="notifications_preferences", responses=PreferencesOutput)
    def show(self, request: Request) -> Response:
        return _reply(selectors.preferences_of(person(request).id))

    @extend_schema(operation_id="notifications_preferences_set", request=PreferencesInput, responses=PreferencesOutput)
    def replace(self, request: Request) -> Response:
        return self._change(request, partial=False)

    @extend_schema(
        operation_id="notifications_preferences_change",
        request=PreferencesInput(partial=True),
        responses=PreferencesOutput,
    )
    def change(self, request: Request) -> Response:
        return self._change(request, partial=True)

    def _change(self, request: Request, *, partial: bool) -> Response:
        form = PreferencesInput(data=request.data, partial=partial)
        form.is_valid(raise_exception=True)
        return _reply(preferences.change(user_id=person(request).id, choices=form.validated_data))


def _reply(choice: "preferences.Preferences") -> Response:
    return Response({"preferences": PreferencesInput.render(choice)})
