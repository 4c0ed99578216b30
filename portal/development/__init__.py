"""For a developer's machine only: demo users, mailbox, push outbox, a local FCM."""
