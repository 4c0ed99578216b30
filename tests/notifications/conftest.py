"""What the feed's tests say often."""

import pytest

from notifications.services import feed


@pytest.fixture
def like():
    """like(actor, recipient, post): as another service would report it."""

    def announce(actor, recipient, post_id=7, **particulars):
        return feed.notify(
            kind="post_like",
            recipient_id=recipient.id,
            actor_id=actor.id,
            target_id=post_id,
            title=particulars.pop("title", "Tea"),
            **particulars,
        )

    return announce


@pytest.fixture
def unlike():
    def announce(actor, recipient, post_id=7):
        return feed.retract(
            kind="post_like", recipient_id=recipient.id, actor_id=actor.id, target_id=post_id
        )

    return announce
